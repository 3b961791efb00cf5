# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Helpers for cases, sourced by the guest before each of them. README.md
# describes them for authors of cases.

A1=10.0.0.1 A2=10.0.0.2
A1_6=fd00::1 A2_6=fd00::2
D1=s1 D2=s2
NS1='' NS2=''
CHECK_LIMIT=${CHECK_LIMIT:-120}
# By this factor all limits are longer on a kernel that checks everything.
SLOW=${DEBUG_KERNEL:+6}
SLOW=${SLOW:-1}

# ---- reports -------------------------------------------------------------

# report ok|fail NAME SECONDS [REASON]
report() { echo "$*" >&5; echo "$2" >>/run/reports; }
note() { echo "note $*" >&5; }
log() { echo "### $*" >/dev/kmsg; }

# Runs a command or function, kills all of it after CHECK_LIMIT seconds.
limited() {
	local pid dog rc limit=$((CHECK_LIMIT * SLOW))
	set -m
	("$@") &
	pid=$!
	(sleep $limit; echo "killed after $limit s"
		kill -9 -- -$pid) &
	dog=$!
	set +m
	wait $pid
	rc=$?
	kill -9 -- -$dog 2>/dev/null
	wait $dog 2>/dev/null
	return $rc
}

check() {
	local name=$1 start=$SECONDS rc out=/tmp/check.out
	shift
	[[ $name =~ $ONLY ]] || return 0
	log "check $CASE/$name"
	limited "$@" >$out 2>&1
	rc=$?
	stop_servers
	cat $out
	if [ $rc = 0 ]; then
		report ok "$name" $((SECONDS - start))
	else
		log "failed $CASE/$name"
		report fail "$name" $((SECONDS - start)) "status $rc:"
		grep -avE '^[[:space:]]*$|^[-=]+$|/lib.sh: line .*Killed' $out |
			tail -n 12 | cut -c 1-150 | sed 's/^/said /' >&5
	fi
	return 0
}

# The command must fail, and its output must contain the text.
refused() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "$out"; echo "not refused: $*"
		return 1
	fi
	echo "$out"
	[[ $out == *"$text"* ]] || { echo "wanted '$text', got: $out"; return 1; }
}

# Tries a command until it succeeds, for at most so many seconds.
within() {
	local end=$((SECONDS + $1 * SLOW))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "not within time: $*"; return 1; }
		sleep 0.1
	done
}

# ---- hosts and links -----------------------------------------------------

in_ns() {
	local ns=$1
	shift
	if [ -n "$ns" ]; then ip netns exec "$ns" "$@"; else "$@"; fi
}
in1() { in_ns "$NS1" "$@"; }
in2() { in_ns "$NS2" "$@"; }

link_add() { in_ns "$1" rdma link add "$2" type "$3" netdev "$4"; }
link_exists() { [ -e "/sys/class/infiniband/$1" ]; }
link_del() { ! link_exists "$1" || rdma link delete "$1"; }

# All links, namespaces and test netdevs of earlier topologies go.
topology_none() {
	local d
	for d in /sys/class/infiniband/*; do
		[ -e "$d" ] && rdma link delete "${d##*/}"
	done
	for d in n1 n2 r1 r2; do
		[ -e /run/netns/$d ] && ip netns delete $d
	done
	for d in va vb faults-va faults-vb; do
		[ -e /sys/class/net/$d ] && ip link delete $d 2>/dev/null
	done
	if ip rule | grep -q '^32000:.*local'; then
		for d in -4 -6; do
			ip $d rule add pref 0 lookup local
			ip $d rule del pref 32000
			ip $d rule del pref 10
			ip $d rule del pref 10
			ip $d rule del pref 20
			ip $d rule del pref 20
			ip $d route flush table 101
			ip $d route flush table 102
		done
	fi
	NS1='' NS2=''
	return 0
}

# Not on a kernel that was booted with ipv6.disable=1.
has_ipv6() { [ -e /proc/net/if_inet6 ]; }

