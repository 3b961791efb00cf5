// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fast registration: map_mr_sg() fills a staged list, REG_MR makes it the live
 * one, so that a late access under the old key never sees the new pages.
 */
#include <linux/log2.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "verbs.h"

struct ib_mr *siro_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct siro_mr_obj *obj;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ibpd->device->attrs.max_fast_reg_page_list_len)
		return ERR_PTR(-EINVAL);

	obj = siro_mr_alloc(ibpd);
	if (!obj)
		return ERR_PTR(-ENOMEM);

	/* The lists come with the first mapping: most regions of a pool are idle. */
	obj->fast = true;
	obj->max_pages = max_num_sg;
	obj->mr.layout = SIRO_MR_PAGES;
	err = siro_mr_insert(obj);
	if (err) {
		siro_mr_free(obj);
		return ERR_PTR(err);
	}
	siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
	return &obj->ibmr;
}

static u32 siro_pages_needed(const struct siro_mr_obj *obj, struct scatterlist *sg, int nents,
			     unsigned int offset)
{
	u32 page_size = obj->ibmr.page_size;
	struct scatterlist *entry;
	u64 pages = 0;
	int i;

	for_each_sg(sg, entry, nents, i) {
		u64 first = sg_dma_address(entry) + (i ? 0 : offset);
		u64 end = sg_dma_address(entry) + sg_dma_len(entry);

		pages += (round_up(end, page_size) - round_down(first, page_size)) / page_size;
		if (pages >= obj->max_pages)
			return obj->max_pages;
	}
	return max(pages, 1ULL);
}

/* The caller may be atomic. */
static int siro_grow_staged(struct siro_mr_obj *obj, u32 pages)
{
	unsigned long flags;
	u64 *list;

	if (obj->staged_capacity >= pages)
		return 0;

	list = kmalloc_array(pages, sizeof(*list), GFP_ATOMIC | __GFP_NOWARN);
	if (!list)
		return -ENOMEM;

	spin_lock_irqsave(&obj->lock, flags);
	swap(obj->staged, list);
	obj->staged_capacity = pages;
	obj->staged_count = 0;
	spin_unlock_irqrestore(&obj->lock, flags);
	kfree(list);
	return 0;
}

static int siro_stage_page(struct ib_mr *ibmr, u64 address)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);

	if (obj->staged_count == min(obj->staged_capacity, obj->max_pages))
		return -ENOMEM;
	obj->staged[obj->staged_count++] = address;
	return 0;
}

int siro_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);
	unsigned long flags;
	int ret;

	if (!obj->fast || nents <= 0 || !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	if (offset && *offset > sg_dma_len(sg))
		return -EINVAL;

	ret = siro_grow_staged(obj, siro_pages_needed(obj, sg, nents, offset ? *offset : 0));
	if (ret)
		return ret;

	/* REG_MR of a confused consumer may run at the same time. */
	spin_lock_irqsave(&obj->lock, flags);
	obj->staged_count = 0;
	ret = ib_sg_to_pages(ibmr, sg, nents, offset, siro_stage_page);
	obj->staged_shift = ilog2(ibmr->page_size);
	obj->staged_offset = ibmr->iova & (ibmr->page_size - 1);
	obj->staged_length = ibmr->length;
	spin_unlock_irqrestore(&obj->lock, flags);
	return ret;
}

static bool siro_mr_can_register(const struct siro_mr_obj *obj, const struct siro_send_wqe *wqe,
				 u32 pd)
{
	return obj->fast && obj->mr.state == SIRO_MR_FREE && obj->mr.pd == pd &&
	       obj->staged_count && wqe->reg.length <= obj->staged_length &&
	       wqe->reg.iova + wqe->reg.length >= wqe->reg.iova;
}

static void siro_mr_go_live(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	struct siro_mr *mr = &obj->mr;

	swap(obj->live, obj->staged);
	swap(obj->live_capacity, obj->staged_capacity);
	mr->pages = obj->live;
	mr->page_count = obj->staged_count;
	mr->page_shift = obj->staged_shift;
	mr->first_offset = obj->staged_offset;
	mr->iova = wqe->reg.iova;
	mr->length = wqe->reg.length;
	mr->access = wqe->reg.access;
	mr->key = wqe->reg.key;
	obj->staged_count = 0;
	siro_mr_set_state(mr, SIRO_MR_VALID);
}

static int siro_mr_register(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe, u32 pd)
{
	unsigned long flags;
	int ret = -EINVAL;

	spin_lock_irqsave(&obj->lock, flags);
	if (siro_mr_can_register(obj, wqe, pd)) {
		siro_mr_go_live(obj, wqe);
		ret = 0;
	}
	spin_unlock_irqrestore(&obj->lock, flags);
	return ret;
}

int siro_port_mr_register(void *port, const struct siro_send_wqe *wqe)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;
	int ret = -EINVAL;

	/* The consumer may have freed the region: only the key is trusted. */
	rcu_read_lock();
	obj = xa_load(&qp->dev->mrs, wqe->reg.key >> 8);
	if (obj && (uintptr_t)&obj->mr == wqe->reg.mr)
		ret = siro_mr_register(obj, wqe, qp->pd);
	rcu_read_unlock();
	return ret;
}

/* INVALID while users leave, so that nobody registers it under them. */
static bool siro_mr_begin_invalidate(struct siro_mr_obj *obj, u32 key, u32 pd)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&obj->lock, flags);
	ok = obj->fast && obj->mr.key == key && obj->mr.pd == pd &&
	     obj->mr.state != SIRO_MR_INVALID;
	if (ok)
		WRITE_ONCE(obj->mr.state, SIRO_MR_INVALID);
	spin_unlock_irqrestore(&obj->lock, flags);
	return ok;
}

int siro_port_mr_invalidate(void *port, __u32 key, __u32 pd)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;
	int ret = -EINVAL;

	rcu_read_lock();
	obj = xa_load(&qp->dev->mrs, key >> 8);
	if (obj && siro_mr_begin_invalidate(obj, key, pd)) {
		siro_mr_wait_unused(&obj->mr);
		siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}
