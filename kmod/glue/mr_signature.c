// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The state of signature regions, and what the engine asks of it. */
#include <linux/slab.h>

#include "tracepoints.h"
#include "verbs.h"

/* Open blocks of one region: early packets of a whole window leave two each. */
#define SIRO_SIG_FIRST_SPILL 16u
#define SIRO_SIG_MAX_SPILL (2 * SIRO_RX_WINDOW)

static_assert(SIRO_SIG_MAX_SPILL <= SIRO_SIG_MOST_SPILL);

struct siro_signature *siro_mr_signature_get(struct siro_mr_obj *obj, gfp_t gfp)
{
	/* pairs with cmpxchg() below */
	struct siro_signature *before = smp_load_acquire(&obj->mr.signature);
	struct siro_mr_signature *signature;

	if (before)
		return before;
	signature = kzalloc(sizeof(*signature), gfp | __GFP_NOWARN);
	if (!signature)
		return NULL;

	spin_lock_init(&signature->lock);
	signature->obj = obj;
	before = cmpxchg(&obj->mr.signature, NULL, &signature->engine);
	if (!before)
		return &signature->engine;
	kfree(signature);
	return before;
}

void siro_mr_signature_free(struct siro_mr_obj *obj)
{
	if (!obj->mr.signature)
		return;
	kfree(obj->mr.signature->blocks.spill);
	kfree(to_siro_mr_signature(obj->mr.signature));
}

/* A list of one entry that names a region; its memory is @extent. */
static int siro_list_one(struct siro_extents *list, struct siro_extent *extent,
			 const struct siro_sge *sge)
{
	list->extents = extent;
	list->capacity = 1;
	siro_extents_reset(list, 0);
	if (!sge->length)
		return 0;
	return siro_extents_add(list, sge->addr, sge->length, 0, sge->lkey) ?:
	       siro_extents_finish(list, 1);
}

static void siro_list_set(struct siro_extents *to, const struct siro_mr_list *list)
{
	*to = list ? list->extents : (struct siro_extents){};
}

int siro_signature_fill(struct siro_signature *signature, const struct siro_sig_conf *conf,
			const struct siro_mr_obj *obj, struct siro_extent *named)
{
	signature->memory = conf->memory;
	signature->wire = conf->wire;
	signature->check_mask = conf->check_mask;
	signature->copy_mask = 0;
	signature->flags = conf->flags;
	if (!(conf->flags & SIRO_SIG_KERNEL_LISTS))
		return siro_list_one(&signature->data, &named[0], &conf->data) ?:
		       siro_list_one(&signature->metadata, &named[1], &conf->metadata);

	if (!obj->staged_list)
		return -EINVAL;
	siro_list_set(&signature->data, obj->staged_list);
	siro_list_set(&signature->metadata, obj->staged_meta);
	return 0;
}

static void siro_lists_go_live(struct siro_mr_obj *obj, const struct siro_sig_conf *conf)
{
	if (!(conf->flags & SIRO_SIG_KERNEL_LISTS))
		return;
	swap(obj->live_meta, obj->staged_meta);
	swap(obj->live_list, obj->staged_list);
	siro_mr_list_give(&obj->spare_meta, obj->staged_meta);
	siro_mr_list_give(&obj->spare, obj->staged_list);
	obj->staged_meta = NULL;
	obj->staged_list = NULL;
}

/* REG_MR_INTEGRITY, with the lock of a free region held. */
bool siro_mr_signature_go_live(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe)
{
	const struct siro_sig_conf *conf = (const struct siro_sig_conf *)(wqe + 1);
	struct siro_signature *signature = obj->mr.signature;
	struct siro_mr *mr = &obj->mr;
	u64 end;

	if (!signature ||
	    siro_signature_fill(signature, conf, obj, to_siro_mr_signature(signature)->named) ||
	    siro_signature_prepare(signature) ||
	    check_add_overflow(wqe->reg.iova, signature->wire_length, &end))
		return false;

	siro_lists_go_live(obj, conf);
	signature->key = wqe->reg.key;
	mr->iova = wqe->reg.iova;
	mr->length = signature->wire_length;
	mr->access = wqe->reg.access;
	mr->key = wqe->reg.key;
	siro_mr_set_state(mr, SIRO_MR_VALID);
	return true;
}

/* ---- Port functions ---- */

void siro_port_signature_lock(void *port, struct siro_signature *signature)
{
	spin_lock(&to_siro_mr_signature(signature)->lock);
}

void siro_port_signature_unlock(void *port, struct siro_signature *signature)
{
	spin_unlock(&to_siro_mr_signature(signature)->lock);
}

int siro_port_signature_grow(void *port, struct siro_signature *signature)
{
	struct siro_sig_blocks *blocks = &signature->blocks;
	u32 count = blocks->spill_count ? 2 * blocks->spill_count : SIRO_SIG_FIRST_SPILL;
	struct siro_ucontext *uc = to_siro_mr_signature(signature)->slot.uc;
	u32 more = (count - blocks->spill_count) * (u32)sizeof(struct siro_sig_block);
	struct siro_sig_block *larger;

	if (count > SIRO_SIG_MAX_SPILL || (uc && siro_mkey_charge(uc, more)))
		return -ENOMEM;
	larger = krealloc_array(blocks->spill, count, sizeof(*larger),
				GFP_ATOMIC | __GFP_NOWARN);
	if (!larger) {
		if (uc)
			siro_mkey_uncharge(uc, more);
		return -ENOMEM;
	}
	blocks->spill = larger;
	blocks->spill_count = count;
	return 0;
}

void siro_port_signature_error(void *port, struct siro_signature *signature,
			       const struct siro_sig_error *error, __u32 latched)
{
	struct siro_status_slot *slot = &to_siro_mr_signature(signature)->slot;
	struct siro_qp *qp = port;

	if (latched && slot->status)
		siro_status_write(slot, error);
	trace_siro_sig_error(qp->ibqp.device->index, qp->qpn, error->key, error->type,
			     error->domain, error->expected, error->actual, error->offset,
			     latched);
}
