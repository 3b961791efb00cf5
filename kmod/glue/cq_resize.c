// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Resizing of completion queues. */
#include "verbs.h"

struct siro_new_ring {
	struct siro_ring ring;
	struct siro_ring_mem *mem;
	struct siro_mmap_entry *mmap;
};

static void siro_new_ring_free(struct siro_new_ring *new)
{
	siro_mmap_hide(new->mmap);
	siro_ring_mem_put(new->mem);
}

static int siro_new_ring_create(struct siro_new_ring *new, const struct siro_cq *cq, u32 cqe,
				struct ib_udata *udata)
{
	struct siro_resize_cq_resp resp;
	int err;

	err = siro_ring_create(&new->ring, &new->mem, cqe, cq->ring.stride, cq->user, true);
	if (err || !cq->user)
		return err;

	err = siro_ring_expose(udata, new->mem, &new->ring, &new->mmap, &resp.ring);
	err = err ?: siro_copy_response(udata, &resp, sizeof(resp));
	if (err)
		siro_new_ring_free(new);
	return err;
}

/* Completions that nobody has taken move over, in order. */
static int siro_cq_move(struct siro_cq *cq, struct siro_new_ring *new)
{
	struct siro_ring *old = &cq->ring;
	u32 pending = min(old->index - READ_ONCE(old->header->consumer), old->slots);
	u32 first = old->index - pending;
	u32 i;

	if (pending > new->ring.limit)
		return -EINVAL;

	for (i = 0; i < pending; i++)
		memcpy(siro_ring_entry(&new->ring, i), siro_ring_entry(old, first + i),
		       old->stride);
	new->ring.index = pending;
	new->ring.header->producer = pending;
	swap(cq->ring, new->ring);
	swap(cq->mem, new->mem);
	swap(cq->mmap, new->mmap);
	cq->ibcq.cqe = cq->ring.limit;
	return 0;
}

int siro_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	struct siro_new_ring new = {};
	unsigned long flags;
	int err;

	if (cqe < 1 || cqe > ibcq->device->attrs.max_cqe)
		return -EINVAL;
	err = siro_check_no_request(udata);
	if (err)
		return err;

	mutex_lock(&cq->resize_lock);
	err = siro_new_ring_create(&new, cq, cqe, udata);
	if (err)
		goto unlock;

	spin_lock_irqsave(&cq->lock, flags);
	err = siro_cq_move(cq, &new);
	spin_unlock_irqrestore(&cq->lock, flags);
	siro_new_ring_free(&new);
unlock:
	mutex_unlock(&cq->resize_lock);
	return err;
}
