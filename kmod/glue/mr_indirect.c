// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Indirect registration for kernel users: rdma/sirocco.h. */
#include <linux/slab.h>

#include "verbs.h"

#define SIRO_INDIR_ACCESS                                                          \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |  \
	 IB_ACCESS_REMOTE_ATOMIC)

int siro_query_caps(struct ib_device *device, struct siro_caps *caps)
{
	if (!siro_dev_if_ours(device))
		return -EOPNOTSUPP;

	*caps = (struct siro_caps){
		.device_cap_flags = IB_DEVICE_INDIR_REGISTRATION | IB_DEVICE_SIGNATURE_HANDOVER,
		.max_indir_reg_mr_list_len = SIRO_MAX_LIST,
		.ooo_caps.rc_caps = IB_OOO_RW_DATA_PLACEMENT,
	};
	return 0;
}
EXPORT_SYMBOL_GPL(siro_query_caps);

struct ib_mr *ib_create_mr(struct ib_pd *pd, const struct ib_mr_init_attr *attr)
{
	if (!siro_dev_if_ours(pd->device))
		return ERR_PTR(-EOPNOTSUPP);
	if (attr->max_reg_descriptors < 1)
		return ERR_PTR(-EINVAL);
	if (attr->flags == IB_MR_SIGNATURE_EN)
		return ib_alloc_mr_integrity(pd, attr->max_reg_descriptors,
					     attr->max_reg_descriptors);
	if (attr->flags != IB_MR_INDIRECT_REG)
		return ERR_PTR(-EINVAL);
	return ib_alloc_mr(pd, SIRO_MR_TYPE_INDIRECT, attr->max_reg_descriptors);
}
EXPORT_SYMBOL_GPL(ib_create_mr);

struct ib_indir_reg_list *ib_alloc_indir_reg_list(struct ib_device *device,
						  unsigned int max_indir_list_len)
{
	struct ib_indir_reg_list *list;

	if (!siro_dev_if_ours(device))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_indir_list_len || max_indir_list_len > SIRO_MAX_LIST)
		return ERR_PTR(-EINVAL);

	list = kzalloc(sizeof(*list), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);
	list->sg_list = kvcalloc(max_indir_list_len, sizeof(*list->sg_list), GFP_KERNEL);
	if (!list->sg_list) {
		kfree(list);
		return ERR_PTR(-ENOMEM);
	}
	list->device = device;
	list->max_indir_list_len = max_indir_list_len;
	return list;
}
EXPORT_SYMBOL_GPL(ib_alloc_indir_reg_list);

void ib_free_indir_reg_list(struct ib_indir_reg_list *indir_list)
{
	kvfree(indir_list->sg_list);
	kfree(indir_list);
}
EXPORT_SYMBOL_GPL(ib_free_indir_reg_list);

static bool siro_indir_reg_is_valid(const struct ib_indir_reg_wr *reg)
{
	const u32 remote_change = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	u64 end;

	if (!reg->indir_list || !reg->indir_list_len ||
	    reg->indir_list_len > reg->indir_list->max_indir_list_len)
		return false;
	if (reg->access_flags & ~SIRO_INDIR_ACCESS)
		return false;
	if (reg->access_flags & remote_change && !(reg->access_flags & IB_ACCESS_LOCAL_WRITE))
		return false;
	return reg->length && !check_add_overflow(reg->iova_start, reg->length, &end);
}

/* What a key names may change until it is used; this refuses what is wrong already. */
static bool siro_may_list(struct siro_dev *dev, u32 pd, u32 lkey)
{
	const struct siro_mr_obj *obj = xa_load(&dev->mrs, lkey >> 8);

	return !obj || (obj->mr.pd == pd && obj->mr.layout < SIRO_MR_INDIRECT);
}

static int siro_list_entries(struct siro_dev *dev, u32 pd, struct siro_extents *extents,
			     const struct ib_sge *entry, u32 count)
{
	int err;

	siro_extents_reset(extents, 0);
	for (; count; count--, entry++) {
		if (!siro_may_list(dev, pd, entry->lkey))
			return -EINVAL;
		err = siro_extents_add(extents, entry->addr, entry->length, 0, entry->lkey);
		if (err)
			return err;
	}
	return siro_extents_finish(extents, 1);
}

/* Under RCU: the indirect region that @mkey will name. */
static struct siro_mr_obj *siro_find_indirect(struct siro_dev *dev, u32 pd, u32 mkey)
{
	struct siro_mr_obj *obj = xa_load(&dev->mrs, mkey >> 8);

