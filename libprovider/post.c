// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Posting lists of work requests, and the doorbells. */
#include <string.h>
#include <unistd.h>

#include "sirocco.h"

#define BIT(n) (1u << (n))

static_assert((int)SIRO_WR_SEND_WITH_INV == (int)IBV_WR_SEND_WITH_INV &&
	      (int)SIRO_WR_LOCAL_INV == (int)IBV_WR_LOCAL_INV &&
	      (int)SIRO_WR_ATOMIC_FETCH_AND_ADD ==
		      (int)IBV_WR_ATOMIC_FETCH_AND_ADD,
	      "opcodes are not translated");
static_assert((int)SIRO_SEND_FENCE == (int)IBV_SEND_FENCE &&
	      (int)SIRO_SEND_SIGNALED == (int)IBV_SEND_SIGNALED &&
	      (int)SIRO_SEND_SOLICITED == (int)IBV_SEND_SOLICITED &&
	      (int)SIRO_SEND_INLINE == (int)IBV_SEND_INLINE,
	      "send flags are not translated");
static_assert(sizeof(struct siro_sge) == sizeof(struct ibv_sge) &&
	      offsetof(struct siro_sge, lkey) == offsetof(struct ibv_sge, lkey),
	      "SGEs are copied as a block");

/* ---- doorbells ---- */

void siro_doorbells_init(struct siro_qp *qp)
{
	const uint32_t handle = qp->vqp.qp.handle;
	struct siro_doorbell *sq = &qp->sq_doorbell;
	struct siro_doorbell *rq = &qp->rq_doorbell;

	sq->send = (struct ibv_post_send){
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(sq->send) / 4,
		.hdr.out_words = sizeof(sq->send_resp) / 4,
		.response = (uintptr_t)&sq->send_resp,
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	rq->recv = (struct ibv_post_recv){
		.hdr.command = IB_USER_VERBS_CMD_POST_RECV,
		.hdr.in_words = sizeof(rq->recv) / 4,
		.hdr.out_words = sizeof(rq->recv_resp) / 4,
		.response = (uintptr_t)&rq->recv_resp,
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_recv_wr),
	};
}

static int siro_ring_doorbell(const struct siro_qp *qp, const void *cmd,
			      size_t size)
{
	const ssize_t done = write(qp->vqp.qp.context->cmd_fd, cmd, size);

	if (done == (ssize_t)size)
		return 0;
	return done < 0 ? errno : EIO;
}

int siro_ring_sq(struct siro_qp *qp)
{
	return siro_ring_doorbell(qp, &qp->sq_doorbell.send,
				  sizeof(qp->sq_doorbell.send));
}

static int siro_ring_rq(struct siro_qp *qp)
{
	return siro_ring_doorbell(qp, &qp->rq_doorbell.recv,
				  sizeof(qp->rq_doorbell.recv));
}

/* ---- sends ---- */

bool siro_can_send(const struct siro_qp *qp)
{
	switch (qp->vqp.qp.state) {
	case IBV_QPS_RESET:
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		return false;
	default:
		return true;
	}
}

static uint32_t siro_opcodes(const struct siro_qp *qp)
{
	const uint32_t ud = BIT(SIRO_WR_SEND) | BIT(SIRO_WR_SEND_WITH_IMM);

	if (qp->vqp.qp.qp_type == IBV_QPT_UD)
		return ud;
	return ud | BIT(SIRO_WR_RDMA_WRITE) | BIT(SIRO_WR_RDMA_WRITE_WITH_IMM) |
	       BIT(SIRO_WR_RDMA_READ) | BIT(SIRO_WR_ATOMIC_CMP_AND_SWP) |
	       BIT(SIRO_WR_ATOMIC_FETCH_AND_ADD) | BIT(SIRO_WR_LOCAL_INV) |
	       BIT(SIRO_WR_SEND_WITH_INV);
}

bool siro_send_is_legal(const struct siro_qp *qp, unsigned int opcode,
			unsigned int flags)
{
	const unsigned int known = SIRO_SEND_FENCE | SIRO_SEND_SIGNALED |
				   SIRO_SEND_SOLICITED | SIRO_SEND_INLINE;
	const uint32_t may_inline =
		BIT(SIRO_WR_SEND) | BIT(SIRO_WR_SEND_WITH_IMM) |
		BIT(SIRO_WR_SEND_WITH_INV) | BIT(SIRO_WR_RDMA_WRITE) |
		BIT(SIRO_WR_RDMA_WRITE_WITH_IMM);

	if (opcode > 31 || !(siro_opcodes(qp) & BIT(opcode)) || flags & ~known)
		return false;
	return !(flags & SIRO_SEND_INLINE) || may_inline & BIT(opcode);
}

