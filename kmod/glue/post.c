// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The kernel posts work requests; doorbells of user space. */
#include "verbs.h"

#define SIRO_SEND_FLAGS                                                                    \
	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)
#define SIRO_REG_ACCESS                                                                    \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |          \
	 IB_ACCESS_REMOTE_ATOMIC)

static int siro_fill_rdma(struct siro_send_wqe *wqe, const struct ib_send_wr *wr, u8 opcode)
{
	wqe->opcode = opcode;
	wqe->rkey = rdma_wr(wr)->rkey;
	wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
	return 0;
}

static int siro_fill_atomic(struct siro_send_wqe *wqe, const struct ib_send_wr *wr, u8 opcode)
{
	wqe->opcode = opcode;
	wqe->rkey = atomic_wr(wr)->rkey;
	wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
	wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
	wqe->atomic.swap = atomic_wr(wr)->swap;
	return 0;
}

static int siro_fill_send(struct siro_qp *qp, struct siro_send_wqe *wqe,
			  const struct ib_send_wr *wr, u8 opcode)
{
	wqe->opcode = opcode;
	if (qp->type == SIRO_QPT_RC)
		return 0;

	if (!ud_wr(wr)->ah || ud_wr(wr)->pkey_index)
		return -EINVAL;
	wqe->ud.ah = to_siro_ah(ud_wr(wr)->ah)->number;
	wqe->ud.remote_qpn = ud_wr(wr)->remote_qpn;
	wqe->ud.remote_qkey = ud_wr(wr)->remote_qkey;
	return 0;
}

/* The consumer may change the region's fields as soon as the post returns. */
static int siro_fill_reg(struct siro_send_wqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_reg_wr *reg = reg_wr(wr);
	struct siro_mr_obj *obj = to_siro_mr(reg->mr);

	if (obj->kind != SIRO_MR_FAST && obj->kind != SIRO_MR_GAPS)
		return -EINVAL;
	if (reg->key >> 8 != reg->mr->rkey >> 8 || reg->access & ~SIRO_REG_ACCESS || wr->num_sge)
		return -EINVAL;
	wqe->opcode = SIRO_WR_REG_MR;
	wqe->reg.mr = (uintptr_t)&obj->mr;
	wqe->reg.iova = reg->mr->iova;
	wqe->reg.length = reg->mr->length;
	wqe->reg.key = reg->key;
	wqe->reg.access = reg->access;
	return 0;
}

static int siro_fill_opcode(struct siro_qp *qp, struct siro_send_wqe *wqe,
			    const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		return siro_fill_send(qp, wqe, wr, SIRO_WR_SEND);
	case IB_WR_SEND_WITH_IMM:
		wqe->imm = (__force u32)wr->ex.imm_data;
		return siro_fill_send(qp, wqe, wr, SIRO_WR_SEND_WITH_IMM);
	case IB_WR_SEND_WITH_INV:
		wqe->imm = wr->ex.invalidate_rkey;
		return siro_fill_send(qp, wqe, wr, SIRO_WR_SEND_WITH_INV);
	case IB_WR_RDMA_WRITE:
		return siro_fill_rdma(wqe, wr, SIRO_WR_RDMA_WRITE);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = (__force u32)wr->ex.imm_data;
		return siro_fill_rdma(wqe, wr, SIRO_WR_RDMA_WRITE_WITH_IMM);
	case IB_WR_RDMA_READ:
		return siro_fill_rdma(wqe, wr, SIRO_WR_RDMA_READ);
	case IB_WR_RDMA_READ_WITH_INV:
		wqe->imm = wr->ex.invalidate_rkey;
		return siro_fill_rdma(wqe, wr, SIRO_WR_RDMA_READ_WITH_INV);
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return siro_fill_atomic(wqe, wr, SIRO_WR_ATOMIC_CMP_AND_SWP);
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return siro_fill_atomic(wqe, wr, SIRO_WR_ATOMIC_FETCH_AND_ADD);
	case IB_WR_LOCAL_INV:
		wqe->opcode = SIRO_WR_LOCAL_INV;
		wqe->imm = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_REG_MR:
		return siro_fill_reg(wqe, wr);
	case IB_WR_REG_MR_INTEGRITY:
		return siro_fill_reg_integrity(qp, wqe, reg_wr(wr));
	case IB_WR_REG_SIG_MR:
		return siro_fill_reg_sig(qp, wqe, sig_handover_wr(wr));
	case IB_WR_REG_INDIR_MR:
		return siro_fill_reg_indir(qp->dev, qp->pd, wqe, indir_reg_wr(wr));
	default:
		return -EINVAL;
	}
}

