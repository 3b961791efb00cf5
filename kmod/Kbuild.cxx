# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The rule that compiles freestanding C++ with the kernel's own flags. Works on
# Linux 6.1 and 6.12 and is modelled on the kernel's rule for Rust.

# gcc-12 -> g++-12, x86_64-linux-gnu-gcc-12 -> x86_64-linux-gnu-g++-12
CXX_K := $(subst clang,clang++,$(subst gcc,g++,$(CC)))
ifeq ($(shell command -v $(lastword $(CXX_K))),)
$(error no C++ compiler that matches the kernel's $(CC): install $(lastword $(CXX_K)))
endif

# Code generation flags come from the kernel, warnings are our own. This must be
# a list of what is kept: each kernel adds new C-only warnings. The kernel's
# include paths are dropped on purpose. asan-% and tsan-% follow a --param.
cxx-keep := -m% -f% -O% -g% -p% -D% -U% --param --param=% asan-% tsan-% hwasan-% \
	    -Wa,% --target=% -Wframe-larger-than=%
# GCC plugins are built for C only.
cxx-drop := -fplugin% -fno-builtin-wcslen

cxx-gcc-inc := $(shell $(CXX_K) -print-file-name=include)

# kmalloc() aligns to 8, where C++ would assume 16.
cxx-lang := -std=gnu++20 -ffreestanding -nostdinc -fno-exceptions -fno-rtti \
	    -fno-threadsafe-statics -fno-use-cxa-atexit -fno-gnu-unique \
	    -faligned-new=8 -fcheck-new -fvisibility=hidden

cxx-warn := -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual \
	    -Wno-unused-parameter -Werror=return-type -Werror=vla

# Not := because c_flags is defined only after this file has been read.
cxx_flags = -Wp,-MMD,$(depfile) -isystem $(cxx-gcc-inc) -I$(src)/kmod/include -I$(src)/uapi \
	    $(filter-out $(cxx-drop),$(filter $(cxx-keep),$(c_flags))) \
	    $(cxx-lang) $(cxx-warn) $(cxxflags-y)

quiet_cmd_cxx_o_cc = CXX $(quiet_modtag) $@
      cmd_cxx_o_cc = $(CXX_K) $(cxx_flags) -c -o $@ $< $(cmd_objtool)

define rule_cxx_o_cc
	$(call cmd_and_fixdep,cxx_o_cc)
	$(call cmd,gen_objtooldep)
endef

$(obj)/%.o: $(src)/%.cc FORCE
	$(call if_changed_rule,cxx_o_cc)
