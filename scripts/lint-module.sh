# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks of the module as built for one kernel series, for scripts/lint. The
# first of them, build, provides what the others look at.

built() { echo "build/lint-$1"; }

# build_module KERNEL LOG WORD...: the log is all that the tools had to say.
build_module() {
	make -s modules K="$1" OUT="$(built "$1")" "${@:3}" >"$2" 2>&1
	local rc=$?
	sed -i '/^  sirocco.ko is in /d' "$2"
	[ $rc -eq 0 ] || { echo "make failed:"; cat "$2"; }
	return $rc
}

# Not a word from the compilers, objtool, modpost or ld is accepted.
check_build() {
	local dir
	dir=$(built "$1")
	rm -rf "$dir"
	mkdir -p build
	build_module "$1" "$dir.log" && ! grep . "$dir.log" && [ -f "$dir/sirocco.ko" ]
}

# sparse checks the C sources of a module that is up to date. Not the balance
# of locks: a half is entered and left in different functions; lockdep sees that.
# Nor crc_fold.c, crc_t10.c and what they share: sparse knows no vectors.
check_sparse() {
	local log
	log=$(built "$1").sparse
	command -v sparse && build_module "$1" "$log" C=2 CF=-Wno-context &&
		! grep -E '/(kmod|uapi)/.*(warning|error):' "$log" | grep -vE '/crc_(fold\.c|t10\.c|vector\.h):'
}

# What engine.o may leave for others to define: the boundary, the memory
# functions and what the kernel's code generation flags call.
provided='siro_port_\w+|mem(cpy|move|set|cmp)|__fentry__|__stack_chk_fail'
provided+='|__x86_return_thunk|__x86_indirect_thunk_\w+|__ubsan_handle_\w+'
runtime='_Z(n[wa]|d[la])|__cxa_|__cxxabiv1|_ZT[VTIS]|_ZN?[KVO]*St|__gxx_|_Unwind_|__dso_handle|__tsan_vptr'

check_symbols() {
	local object
	object=$(built "$1")/kmod/engine/engine.o
	nm "$object" >/dev/null || return 1
	! nm "$object" | grep -E "$runtime| [wv] " &&
		! nm -u "$object" | awk '{ print $2 }' | grep -vxE "$provided"
}

# Nothing runs constructors or destructors of a module.
check_sections() {
	local ko sections
	ko=$(built "$1")/sirocco.ko
	sections=$(readelf -SW "$ko") && [ -n "$sections" ] || return 1
	! printf '%s\n' "$sections" | grep -E '\.(init_array|fini_array|ctors|dtors)\b'
}

# command FILE: the compiler's command in a .cmd file, one word a line.
command_words() {
	sed -n 's/^\(saved\)\?cmd_[^=]*:= //p' "$1" | sed 's/ ; .*//' | tr ' ' '\n'
}

# The kernel's code generation flags reach the C++ object. No tool notices the
# loss of those that are named here.
check_inherited_flags() {
	local dir flag c cxx bad=0
	local named='-mno-red-zone -mharden-sls=all -fno-jump-tables'
	[ "$1" = 6.1 ] || named+=' -fpatchable-function-entry=16,16'
	dir=$(built "$1")/kmod
	c=$(command_words "$dir/glue/.main.o.cmd" | grep -E '^-[mfOg]|^--param' |
		grep -vxE -- '-fplugin.*|-fno-builtin-wcslen' | sort -u)
	cxx=$(command_words "$dir/engine/.engine.o.cmd")
	[ -n "$c" ] && [ -n "$cxx" ] || { echo "no commands in $dir"; return 1; }
	for flag in $(printf '%s\n' $c $named | sort -u); do
		printf '%s\n' "$cxx" | grep -qxF -- "$flag" ||
			{ echo "engine.o lacks $flag"; bad=1; }
	done
	return $bad
}

# The engine is compiled from itself, the boundary and the ABI alone, and no
# configuration option changes it.
check_isolation() {
	local cmd deps
	cmd=$(built "$1")/kmod/engine/.engine.o.cmd
	deps=$(sed -n '/^deps_/,/^$/p' "$cmd" | sed 1d | tr -d ' \\' | grep .) || return 1
	printf '%s\n' "$deps" | grep -q 'kmod/engine/base/' || { echo "$deps"; return 1; }
	! printf '%s\n' "$deps" |
		grep -vE "^$PWD/$(built "$1")/(kmod/engine/|kmod/include/|uapi/)"
}