netdev_up() {
	local ns=$1 dev=$2 v4=$3 v6=$4
	in_ns "$ns" sysctl -qw net.ipv4.conf."$dev".accept_local=1 \
		net.ipv4.conf."$dev".rp_filter=0
	! has_ipv6 || in_ns "$ns" sysctl -qw net.ipv6.conf."$dev".accept_dad=0
	in_ns "$ns" ip link set "$dev" up mtu 4500
	in_ns "$ns" ip addr add "$v4" dev "$dev"
	! has_ipv6 || in_ns "$ns" ip addr add "$v6" dev "$dev" nodad
}

mac() { cat "/sys/class/net/$1/address"; }

# Makes frames between two addresses of one namespace really cross the veth
# pair: the local table is consulted first for incoming packets only.
policy_routes() {
	sysctl -qw net.ipv4.conf.all.rp_filter=0
	ip neigh replace $A2 lladdr "$(mac vb)" dev va nud permanent
	ip neigh replace $A1 lladdr "$(mac va)" dev vb nud permanent
	ip neigh replace $A2_6 lladdr "$(mac vb)" dev va nud permanent
	ip neigh replace $A1_6 lladdr "$(mac va)" dev vb nud permanent
	ip route add $A2 dev va src $A1 table 102
	ip route add $A1 dev vb src $A2 table 101
	ip -6 route add $A2_6 dev va src $A1_6 table 102
	ip -6 route add $A1_6 dev vb src $A2_6 table 101
	local f a1=$A1 a2=$A2
	for f in -4 -6; do
		[ $f = -6 ] && a1=$A1_6 a2=$A2_6
		ip $f rule add pref 10 iif va lookup local
		ip $f rule add pref 10 iif vb lookup local
		ip $f rule add pref 20 to $a2 lookup 102
		ip $f rule add pref 20 to $a1 lookup 101
		ip $f rule add pref 32000 lookup local
		ip $f rule del pref 0
	done
}

# What the paths of a fabric add to the delay, each way.
PATH_DELAYS="500us 600us 800us 1200us"

fabric_routers() {
	ip netns add r1 && ip netns add r2 && router_settings r1 && router_settings r2 &&
		ip link add va type veth peer name ra netns r1 &&
		ip link add vb type veth peer name rb netns r2 &&
		fabric_paths | ip -batch - && router_up 1 && router_up 2
}
router_settings() {
	in_ns $1 sysctl -qw net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1 \
		net.ipv6.conf.all.forwarding=1 net.ipv6.fib_multipath_hash_policy=1 \
		net.ipv6.conf.default.accept_dad=0
}
fabric_paths() {
	local i=0
	for _ in $PATH_DELAYS; do
		i=$((i + 1))
		echo "link add p$i netns r1 type veth peer name p$i netns r2"
	done
}
router_up() { # NUMBER
	router_addresses "$1" | ip -n r$1 -batch - && router_delays | tc -n r$1 -batch -
}
router_addresses() {
	local i=0
	for _ in $PATH_DELAYS; do
		i=$((i + 1))
		echo "addr add 10.1.$i.$1/24 dev p$i"
		echo "addr add fd01:$i::$1/64 dev p$i nodad"
		echo "link set p$i up mtu 4500"
	done
}
router_delays() {
	local delay i=0
	for delay in $PATH_DELAYS; do
		i=$((i + 1))
		echo "qdisc add dev p$i root netem limit 20000 delay $delay"
	done
}