static void siro_copy_sges(struct siro_sge *to, const struct ib_sge *from, u32 count)
{
	for (; count; count--, to++, from++) {
		to->addr = from->addr;
		to->length = from->length;
		to->lkey = from->lkey;
	}
}

static int siro_fill_inline(struct siro_send_wqe *wqe, const struct ib_send_wr *wr, u32 max)
{
	u8 *to = (u8 *)(wqe + 1);
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max - length)
			return -EINVAL;
		memcpy(to + length, (const void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	wqe->inline_length = length;
	return 0;
}

static int siro_fill_payload(struct siro_qp *qp, struct siro_send_wqe *wqe,
			     const struct ib_send_wr *wr)
{
	const struct ib_qp_cap *cap = &qp->init.cap;

	if (wqe->opcode == SIRO_WR_REG_INDIR_MR || wqe->opcode == SIRO_WR_REG_MR_INTEGRITY)
		return wr->send_flags & IB_SEND_INLINE ? -EINVAL : 0;
	if (wr->num_sge < 0 || wr->num_sge > cap->max_send_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return siro_fill_inline(wqe, wr, cap->max_inline_data);

	wqe->num_sge = wr->num_sge;
	siro_copy_sges((struct siro_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

static int siro_post_one_send(struct siro_qp *qp, const struct ib_send_wr *wr)
{
	struct siro_send_wqe *wqe;
	int err;

	if (wr->send_flags & ~SIRO_SEND_FLAGS)
		return -EINVAL;
	wqe = siro_requester_reserve(&qp->requester);
	if (!wqe)
		return -ENOMEM;

	wqe->wr_id = wr->wr_id;
	wqe->flags = wr->send_flags; /* same numbers */
	err = siro_fill_opcode(qp, wqe, wr) ?: siro_fill_payload(qp, wqe, wr);
	err = err ?: siro_requester_commit(&qp->requester);
	if (err && wqe->opcode == SIRO_WR_REG_INDIR_MR)
		siro_port_mr_abandon_list(qp, wqe->reg.mr);
	return err;
}

/* Neither an empty post nor a user's doorbell carries work requests. */
static int siro_post_send_list(struct siro_qp *qp, const struct ib_send_wr *wr,
			       const struct ib_send_wr **bad_wr)
{
	const struct ib_send_wr *next;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->post_send_lock, flags);
	for (; wr; wr = next) {
		next = wr->next; /* not ours any more once it is committed */
		err = siro_post_one_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->post_send_lock, flags);
	return err;
}

int siro_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	int err;

	if (qp->user && wr) {
		*bad_wr = wr;
		return -EINVAL;
	}
	err = siro_post_send_list(qp, wr, bad_wr);
	siro_requester_kick(qp);
	return err;
}

int siro_post_one_recv(struct siro_ring *ring, u32 max_sge, const struct ib_recv_wr *wr)
{
	struct siro_recv_wqe wqe = { .wr_id = wr->wr_id, .num_sge = wr->num_sge };
	struct siro_sge sges[SIRO_MAX_SGE];

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	siro_copy_sges(sges, wr->sg_list, wr->num_sge);
	return siro_recv_ring_put(ring, &wqe, sges);
}

static int siro_post_recv_list(struct siro_qp *qp, const struct ib_recv_wr *wr,
			       const struct ib_recv_wr **bad_wr)
{
	const struct ib_recv_wr *next;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->post_recv_lock, flags);
	for (; wr; wr = next) {
		next = wr->next;
		err = siro_post_one_recv(&qp->rq_ring, qp->init.cap.max_recv_sge, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->post_recv_lock, flags);
	return err;
}

static bool siro_wants_recv_kick(const struct siro_qp *qp)
{
	smp_mb(); /* the index is stored before the flag is read: siro_port_set_kick() */
	return READ_ONCE(qp->rq_ring.header->flags) & SIRO_RING_KICK;
}

int siro_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	int err;

	if (wr && (qp->user || qp->srq || READ_ONCE(qp->attr.qp_state) == IB_QPS_RESET)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	if (qp->srq)
		return 0;

	err = siro_post_recv_list(qp, wr, bad_wr);
	if (qp->user || siro_wants_recv_kick(qp))
		siro_responder_kick(qp);
	return err;
}
