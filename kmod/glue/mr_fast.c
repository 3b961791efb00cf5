// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fast registration: map_mr_sg() fills a staged list, REG_MR makes it the live
 * one, so that a late access under the old key never sees the new pages.
 */
#include <linux/log2.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "verbs.h"

/* The lists come with the first mapping: most regions of a pool are idle. */
static int siro_mr_set_kind(struct siro_mr_obj *obj, enum ib_mr_type type, u32 max_entries)
{
	switch ((int)type) {
	case IB_MR_TYPE_MEM_REG:
		obj->kind = SIRO_MR_FAST;
		obj->mr.layout = SIRO_MR_PAGES;
		break;
	case IB_MR_TYPE_SG_GAPS:
		obj->kind = SIRO_MR_GAPS;
		obj->mr.layout = SIRO_MR_EXTENTS;
		break;
	case (int)SIRO_MR_TYPE_INDIRECT:
		obj->kind = SIRO_MR_LISTED;
		obj->mr.layout = SIRO_MR_INDIRECT;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!max_entries ||
	    max_entries > min(obj->ibmr.device->attrs.max_fast_reg_page_list_len, SIRO_MAX_LIST))
		return -EINVAL;
	obj->max_entries = max_entries;
	return 0;
}

struct ib_mr *siro_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct siro_mr_obj *obj = siro_mr_alloc(ibpd);
	int err;

	if (!obj)
		return ERR_PTR(-ENOMEM);

	err = siro_mr_set_kind(obj, type, max_num_sg) ?: siro_mr_insert(obj);
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
		if (pages >= obj->max_entries)
			return obj->max_entries;
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

	if (obj->staged_count == min(obj->staged_capacity, obj->max_entries))
		return -ENOMEM;
	obj->staged[obj->staged_count++] = address;
	return 0;
}

static int siro_map_pages(struct siro_mr_obj *obj, struct scatterlist *sg, int nents,
			  unsigned int *offset)
{
	struct ib_mr *ibmr = &obj->ibmr;
	unsigned long flags;
	int ret;

	if (!is_power_of_2(ibmr->page_size))
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

int siro_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);

	if (nents <= 0 || (offset && *offset > sg_dma_len(sg)))
		return -EINVAL;
	if (obj->kind == SIRO_MR_FAST)
		return siro_map_pages(obj, sg, nents, offset);
	if (obj->kind == SIRO_MR_GAPS)
		return siro_map_gaps(obj, sg, nents, offset);
	return -EINVAL;
}

static bool siro_pages_fit(const struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	return obj->staged_count && wqe->reg.length <= obj->staged_length &&
	       wqe->reg.iova + wqe->reg.length >= wqe->reg.iova;
}

/* The staged pages become the live ones. The caller holds the lock. */
static bool siro_pages_go_live(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	struct siro_mr *mr = &obj->mr;

	if (!siro_pages_fit(obj, wqe))
		return false;

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
	return true;
}

static bool siro_gaps_go_live(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	if (!siro_mr_list_go_live(obj, obj->staged_list, wqe))
		return false;

	obj->staged_list = NULL;
	return true;
}

static int siro_mr_register(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe, u32 pd)
{
	unsigned long flags;
	bool done = false;

	spin_lock_irqsave(&obj->lock, flags);
	if (obj->mr.state == SIRO_MR_FREE && obj->mr.pd == pd) {
		if (obj->kind == SIRO_MR_FAST)
			done = siro_pages_go_live(obj, wqe);
		else if (obj->kind == SIRO_MR_GAPS)
			done = siro_gaps_go_live(obj, wqe);
		else if (obj->kind == SIRO_MR_INTEGRITY)
			done = siro_mr_signature_go_live(obj, wqe);
	}
	spin_unlock_irqrestore(&obj->lock, flags);
	if (!done)
		return -EINVAL;
	siro_mr_registered(obj);
	return 0;
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

/*
 * A consumer changes a key before it posts the REG. If the post refuses that, it may
 * invalidate a key that the region never had, as rw.c does.
 */
static bool siro_has_no_key(const struct siro_mr_obj *obj)
{
	return obj->kind != SIRO_MR_MKEY && READ_ONCE(obj->mr.state) == SIRO_MR_FREE;
}

static bool siro_may_invalidate(const struct siro_mr_obj *obj, u32 key, u32 pd, bool remote)
{
	if (obj->kind == SIRO_MR_PLAIN || obj->mr.pd != pd)
		return false;
	if (remote && obj->kind == SIRO_MR_MKEY && !obj->remote_invalidate)
		return false;
	return obj->mr.key == key || (!remote && siro_has_no_key(obj));
}

/* INVALID while users leave, so that nobody registers it under them. */
int siro_mr_invalidate(struct siro_mr_obj *obj)
{
	unsigned long flags;
	u32 before;

	spin_lock_irqsave(&obj->lock, flags);
	before = obj->mr.state;
	WRITE_ONCE(obj->mr.state, SIRO_MR_INVALID);
	spin_unlock_irqrestore(&obj->lock, flags);
	if (before == SIRO_MR_INVALID)
		return -EINVAL;

	siro_mr_wait_unused(&obj->mr);
	if (before == SIRO_MR_VALID)
		siro_mr_invalidated(obj);
	if (obj->kind == SIRO_MR_MKEY)
		siro_mkey_clear(&obj->mr);

	/* It may have been destroyed meanwhile: who still finds it must not revive it. */
	spin_lock_irqsave(&obj->lock, flags);
	if (!obj->retired)
		siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
	spin_unlock_irqrestore(&obj->lock, flags);
	return 0;
}

int siro_port_mr_invalidate(void *port, __u32 key, __u32 pd, __u32 remote)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;
	int ret = -EINVAL;

	rcu_read_lock();
	obj = xa_load(&qp->dev->mrs, key >> 8);
	if (obj && siro_may_invalidate(obj, key, pd, remote))
		ret = siro_mr_invalidate(obj);
	rcu_read_unlock();
	return ret;
}
