// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues. */
#include "verbs.h"

static int siro_srq_check(struct siro_dev *dev, const struct ib_srq_init_attr *init)
{
	const struct ib_device_attr *limits = &dev->ibdev.attrs;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > limits->max_srq_wr ||
	    init->attr.max_sge > limits->max_srq_sge || init->attr.srq_limit > init->attr.max_wr)
		return -EINVAL;
	return 0;
}

int siro_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct siro_dev *dev = to_siro_dev(ibsrq->device);
	struct siro_srq *srq = to_siro_srq(ibsrq);
	struct siro_create_srq_resp resp = {};
	int err;

	err = siro_srq_check(dev, init) ?: siro_check_no_request(udata);
	if (err)
		return err;

	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post_lock);
	mutex_init(&srq->modify_lock);
	srq->user = udata;
	srq->number = atomic_inc_return(&dev->srqn_next);
	srq->max_sge = max(init->attr.max_sge, 1u);
	srq->limit = init->attr.srq_limit;
	err = siro_ring_create(&srq->ring, &srq->mem, init->attr.max_wr,
			       siro_recv_stride(srq->max_sge), srq->user, true);
	if (err)
		return err;
	init->attr.max_sge = srq->max_sge;

	if (!udata)
		return 0;

	err = siro_ring_expose(udata, srq->mem, &srq->ring, &srq->mmap, &resp.ring);
	resp.srqn = srq->number;
	err = err ?: siro_copy_response(udata, &resp, sizeof(resp));
	if (err)
		siro_destroy_srq(ibsrq, udata);
	return err;
}

int siro_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct siro_srq *srq = to_siro_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->ring.limit;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int siro_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct siro_srq *srq = to_siro_srq(ibsrq);

	siro_mmap_hide(srq->mmap);
	siro_ring_mem_put(srq->mem);
	return 0;
}

int siro_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct siro_srq *srq = to_siro_srq(ibsrq);
	const struct ib_recv_wr *next;
	unsigned long flags;
	int err = 0;

	if (srq->user) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}

	spin_lock_irqsave(&srq->post_lock, flags);
	for (; wr; wr = next) {
		next = wr->next;
		err = siro_post_one_recv(&srq->ring, srq->max_sge, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&srq->post_lock, flags);
	return err;
}

int siro_srq_take(struct siro_srq *srq, struct siro_context *ctx, struct siro_recv_wqe *wqe,
		  struct siro_sge *sges)
{
	int ret;

	spin_lock(&srq->lock);
	ret = siro_recv_ring_take(&srq->ring, wqe, sges);
	if (ret && srq->limit && siro_ring_pending(&srq->ring) < srq->limit) {
		srq->limit = 0;
		ctx->events |= SIRO_EVENT_SRQ_LIMIT;
	}
	spin_unlock(&srq->lock);
	return ret;
}