fabric_routes() {
	fabric_edge 1 $NS1 va ra $A1 $A1_6 $A2 $A2_6 && fabric_edge 2 $NS2 vb rb $A2 $A2_6 $A1 $A1_6
}
# Between a host and its router there are no addresses besides the host's. A burst
# is cut before it leaves the host.
fabric_edge() { # ROUTER HOST NETDEV NETDEV NEAR-ADDRESS... FAR-ADDRESS...
	local r=r$1 far=$((3 - $1)) port via4='' via6='' i=0
	port=$(in_ns $r cat "/sys/class/net/$4/address")
	for _ in $PATH_DELAYS; do
		i=$((i + 1))
		via4+=" nexthop via 10.1.$i.$far" via6+=" nexthop via fd01:$i::$far"
	done
	in_ns "$2" ethtool -K "$3" tx-udp-segmentation off
	ip -n "$2" -batch - <<-END || return 1
		route add $7 dev $3
		route add $8 dev $3
		neigh replace $7 lladdr $port dev $3 nud permanent
		neigh replace $8 lladdr $port dev $3 nud permanent
	END
	port=$(in_ns "$2" cat "/sys/class/net/$3/address")
	ip -n $r -batch - <<-END
		link set $4 up mtu 4500
		route add $5 dev $4
		route add $6 dev $4
		neigh replace $5 lladdr $port dev $4 nud permanent
		neigh replace $6 lladdr $port dev $4 nud permanent
		route add $7 $via4
		route add $8 $via6
	END
}

# topology KIND: two links s1 (10.0.0.1, fd00::1) and s2 (10.0.0.2, fd00::2)
#   pair     one in each of two namespaces, joined by a veth pair
#   host     both in the initial namespace: traffic is local
#   wire     both in the initial namespace, traffic crosses the veth pair
#   interop  s1 in a namespace, s2 an rdma_rxe link in the initial one
#   fabric   as pair, but between the two are routers r1 and r2, which choose among
#            the paths p1, p2... for each UDP source port or IPv6 flow label
topology() {
	local type2=$LINK_TYPE p4=24 p6=64
	topology_none
	TOPOLOGY=$1
	[ "$1" != none ] || return 0
	# rdma_rxe has its socket in the initial namespace only and drops local
	# traffic, so it can be tested one way alone.
	[ "$LINK_TYPE" = rxe ] && TOPOLOGY=wire
	case $TOPOLOGY in
	pair) NS1=n1 NS2=n2 ;;
	fabric) NS1=n1 NS2=n2 p4=32 p6=128 ;;
	interop) NS1=n1 type2=rxe; modprobe rdma_rxe || return 1 ;;
	wire) p4=32 p6=128 ;;
	esac
	[ "$TOPOLOGY" = interop ] || [ "$LINK_TYPE" = rxe ] ||
		modprobe -qr rdma_rxe
	if [ "$TOPOLOGY" = fabric ]; then
		fabric_routers
	else
		ip link add va type veth peer name vb
	fi || return 1
	if [ -n "$NS1" ]; then
		ip netns add $NS1 && ip link set va netns $NS1
		in1 ip link set lo up
	fi
	if [ -n "$NS2" ]; then
		ip netns add $NS2 && ip link set vb netns $NS2
		in2 ip link set lo up
	fi
	netdev_up "$NS1" va $A1/$p4 $A1_6/$p6
	netdev_up "$NS2" vb $A2/$p4 $A2_6/$p6
	[ "$TOPOLOGY" = wire ] && policy_routes
	[ "$TOPOLOGY" != fabric ] || fabric_routes || return 1
	link_add "$NS1" $D1 "$LINK_TYPE" va &&
		link_add "$NS2" $D2 "$type2" vb &&
		links_ready && resources_base
}

# The same in the body of a case: there, unlike in a check, which is a process
# of its own, it may not fail unseen.
hosts() { topology "$1" || report fail "topology-$1" 0 "links are not ready"; }

links_ready() {
	within 20 has_gid $D1 $A1 && within 20 has_gid $D2 $A2 || return 1
	! has_ipv6 || { within 20 has_gid $D1 $A1_6 && within 20 has_gid $D2 $A2_6; } ||
		return 1
	within 20 link_active $D1 && within 20 link_active $D2
}

link_active() {
	grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state" 2>/dev/null
}

