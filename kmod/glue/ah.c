// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Address handles: numbered routes. */
#include <linux/slab.h>

#include "verbs.h"

#define SIRO_AH_LIMIT XA_LIMIT(1, 0xffffff)

static void siro_ah_route_free(struct rcu_head *rcu)
{
	struct siro_route *route = container_of(rcu, struct siro_route, rcu);

	siro_route_release(route);
	kfree(route);
}

static struct siro_route *siro_ah_route(struct ib_ah *ibah, const struct rdma_ah_attr *attr,
					gfp_t gfp)
{
	struct siro_route *route;
	int err;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !attr->grh.sgid_attr)
		return ERR_PTR(-EINVAL);

	route = kzalloc(sizeof(*route), gfp);
	if (!route)
		return ERR_PTR(-ENOMEM);

	err = siro_route_init(route, to_siro_dev(ibah->device), attr, 0);
	if (err) {
		kfree(route);
		return ERR_PTR(err);
	}
	route->pd = to_siro_pd(ibah->pd)->number;
	return route;
}

static void siro_ah_set_attr(struct siro_ah *ah, const struct rdma_ah_attr *attr)
{
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL; /* ib_core counts its own copy */
}

/* Connection managers come here with interrupts off. */
static int siro_ah_insert(struct siro_dev *dev, struct siro_ah *ah)
{
	unsigned long flags;
	int ret;

	xa_lock_irqsave(&dev->ahs, flags);
	ret = __xa_alloc_cyclic(&dev->ahs, &ah->number, ah->route, SIRO_AH_LIMIT, &dev->ah_next,
				GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ahs, flags);
	return ret < 0 ? ret : 0;
}

static void siro_ah_remove(struct siro_dev *dev, struct siro_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, ah->number);
	xa_unlock_irqrestore(&dev->ahs, flags);
	call_rcu(&ah->route->rcu, siro_ah_route_free);
}

int siro_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct siro_dev *dev = to_siro_dev(ibah->device);
	struct siro_ah *ah = to_siro_ah(ibah);
	struct siro_create_ah_resp resp = {};
	int err = siro_check_no_request(udata);

	if (err)
		return err;

	ah->route = siro_ah_route(ibah, init->ah_attr, gfp);
	if (IS_ERR(ah->route))
		return PTR_ERR(ah->route);
	siro_ah_set_attr(ah, init->ah_attr);

	err = siro_ah_insert(dev, ah);
	if (err) {
		siro_route_release(ah->route);
		kfree(ah->route);
		return err;
	}

	resp.ah = ah->number;
	if (udata)
		err = siro_copy_response(udata, &resp, sizeof(resp));
	if (err)
		siro_ah_remove(dev, ah);
	return err;
}

int siro_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct siro_dev *dev = to_siro_dev(ibah->device);
	struct siro_route *route = siro_ah_route(ibah, attr, GFP_ATOMIC);
	struct siro_ah *ah = to_siro_ah(ibah);
	unsigned long flags;

	if (IS_ERR(route))
		return PTR_ERR(route);

	/* Replacing an entry allocates nothing. */
	xa_lock_irqsave(&dev->ahs, flags);
	__xa_store(&dev->ahs, ah->number, route, GFP_ATOMIC);
	swap(ah->route, route);
	siro_ah_set_attr(ah, attr);
	xa_unlock_irqrestore(&dev->ahs, flags);
	call_rcu(&route->rcu, siro_ah_route_free);
	return 0;
}

int siro_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_siro_ah(ibah)->attr;
	return 0;
}

int siro_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	siro_ah_remove(to_siro_dev(ibah->device), to_siro_ah(ibah));
	return 0;
}
