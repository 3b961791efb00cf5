# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NFS over RDMA. Sourced by cases, and run as a program in a namespace, where
# "ip netns exec" gives each run mounts of its own:
#   lib-nfs.sh server           serves /export until it is killed
#   lib-nfs.sh client ADDRESS   mounts, copies a tree, compares; status 0 if good
#   lib-nfs.sh mounted ADDRESS COMMAND...   mounts at /nfs, runs it, unmounts

TREE=/usr/lib/python3.11/asyncio

nfs_server() {
	modprobe -a nfsd rpcrdma || return 1
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	echo '/export *(rw,no_root_squash,no_subtree_check,fsid=0,insecure)' \
		>/etc/exports
	exportfs -ra || return 1
	# The shortest grace period there is: nobody has state to reclaim.
	rpc.nfsd -N 3 -V 4.2 -G 10 -L 10 4 || return 1
	echo "rdma 20049" >/proc/fs/nfsd/portlist || return 1
	exec rpc.mountd -F -N 3
}

# rpc.nfsd 0 has to run in the namespace and mounts of the server.
nfs_server_stop() {
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	rpc.nfsd 0
}

nfs_mount() {
	local proto=rdma
	[[ $1 == *:* ]] && proto=rdma6
	mount -t nfs -o "proto=$proto,port=20049,vers=4.2,$2" "$1:/" /nfs
}

# Everything is read back over a mount that has nothing cached.
nfs_client() {
	local a=$1
	[[ $a == *:* ]] && a="[$a]"
	mkdir -p /nfs
	nfs_mount "$a" "${2:-hard}" || return 1
	rm -rf /nfs/tree /nfs/large
	cp -r $TREE /nfs/tree &&
		dd if=/tmp/large of=/nfs/large bs=1M conv=fsync status=none &&
		umount /nfs && nfs_mount "$a" "${2:-hard}" &&
		diff -r $TREE /nfs/tree && cmp /tmp/large /nfs/large &&
		fio --name=verify --filename=/nfs/fio --size=8m --rw=randrw \
			--bsrange=512-256k --ioengine=psync --thread --direct=1 \
			--verify=crc32c --verify_fatal=1 --eta=never --output-format=terse &&
		grep -q ' /nfs .*proto=rdma' /proc/mounts
	local rc=$?
	umount /nfs || rc=1
	return $rc
}

nfs_mounted() {
	local a=$1 rc
	shift
	mkdir -p /nfs
	nfs_mount "$a" hard || return 1
	"$@"
	rc=$?
	umount /nfs || rc=1
	return $rc
}

# For cases: the server on host 1 outlives the check that starts it.
nfs_server_up() {
	start "$NS1" bash /sirocco/lib-nfs.sh server
	echo $! >/tmp/nfs-server
	within 30 cm_listens 20049
}
nfs_server_down() {
	in1 bash /sirocco/lib-nfs.sh stop
	kill "$(cat /tmp/nfs-server)"
	within 20 nfs_not_listening
}
nfs_not_listening() { ! cm_listens 20049; }

case ${1-} in
server) nfs_server ;;
stop) nfs_server_stop ;;
client) nfs_client "$2" "${3-}" ;;
mounted) nfs_mounted "${@:2}" ;;
esac
