# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Protection information: disks that have it, faults, and what devices counted.
# Sourced by cases.

DEBUGFS=/sys/kernel/debug

pi_debugfs_up() {
	[ -d $DEBUGFS/sirocco ] || mount -t debugfs debugfs $DEBUGFS || return 1
	[ -e $DEBUGFS/sirocco/$D1/sig_inject ] && [ -e $DEBUGFS/sirocco/$D2/sig_inject ]
}

# pi_disk_up TYPE: a SCSI disk whose medium has tuples of type 1 or 3. The medium has
# 64 MiB, the disk more: blocks so far apart lie in the same place.
PI_MEDIUM_MB=64
pi_disk_up() {
	modprobe sd_mod && modprobe scsi_debug dif="$1" dix=1 guard=0 dev_size_mb=$PI_MEDIUM_MB \
		virtual_gb=1 delay=0 && within 20 pi_disk
}
pi_disk_down() { modprobe -r scsi_debug; }
pi_disk() { scsi_disk model scsi_debug; }

# inject DEVICE WORDS...: a fault as often as a request is tried again, see
# docs/signature.md.
FAULTS=100
inject() {
	local device=$1
	shift
	echo "count=$FAULTS $*" >$DEBUGFS/sirocco/"$device"/sig_inject
}
no_faults() {
	echo off >$DEBUGFS/sirocco/$D1/sig_inject
	echo off >$DEBUGFS/sirocco/$D2/sig_inject
}
# One was injected at least.
injected() { ! grep "count=$FAULTS\$" $DEBUGFS/sirocco/"$1"/sig_inject; }

sig_figure() { counter "$1" "sig_$2"; }

# grows DEVICE FIGURE COMMAND...: the command succeeds, and the figure grows.
grows() {
	local device=$1 figure=$2 before after
	shift 2
	before=$(sig_figure "$device" "$figure")
	"$@" || return 1
	after=$(sig_figure "$device" "$figure")
	echo "sig_$figure of $device: $before to $after"
	[ "$after" -gt "$before" ]
}

# disk_read DISK BLOCK COUNT, disk_write: blocks of 4 KiB; written ones hold zeroes.
disk_read() { dd if="$1" of=/dev/null bs=4k skip="$2" count="$3" iflag=direct; }
disk_write() { dd if=/dev/zero of="$1" bs=4k seek="$2" count="$3" oflag=direct; }
disk_sum() { dd if="$1" bs=4k skip="$2" count=1 iflag=direct status=none | cksum; }

fails() { ! "$@"; }
logged() { within 5 log_says "$1"; }
log_says() { kernel_log | grep -i "$1"; }

# passes_on_both_with DISK ARGS...: on a bad network (ARGS of netem) each block is right
# too, and both devices check it.
passes_on_both_with() {
	local disk=$1 ok
	shift
	netem "$@" || return 1
	grows $D1 passed grows $D2 passed fio_verify "$disk" 4m
	ok=$?
	netem
	return $ok
}
no_errors_found() {
	local device figure
	for device in $D1 $D2; do
		for figure in guard app ref; do
			echo "$device $figure: $(sig_figure "$device" ${figure}_errors)"
			[ "$(sig_figure "$device" ${figure}_errors)" = 0 ] || return 1
		done
	done
}
