// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: life cycle and state. */
#include <stdlib.h>

#include "sirocco.h"

struct siro_create_qp_cmd {
	struct ibv_create_qp_ex core;
	struct siro_create_qp_req drv;
};

struct siro_create_qp_cmd_resp {
	struct ib_uverbs_ex_create_qp_resp core;
	struct siro_create_qp_resp drv;
};

static_assert(offsetof(struct siro_create_qp_cmd, drv) ==
		      sizeof(struct ibv_create_qp_ex),
	      "driver data must follow the core's");
static_assert(offsetof(struct siro_create_qp_cmd_resp, drv) ==
		      sizeof(struct ib_uverbs_ex_create_qp_resp),
	      "driver data must follow the core's");

struct siro_modify_qp_cmd {
	struct ibv_modify_qp core;
	struct siro_modify_qp_req drv;
};

static_assert(offsetof(struct siro_modify_qp_cmd, drv) ==
		      sizeof(struct ibv_modify_qp),
	      "driver data must follow the core's");

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- creation ---- */

static int siro_qp_attr_check(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->comp_mask & ~known)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		return EOPNOTSUPP;
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	return 0;
}

static int siro_map_sq(struct siro_qp *qp, const struct siro_ring_info *info,
		       const struct ibv_qp_cap *cap)
{
	const size_t header = sizeof(struct siro_send_wqe);
	uint32_t room;
	int ret;

	ret = siro_ring_map(&qp->sq.ring, qp->vqp.qp.context->cmd_fd, info,
			    header);
	if (ret)
		return ret;
	room = info->stride - header;
	qp->sq.limit = least(cap->max_send_wr, info->slots);
	qp->sq.max_sge =
		least(cap->max_send_sge, room / sizeof(struct siro_sge));
	qp->max_inline = least(cap->max_inline_data, room);
	return 0;
}

static int siro_map_rq(struct siro_qp *qp, const struct siro_ring_info *info,
		       const struct ibv_qp_cap *cap)
{
	const size_t header = sizeof(struct siro_recv_wqe);
	int ret;

	if (!info->slots)
		return 0;
	ret = siro_ring_map(&qp->rq.ring, qp->vqp.qp.context->cmd_fd, info,
			    header);
	if (ret)
		return ret;
	qp->rq.limit = least(cap->max_recv_wr, info->slots);
	qp->rq.max_sge = least(cap->max_recv_sge,
			       (info->stride - header) /
				       sizeof(struct siro_sge));
	return 0;
}

static void siro_free_qp(struct siro_qp *qp)
{
	siro_ring_unmap(&qp->rq.ring);
	siro_ring_unmap(&qp->sq.ring);
	pthread_spin_destroy(&qp->rq.lock);
	pthread_spin_destroy(&qp->sq.lock);
	free(qp);
}

/* The ibv_wr_*() functions that the caller asked for in either way. */
static int siro_qp_set_ops(struct siro_qp *qp,
			   const struct ibv_qp_init_attr_ex *attr,
			   uint64_t dv_ops)
{
	const bool ex = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	int ret;

	if (!ex && !dv_ops)
		return 0;
	if (dv_ops && attr->qp_type != IBV_QPT_RC)
		return EOPNOTSUPP;
	ret = siro_set_send_ops(qp, attr->qp_type,
				ex ? attr->send_ops_flags : 0);
	if (ret)
		return ret;
	qp->may_configure = dv_ops & SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE;
	return 0;
}

static struct siro_qp *siro_new_qp(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *attr,
				   uint64_t dv_ops, uint64_t dv_flags)
{
	struct siro_create_qp_cmd_resp resp = {};
	struct siro_create_qp_cmd cmd = {};
	struct siro_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	pthread_spin_init(&qp->sq.lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq.lock, PTHREAD_PROCESS_PRIVATE);

	ret = siro_qp_attr_check(attr);
	if (!ret)
		ret = siro_qp_set_ops(qp, attr, dv_ops);
	if (ret)
		goto err_free;

	if (dv_flags & SIROCCODV_QP_CREATE_SIG_PIPELINING)
		cmd.drv.flags = SIRO_QP_SIG_PIPELINING;
	ret = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, &cmd.core,
				    sizeof(cmd), &resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	ret = siro_map_sq(qp, &resp.drv.sq, &attr->cap);
	if (!ret)
		ret = siro_map_rq(qp, &resp.drv.rq, &attr->cap);
	if (ret)
		goto err_destroy;

	if (qp->vqp.qp_ex.wr_start)
		qp->vqp.comp_mask |= VERBS_QP_EX;
	siro_doorbells_init(qp);
	return qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	siro_free_qp(qp);
	errno = ret;
	return NULL;
}

struct ibv_qp *siro_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct siro_qp *qp = siro_new_qp(pd->context, &attr_ex, 0, 0);

	if (!qp)
		return NULL;
	attr->cap = attr_ex.cap;
	return &qp->vqp.qp;
}

