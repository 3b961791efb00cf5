// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reception: whole super-packets from the UDP sockets become batches.
 *
 * The sockets are ordinary ones that accept UDP GSO packets. Their data_ready
 * callback takes the packets at once, in the softirq that brought them. Packets
 * of one flow keep their order: whoever takes a packet of a flow that another
 * CPU is busy with leaves it to that CPU.
 */
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/udp.h>

#include "siro.h"
#include "tracepoints.h"

#define SIRO_RX_FRAGS 256
#define SIRO_RX_BUDGET 64 /* super-packets per softirq call */
#define SIRO_LANE_LIMIT 256
#define SIRO_LANE_BUSY 0

/* What a CPU works with; bottom halves are off. */
struct siro_rx_scratch {
	struct siro_packet packets[SIRO_MAX_BURST_PACKETS];
	struct siro_frag frags[SIRO_RX_FRAGS];
};

/**
 * struct siro_rx - a super-packet being cut into packets
 * @net: where it came in
 * @ip: its IP header
 * @udp: its UDP header
 * @daddr: destination address
 * @family: 4 or 6
 * @frag: piece that holds the next byte
 * @offset: of the next byte in it
 * @left: bytes not cut yet
 * @stride: bytes of a packet
 * @index: of the next packet
 * @first_id: IPv4 id in @ip
 * @ecn: ECN bits in @ip
 * @may_be_fixed: GRO may have merged packets of equal ids
 * @fixed_id: all packets have the IPv4 id of the first
 */
struct siro_rx {
	struct siro_net *net;
	const u8 *ip;
	const u8 *udp;
	const u8 *daddr;
	const struct siro_frag *frag;
	u32 family;
	u32 offset;
	u32 left;
	u32 stride;
	u32 index;
	u16 first_id;
	u8 ecn;
	bool may_be_fixed;
	bool fixed_id;
};

static struct siro_rx_scratch __percpu *siro_rx_scratch;

static void siro_rx_count_error(const struct siro_rx *rx, unsigned int counter, u32 packets)
{
	struct siro_dev *dev = siro_dev_by_address(rx->net, rx->family, rx->daddr);

	if (dev)
		siro_count(dev, counter, packets);
}

/* ---- From skb to pieces ---- */

static int siro_rx_add_frag(struct siro_frag *frags, int count, const void *data, u32 length)
{
	if (!length)
		return count;
	if (count == SIRO_RX_FRAGS || !data)
		return -EINVAL;

	frags[count].data = data;
	frags[count].length = length;
	return count + 1;
}

static int siro_rx_gather_one(const struct sk_buff *skb, struct siro_frag *frags, int count)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	int i;

	count = siro_rx_add_frag(frags, count, skb->data, skb_headlen(skb));
	for (i = 0; i < info->nr_frags && count >= 0; i++)
		count = siro_rx_add_frag(frags, count, skb_frag_address(&info->frags[i]),
					 skb_frag_size(&info->frags[i]));
	return count;
}

/* Return: pieces, or a negative number if there is memory we cannot read. */
static int siro_rx_gather(const struct sk_buff *skb, struct siro_frag *frags)
{
	int count = siro_rx_gather_one(skb, frags, 0);
	const struct sk_buff *member;

	skb_walk_frags(skb, member) {
		if (count < 0)
			break;
		if (skb_has_frag_list(member))
			return -EINVAL;
		count = siro_rx_gather_one(member, frags, count);
	}
	return count;
}

/* ---- From pieces to packets ---- */

static void siro_rx_advance(struct siro_rx *rx, u32 bytes)
{
	rx->left -= bytes;
	rx->offset += bytes;
	while (rx->left && rx->offset >= rx->frag->length) {
		rx->offset -= rx->frag->length;
		rx->frag++;
	}
}

/*
 * GRO merges packets whose ids count up and, if DF is set, packets with equal
 * ids. Nothing in the result tells which, but the ICRC does.
 */
static int siro_rx_parse(struct siro_rx *rx, struct siro_packet *packet)
{
	int counter;

	packet->ip_id = rx->first_id + (rx->fixed_id ? 0 : rx->index);
	counter = siro_packet_parse(packet, rx->family, rx->ip, rx->udp);
	if (counter != SIRO_CNT_ICRC_ERRORS || !rx->may_be_fixed || !rx->index)
		return counter;

	packet->ip_id = rx->first_id + (rx->fixed_id ? rx->index : 0);
	counter = siro_packet_parse(packet, rx->family, rx->ip, rx->udp);
	if (counter < 0)
		rx->fixed_id = !rx->fixed_id;
	return counter;
}

