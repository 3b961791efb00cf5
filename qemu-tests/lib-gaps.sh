# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Clients on host 2 with lists that have gaps, each once with a device that
# registers such lists and once with one that does not: what it cost. Sourced by
# cases.

TRACING=/sys/kernel/tracing

# offer_gaps 0|1: what the next connection of host 2 is told.
offer_gaps() { echo "$1" >"/sys/class/infiniband/$D2/sirocco/sg_gaps"; }

# Buffers that the block layer copies are counted from here on. What makes a copy
# is inlined on some kernels; the part that fills it from a write is not.
count_copies() {
	mountpoint -q $TRACING || mount -t tracefs tracefs $TRACING
	echo 'p:gaps/copy bio_copy_from_iter' >$TRACING/kprobe_events &&
		echo 1 >$TRACING/events/gaps/copy/enable
}
stop_counting_copies() {
	echo 0 >$TRACING/events/gaps/copy/enable
	echo >$TRACING/kprobe_events
}
copies() { awk '$1 == "copy" { print $2 }' $TRACING/kprobe_profile; }

scsi_commands() {
	local f
	for f in /sys/block/sd*/device/iorequest_cnt; do
		[ -e "$f" ] && cat "$f" && return
	done
	echo 0
}

costs() {
	echo "registrations $(counter $D2 registrations)"
	echo "gaps_registrations $(counter $D2 gaps_registrations)"
	echo "commands $(scsi_commands)"
	echo "copies $(copies)"
}

# measured NAME COMMAND...: what the command cost, for cost. Its output may have
# a line "us N".
measured() {
	local name=$1 key value _ end
	shift
	rm -f "/tmp/cost-$name"
	costs >/tmp/costs-before
	"$@" >/tmp/measured.out || { cat /tmp/measured.out; return 1; }
	costs >/tmp/costs-after
	paste -d ' ' /tmp/costs-before /tmp/costs-after |
		while read -r key value _ end; do
			echo "$key $((${end:-0} - ${value:-0}))"
		done >"/tmp/cost-$name"
	cat /tmp/measured.out
	grep '^us ' /tmp/measured.out >>"/tmp/cost-$name"
	cat "/tmp/cost-$name"
}

# cost NAME KEY: registrations, gaps_registrations, commands, copies or us.
cost() { awk -v key="$2" '$1 == key { print $2 }' "/tmp/cost-$1"; }

# less NAME KEY: it cost less with gaps, NAME-1, than without, NAME-0.
less() {
	local with without
	with=$(cost "$1-1" "$2") without=$(cost "$1-0" "$2")
	echo "$1: $with $2 with gaps, $without without"
	[ "$with" -lt "$without" ]
}

# Everything was registered the way the connection was told.
registered_as_told() {
	local gaps all
	gaps=$(cost "$1" gaps_registrations) all=$(cost "$1" registrations)
	echo "$1: $gaps of $all registrations are of lists with gaps"
	case $1 in
	*-1) [ "$gaps" -gt 0 ] && [ "$gaps" = "$all" ] ;;
	*) [ "$gaps" = 0 ] && [ "$all" -gt 0 ] ;;
	esac
}

# compared NAME KEY...: a line of the summary.
compared() {
	local key text="$1, with gaps and without:"
	for key in "${@:2}"; do
		text+=" $key $(cost "$1-1" "$key") and $(cost "$1-0" "$key"),"
	done
	note "${text%,}"
}
