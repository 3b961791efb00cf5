# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks of the sources with host compilers, for scripts/lint.

# The engine sees itself and the boundary, the boundary sees itself and the ABI,
# the glue sees the engine through the boundary only.
check_layering() {
	local bad=0
	# memory.h takes placement new from the library where there is one.
	grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' $(files kmod/engine) |
		grep -vx 'kmod/engine/base/memory.h:[0-9]*:#include <new>' && bad=1
	includes kmod/engine | while read -r file name; do
		resolve "$file" "$name" kmod/engine kmod/include uapi
	done | grep . && bad=1
	includes kmod/include uapi | while read -r file name; do
		resolve "$file" "$name" kmod/include uapi
	done | grep . && bad=1
	grep -nE '^[[:space:]]*#[[:space:]]*include.*engine/' \
		$(files kmod/glue kmod/compat kmod/include uapi libprovider) && bad=1
	return $bad
}

# FILE NAME of every #include "NAME" below the given folders.
includes() {
	grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $(files "$@") /dev/null |
		sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1 \2/'
}

# Complains unless the file that NAME means in FILE lies in one of the folders.
resolve() {
	local file=$1 name=$2 dir path
	shift 2
	for dir in "$(dirname "$file")" kmod/include uapi; do
		[ -f "$dir/$name" ] || continue
		path=$(realpath --relative-to=. "$dir/$name")
		for dir; do
			case $path in "$dir"/*) return ;; esac
		done
	done
	echo "$file: includes \"$name\", which is not in $*"
}

check_version_code() {
	! grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION[[:space:]]*\(' \
		$(files kmod kunit bench uapi ':!kmod/compat' ':!*.sh' ':!*.md')
}

# with_each 'PATHSPEC...' COMMAND: COMMAND gets each file as last word.
with_each() {
	local f n=0 bad=0
	# shellcheck disable=SC2086
	for f in $(files $1); do
		n=$((n + 1))
		"${@:2}" "$f" || { echo "$f: failed"; bad=1; }
	done
	[ $n -gt 0 ] || { echo "no files match $1"; return 1; }
	return $bad
}

strict="-Wall -Wextra -Werror -Wpadded -Iuapi -Ikmod/include -fsyntax-only"

# User space compiles the ABI with whatever it has. Not pedantic: all of uapi
# uses unnamed unions.
check_abi_c90() { with_each 'uapi/*.h' gcc -std=c90 $strict -x c; }
check_abi_cxx98() { with_each 'uapi/*.h' g++ -std=c++98 $strict -x c++; }

check_boundary_c() {
	with_each 'kmod/include/*.h' gcc -std=gnu11 $strict -x c
}
check_boundary_cxx() { with_each 'kmod/include/*.h' g++ -std=gnu++20 $strict -x c++; }

# The engine as the host sees it, freestanding, without a single warning. Each
# file alone finds what only the order in the unity file provides; the unity
# file finds names that clash. 6.1 and 6.12 differ in the sign of char.
twin="-std=gnu++20 -ffreestanding -nostdlib -O2 -c -o /dev/null -Wall -Wextra -Werror
	-Wno-unused-parameter -fno-exceptions -fno-rtti -fno-threadsafe-statics
	-fno-strict-aliasing -fwrapv -fno-delete-null-pointer-checks
	-Ikmod/include -Iuapi"

host_twin() {
	local sign bad=0
	for sign in -fsigned-char -funsigned-char; do
		# shellcheck disable=SC2086
		with_each "kmod/engine/*.cc" "$@" $twin $sign || bad=1
	done
	return $bad
}

# A lone file defines functions that only other files use.
check_host_twin_gcc() { host_twin g++ -Wno-unused-function; }
check_host_twin_clang() { host_twin clang++ -Wno-unused-function -Wno-unneeded-internal-declaration; }

check_headers_alone() {
	# shellcheck disable=SC2086
	with_each 'kmod/engine/*.h' g++ $twin -Wno-unused-function -x c++ /dev/null -include
}

check_clang_tidy() {
	# shellcheck disable=SC2086
	clang-tidy --quiet kmod/engine/engine.cc -- $twin
}