/* Return: 1 if the next packet is good, 0 if it was counted as bad. */
static u32 siro_rx_next(struct siro_rx *rx, struct siro_packet *packet)
{
	int counter;

	packet->frags = rx->frag;
	packet->offset = rx->offset;
	packet->length = min(rx->stride, rx->left);
	packet->ecn = rx->ecn;
	counter = siro_rx_parse(rx, packet);
	siro_rx_advance(rx, packet->length);
	rx->index++;
	if (counter < 0)
		return 1;

	siro_rx_count_error(rx, counter, 1);
	return 0;
}

/* ---- From packets to queue pairs ---- */

static struct siro_qp *siro_rx_find_qp(const struct siro_rx *rx, u32 qpn)
{
	struct siro_dev *dev;
	struct siro_qp *qp;

	if (qpn == 1) {
		dev = siro_dev_by_address(rx->net, rx->family, rx->daddr);
		return dev ? siro_qp_get_gsi(dev) : NULL;
	}

	qp = siro_qp_get(rx->net, qpn);
	if (qp && qp->dev->net != rx->net) {
		siro_qp_put(qp);
		return NULL;
	}
	return qp;
}

static u32 siro_rx_bytes(const struct siro_packet *packets, u32 count)
{
	u32 bytes = 0;
	u32 i;

	for (i = 0; i < count; i++)
		bytes += packets[i].length;
	return bytes;
}

static void siro_rx_deliver(const struct siro_rx *rx, struct siro_packet *packets, u32 count)
{
	struct siro_batch batch = {
		.packets = packets,
		.count = count,
		.family = rx->family,
		.ip_header = rx->ip,
		.udp_header = rx->udp,
	};
	struct siro_qp *qp = siro_rx_find_qp(rx, packets->qpn);
	u32 bytes = siro_rx_bytes(packets, count);

	if (!qp) {
		siro_rx_count_error(rx, SIRO_CNT_UNKNOWN_QP, count);
		return;
	}
	siro_count(qp->dev, SIRO_CNT_RCVD_PKTS, count);
	siro_count(qp->dev, SIRO_CNT_RCVD_BYTES, bytes);
	siro_count(qp->dev, SIRO_CNT_RCVD_BATCHES, 1);
	trace_siro_rx_batch(qp->dev->ibdev.index, qp->qpn, count, bytes);
	siro_qp_receive(qp, &batch);
	siro_qp_put(qp);
}

static bool siro_rx_same_half(const struct siro_packet *a, const struct siro_packet *b)
{
	return a->qpn == b->qpn && a->response == b->response;
}

static void siro_rx_deliver_runs(const struct siro_rx *rx, struct siro_packet *packets, u32 count)
{
	u32 first, end;

	for (first = 0; first < count; first = end) {
		end = first + 1;
		while (end < count && siro_rx_same_half(&packets[first], &packets[end]))
			end++;
		siro_rx_deliver(rx, &packets[first], end - first);
	}
}

/* ---- One super-packet ---- */

static bool siro_rx_init_ipv4(struct siro_rx *rx, const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (skb_transport_offset(skb) - skb_network_offset(skb) != sizeof(*ip) || ip->version != 4)
		return false;

	rx->family = 4;
	rx->daddr = (const u8 *)&ip->daddr;
	rx->first_id = ntohs(ip->id);
	rx->ecn = ip->tos & INET_ECN_MASK;
	rx->may_be_fixed = ip->frag_off & htons(IP_DF);
	return true;
}

static bool siro_rx_init_ipv6(struct siro_rx *rx, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);

	if (skb_transport_offset(skb) - skb_network_offset(skb) != sizeof(*ip6) ||
	    ip6->version != 6)
		return false;

	rx->family = 6;
	rx->daddr = (const u8 *)&ip6->daddr;
	rx->ecn = ipv6_get_dsfield(ip6) & INET_ECN_MASK;
	return true;
}

static bool siro_rx_init_packet(struct siro_rx *rx, const struct sk_buff *skb, u32 family)
{
	rx->ip = skb_network_header(skb);
	rx->udp = skb_transport_header(skb);
	rx->left = skb->len;
	rx->stride = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	return family == AF_INET ? siro_rx_init_ipv4(rx, skb) : siro_rx_init_ipv6(rx, skb);
}

/* The stack reused skb->dev; the header tells the family. */
static u32 siro_rx_family(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? AF_INET : AF_INET6;
}