	return obj && obj->kind == SIRO_MR_LISTED && obj->mr.pd == pd ? obj : NULL;
}

static struct siro_mr_list *siro_list_build(struct siro_dev *dev, u32 pd, struct siro_mr_obj *obj,
					    const struct ib_indir_reg_wr *reg)
{
	struct siro_mr_list *list;
	int err;

	if (reg->indir_list_len > obj->max_entries)
		return ERR_PTR(-EINVAL);
	list = siro_mr_list_take(&obj->spare, reg->indir_list_len);
	if (!list)
		return ERR_PTR(-ENOMEM);

	err = siro_list_entries(dev, pd, &list->extents, reg->indir_list->sg_list,
				reg->indir_list_len);
	if (!err && reg->length > list->extents.row_length)
		err = -EINVAL;
	if (err) {
		siro_mr_list_give(&obj->spare, list);
		return ERR_PTR(err);
	}
	return list;
}

int siro_fill_reg_indir(struct siro_dev *dev, u32 pd, struct siro_send_wqe *wqe,
			const struct ib_indir_reg_wr *reg)
{
	struct siro_mr_list *list = ERR_PTR(-EINVAL);
	struct siro_mr_obj *obj;

	if (!siro_indir_reg_is_valid(reg))
		return -EINVAL;

	rcu_read_lock();
	obj = siro_find_indirect(dev, pd, reg->mkey);
	if (obj)
		list = siro_list_build(dev, pd, obj, reg);
	rcu_read_unlock();
	if (IS_ERR(list))
		return PTR_ERR(list);

	wqe->opcode = SIRO_WR_REG_INDIR_MR;
	wqe->reg.mr = (uintptr_t)list;
	wqe->reg.iova = reg->iova_start;
	wqe->reg.length = reg->length;
	wqe->reg.key = reg->mkey;
	wqe->reg.access = reg->access_flags;
	return 0;
}

/* Consumes the list. Under RCU. */
static int siro_register_list(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	struct siro_mr_list *list = (struct siro_mr_list *)(uintptr_t)wqe->reg.mr;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&obj->lock, flags);
	done = obj->mr.state == SIRO_MR_FREE && siro_mr_list_go_live(obj, list, wqe);
	spin_unlock_irqrestore(&obj->lock, flags);
	if (!done) {
		siro_mr_list_give(&obj->spare, list);
		return -EINVAL;
	}
	siro_mr_registered(obj);
	return 0;
}

int siro_port_mr_register_list(void *port, const struct siro_send_wqe *wqe)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;
	int ret = -EINVAL;

	/* The consumer may have freed the region. */
	rcu_read_lock();
	obj = siro_find_indirect(qp->dev, qp->pd, wqe->reg.key);
	if (obj)
		ret = siro_register_list(obj, wqe);
	else
		siro_port_mr_abandon_list(port, wqe->reg.mr);
	rcu_read_unlock();
	return ret;
}

void siro_port_mr_abandon_list(void *port, __u64 list)
{
	kfree((struct siro_mr_list *)(uintptr_t)list);
}

int siro_register_indir_mr(struct ib_mr *mr, const struct ib_indir_reg_wr *reg)
{
	struct siro_dev *dev = siro_dev_if_ours(mr->device);
	struct siro_mr_obj *obj = to_siro_mr(mr);
	struct siro_send_wqe wqe = {};
	int err;

	if (!dev)
		return -EOPNOTSUPP;
	if (obj->kind != SIRO_MR_LISTED || reg->mkey >> 8 != obj->mr.key >> 8)
		return -EINVAL;
	err = siro_fill_reg_indir(dev, obj->mr.pd, &wqe, reg) ?: siro_register_list(obj, &wqe);
	if (err)
		return err;

	mr->lkey = reg->mkey;
	mr->rkey = reg->mkey;
	return 0;
}
EXPORT_SYMBOL_GPL(siro_register_indir_mr);

int siro_invalidate_mr(struct ib_mr *mr)
{
	struct siro_mr_obj *obj = to_siro_mr(mr);

	if (!siro_dev_if_ours(mr->device))
		return -EOPNOTSUPP;
	if (obj->kind == SIRO_MR_PLAIN)
		return -EINVAL;
	return siro_mr_invalidate(obj);
}
EXPORT_SYMBOL_GPL(siro_invalidate_mr);
