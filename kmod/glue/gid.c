// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which device owns an address: ib_core tells, receivers ask. */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <net/ipv6.h>

#include "siro.h"

struct siro_gid {
	struct hlist_node node;
	struct rcu_head rcu;
	struct siro_dev *dev;
	union ib_gid gid;
	bool own; /* of the link's netdev, not of a VLAN above it */
};

static DEFINE_HASHTABLE(siro_gids, 10);
static DEFINE_SPINLOCK(siro_gids_lock);

static u32 siro_gid_hash(const struct siro_net *net, const union ib_gid *gid)
{
	return jhash(gid->raw, sizeof(gid->raw), (u32)(unsigned long)net);
}

static bool siro_gid_is_own(struct siro_dev *dev, const struct ib_gid_attr *attr)
{
	bool own;

	rcu_read_lock();
	own = rcu_dereference(attr->ndev) == dev->ndev;
	rcu_read_unlock();
	return own;
}

int siro_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct siro_dev *dev = to_siro_dev(attr->device);
	struct siro_gid *entry;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;

	entry->dev = dev;
	entry->gid = attr->gid;
	entry->own = siro_gid_is_own(dev, attr);
	spin_lock_bh(&siro_gids_lock);
	hash_add_rcu(siro_gids, &entry->node, siro_gid_hash(dev->net, &entry->gid));
	spin_unlock_bh(&siro_gids_lock);
	*context = entry;
	return 0;
}

int siro_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct siro_gid *entry = *context;

	spin_lock_bh(&siro_gids_lock);
	hash_del_rcu(&entry->node);
	spin_unlock_bh(&siro_gids_lock);
	kfree_rcu(entry, rcu);
	*context = NULL;
	return 0;
}

static void siro_address_to_gid(u32 family, const u8 *address, union ib_gid *gid)
{
	__be32 ipv4;

	if (family == 6) {
		memcpy(gid->raw, address, sizeof(gid->raw));
		return;
	}
	memcpy(&ipv4, address, sizeof(ipv4));
	ipv6_addr_set_v4mapped(ipv4, (struct in6_addr *)gid->raw);
}

struct siro_dev *siro_dev_by_address(struct siro_net *net, u32 family, const u8 *daddr)
{
	struct siro_dev *found = NULL;
	struct siro_gid *entry;
	union ib_gid gid;

	siro_address_to_gid(family, daddr, &gid);
	hash_for_each_possible_rcu(siro_gids, entry, node, siro_gid_hash(net, &gid)) {
		if (entry->dev->net != net || memcmp(&entry->gid, &gid, sizeof(gid)))
			continue;
		found = entry->dev;
		if (entry->own)
			break;
	}
	return found;
}