static void siro_rx_skb(struct siro_net *net, u32 family, const struct sk_buff *skb)
{
	struct siro_rx_scratch *scratch = this_cpu_ptr(siro_rx_scratch);
	struct siro_rx rx = { .net = net };
	u32 count;

	if (!siro_rx_init_packet(&rx, skb, family))
		return;
	if (!rx.left || siro_rx_gather(skb, scratch->frags) < 0) {
		siro_rx_count_error(&rx, SIRO_CNT_MALFORMED_PKTS, 1);
		return;
	}

	rx.frag = scratch->frags;
	while (rx.left) {
		for (count = 0; rx.left && count < SIRO_MAX_BURST_PACKETS;)
			count += siro_rx_next(&rx, &scratch->packets[count]);
		siro_rx_deliver_runs(&rx, scratch->packets, count);
	}
}

static void siro_rx_consume(struct siro_net *net, struct sk_buff *skb)
{
	u32 family = siro_rx_family(skb);
	struct socket *sock = family == AF_INET ? net->sk4 : net->sk6;

	siro_rx_skb(net, family, skb);
	skb_consume_udp(sock->sk, skb, skb->len);
}

static void siro_rx_overflow(struct siro_net *net, struct sk_buff *skb)
{
	struct siro_rx rx = { .net = net };

	if (siro_rx_init_packet(&rx, skb, siro_rx_family(skb)))
		siro_rx_count_error(&rx, SIRO_CNT_RX_OVERFLOW,
				    max_t(u32, skb_shinfo(skb)->gso_segs, 1));
	kfree_skb(skb);
}

/* ---- Lanes ---- */

static bool siro_lane_enter(struct siro_lane *lane)
{
	return !test_and_set_bit_lock(SIRO_LANE_BUSY, &lane->busy);
}

/* Caller has entered. Handles what is queued, then leaves. */
static void siro_lane_run(struct siro_lane *lane, int *budget)
{
	struct sk_buff *skb;

	do {
		while (*budget > 0 && (skb = skb_dequeue(&lane->queue))) {
			siro_rx_consume(lane->net, skb);
			(*budget)--;
		}
		clear_bit_unlock(SIRO_LANE_BUSY, &lane->busy);
		smp_mb__after_atomic(); /* pairs with the one in siro_lane_add() */
		if (skb_queue_empty_lockless(&lane->queue))
			return;
		if (*budget <= 0) {
			queue_work(siro_wq, &lane->work);
			return;
		}
	} while (siro_lane_enter(lane));
}

static void siro_lane_work(struct work_struct *work)
{
	struct siro_lane *lane = container_of(work, struct siro_lane, work);
	int budget = SIRO_RX_BUDGET;

	local_bh_disable();
	rcu_read_lock();
	if (siro_lane_enter(lane))
		siro_lane_run(lane, &budget);
	rcu_read_unlock();
	local_bh_enable();
}

static struct siro_lane *siro_lane_of(struct siro_net *net, const struct sk_buff *skb)
{
	return &net->lanes[hash_32((__force u16)udp_hdr(skb)->source, ilog2(SIRO_LANES))];
}

/* Return: true if the caller now owns the lane and shall run it. */
static bool siro_lane_add(struct siro_lane *lane, struct sk_buff *skb)
{
	if (skb_queue_len_lockless(&lane->queue) >= SIRO_LANE_LIMIT) {
		siro_rx_overflow(lane->net, skb);
		return false;
	}
	skb_queue_tail(&lane->queue, skb);
	smp_mb(); /* either we can enter, or who is in the lane sees the packet */
	return siro_lane_enter(lane);
}

/* ---- Sockets ---- */

/*
 * Takes one packet. Its lane is entered at once if it is free, so that the
 * packet needs no queue; @direct is the packet then.
 * Return: false if the socket is empty. @lane is set if the caller owns it.
 */
static bool siro_rx_take(struct siro_net *net, struct sock *sk, struct siro_lane **lane,
			 struct sk_buff **direct)
{
	struct siro_lane *target;
	struct sk_buff *skb;
	int err;

	*lane = NULL;
	*direct = NULL;
	spin_lock(&net->order);
	skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
	if (skb) {
		target = siro_lane_of(net, skb);
		if (skb_queue_empty_lockless(&target->queue) && siro_lane_enter(target)) {
			*lane = target;
			*direct = skb;
		} else if (siro_lane_add(target, skb)) {
			*lane = target;
		}
	}
	spin_unlock(&net->order);
	return skb;
}

static void siro_rx_drain(struct siro_net *net, struct sock *sk)
{
	int budget = SIRO_RX_BUDGET;
	struct siro_lane *lane;
	struct sk_buff *direct;

	/* Each packet comes with a call, so to leave some behind is no loss. */
	while (budget > 0 && siro_rx_take(net, sk, &lane, &direct)) {
		budget--;
		if (direct)
			siro_rx_consume(net, direct);
		if (lane)
			siro_lane_run(lane, &budget);
	}
}

