# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks of files as text, for scripts/lint.

# xargs would run its command on nothing if there are no files.
each_file() {
	local list
	list=$(files "${@:2}")
	[ -n "$list" ] || { echo "no files"; return 1; }
	# shellcheck disable=SC2086
	printf '%s\n' "$list" | xargs -d '\n' $1
}

# Formats without comments, and the seed inputs of the fuzzers.
check_spdx() {
	local f id want bad=0
	for f in $(files . ':!LICENSES' ':!*/corpus/*' ':!*.json' ':!*.driver' ':!*.patch' ':!*.png'); do
		id='GPL-2.0 OR BSD-2-Clause'
		case $f in
		uapi/*) id='((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause)' ;;
		esac
		want=1
		[ "$(head -c 2 "$f")" = '#!' ] && want=2
		sed -n "${want}p" "$f" | grep -qF "SPDX-License-Identifier: $id" ||
			{ echo "$f:$want: no SPDX-License-Identifier: $id"; bad=1; }
	done
	return $bad
}

# A clone must make sense on any machine: absolute paths are those of every
# Debian system, relative ones stay inside, packages come from wherever the
# machine gets them. /sirocco, /ro, /rw and /nfs are folders in the test guests.
root='usr|etc|lib|lib64|bin|sbin|dev|proc|sys|tmp|run|var|boot|mnt|opt|root|home|srv|sirocco|ro|rw|nfs'
check_standalone() {
	local f bad=0
	# In dkms.conf a path that begins at the kernel's modules has a slash.
	for f in $(files . ':!LICENSES' ':!*/corpus/*' ':!*.png' ':!dkms.conf'); do
		perl -ne '
			BEGIN { ($root, $file) = splice @ARGV, 0, 2; $depth = ($file =~ tr{/}{}) }
			while (m{(?:^|[\s"\x27=(`])/([a-z][\w.-]*)/[\w.-]}g) {
				print "$file:$.: absolute path /$1/\n" if $1 !~ /^(?:$root)$/;
			}
			while (m{(?:^|[\s"\x27=(`])((?:\.\./)+)}g) {
				print "$file:$.: leads out of the project: $1\n"
					if length($1) / 3 > $depth;
			}
			print "$file:$.: host of a package mirror\n"
				if m{\b(?:deb|ftp|snapshot|security|archive)\.(?:\w+\.)?(?:debian\.org|ubuntu\.com)};
		' "$root" "$f" "$f"
	done | grep . && bad=1
	return $bad
}

check_clang_format() {
	each_file 'clang-format --dry-run -Werror' \
		'kmod/engine/*.cc' 'kmod/engine/*.h' 'host-tests/*.cc' 'host-tests/*.h' \
		>"$out.format" 2>&1 && return
	# One line for each place.
	grep -a '\(error\|warning\|no files\)' "$out.format"
	rm -f "$out.format"
	return 1
}

# What does not suit an out-of-tree module that builds for two kernels:
# FILE_PATH_CHANGES, MAINTAINERS  there is no MAINTAINERS file
# LINUX_VERSION_CODE              kmod/compat is made of it; see check_version_code
# SPDX_LICENSE_TAG                knows only the kernel's own choice; see check_spdx
# CONSTANT_COMPARISON             takes LINUX_VERSION_CODE for one
# SPLIT_STRING                    long messages
# SYMBOLIC_PERMS                  contradicts what reviewers ask for
# MACRO_WITH_FLOW_CONTROL, COMPLEX_MACRO  tracepoints and layout assertions
# NEW_TYPEDEFS                    siro_types.h defines __u32 for the host
ignored=FILE_PATH_CHANGES,MAINTAINERS,LINUX_VERSION_CODE,SPDX_LICENSE_TAG
ignored+=,CONSTANT_COMPARISON,SPLIT_STRING,SYMBOLIC_PERMS,MACRO_WITH_FLOW_CONTROL,COMPLEX_MACRO,NEW_TYPEDEFS
check_checkpatch() {
	local tree
	tree=$(scripts/linux-source) || return 1
	each_file "perl $tree/scripts/checkpatch.pl --no-tree --quiet --terse --no-summary
		--show-types --max-line-length=100 --ignore $ignored -f" \
		kmod/glue kmod/compat kmod/include uapi 'kunit/*.[ch]' 'bench/*.[ch]'
}

# Every rule of host-tests/README.md has a test that names it, and tests name no other.
check_rule_ids() {
	local listed named bad=0
	listed=$(sed -n 's/^| \(H[0-9]*\) |.*/\1/p' host-tests/README.md | sort -u)
	# shellcheck disable=SC2046
	named=$(grep -ohwE 'H[0-9]{1,2}' \
		$(files host-tests kunit qemu-tests ':!*.md' ':!*/corpus/*') | sort -u)
	[ -n "$listed" ] || { echo "host-tests/README.md lists no rules"; return 1; }
	comm -23 <(echo "$listed") <(echo "$named") | sed 's/$/: no test names it/' | grep . && bad=1
	comm -13 <(echo "$listed") <(echo "$named") |
		sed 's/$/: not in host-tests\/README.md/' | grep . && bad=1
	return $bad
}
