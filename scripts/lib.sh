# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Shell helpers shared by the project's scripts. Source this file.

SIROCCO_CACHE=${SIROCCO_CACHE:-$HOME/.cache/sirocco}
export SIROCCO_CACHE

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

need_root() { [ "$(id -u)" = 0 ] || die "must run as root"; }

# Whether every named package is installed.
installed() {
	local want=$# got
	got=$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null |
		grep -cx installed)
	[ "$got" -eq "$want" ]
}

missing() {
	local p
	for p; do installed "$p" || printf '%s\n' "$p"; done
}

# The URI this machine takes bookworm's main archive from, so that further
# suites come from the same mirror.
debian_mirror() {
	local f uri
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -f "$f" ] || continue
		uri=$(awk '
			function flush() { if (ok) { print uri; exit } uri = ""; ok = 0 }
			/^[[:space:]]*$/ { flush(); next }
			/^URIs:/ { uri = $2 }
			/^Suites:/ { for (i = 2; i <= NF; i++) if ($i == "bookworm") ok = 1 }
			END { if (ok) print uri }' "$f" | head -n 1)
		[ -n "$uri" ] && { printf '%s\n' "${uri%/}"; return; }
	done
	uri=$(sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) bookworm .*/\2/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
		head -n 1)
	[ -n "$uri" ] || die "no apt source for Debian 12 (bookworm) found"
	printf '%s\n' "${uri%/}"
}

# apt_source NAME TYPE SUITE: make sure a source of that suite exists.
# Returns 1 if it was just added (the lists then need an update).
apt_source() {
	local file=/etc/apt/sources.list.d/sirocco-$1.list
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -f "$file" ] && return 0
	printf '%s [signed-by=%s] %s %s main\n' \
		"$2" "$key" "$(debian_mirror)" "$3" >"$file"
	return 1
}

# Two apt runs at once fight for the list lock, which apt does not wait for.
apt_run() {
	mkdir -p "$SIROCCO_CACHE"
	flock "$SIROCCO_CACHE/apt.lock" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o DPkg::Lock::Timeout=600 \
		-o Dpkg::Options::=--force-confdef \
		-o Dpkg::Options::=--force-confold "$@"
}

apt_update() {
	local i log
	log=$(mktemp)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		if apt_run update >"$log" 2>&1; then
			rm -f "$log"
			return 0
		fi
		grep -q 'Could not get lock' "$log" || break
		sleep 5
	done
	say "apt-get update: $(grep -m 1 '^E:' "$log")"
	rm -f "$log"
	return 1
}
