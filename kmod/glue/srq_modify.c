// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Resizing and limits of shared receive queues. */
#include <linux/uaccess.h>

#include "verbs.h"

struct siro_srq_resize {
	struct siro_ring ring;
	struct siro_ring_mem *mem;
	struct siro_mmap_entry *mmap;
};

static void siro_srq_resize_free(struct siro_srq_resize *new)
{
	siro_mmap_hide(new->mmap);
	siro_ring_mem_put(new->mem);
}

static int siro_srq_resize_expose(struct siro_srq_resize *new, struct ib_udata *udata)
{
	struct siro_modify_srq_req req;
	struct siro_ring_info info;
	int err = siro_copy_request(udata, &req, sizeof(req));

	if (err)
		return err;
	if (!req.resp_addr || req.reserved)
		return -EINVAL;

	err = siro_ring_expose(udata, new->mem, &new->ring, &new->mmap, &info);
	if (!err && copy_to_user(u64_to_user_ptr(req.resp_addr), &info, sizeof(info)))
		err = -EFAULT;
	return err;
}

static int siro_srq_resize_create(struct siro_srq_resize *new, const struct siro_srq *srq,
				  u32 max_wr, struct ib_udata *udata)
{
	int err = siro_ring_create(&new->ring, &new->mem, max_wr, srq->ring.stride, srq->user,
				   true);

	if (err || !srq->user)
		return err;

	err = siro_srq_resize_expose(new, udata);
	if (err)
		siro_srq_resize_free(new);
	return err;
}

/* Receives that nobody has taken move over, in order. */
static int siro_srq_move(struct siro_srq *srq, struct siro_srq_resize *new)
{
	struct siro_ring *old = &srq->ring;
	u32 pending = siro_ring_pending(old);
	u32 i;

	if (pending > new->ring.limit)
		return -EINVAL;

	for (i = 0; i < pending; i++)
		memcpy(siro_ring_entry(&new->ring, i), siro_ring_entry(old, old->index + i),
		       old->stride);
	new->ring.header->producer = pending;
	swap(srq->ring, new->ring);
	swap(srq->mem, new->mem);
	swap(srq->mmap, new->mmap);
	return 0;
}

static int siro_srq_resize(struct siro_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct siro_srq_resize new = {};
	unsigned long flags;
	int err = siro_srq_resize_create(&new, srq, max_wr, udata);

	if (err)
		return err;

	spin_lock_bh(&srq->lock);
	spin_lock_irqsave(&srq->post_lock, flags);
	err = siro_srq_move(srq, &new);
	spin_unlock_irqrestore(&srq->post_lock, flags);
	spin_unlock_bh(&srq->lock);
	siro_srq_resize_free(&new);
	return err;
}

static int siro_srq_check_attr(const struct siro_srq *srq, const struct ib_srq_attr *attr,
			       enum ib_srq_attr_mask mask)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->ring.limit;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (!max_wr || max_wr > srq->ibsrq.device->attrs.max_srq_wr)
		return -EINVAL;
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr)
		return -EINVAL;
	return 0;
}

int siro_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct siro_srq *srq = to_siro_srq(ibsrq);
	int err;

	mutex_lock(&srq->modify_lock);
	err = siro_srq_check_attr(srq, attr, mask);
	if (!err && mask & IB_SRQ_MAX_WR)
		err = siro_srq_resize(srq, attr->max_wr, udata);
	if (!err && mask & IB_SRQ_LIMIT) {
		spin_lock_bh(&srq->lock);
		srq->limit = attr->srq_limit;
		spin_unlock_bh(&srq->lock);
	}
	mutex_unlock(&srq->modify_lock);
	return err;
}
