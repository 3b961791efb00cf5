# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make help` lists the targets.

MAKEFLAGS += --no-print-directory
.SUFFIXES:

# K=6.1 or K=6.12: the newest Debian headers of that series. KDIR= any other
# kernel, with ARCH=um for a User-mode Linux. Neither: the running kernel.
ifdef K
KDIR := $(lastword $(shell ls -d /usr/src/linux-headers-$(K).[0-9]*-amd64 2>/dev/null | \
	  grep -Ev -- '-(cloud|rt)-amd64$$' | sort -V))
no-headers := no headers of a Debian $(K) kernel: run scripts/setup
endif
KDIR ?= /lib/modules/$(shell uname -r)/build
no-headers ?= no kernel headers in $(KDIR): install linux-headers-$(shell uname -r) or give K= or KDIR=

release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	  $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
# Two User-mode Linux builds of one release differ in their configuration.
OUT ?= build/$(if $(filter um,$(ARCH)),$(notdir $(abspath $(KDIR))),$(release))

# "gcc-12 (Debian ...) 12.2.0" -> g++-12, as in kmod/Kbuild.cxx
kernel-cc = $(firstword $(shell sed -n 's/^CONFIG_CC_VERSION_TEXT="\?//p' \
	      $(KDIR)/include/config/auto.conf 2>/dev/null))
kernel-cxx = $(if $(CXX_K),$(lastword $(CXX_K)),$(subst clang,clang++,$(subst gcc,g++, \
	       $(if $(filter command,$(origin CC)),$(CC),$(kernel-cc)))))

jobs = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
# pahole cannot encode the C++ types of the engine, so the module has no BTF.
kbuild-in = $(MAKE) -C $(KDIR) M=$(abspath $(1)) W=1 CONFIG_DEBUG_INFO_BTF_MODULES= $(jobs)
kbuild = $(call kbuild-in,$(OUT))

all: modules

modules: have-kernel
	@mkdir -p $(OUT)
	+@flock $(OUT)/.lock sh -ec 'scripts/source-links $(OUT) Kbuild kmod uapi; $(kbuild) modules'
	@echo "  sirocco.ko is in $(OUT)"

# What cases in qemu-tests load besides.
tests = $(OUT)-tests

test-modules: modules
	@mkdir -p $(tests)
	+@flock $(tests)/.lock sh -ec 'scripts/source-links $(tests) \
	  kmod/include uapi bench/gaps docs/examples kunit qemu-tests/indirect_kernel \
	  qemu-tests/signature_kernel; \
	  ln -s qemu-tests/indirect_kernel/Kbuild $(tests)/Kbuild; \
	  $(call kbuild-in,$(tests)) KBUILD_EXTRA_SYMBOLS=$(abspath $(OUT))/Module.symvers modules'

# Header packages have neither the key that Debian signs with nor System.map,
# without which Kbuild does not run depmod.
no-key = $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

modules_install: modules
	@$(kbuild) $(no-key) DEPMOD=true INSTALL_MOD_DIR=updates modules_install
	@depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(release)

have-kernel:
	@test -n '$(KDIR)' -a -e '$(KDIR)/Makefile' || { echo '$(no-headers)' >&2; exit 1; }
	@test -n '$(release)' || { echo '$(KDIR) is not a configured kernel' >&2; exit 1; }
	@command -v $(kernel-cxx) >/dev/null || \
	  { echo 'no C++ compiler that matches the kernel: install $(kernel-cxx)' >&2; exit 1; }

provider:
	@libprovider/build

provider-tests:
	@libprovider/build check

install:
	@libprovider/build install

setup:
	@scripts/setup

demo:
	@scripts/demo

check:
	@scripts/check

lint:
	@scripts/lint

host-tests:
	@host-tests/run

fuzz:
	@host-tests/fuzz-run

kunit:
	@kunit/run

qemu:
	@scripts/qemu '$(or $(K),6.1 6.12)' $(CASES)

qemu-debug:
	@scripts/qemu debug $(CASES)

bench:
	@bench/run

clean:
	rm -rf build

help:
	@echo 'modules          build sirocco.ko in build/<kernel> (default target)'
	@echo '                 K=6.1|6.12: Debian headers of that series; KDIR=DIR: any kernel,'
	@echo '                 ARCH=um for User-mode Linux; neither: the running kernel'
	@echo 'test-modules     modules, and those that cases of qemu load, in build/<kernel>-tests'
	@echo 'modules_install  install it, so that modprobe finds it'
	@echo 'provider         build the rdma-core provider in build/provider'
	@echo 'provider-tests   unit tests of the provider'
	@echo 'install          install the provider'
	@echo 'setup            install what the build and the tests need (Debian 12, root)'
	@echo 'demo             boot a Debian kernel in QEMU and show two hosts at work'
	@echo 'check            all of the tests below, as CI runs them'
	@echo 'lint             style, layering and properties of the built module'
	@echo 'host-tests       unit tests and simulator of the engine in user space'
	@echo 'fuzz             the fuzzers, a minute each'
	@echo 'kunit            KUnit suites on User-mode Linux with sanitizers'
	@echo 'qemu             real clients on stock kernels; K=6.1|6.12, CASES="a b"'
	@echo 'qemu-debug       the same on a kernel with KASAN, lockdep and kmemleak'
	@echo 'bench            speed against rdma_rxe'
	@echo 'clean            remove build/'

.PHONY: all modules test-modules modules_install have-kernel provider provider-tests install setup demo \
	check lint host-tests fuzz kunit qemu qemu-debug bench clean help