static int siro_store_inline(struct siro_send_wqe *wqe, uint32_t max_inline,
			     const struct ibv_send_wr *wr)
{
	uint8_t *to = (uint8_t *)(wqe + 1);
	uint32_t total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (sge->length > max_inline - total)
			return EINVAL;
		memcpy(to + total, (void *)(uintptr_t)sge->addr, sge->length);
		total += sge->length;
	}
	wqe->inline_length = total;
	return 0;
}

static int siro_store_target(struct siro_send_wqe *wqe, const struct siro_qp *qp,
			     const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = (uint32_t)wr->imm_data;
		/* fallthrough */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wqe->rkey = wr->wr.rdma.rkey;
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->atomic.remote_addr = wr->wr.atomic.remote_addr;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		wqe->atomic.swap = wr->wr.atomic.swap;
		return 0;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		wqe->imm = wr->invalidate_rkey;
		return 0;
	default:
		break;
	}

	if (wr->opcode == IBV_WR_SEND_WITH_IMM)
		wqe->imm = (uint32_t)wr->imm_data;
	if (qp->vqp.qp.qp_type != IBV_QPT_UD)
		return 0;
	if (!wr->wr.ud.ah)
		return EINVAL;
	wqe->ud.ah = to_siro_ah(wr->wr.ud.ah)->number;
	wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
	wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
	return 0;
}

static int siro_store_send(struct siro_qp *qp, const struct ibv_send_wr *wr)
{
	struct siro_ring *ring = &qp->sq.ring;
	struct siro_send_wqe *wqe;
	int ret;

	if (!siro_send_is_legal(qp, wr->opcode, wr->send_flags) ||
	    wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;
	if (siro_queue_full(&qp->sq))
		return ENOMEM;

	wqe = siro_ring_entry(ring, ring->index);
	*wqe = (struct siro_send_wqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
	};
	ret = siro_store_target(wqe, qp, wr);
	if (ret)
		return ret;
	if (wr->send_flags & IBV_SEND_INLINE) {
		ret = siro_store_inline(wqe, qp->max_inline, wr);
		if (ret)
			return ret;
	} else if (wr->num_sge) {
		wqe->num_sge = wr->num_sge;
		memcpy(wqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(struct siro_sge));
	}
	ring->index++;
	return 0;
}

int siro_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad_wr)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	struct siro_ring *ring = &qp->sq.ring;
	struct ibv_send_wr *const head = wr;
	uint32_t first;
	bool posted;
	int ret = 0;

	if (!siro_can_send(qp)) {
		*bad_wr = wr;
		return EINVAL;
	}

	pthread_spin_lock(&qp->sq.lock);
	first = ring->index;
	for (; wr; wr = wr->next) {
		ret = siro_store_send(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	posted = ring->index != first;
	if (posted)
		siro_ring_produce(ring);
	pthread_spin_unlock(&qp->sq.lock);

	if (posted) {
		int failed = siro_ring_sq(qp);

		if (failed) {
			*bad_wr = head;
			return failed;
		}
	}
	return ret;
}

/* ---- receives ---- */

static int siro_store_recv(struct siro_queue *queue,
			   const struct ibv_recv_wr *wr)
{
	struct siro_ring *ring = &queue->ring;
	struct siro_recv_wqe *wqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > queue->max_sge)
		return EINVAL;
	if (siro_queue_full(queue))
		return ENOMEM;

	wqe = siro_ring_entry(ring, ring->index);
	*wqe = (struct siro_recv_wqe){
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	if (wr->num_sge)
		memcpy(wqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(struct siro_sge));
	ring->index++;
	return 0;
}

int siro_queue_recvs(struct siro_queue *queue, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	const uint32_t first = queue->ring.index;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = siro_store_recv(queue, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (queue->ring.index != first)
		siro_ring_produce(&queue->ring);
	return ret;
}

int siro_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad_wr)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	struct ibv_recv_wr *const head = wr;
	bool kick;
	int ret;

	/* there is no ring with an SRQ */
	if (ibqp->state == IBV_QPS_RESET || !qp->rq.ring.header) {
		*bad_wr = wr;
		return EINVAL;
	}

	pthread_spin_lock(&qp->rq.lock);
	ret = siro_queue_recvs(&qp->rq, wr, bad_wr);
	kick = siro_ring_wants_kick(&qp->rq.ring);
	pthread_spin_unlock(&qp->rq.lock);

	if (kick) {
		int failed = siro_ring_rq(qp);

		if (failed) {
			*bad_wr = head;
			return failed;
		}
	}
	return ret;
}
