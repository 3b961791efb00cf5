// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: life, arming, the engine's end. */
#include "tracepoints.h"
#include "verbs.h"

int siro_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, siro_create_cq_arg *arg)
{
	struct ib_udata *udata = siro_create_cq_udata(arg);
	struct siro_dev *dev = to_siro_dev(ibcq->device);
	struct siro_cq *cq = to_siro_cq(ibcq);
	struct siro_create_cq_resp resp = {};
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > dev->ibdev.attrs.max_cqe ||
	    attr->comp_vector >= dev->ibdev.num_comp_vectors)
		return -EINVAL;
	err = siro_check_no_request(udata);
	if (err)
		return err;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	cq->user = udata;
	cq->number = atomic_inc_return(&dev->cqn_next);
	err = siro_ring_create(&cq->ring, &cq->mem, attr->cqe, sizeof(struct siro_cqe), cq->user,
			       true);
	if (err)
		return err;
	ibcq->cqe = cq->ring.limit;

	if (!udata)
		return 0;

	err = siro_ring_expose(udata, cq->mem, &cq->ring, &cq->mmap, &resp.ring);
	resp.cqn = cq->number;
	err = err ?: siro_copy_response(udata, &resp, sizeof(resp));
	if (err)
		siro_destroy_cq(ibcq, udata);
	return err;
}

int siro_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct siro_cq *cq = to_siro_cq(ibcq);

	siro_mmap_hide(cq->mmap);
	siro_ring_mem_put(cq->mem);
	return 0;
}

static bool siro_cq_wants(const struct siro_cq *cq, const struct siro_cqe *cqe)
{
	if (cq->armed & IB_CQ_NEXT_COMP)
		return true;
	return cq->armed & IB_CQ_SOLICITED &&
	       (cqe->flags & SIRO_WC_SOLICITED || cqe->status != SIRO_WC_SUCCESS);
}

static void siro_cq_overflow(struct siro_cq *cq, struct siro_context *ctx)
{
	if (!cq->overflow)
		ctx->events |= SIRO_EVENT_CQ_ERR;
	cq->overflow = true;
}

void siro_cq_push(struct siro_cq *cq, struct siro_context *ctx, const struct siro_cqe *cqe)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (siro_cq_ring_push(&cq->ring, cqe)) {
		siro_cq_overflow(cq, ctx);
	} else if (siro_cq_wants(cq, cqe)) {
		cq->armed = 0;
		ctx->outcome |= SIRO_OUT_NOTIFY_CQ;
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (cqe->status != SIRO_WC_SUCCESS)
		trace_siro_wc_error(cq->ibcq.device->index, cqe->qp_num, cqe->wr_id, cqe->opcode,
				    cqe->status);
}

/* User space may have written anything to the consumer index. */
static u32 siro_cq_pending(const struct siro_ring *ring)
{
	return min(ring->index - READ_ONCE(ring->header->consumer), ring->slots);
}

int siro_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	unsigned long irq;
	int ret = 0;

	spin_lock_irqsave(&cq->lock, irq);
	cq->armed |= flags & IB_CQ_SOLICITED_MASK;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS && siro_cq_pending(&cq->ring))
		ret = 1;
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

void siro_cq_purge(struct siro_cq *cq, const struct siro_qp *qp)
{
	struct siro_ring *ring = &cq->ring;
	struct siro_cqe *from, *to;
	unsigned long flags;
	u32 i, keep;

	if (cq->user)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	keep = ring->header->consumer;
	for (i = keep; i != ring->index; i++) {
		from = (struct siro_cqe *)siro_ring_entry(ring, i);
		if (from->cookie == (uintptr_t)&qp->ibqp)
			continue;
		to = (struct siro_cqe *)siro_ring_entry(ring, keep++);
		if (to != from)
			*to = *from;
	}
	ring->index = keep;
	ring->header->producer = keep;
	spin_unlock_irqrestore(&cq->lock, flags);
}