# An address as sysfs writes GIDs.
gid_text() {
	local left right a=() i
	if [[ $1 == *.* ]]; then
		IFS=. read -ra a <<<"$1"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "${a[@]}"
		return
	fi
	left=${1%%::*} right=''
	[[ $1 == *::* ]] && right=${1##*::}
	IFS=: read -ra left <<<"$left"
	IFS=: read -ra right <<<"$right"
	a=("${left[@]}")
	for ((i = ${#left[@]} + ${#right[@]}; i < 8; i++)); do a+=(0); done
	a+=("${right[@]}")
	printf '%04x' "0x${a[0]}"
	printf ':%04x' "${a[@]/#/0x}" | cut -c 6-
}

# gid DEV ADDRESS: its index in the GID table.
gid() {
	local want have i
	want=$(gid_text "$2")
	for ((i = 0; i < 32; i++)); do
		# An index without a GID cannot be read.
		{ read -r have <"/sys/class/infiniband/$1/ports/1/gids/$i"; } \
			2>/dev/null || continue
		[ "$have" = "$want" ] && echo $i && return
	done
	return 1
}
has_gid() { gid "$1" "$2" >/dev/null; }

# ---- servers and clients -------------------------------------------------

SERVERS=/tmp/servers

tcp_listens() { [ -n "$(in_ns "$1" ss -Hltn "sport = :$2")" ]; }
# Listeners of the kernel clients show up here too.
cm_listens() { rdma resource show cm_id | grep -q "LISTEN.*:$1 "; }

# start NAMESPACE COMMAND...: in the background, with $! the command's own id
# (a function run in the background would be a shell's).
start() {
	local ns=$1
	shift
	if [ -n "$ns" ]; then ip netns exec "$ns" "$@" & else "$@" & fi
}

# serve HOST READY COMMAND...: starts a server on host 1 or 2 and returns when
# it can be connected to. READY is tcp:PORT, cm:PORT or -.
# Its process id is then in SERVER.
serve() {
	local ns ready=$2
	case $1 in 1) ns=$NS1 ;; *) ns=$NS2 ;; esac
	shift 2
	start "$ns" "$@"
	SERVER=$!
	echo $SERVER >>$SERVERS
	within 30 server_ready "$ns" "$ready"
}
server_ready() {
	kill -0 $SERVER 2>/dev/null || { echo "the server died"; return 0; }
	case $2 in
	tcp:*) tcp_listens "$1" "${2#*:}" ;;
	cm:*) cm_listens "${2#*:}" ;;
	esac
}

stop_servers() {
	local pid
	[ -f $SERVERS ] || return 0
	while read -r pid; do
		kill -9 "$pid" 2>/dev/null
	done <$SERVERS
	rm -f $SERVERS
}

# client_of READY SERVER... -- CLIENT...: server on host 1, client on host 2,
# which must end with status 0. The server is of the kind that never ends.
client_of() {
	local ready=$1 server=()
	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	serve 1 "$ready" "${server[@]}" || return 1
	in2 "$@" || { echo "client: status $?"; sleep 1; return 1; }
}

# duo READY SERVER... -- CLIENT...: both must end with status 0.
duo() {
	client_of "$@" || return 1
	wait $SERVER || { echo "server: status $?"; return 1; }
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# perf PROGRAM ARGS...: of perftest, server on host 1. A long acknowledge timeout
# (-u, 4 us * 2^18): an emulated CPU may stand still for a good part of a second.
perf() {
	measured perf_once "$@"
}
perf_once() {
	local program=$1
	shift
	duo tcp:18515 "$program" -d $D1 -x "$(gid $D1 $A1)" -F -u 18 "$@" -- \
		"$program" -d $D2 -x "$(gid $D2 $A2)" -F -u 18 "$@" $A1
}

# perftest measures the rate of the CPU's counter first. On a busy host that may fail
# ("Correlation coefficient"), and then it has no figures to show: once more.
measured() {
	local out rc
	for _ in 1 2 3 4 5; do
		out=$("$@" 2>&1)
		rc=$?
		echo "$out"
		! has_figures "$out" || return $rc
		grep -q "Correlation coefficient" <<<"$out" || break
		stop_servers
	done
	# The programs end with 0 after some failures.
	echo "no figures"
	return 1
}
has_figures() { grep -Eq '^ *[0-9]+ +[0-9]+ +[0-9]' <<<"$1"; }

# ---- the peer guest (cases with a line "# peer") --------------------------

PEER=10.1.0.2 SELF=10.1.0.1 DP=p1

# A Sirocco link on the cable to the peer guest, in the initial namespace.
peer_up() {
	topology none
	modprobe virtio_net && ip link set eth0 up mtu 4500 &&
		ip addr replace $SELF/24 dev eth0 &&
		rdma link add $DP type "$LINK_TYPE" netdev eth0 &&
		within 10 has_gid $DP $SELF && within 60 on_peer true
}

# on_peer COMMAND...: runs it in the other guest.
on_peer() {
	local line status=1
	exec 8<>/dev/tcp/$PEER/9999 || return 1
	printf '%q ' "$@" >&8
	echo >&8
	while IFS= read -r line <&8; do
		case $line in
		'status '*) status=${line#status } ;;
		*) echo "$line" ;;
		esac
	done
	exec 8>&-
	return "$status"
}

