// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The ibv_wr_* functions: a work request is built in its slot, but the slots
 * are the kernel's only when ibv_wr_complete() moves the producer index.
 */
#include <string.h>

#include "sirocco.h"

static struct siro_qp *from_qp_ex(struct ibv_qp_ex *qp_ex)
{
	return container_of(qp_ex, struct siro_qp, vqp.qp_ex);
}

void siro_wr_fail(struct siro_qp *qp, int error)
{
	if (!qp->wr_error)
		qp->wr_error = error;
	qp->wqe = NULL;
	qp->setters = 0;
}

static void siro_wr_start(struct ibv_qp_ex *qp_ex)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);

	pthread_spin_lock(&qp->sq.lock);
	qp->wr_first = qp->sq.ring.index;
	qp->wr_error = siro_can_send(qp) ? 0 : EINVAL;
	qp->wqe = NULL;
	qp->setters = 0;
}

static void siro_wr_abort(struct ibv_qp_ex *qp_ex)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);

	qp->sq.ring.index = qp->wr_first;
	pthread_spin_unlock(&qp->sq.lock);
}

/* Ends a work request: none of its setters may be missing. */
static void siro_wr_end(struct siro_qp *qp)
{
	if (qp->setters)
		siro_wr_fail(qp, EINVAL);
}

static int siro_wr_complete(struct ibv_qp_ex *qp_ex)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);
	struct siro_ring *ring = &qp->sq.ring;
	bool posted;
	int error;

	siro_wr_end(qp);
	error = qp->wr_error;
	if (error) {
		siro_wr_abort(qp_ex);
		return error;
	}
	posted = ring->index != qp->wr_first;
	if (posted)
		siro_ring_produce(ring);
	pthread_spin_unlock(&qp->sq.lock);
	return posted ? siro_ring_sq(qp) : 0;
}

/* ---- operations ---- */

/* ibv_post_send() must not know the opcode that ibv_wr_*() does not have. */
static bool siro_wr_is_legal(const struct siro_qp *qp, uint8_t opcode,
			     unsigned int flags)
{
	if (opcode != SIRO_WR_MKEY_CONF)
		return siro_send_is_legal(qp, opcode, flags);
	return qp->may_configure &&
	       siro_send_is_legal(qp, SIRO_WR_LOCAL_INV, flags);
}

struct siro_send_wqe *siro_wr_begin(struct ibv_qp_ex *qp_ex, uint8_t opcode)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);
	struct siro_ring *ring = &qp->sq.ring;

	/* whether the payload is inline is said by the setter, not the flag */
	const unsigned int flags = qp_ex->wr_flags & ~IBV_SEND_INLINE;

	siro_wr_end(qp);
	if (qp->wr_error)
		return NULL;
	if (!siro_wr_is_legal(qp, opcode, flags)) {
		siro_wr_fail(qp, EINVAL);
		return NULL;
	}
	if (siro_queue_full(&qp->sq)) {
		siro_wr_fail(qp, ENOMEM);
		return NULL;
	}
	qp->wqe = siro_ring_entry(ring, ring->index++);
	*qp->wqe = (struct siro_send_wqe){
		.wr_id = qp_ex->wr_id,
		.opcode = opcode,
		.flags = flags,
	};
	return qp->wqe;
}

static void siro_wr_rdma(struct ibv_qp_ex *qp_ex, uint8_t opcode, uint32_t rkey,
			 uint64_t remote_addr, uint32_t imm)
{
	struct siro_send_wqe *wqe = siro_wr_begin(qp_ex, opcode);

	if (!wqe)
		return;
	wqe->rkey = rkey;
	wqe->rdma.remote_addr = remote_addr;
	wqe->imm = imm;
}

