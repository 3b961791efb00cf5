# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NVMe over RDMA: target and host, both in the kernel. Sourced by cases.
# The kernel's nvme-rdma and nvmet-rdma live in the initial namespace only.

NVMET=/sys/kernel/config/nvmet
NQN=nqn.2014-08.org.sirocco:ram

# What is exported; NVMET_PI: with its protection information if it is not empty.
NVMET_DEVICE=/dev/ram0 NVMET_PI=''

# nvmet_up ADDRESS FAMILY: exports it there, by default a RAM disk.
nvmet_up() {
	modprobe -a brd nvmet-rdma || return 1
	mkdir -p $NVMET/subsystems/$NQN/namespaces/1 $NVMET/ports/1
	echo 1 >$NVMET/subsystems/$NQN/attr_allow_any_host
	[ -z "$NVMET_PI" ] || {
		echo 1 >$NVMET/subsystems/$NQN/attr_pi_enable &&
			echo 1 >$NVMET/ports/1/param_pi_enable || return 1
	}
	# The same after a restart, or the host would take it for another disk.
	echo 6a1cfa3c-6c53-4b0f-9ef8-3a8a8f4a4791 \
		>$NVMET/subsystems/$NQN/namespaces/1/device_uuid
	echo $NVMET_DEVICE >$NVMET/subsystems/$NQN/namespaces/1/device_path
	echo 1 >$NVMET/subsystems/$NQN/namespaces/1/enable
	echo rdma >$NVMET/ports/1/addr_trtype
	echo "$2" >$NVMET/ports/1/addr_adrfam
	echo "$1" >$NVMET/ports/1/addr_traddr
	echo 4420 >$NVMET/ports/1/addr_trsvcid
	ln -s $NVMET/subsystems/$NQN $NVMET/ports/1/subsystems/$NQN
}

nvmet_down() {
	[ -e $NVMET/ports/1 ] || return 0
	rm -f $NVMET/ports/1/subsystems/$NQN
	rmdir $NVMET/ports/1
	echo 0 >$NVMET/subsystems/$NQN/namespaces/1/enable
	rmdir $NVMET/subsystems/$NQN/namespaces/1
	rmdir $NVMET/subsystems/$NQN
}

# The block device of the connected controller.
nvme_disk() {
	local c
	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/subsysnqn" 2>/dev/null)" = $NQN ] || continue
		c=$(ls -d /sys/class/nvme-subsystem/*/nvme*n1 "$c"/nvme*n1 2>/dev/null |
			head -n 1)
		[ -b "/dev/${c##*/}" ] && { echo "/dev/${c##*/}"; return; }
	done
	return 1
}

# nvme_connect ADDRESS [OPTIONS...]
nvme_connect() {
	local a=$1
	shift
	modprobe nvme-rdma || return 1
	nvme connect -t rdma -n $NQN -a "$a" -s 4420 -i 2 "$@" &&
		within 20 nvme_disk
}
nvme_disconnect() {
	[[ $(nvme disconnect -n $NQN) == *"disconnected 1"* ]]
}

# fio_verify DEVICE SIZE OPTIONS...: random writes of random sizes, each read
# back and checked against its checksum.
fio_verify() {
	local dev=$1 size=$2
	shift 2
	fio --name=verify --filename="$dev" --direct=1 --ioengine=libaio \
		--thread --iodepth=8 --rw=randrw --bsrange=512-1m \
		--bs_unaligned=0 --size="$size" --verify=crc32c --verify_fatal=1 \
		--eta=never --output-format=terse "$@"
}
