// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Paths: addresses from an address handle, the route to them. */
#include <linux/hash.h>
#include <linux/random.h>
#include <net/inet_ecn.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "siro.h"

#define SIRO_FLOW_LABEL_BITS 20

static struct dst_entry *siro_lookup4(struct net *net, const struct siro_flow *flow, int oif)
{
	struct flowi4 fl = {
		.daddr = *(const __be32 *)flow->daddr,
		.saddr = *(const __be32 *)flow->saddr,
		.flowi4_oif = oif,
		.flowi4_tos = flow->tos & ~INET_ECN_MASK,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_sport = htons(flow->source_port),
		.fl4_dport = htons(SIRO_UDP_PORT),
	};
	struct rtable *rt = ip_route_output_key(net, &fl);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *siro_lookup6(struct siro_net *snet, const struct siro_flow *flow, int oif)
{
	struct flowi6 fl = {
		.daddr = *(const struct in6_addr *)flow->daddr,
		.saddr = *(const struct in6_addr *)flow->saddr,
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(flow->tos, htonl(flow->flow_label)),
		.fl6_sport = htons(flow->source_port),
		.fl6_dport = htons(SIRO_UDP_PORT),
	};
	struct dst_entry *dst;

	if (!snet->sk6)
		return NULL;

	dst = ipv6_stub->ipv6_dst_lookup_flow(snet->net, snet->sk6->sk, &fl, NULL);
	if (IS_ERR(dst))
		return NULL;
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	return dst;
}

static struct dst_entry *siro_lookup(const struct siro_route *route, int oif)
{
	struct siro_net *snet = route->dev->net;

	return route->flow.family == 4 ? siro_lookup4(snet->net, &route->flow, oif) :
					 siro_lookup6(snet, &route->flow, oif);
}

static bool siro_dst_is_local(const struct siro_route *route, const struct dst_entry *dst)
{
	if (route->flow.family == 4)
		return container_of(dst, struct rtable, dst)->rt_type == RTN_LOCAL;
	return container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_LOCAL;
}

static bool siro_is_link_local(const struct siro_flow *flow)
{
	return flow->family == 6 &&
	       ipv6_addr_type((const struct in6_addr *)flow->daddr) & IPV6_ADDR_LINKLOCAL;
}

/*
 * Another link of this namespace is reached by way of lo. All else leaves
 * through the netdev of the source address if there is a route through it.
 */
static struct dst_entry *siro_find_dst(const struct siro_route *route)
{
	struct dst_entry *any, *through;

	if (siro_is_link_local(&route->flow))
		return siro_lookup(route, route->oif);

	any = siro_lookup(route, l3mdev_master_ifindex_by_index(route->dev->net->net, route->oif));
	if (any && (siro_dst_is_local(route, any) || any->dev->ifindex == route->oif))
		return any;

	through = siro_lookup(route, route->oif);
	if (!through)
		return any;
	dst_release(any);
	return through;
}

/* Hardware need not count the IPv4 id up when it cuts a burst. */
static int siro_segments_in_hardware(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	return ndev->dev.parent && ndev->features & NETIF_F_GSO_UDP_L4;
}

static bool siro_must_split(const struct siro_route *route, struct net_device *ndev)
{
	struct netdev_nested_priv priv = {};

	if (route->flow.family != 4)
		return false;
	return siro_segments_in_hardware(ndev, &priv) ||
	       netdev_walk_all_lower_dev_rcu(ndev, siro_segments_in_hardware, &priv);
}

static u32 siro_dst_cookie(const struct siro_route *route, const struct dst_entry *dst)
{
	if (route->flow.family == 4)
		return 0;
	return rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}

static struct dst_entry *siro_route_renew(struct siro_route *route)
{
	struct dst_entry *dst = siro_find_dst(route);

	if (dst) {
		route->split = siro_must_split(route, dst->dev);
		WRITE_ONCE(route->dst_cookie, siro_dst_cookie(route, dst));
	}
	/* Address handles are shared: others may look at the old one under RCU. */
	dst_release(unrcu_pointer(xchg(&route->dst, RCU_INITIALIZER(dst))));
	return dst;
}

struct dst_entry *siro_route_dst(struct siro_route *route)
{
	struct dst_entry *dst = rcu_dereference(route->dst);

	if (likely(dst && dst_check(dst, READ_ONCE(route->dst_cookie))))
		return dst;
	return siro_route_renew(route);
}

static int siro_set_addresses(struct siro_flow *flow, const struct ib_gid_attr *sgid_attr,
			      const union ib_gid *dgid)
{
	bool ipv4 = ipv6_addr_v4mapped((const struct in6_addr *)dgid->raw);

	if (ipv4 != (rdma_gid_attr_network_type(sgid_attr) == RDMA_NETWORK_IPV4))
		return -EINVAL;

	if (ipv4) {
		flow->family = 4;
		memcpy(flow->saddr, sgid_attr->gid.raw + 12, 4);
		memcpy(flow->daddr, dgid->raw + 12, 4);
	} else {
		flow->family = 6;
		memcpy(flow->saddr, sgid_attr->gid.raw, sizeof(flow->saddr));
		memcpy(flow->daddr, dgid->raw, sizeof(flow->daddr));
	}
	return 0;
}

static int siro_source_ifindex(struct siro_dev *dev, const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev;
	int ifindex;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
	ifindex = IS_ERR(ndev) ? dev->ndev->ifindex : ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

int siro_route_init(struct siro_route *route, struct siro_dev *dev, const struct rdma_ah_attr *attr,
		    u32 qpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	u32 label = grh->flow_label ?: hash_32(qpn, SIRO_FLOW_LABEL_BITS);
	struct siro_flow *flow = &route->flow;
	int err;

	memset(flow, 0, sizeof(*flow));
	err = siro_set_addresses(flow, grh->sgid_attr, &grh->dgid);
	if (err)
		return err;

	flow->tos = grh->traffic_class;
	flow->ttl = grh->hop_limit ?: IPV6_DEFAULT_HOPLIMIT;
	flow->source_port = rdma_flow_label_to_udp_sport(label);
	flow->next_id = (u16)get_random_u32();
	flow->flow_label = grh->flow_label;
	route->dev = dev;
	route->oif = siro_source_ifindex(dev, grh->sgid_attr);
	RCU_INIT_POINTER(route->dst, NULL);

	/* Without interrupts the routing tables are off limits: the first burst looks. */
	if (irqs_disabled())
		return 0;
	rcu_read_lock();
	siro_route_renew(route);
	rcu_read_unlock();
	return 0;
}

void siro_route_diverge(struct siro_route *route, u32 index)
{
	struct siro_flow *flow = &route->flow;
	u32 label = hash_32(flow->source_port + (index << 16), SIRO_FLOW_LABEL_BITS);

	flow->source_port = rdma_flow_label_to_udp_sport(label);
	if (flow->family == 6)
		flow->flow_label = label;
	flow->next_id = (u16)get_random_u32();
	RCU_INIT_POINTER(route->dst, NULL); /* looked up by the first burst */
}

void siro_route_release(struct siro_route *route)
{
	dst_release(unrcu_pointer(xchg(&route->dst, NULL)));
}
