// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Transmission: bursts become skbs with UDP and IP headers. */
#include <linux/ip.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>

#include "siro.h"
#include "siro_compat_net.h"
#include "tracepoints.h"

#define SIRO_UDP_HEADER sizeof(struct udphdr)
#define SIRO_TX_HEADROOM (LL_MAX_HEADER + sizeof(struct ipv6hdr) + SIRO_UDP_HEADER)
/* Up to here a burst is built in the skb's head. */
#define SIRO_TX_SMALL 1536u
#define SIRO_TX_PACKET 4160u
/* Of one link and family: a stuck netdev holds up no other link. */
#define SIRO_TX_LIMIT SZ_32M

static struct socket *siro_tx_sock_open(struct siro_dev *dev, int family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(dev->net->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	return err ? ERR_PTR(err) : sock;
}

int siro_tx_open(struct siro_dev *dev)
{
	struct socket *tx4, *tx6;

	tx4 = siro_tx_sock_open(dev, AF_INET);
	if (IS_ERR(tx4))
		return PTR_ERR(tx4);

	tx6 = siro_tx_sock_open(dev, AF_INET6);
	if (tx6 == ERR_PTR(-EAFNOSUPPORT))
		tx6 = NULL;
	if (IS_ERR(tx6)) {
		sock_release(tx4);
		return PTR_ERR(tx6);
	}

	dev->tx4 = tx4;
	dev->tx6 = tx6;
	return 0;
}

void siro_tx_close(struct siro_dev *dev)
{
	sock_release(dev->tx4);
	if (dev->tx6)
		sock_release(dev->tx6);
}

static bool siro_tx_full(const struct socket *sock)
{
	return sock && sk_wmem_alloc_get(sock->sk) > SIRO_TX_LIMIT;
}

static struct sk_buff *siro_tx_alloc_head(u32 bytes)
{
	struct sk_buff *skb = alloc_skb(SIRO_TX_HEADROOM + bytes, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, SIRO_TX_HEADROOM);
	return skb;
}

/* One run of pages, so that no packet needs more than one piece. */
static struct page *siro_tx_alloc_pages(u32 bytes, unsigned int *order)
{
	unsigned int least = get_order(min(bytes, SIRO_TX_PACKET));
	struct page *page;

	for (*order = get_order(bytes);; (*order)--) {
		page = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY, *order);
		if (page || *order == least)
			return page;
	}
}

static int siro_tx_begin_small(struct siro_tx_burst *burst, u32 bytes)
{
	struct sk_buff *skb = siro_tx_alloc_head(bytes);

	if (!skb)
		return -ENOMEM;

	burst->data = skb->data;
	burst->capacity = bytes;
	burst->cookie = skb;
	return 0;
}

static int siro_tx_begin_large(struct siro_tx_burst *burst, u32 bytes)
{
	struct sk_buff *skb = siro_tx_alloc_head(0);
	unsigned int order;
	struct page *page;

	if (!skb)
		return -ENOMEM;

	page = siro_tx_alloc_pages(bytes, &order);
	if (!page) {
		kfree_skb(skb);
		return -ENOMEM;
	}
	skb_add_rx_frag(skb, 0, page, 0, 0, PAGE_SIZE << order);
	burst->data = page_address(page);
	burst->capacity = min_t(u32, bytes, PAGE_SIZE << order);
	burst->cookie = skb;
	return 0;
}

int siro_port_tx_begin(void *port, struct siro_tx_burst *burst, __u32 bytes)
{
	struct siro_qp *qp = port;

	if (siro_tx_full(qp->dev->tx4) || siro_tx_full(qp->dev->tx6))
		return -EAGAIN;
	if (bytes <= SIRO_TX_SMALL)
		return siro_tx_begin_small(burst, bytes);
	return siro_tx_begin_large(burst, bytes);
}

static void siro_tx_set_length(struct sk_buff *skb, u32 length)
{
	if (!skb_shinfo(skb)->nr_frags) {
		skb_put(skb, length);
		return;
	}
	skb_frag_size_set(&skb_shinfo(skb)->frags[0], length);
	skb->len += length;
	skb->data_len += length;
}

static void siro_tx_push_udp(struct sk_buff *skb, const struct siro_flow *flow)
{
	struct udphdr *udp = skb_push(skb, SIRO_UDP_HEADER);

	skb_reset_transport_header(skb);
	udp->source = htons(flow->source_port);
	udp->dest = htons(SIRO_UDP_PORT);
	udp->len = htons(skb->len);
	udp->check = 0;
}

static void siro_tx_push_ipv4(struct sk_buff *skb, const struct siro_flow *flow, u16 id)
{
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = flow->tos;
	ip->id = htons(id);
	ip->frag_off = htons(IP_DF);
	ip->ttl = flow->ttl;
	ip->protocol = IPPROTO_UDP;
	memcpy(&ip->saddr, flow->saddr, sizeof(ip->saddr));
	memcpy(&ip->daddr, flow->daddr, sizeof(ip->daddr));
	skb->protocol = htons(ETH_P_IP);
	skb->priority = rt_tos2priority(flow->tos);
}