# ---- counters, faults, kernel log ----------------------------------------

counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# netem ARGS...: the same faults in both directions; without ARGS, none. They hit
# single packets where they arrive: on its way out a burst is still one packet.
netem() {
	faults_at "$NS1" va "$@" && faults_at "$NS2" vb "$@"
}
faults_at() { # NAMESPACE NETDEV ARGS...
	local ns=$1 dev=$2
	shift 2
	in_ns "$ns" tc qdisc del dev "$dev" clsact 2>/dev/null
	in_ns "$ns" ip link del faults-"$dev" 2>/dev/null
	in_ns "$ns" ethtool -K "$dev" tx-udp-segmentation $([ $# = 0 ] && echo on || echo off)
	[ $# = 0 ] && return 0
	in_ns "$ns" ip link add faults-"$dev" type ifb &&
		in_ns "$ns" ip link set faults-"$dev" up mtu 4500 &&
		in_ns "$ns" tc qdisc add dev faults-"$dev" root netem limit 20000 "$@" &&
		in_ns "$ns" tc qdisc add dev "$dev" clsact &&
		in_ns "$ns" tc filter add dev "$dev" ingress matchall \
			action mirred egress redirect dev faults-"$dev"
}

# scsi_disk FIELD BEGINNING: the first whose vendor or model begins so.
scsi_disk() {
	local d
	for d in /sys/block/sd*; do
		grep -q "^$2" "$d/device/$1" 2>/dev/null || continue
		[ -b "/dev/${d##*/}" ] && { echo "/dev/${d##*/}"; return; }
	done
	return 1
}

# What the kernel logged since the last kernel_log_mark.
kernel_log_mark() {
	MARK="mark-$CASE-$RANDOM$RANDOM"
	log "$MARK"
}
kernel_log() { dmesg | sed "1,/${1:-$MARK}/d" | grep -v '] ###'; }
kernel_log_clean() {
	local found
	found=$(kernel_log "$FIRST_MARK" | grep -Ef /sirocco/bad |
		grep -vFf /sirocco/allow)
	[ -z "$found" ] || { echo "$found"; return 1; }
}
# On a kernel that looks for leaks. Two scans: what the first finds may be in a
# register or just being freed. What was told once is not told again.
kernel_leaks_nothing() {
	local leaks=/sys/kernel/debug/kmemleak rc
	[ -e $leaks ] || return 0
	echo scan >$leaks && sleep 5 && echo scan >$leaks && ! grep . $leaks
	rc=$?
	echo clear >$leaks
	return $rc
}
kernel_log_silent() {
	local found
	found=$(kernel_log)
	[ -z "$found" ] || { echo "logged: $found"; return 1; }
}

# What ib_core itself holds of each link (QP1 and its like) is written down
# when links are made; anything beyond that belongs to a client. CQs do not
# count: the core keeps those of kernel clients in a pool.
resources() {
	rdma resource show | sed 's/^[0-9]*: //; s/ cq [0-9]*//; s/ *$//'
}
resources_base() { resources >/tmp/resources; }
resources_idle() {
	local found
	found=$(resources | grep -vxFf /tmp/resources)
	[ -z "$found" ] || { echo "still there: $found"; return 1; }
}

kernel_log_mark
FIRST_MARK=$MARK