struct ibv_qp *siro_create_qp_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr)
{
	struct siro_qp *qp = siro_new_qp(context, attr, 0, 0);

	return qp ? &qp->vqp.qp : NULL;
}

struct ibv_qp *siroccodv_create_qp(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *qp_attr,
				   struct siroccodv_qp_init_attr *attr)
{
	const uint64_t known = SIROCCODV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS |
			       SIROCCODV_QP_INIT_ATTR_MASK_CREATE_FLAGS;
	uint64_t ops = 0, flags = 0;
	struct siro_qp *qp;

	if (attr->comp_mask & SIROCCODV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS)
		ops = attr->send_ops_flags;
	if (attr->comp_mask & SIROCCODV_QP_INIT_ATTR_MASK_CREATE_FLAGS)
		flags = attr->create_flags;
	if (!siroccodv_is_supported(context->device) ||
	    attr->comp_mask & ~known ||
	    ops & ~(uint64_t)SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE ||
	    flags & ~(uint64_t)SIROCCODV_QP_CREATE_SIG_PIPELINING) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = siro_new_qp(context, qp_attr, ops, flags);
	return qp ? &qp->vqp.qp : NULL;
}

/* ---- state ---- */

int siro_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

static void siro_purge_completions(struct siro_qp *qp)
{
	struct ibv_cq *send_cq = qp->vqp.qp.send_cq;
	struct ibv_cq *recv_cq = qp->vqp.qp.recv_cq;

	siro_cq_purge(to_siro_cq(send_cq), qp->vqp.qp.qp_num);
	if (recv_cq != send_cq)
		siro_cq_purge(to_siro_cq(recv_cq), qp->vqp.qp.qp_num);
}

/* In RESET the kernel has emptied the queues: go on where it stands. */
static void siro_queue_reset(struct siro_queue *queue)
{
	struct siro_ring *ring = &queue->ring;

	if (!ring->header)
		return;
	pthread_spin_lock(&queue->lock);
	ring->index = siro_ring_consumer(ring);
	siro_ring_produce(ring);
	pthread_spin_unlock(&queue->lock);
}

static bool siro_moves_to(const struct ibv_qp_attr *attr, int mask,
			  enum ibv_qp_state state)
{
	return mask & IBV_QP_STATE && attr->qp_state == state;
}

/* The core takes the standard bits only: ours travels as driver data. */
static int siro_cmd_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
			      int mask, bool ooo, unsigned int paths)
{
	struct siro_modify_qp_cmd cmd = {};

	if (!ooo && !paths)
		return ibv_cmd_modify_qp(ibqp, attr, mask, &cmd.core,
					 sizeof(cmd.core));
	cmd.drv.flags = ooo ? SIRO_MODIFY_QP_OOO : 0;
	cmd.drv.paths = paths;
	return ibv_cmd_modify_qp(ibqp, attr, mask, &cmd.core, sizeof(cmd));
}

int siro_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	bool attribute = mask & IBV_QP_OOO_RW_DATA_PLACEMENT;
	bool to_rtr = siro_moves_to(attr, mask, IBV_QPS_RTR);
	int ret;

	if (attribute && (!to_rtr || ibqp->qp_type != IBV_QPT_RC))
		return EINVAL;
	ret = siro_cmd_modify_qp(ibqp, attr,
				 mask & ~IBV_QP_OOO_RW_DATA_PLACEMENT,
				 attribute || (to_rtr && qp->ooo),
				 to_rtr ? qp->paths : 0);
	if (ret)
		return ret;
	if (siro_moves_to(attr, mask, IBV_QPS_RESET)) {
		qp->ooo = false;
		qp->paths = 0;
		siro_queue_reset(&qp->sq);
		siro_queue_reset(&qp->rq);
		siro_purge_completions(qp);
	}
	return 0;
}

int siroccodv_qp_set_ooo(struct ibv_qp *ibqp, bool on)
{
	if (!siroccodv_is_supported(ibqp->context->device))
		return EOPNOTSUPP;
	if (ibqp->qp_type != IBV_QPT_RC ||
	    (ibqp->state != IBV_QPS_RESET && ibqp->state != IBV_QPS_INIT))
		return EINVAL;
	to_siro_qp(ibqp)->ooo = on;
	return 0;
}

int siroccodv_qp_set_paths(struct ibv_qp *ibqp, unsigned int paths)
{
	if (!siroccodv_is_supported(ibqp->context->device))
		return EOPNOTSUPP;
	if (ibqp->qp_type != IBV_QPT_RC || !paths ||
	    paths > SIROCCODV_MAX_PATHS ||
	    (ibqp->state != IBV_QPS_RESET && ibqp->state != IBV_QPS_INIT))
		return EINVAL;
	to_siro_qp(ibqp)->paths = paths;
	return 0;
}

int siro_destroy_qp(struct ibv_qp *ibqp)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;
	siro_purge_completions(qp);
	siro_free_qp(qp);
	return 0;
}