static void siro_tx_push_ipv6(struct sk_buff *skb, const struct siro_flow *flow)
{
	unsigned int length = skb->len;
	struct ipv6hdr *ip6 = skb_push(skb, sizeof(*ip6));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6, flow->tos, htonl(flow->flow_label));
	ip6->payload_len = htons(length);
	ip6->nexthdr = IPPROTO_UDP;
	ip6->hop_limit = flow->ttl;
	memcpy(&ip6->saddr, flow->saddr, sizeof(ip6->saddr));
	memcpy(&ip6->daddr, flow->daddr, sizeof(ip6->daddr));
	skb->protocol = htons(ETH_P_IPV6);
}

/* A checksum of 0 would not survive segmentation: it must be a partial one. */
static void siro_tx_set_gso(struct sk_buff *skb, const struct siro_tx_burst *burst, u32 family)
{
	struct udphdr *udp = udp_hdr(skb);
	unsigned int length = SIRO_UDP_HEADER + burst->length;

	if (family == 4)
		udp->check = ~csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, length,
						IPPROTO_UDP, 0);
	else
		udp->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, length,
					      IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb_shinfo(skb)->gso_size = burst->stride;
	skb_shinfo(skb)->gso_segs = burst->packets;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
}

static void siro_tx_build(struct sk_buff *skb, const struct siro_tx_burst *burst,
			  const struct siro_flow *flow)
{
	siro_tx_set_length(skb, burst->length);
	siro_tx_push_udp(skb, flow);
	if (flow->family == 4)
		siro_tx_push_ipv4(skb, flow, burst->first_id);
	else
		siro_tx_push_ipv6(skb, flow);
	if (burst->packets > 1)
		siro_tx_set_gso(skb, burst, flow->family);
}

static int siro_tx_out(struct siro_net *snet, struct sock *sk, struct sk_buff *skb)
{
	int err;

	if (skb->protocol == htons(ETH_P_IP))
		err = ip_local_out(snet->net, sk, skb);
	else
		err = ip6_local_out(snet->net, sk, skb);
	return net_xmit_eval(err);
}

static int siro_tx_out_split(struct siro_net *snet, struct sock *sk, struct sk_buff *skb)
{
	netdev_features_t features = skb_dst(skb)->dev->features & ~NETIF_F_GSO_MASK;
	struct sk_buff *segments, *segment, *next;
	int err = 0;

	segments = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segments)) {
		kfree_skb(skb);
		return -EINVAL;
	}
	consume_skb(skb);

	skb_list_walk_safe(segments, segment, next) {
		skb_mark_not_on_list(segment);
		err = siro_tx_out(snet, sk, segment) ?: err;
	}
	return err;
}

static bool siro_tx_fits(const struct dst_entry *dst, const struct siro_tx_burst *burst, u32 family)
{
	u32 ip = family == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	return ip + SIRO_UDP_HEADER + burst->stride <= dst_mtu(dst);
}

/* Consumes the skb. Under RCU. */
static int siro_tx_send(struct siro_route *route, struct sk_buff *skb,
			const struct siro_tx_burst *burst)
{
	struct siro_dev *dev = route->dev;
	struct siro_net *snet = dev->net;
	struct socket *sock = route->flow.family == 4 ? dev->tx4 : dev->tx6;
	struct dst_entry *dst = sock ? siro_route_dst(route) : NULL;

	if (!dst || !siro_tx_fits(dst, burst, route->flow.family)) {
		kfree_skb(skb);
		return -EHOSTUNREACH;
	}

	siro_tx_build(skb, burst, &route->flow);
	skb_set_owner_w(skb, sock->sk);
	skb_dst_set_noref(skb, dst);
	if (burst->packets > 1 && route->split)
		return siro_tx_out_split(snet, sock->sk, skb);
	return siro_tx_out(snet, sock->sk, skb);
}

static void siro_tx_count(struct siro_qp *qp, const struct siro_tx_burst *burst, int err)
{
	siro_count(qp->dev, SIRO_CNT_SENT_PKTS, burst->packets);
	siro_count(qp->dev, SIRO_CNT_SENT_BYTES, burst->length);
	siro_count(qp->dev, SIRO_CNT_SENT_BURSTS, 1);
	if (err)
		siro_count(qp->dev, SIRO_CNT_SEND_ERR, 1);
	trace_siro_tx_burst(qp->dev->ibdev.index, qp->qpn, burst->packets, burst->length);
}

void siro_port_tx_commit(void *port, struct siro_tx_burst *burst, const struct siro_flow *flow,
			 __u32 responder)
{
	struct siro_route *route = container_of((struct siro_flow *)flow, struct siro_route, flow);
	struct sk_buff *skb = burst->cookie;
	int err;

	if (!burst->packets) {
		consume_skb(skb);
		return;
	}

	rcu_read_lock();
	err = siro_tx_send(route, skb, burst);
	rcu_read_unlock();
	siro_tx_count(port, burst, err);
}
