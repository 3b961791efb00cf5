# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A RAM disk that the kernel's SCSI target exports from host 1, over iSER or over
# SRP. Sourced by cases. Targets and iSER's initiator live in the initial
# namespace only.

LIO=/sys/kernel/config/target
RAM=$LIO/core/rd_mcp_0/ram
IQN=iqn.2014-08.org.sirocco:ram
ISCSI_TPG=$LIO/iscsi/$IQN/tpgt_1
ISCSI_PORT=3260
SRP_PORT=5555

# RAM_PI: type of its protection information, or empty.
RAM_PI=''

ram_disk_up() {
	modprobe -a target_core_mod sd_mod || return 1
	mkdir -p $RAM &&
		echo rd_pages=8192 >$RAM/control &&
		echo 1 >$RAM/enable || return 1
	[ -z "$RAM_PI" ] || echo "$RAM_PI" >$RAM/attrib/pi_prot_type
}
ram_disk_down() { rmdir $RAM ${RAM%/*}; }

# The block device that the initiator made of it.
lio_disk() { scsi_disk vendor LIO-ORG; }
no_lio_disk() { ! lio_disk >/dev/null; }

# ---- iSER ------------------------------------------------------------------

# iser_target_up [ATTRIBUTE=VALUE...]: more of the portal group
iser_target_up() {
	local attribute np=$ISCSI_TPG/np/$A1:$ISCSI_PORT
	modprobe -a iscsi_target_mod ib_isert && ram_disk_up || return 1
	mkdir -p $ISCSI_TPG/lun/lun_0 "$np" || return 1
	ln -s $RAM $ISCSI_TPG/lun/lun_0/ram
	echo 1 >"$np/iser" || return 1
	for attribute in generate_node_acls=1 authentication=0 \
		demo_mode_write_protect=0 cache_dynamic_acls=1 "$@"; do
		echo "${attribute#*=}" >$ISCSI_TPG/attrib/"${attribute%=*}" || return 1
	done
	echo 1 >$ISCSI_TPG/enable
}

iser_target_down() {
	echo 0 >$ISCSI_TPG/enable
	rm $ISCSI_TPG/lun/lun_0/ram
	rmdir $ISCSI_TPG/lun/lun_0 $ISCSI_TPG/np/* $ISCSI_TPG ${ISCSI_TPG%/*} $LIO/iscsi
	ram_disk_down
}

# iscsi_daemon_up [OPTIONS...] of the initiator's module
iscsi_daemon_up() {
	modprobe ib_iser "$@" || return 1
	mkdir -p /run/lock/iscsi
	echo "InitiatorName=iqn.2014-08.org.sirocco:host" >/etc/iscsi/initiatorname.iscsi
	iscsid && iscsi_node -o new
}
iscsi_daemon_down() { iscsiadm -k 0; }

iscsi_node() { iscsiadm -m node -T $IQN -p "$A1:$ISCSI_PORT" -I iser "$@"; }
iser_login() { iscsi_node --login && within 20 lio_disk; }
iser_logout() { iscsi_node --logout && within 20 no_lio_disk; }

# ---- SRP -------------------------------------------------------------------

# The target's port is named after the second half of its first GID. It looks for
# the initiator's rights under the address that the initiator connected to.
srp_tpg() {
	local name
	name=$(cut -d : -f 5- "/sys/class/infiniband/$D1/ports/1/gids/0") || return 1
	echo "$LIO/srpt/$name/$name"
}

srp_target_up() {
	local tpg acl
	modprobe ib_srpt && ram_disk_up && tpg=$(srp_tpg) || return 1
	acl=$tpg/acls/$A1
	mkdir -p "$tpg/lun/lun_0" && mkdir "$acl" "$acl/lun_0" || return 1
	ln -s $RAM "$tpg/lun/lun_0/ram"
	ln -s "$tpg/lun/lun_0" "$acl/lun_0/ram"
	echo $SRP_PORT >$LIO/srpt/discovery_auth/rdma_cm_port &&
		echo 1 >"$tpg/enable" && within 10 cm_listens $SRP_PORT
}

srp_target_down() {
	local tpg acl
	tpg=$(srp_tpg)
	acl=$tpg/acls/$A1
	echo 0 >"$tpg/enable"
	echo 0 >$LIO/srpt/discovery_auth/rdma_cm_port
	rm "$acl/lun_0/ram"
	rmdir "$acl/lun_0" "$acl"
	rm "$tpg/lun/lun_0/ram"
	rmdir "$tpg/lun/lun_0" "$tpg" "${tpg%/*}" $LIO/srpt
	ram_disk_down
}

# srp_login [,OPTION=VALUE...]
srp_login() {
	local guid
	modprobe ib_srp || return 1
	guid=$(cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=${guid#0x}
	echo "id_ext=$guid,ioc_guid=$guid,dest=$A1:$SRP_PORT${1-}" \
		>"/sys/class/infiniband_srp/srp-$D2-1/add_target" &&
		within 20 lio_disk
}
srp_logout() {
	local port
	for port in /sys/class/srp_remote_ports/port-*; do
		echo 1 >"$port/delete" || return 1
	done
	within 20 no_lio_disk
}

# ---- gaps ------------------------------------------------------------------

# disk_with_gaps 0|1: data good, and what it cost. Vectors of whole blocks, and
# SCSI commands from pieces of any multiple of 4 bytes.
disk_with_gaps() {
	local disk
	disk=$(lio_disk)
	check "mixed-$1" fio_verify "$disk" 4m
	check "vector-$1" measured "vector-$1" gappyio vector "$disk"
	check "vector-kind-$1" registered_as_told "vector-$1"
	check "sg-$1" measured "sg-$1" gappyio -u 4 sg "$disk"
	check "sg-kind-$1" registered_as_told "sg-$1"
}

sg_never_copied() { less sg copies && [ "$(cost sg-1 copies)" = 0 ]; }

# After disk_with_gaps 1 and 0.
disk_gaps_compared() {
	check vector-fewer-commands less vector commands
	check vector-fewer-registrations less vector registrations
	check sg-never-copied sg_never_copied
	compared vector commands registrations us
	compared sg commands registrations copies us
}