static void siro_data_ready(struct sock *sk)
{
	struct siro_net *net;

	local_bh_disable();
	rcu_read_lock();
	net = rcu_dereference_sk_user_data(sk);
	if (net)
		siro_rx_drain(net, sk);
	rcu_read_unlock();
	local_bh_enable();
}

static int siro_sock_bind(struct socket *sock, int family)
{
	struct sockaddr_in6 addr6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(SIRO_UDP_PORT),
	};
	struct sockaddr_in addr4 = {
		.sin_family = AF_INET,
		.sin_port = htons(SIRO_UDP_PORT),
	};

	if (family == AF_INET)
		return kernel_bind(sock, (struct sockaddr *)&addr4, sizeof(addr4));
	ip6_sock_set_v6only(sock->sk);
	udp_set_no_check6_rx(sock->sk, true);
	return kernel_bind(sock, (struct sockaddr *)&addr6, sizeof(addr6));
}

static int siro_sock_accept_gso(struct socket *sock)
{
	int on = 1;

	return sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&on), sizeof(on));
}

static void siro_sock_hook(struct siro_net *net, struct sock *sk)
{
	lock_sock(sk);
	sk->sk_allocation = GFP_ATOMIC;
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_rcvbuf, SZ_64M);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, net);
	WRITE_ONCE(sk->sk_data_ready, siro_data_ready);
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

static struct socket *siro_sock_open(struct siro_net *net, int family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(net->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return ERR_PTR(err);

	err = siro_sock_bind(sock, family);
	if (!err)
		err = siro_sock_accept_gso(sock);
	if (err) {
		sock_release(sock);
		return ERR_PTR(err);
	}
	return sock;
}

/* For the causes that an administrator can do something about. */
static void siro_report_open(int err)
{
	if (err == -EADDRINUSE)
		pr_err("sirocco: UDP port %d is in use in this network namespace, by another RoCE driver such as rdma_rxe?\n",
		       SIRO_UDP_PORT);
}

/*
 * The callback stays: without user data it does nothing, and it may still be
 * called until a grace period after the socket is released.
 */
static void siro_sock_unhook(struct socket *sock)
{
	if (!sock)
		return;

	write_lock_bh(&sock->sk->sk_callback_lock);
	rcu_assign_sk_user_data(sock->sk, NULL);
	write_unlock_bh(&sock->sk->sk_callback_lock);
}

int siro_rx_open(struct siro_net *net)
{
	struct socket *sk4, *sk6;

	sk4 = siro_sock_open(net, AF_INET);
	if (IS_ERR(sk4)) {
		siro_report_open(PTR_ERR(sk4));
		return PTR_ERR(sk4);
	}

	sk6 = siro_sock_open(net, AF_INET6);
	if (sk6 == ERR_PTR(-EAFNOSUPPORT))
		sk6 = NULL;
	if (IS_ERR(sk6)) {
		siro_report_open(PTR_ERR(sk6));
		sock_release(sk4);
		return PTR_ERR(sk6);
	}

	net->sk4 = sk4;
	net->sk6 = sk6;
	siro_sock_hook(net, sk4->sk);
	if (sk6)
		siro_sock_hook(net, sk6->sk);
	return 0;
}

/* The caller waits for a grace period before the module may go. */
void siro_rx_close(struct siro_net *net)
{
	struct siro_lane *lane;

	siro_sock_unhook(net->sk4);
	siro_sock_unhook(net->sk6);
	synchronize_net();
	for (lane = net->lanes; lane < net->lanes + SIRO_LANES; lane++) {
		cancel_work_sync(&lane->work);
		skb_queue_purge(&lane->queue);
	}
	sock_release(net->sk4);
	if (net->sk6)
		sock_release(net->sk6);
	net->sk4 = NULL;
	net->sk6 = NULL;
}

void siro_rx_setup(struct siro_net *net)
{
	struct siro_lane *lane;

	spin_lock_init(&net->order);
	for (lane = net->lanes; lane < net->lanes + SIRO_LANES; lane++) {
		skb_queue_head_init(&lane->queue);
		INIT_WORK(&lane->work, siro_lane_work);
		lane->net = net;
	}
}

int siro_rx_init(void)
{
	siro_rx_scratch = alloc_percpu(struct siro_rx_scratch);
	return siro_rx_scratch ? 0 : -ENOMEM;
}

void siro_rx_exit(void)
{
	free_percpu(siro_rx_scratch);
}