static void siro_wr_rdma_write(struct ibv_qp_ex *qp_ex, uint32_t rkey,
			       uint64_t remote_addr)
{
	siro_wr_rdma(qp_ex, SIRO_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void siro_wr_rdma_write_imm(struct ibv_qp_ex *qp_ex, uint32_t rkey,
				   uint64_t remote_addr, __be32 imm)
{
	siro_wr_rdma(qp_ex, SIRO_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr,
		     (uint32_t)imm);
}

static void siro_wr_rdma_read(struct ibv_qp_ex *qp_ex, uint32_t rkey,
			      uint64_t remote_addr)
{
	siro_wr_rdma(qp_ex, SIRO_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void siro_wr_atomic(struct ibv_qp_ex *qp_ex, uint8_t opcode,
			   uint32_t rkey, uint64_t remote_addr,
			   uint64_t compare_add, uint64_t swap)
{
	struct siro_send_wqe *wqe = siro_wr_begin(qp_ex, opcode);

	if (!wqe)
		return;
	wqe->rkey = rkey;
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.compare_add = compare_add;
	wqe->atomic.swap = swap;
}

static void siro_wr_atomic_cmp_swp(struct ibv_qp_ex *qp_ex, uint32_t rkey,
				   uint64_t remote_addr, uint64_t compare,
				   uint64_t swap)
{
	siro_wr_atomic(qp_ex, SIRO_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
		       compare, swap);
}

static void siro_wr_atomic_fetch_add(struct ibv_qp_ex *qp_ex, uint32_t rkey,
				     uint64_t remote_addr, uint64_t add)
{
	siro_wr_atomic(qp_ex, SIRO_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
		       add, 0);
}

static void siro_wr_with_imm(struct ibv_qp_ex *qp_ex, uint8_t opcode,
			     uint32_t imm)
{
	struct siro_send_wqe *wqe = siro_wr_begin(qp_ex, opcode);

	if (wqe)
		wqe->imm = imm;
}

static void siro_wr_send(struct ibv_qp_ex *qp_ex)
{
	siro_wr_begin(qp_ex, SIRO_WR_SEND);
}

static void siro_wr_send_imm(struct ibv_qp_ex *qp_ex, __be32 imm)
{
	siro_wr_with_imm(qp_ex, SIRO_WR_SEND_WITH_IMM, (uint32_t)imm);
}

static void siro_wr_send_inv(struct ibv_qp_ex *qp_ex, uint32_t rkey)
{
	siro_wr_with_imm(qp_ex, SIRO_WR_SEND_WITH_INV, rkey);
}

static void siro_wr_local_inv(struct ibv_qp_ex *qp_ex, uint32_t rkey)
{
	siro_wr_with_imm(qp_ex, SIRO_WR_LOCAL_INV, rkey);
}

/* ---- setters ---- */

static void siro_wr_set_ud_addr(struct ibv_qp_ex *qp_ex, struct ibv_ah *ah,
				uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);

	if (!qp->wqe)
		return;
	if (!ah || qp->vqp.qp.qp_type != IBV_QPT_UD) {
		siro_wr_fail(qp, EINVAL);
		return;
	}
	qp->wqe->ud.ah = to_siro_ah(ah)->number;
	qp->wqe->ud.remote_qpn = remote_qpn;
	qp->wqe->ud.remote_qkey = remote_qkey;
}

static void siro_wr_set_sge_list(struct ibv_qp_ex *qp_ex, size_t num_sge,
				 const struct ibv_sge *sg_list)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);

	if (!qp->wqe)
		return;
	if (num_sge > qp->sq.max_sge ||
	    qp->wqe->opcode == SIRO_WR_MKEY_CONF) {
		siro_wr_fail(qp, EINVAL);
		return;
	}
	qp->wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(qp->wqe + 1, sg_list, num_sge * sizeof(struct siro_sge));
}

static void siro_wr_set_sge(struct ibv_qp_ex *qp_ex, uint32_t lkey,
			    uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	siro_wr_set_sge_list(qp_ex, 1, &sge);
}

static void siro_wr_set_inline_data_list(struct ibv_qp_ex *qp_ex,
					 size_t num_buf,
					 const struct ibv_data_buf *buf_list)
{
	struct siro_qp *qp = from_qp_ex(qp_ex);
	struct siro_send_wqe *wqe = qp->wqe;
	size_t i, total = 0;

	if (!wqe)
		return;
	if (!siro_send_is_legal(qp, wqe->opcode, SIRO_SEND_INLINE)) {
		siro_wr_fail(qp, EINVAL);
		return;
	}
	for (i = 0; i < num_buf; i++) {
		if (buf_list[i].length > qp->max_inline - total) {
			siro_wr_fail(qp, EINVAL);
			return;
		}
		memcpy((uint8_t *)(wqe + 1) + total, buf_list[i].addr,
		       buf_list[i].length);
		total += buf_list[i].length;
	}
	wqe->flags |= SIRO_SEND_INLINE;
	wqe->inline_length = total;
}

static void siro_wr_set_inline_data(struct ibv_qp_ex *qp_ex, void *addr,
				    size_t length)
{
	const struct ibv_data_buf buf = {
		.addr = addr,
		.length = length,
	};

	siro_wr_set_inline_data_list(qp_ex, 1, &buf);
}

int siro_set_send_ops(struct siro_qp *qp, enum ibv_qp_type type, uint64_t ops)
{
	const uint64_t ud = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t rc =
		ud | IBV_QP_EX_WITH_RDMA_WRITE |
		IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
		IBV_QP_EX_WITH_SEND_WITH_INV;
	struct ibv_qp_ex *qp_ex = &qp->vqp.qp_ex;

	if (ops & ~(type == IBV_QPT_UD ? ud : rc))
		return EOPNOTSUPP;

	qp_ex->wr_start = siro_wr_start;
	qp_ex->wr_complete = siro_wr_complete;
	qp_ex->wr_abort = siro_wr_abort;
	qp_ex->wr_set_sge = siro_wr_set_sge;
	qp_ex->wr_set_sge_list = siro_wr_set_sge_list;
	qp_ex->wr_set_inline_data = siro_wr_set_inline_data;
	qp_ex->wr_set_inline_data_list = siro_wr_set_inline_data_list;
	if (type == IBV_QPT_UD)
		qp_ex->wr_set_ud_addr = siro_wr_set_ud_addr;

	if (ops & IBV_QP_EX_WITH_SEND)
		qp_ex->wr_send = siro_wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		qp_ex->wr_send_imm = siro_wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		qp_ex->wr_send_inv = siro_wr_send_inv;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		qp_ex->wr_local_inv = siro_wr_local_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		qp_ex->wr_rdma_write = siro_wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		qp_ex->wr_rdma_write_imm = siro_wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		qp_ex->wr_rdma_read = siro_wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		qp_ex->wr_atomic_cmp_swp = siro_wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		qp_ex->wr_atomic_fetch_add = siro_wr_atomic_fetch_add;
	return 0;
}
