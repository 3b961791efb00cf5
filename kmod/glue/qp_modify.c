// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* State and attributes of queue pairs. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "tracepoints.h"
#include "verbs.h"

/*
 * Rights that exist, whether or not the device has operations for them: programs
 * ask for all they know of. FLUSH_GLOBAL and FLUSH_PERSISTENT are newer than 6.1.
 */
#define SIRO_ACCESS_FLUSH (BIT(8) | BIT(9))
#define SIRO_QP_ACCESS                                                                     \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |          \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_OPTIONAL | SIRO_ACCESS_FLUSH)
#define SIRO_MAX_TIMEOUT 31
#define SIRO_MAX_RETRY 7
#define SIRO_MAX_RNR_TIMER 31

/*
 * A half may enter ERR or SQE by itself, or SQD for a signature error, under its own
 * lock only. So the state of the QP is what modify_qp set last unless a half is worse
 * off.
 */
static enum ib_qp_state siro_qp_state(struct siro_qp *qp)
{
	u32 requester, responder;

	spin_lock_bh(&qp->sq.lock);
	requester = siro_requester_state(&qp->requester);
	spin_unlock_bh(&qp->sq.lock);
	spin_lock_bh(&qp->rq.lock);
	responder = siro_responder_state(&qp->responder);
	spin_unlock_bh(&qp->rq.lock);

	if (requester == SIRO_QPS_ERR || responder == SIRO_QPS_ERR)
		return IB_QPS_ERR;
	return requester == SIRO_QPS_SQE || requester == SIRO_QPS_SQD ? requester :
									qp->attr.qp_state;
}

static int siro_check_path(const struct ib_qp_attr *attr, int mask, enum ib_mtu active_mtu)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > active_mtu))
		return -EINVAL;
	if (mask & IB_QP_AV &&
	    (attr->ah_attr.type != RDMA_AH_ATTR_TYPE_ROCE || !attr->ah_attr.grh.sgid_attr))
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;
	return mask & IB_QP_ALT_PATH ? -EINVAL : 0;
}

static int siro_check_numbers(const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num & ~SIRO_QPN_MASK)
		return -EINVAL;
	if (mask & IB_QP_RQ_PSN && attr->rq_psn & ~SIRO_PSN_MASK)
		return -EINVAL;
	if (mask & IB_QP_SQ_PSN && attr->sq_psn & ~SIRO_PSN_MASK)
		return -EINVAL;
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~SIRO_QP_ACCESS)
		return -EINVAL;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify > 1)
		return -EINVAL;
	return 0;
}

static int siro_check_retries(const struct ib_device_attr *limits, const struct ib_qp_attr *attr,
			      int mask)
{
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > limits->max_qp_init_rd_atom)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > limits->max_qp_rd_atom)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > SIRO_MAX_TIMEOUT)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > SIRO_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > SIRO_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > SIRO_MAX_RNR_TIMER)
		return -EINVAL;
	return 0;
}

/**
 * struct siro_qp_change - a modify_qp call, checked and with all it needs
 * @attr: all attributes of the QP as they will be
 * @before: state that it was checked against
 * @set_state: there is a change of state, to @attr.qp_state
 * @set_path: @routes replace those of the halves
 * @set_resources: @resources replaces the responder's
 * @mtu: in bytes
 * @ooo: SIRO_OOO_*
 * @resources: new memory for READs and atomics
 * @routes: new path of the requester and of the responder
 * @paths: more of them
 * @path_counts: of @paths
 */
struct siro_qp_change {
	struct ib_qp_attr attr;
	enum ib_qp_state before;
	bool set_state;
	bool set_path;
	bool set_resources;
	u32 mtu;
	u8 ooo;
	void *resources;
	struct siro_route routes[2];
	struct siro_route *paths[2];
	u32 path_counts[2];
};

static void siro_copy_attr(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_AV) {
		to->ah_attr = from->ah_attr;
		to->ah_attr.grh.sgid_attr = NULL; /* ib_core counts its own copy */
	}
}

/* A reset QP is as good as new. */
static void siro_reset_attr(struct ib_qp_attr *attr)
{
	*attr = (struct ib_qp_attr){
		.qp_state = IB_QPS_RESET,
		.path_mig_state = IB_MIG_MIGRATED,
		.cap = attr->cap,
	};
}

static int siro_change_check(struct siro_qp *qp, enum ib_qp_state current_state,
			     const struct ib_qp_attr *attr, int mask, enum ib_mtu active_mtu)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : current_state;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != current_state)
		return -EINVAL;
	if (mask & IB_QP_OOO_RW_DATA_PLACEMENT &&
	    (qp->type != SIRO_QPT_RC || current_state != IB_QPS_INIT || next != IB_QPS_RTR))
		return -EINVAL;
	/* The core does not know the bit. */
	if (!ib_modify_qp_is_ok(current_state, next, qp->ibqp.qp_type,
				mask & ~IB_QP_OOO_RW_DATA_PLACEMENT))
		return -EINVAL;
	return siro_check_path(attr, mask, active_mtu) ?:
	       siro_check_numbers(attr, mask) ?:
	       siro_check_retries(&qp->dev->ibdev.attrs, attr, mask);
}

/* Those besides the first one. */
static int siro_change_paths(struct siro_qp_change *change, struct siro_qp *qp)
{
	u32 count = (qp->paths_wish ?: READ_ONCE(qp->dev->ooo_paths)) - 1;
	unsigned int half;
	u32 i;

	if (!count || qp->type != SIRO_QPT_RC)
		return 0;
	for (half = 0; half < 2; half++) {
		change->paths[half] = kcalloc(count, sizeof(struct siro_route), GFP_KERNEL);
		if (!change->paths[half])
			return -ENOMEM;
		change->path_counts[half] = count;
		for (i = 0; i < count; i++) {
			change->paths[half][i] = change->routes[half];
			siro_route_diverge(&change->paths[half][i], i + 1);
		}
	}
	return 0;
}

static int siro_change_routes(struct siro_qp_change *change, struct siro_qp *qp,
			      const struct rdma_ah_attr *attr)
{
	int err;

	err = siro_route_init(&change->routes[0], qp->dev, attr, qp->qpn) ?:
	      siro_route_init(&change->routes[1], qp->dev, attr, qp->qpn) ?:
	      siro_change_paths(change, qp);
	change->set_path = !err;
	return err;
}

static int siro_change_resources(struct siro_qp_change *change)
{
	size_t count = change->attr.max_dest_rd_atomic;

	change->set_resources = true;
	if (!count)
		return 0;
	change->resources = kvcalloc(count, SIRO_RESOURCE_BYTES, GFP_KERNEL);
	return change->resources ? 0 : -ENOMEM;
}

/* Whether data may be placed out of order, and whether the peer is to know. */
static u8 siro_ooo_flags(const struct siro_qp *qp, bool attribute)
{
	bool consent = attribute || qp->ooo_wish == SIRO_OOO_ON ||
		       (qp->ooo_wish == SIRO_OOO_DEFAULT && !qp->user &&
			READ_ONCE(qp->dev->ooo_kernel));

	if (!consent || qp->type != SIRO_QPT_RC)
		return 0;
	return READ_ONCE(qp->dev->ooo_mark) ? SIRO_OOO_CONSENT | SIRO_OOO_MARK : SIRO_OOO_CONSENT;
}

static int siro_change_prepare(struct siro_qp_change *change, struct siro_qp *qp,
			       const struct ib_qp_attr *attr, int mask, enum ib_mtu active_mtu)
{
	int err = 0;

	change->attr = qp->attr;
	change->ooo = qp->ooo;
	change->set_state = mask & IB_QP_STATE;
	siro_copy_attr(&change->attr, attr, mask);
	if (change->set_state)
		change->attr.qp_state = attr->qp_state;
	if (change->set_state && attr->qp_state == IB_QPS_RTR)
		change->ooo = siro_ooo_flags(qp, mask & IB_QP_OOO_RW_DATA_PLACEMENT);
	if (change->set_state && attr->qp_state == IB_QPS_RESET) {
		siro_reset_attr(&change->attr);
		change->ooo = 0;
	}
	change->mtu = ib_mtu_enum_to_int(qp->type == SIRO_QPT_RC && change->attr.path_mtu ?
						 change->attr.path_mtu : active_mtu);

	if (mask & IB_QP_AV)
		err = siro_change_routes(change, qp, &attr->ah_attr);
	if (!err && change->attr.max_dest_rd_atomic != qp->attr.max_dest_rd_atomic)
		err = siro_change_resources(change);
	return err;
}

/* What the QP does not use any more after the change, or never got. */
static void siro_change_free(struct siro_qp_change *change)
{
	siro_paths_free(change->paths[0], change->path_counts[0]);
	siro_paths_free(change->paths[1], change->path_counts[1]);
	siro_route_release(&change->routes[0]);
	siro_route_release(&change->routes[1]);
	kvfree(change->resources);
}

/* A half that fell into ERR or SQE meanwhile stays there. */
static u32 siro_next_state(const struct siro_qp_change *change, u32 current_state)
{
	if (!change->set_state)
		return current_state;
	if (current_state == SIRO_QPS_ERR && change->attr.qp_state != IB_QPS_RESET)
		return current_state;
	/* It stopped for a signature error meanwhile: nobody meant to resume it. */
	if (current_state == SIRO_QPS_SQD && change->before == IB_QPS_RTS &&
	    change->attr.qp_state == IB_QPS_RTS)
		return current_state;
	return change->attr.qp_state;
}

static void siro_fill_requester_attr(struct siro_requester_attr *to,
				     const struct siro_qp_change *change)
{
	const struct ib_qp_attr *from = &change->attr;

	*to = (struct siro_requester_attr){
		.mtu = change->mtu,
		.dest_qpn = from->dest_qp_num,
		.sq_psn = from->sq_psn,
		.qkey = from->qkey,
		.max_rd_atomic = from->max_rd_atomic,
		.timeout = from->timeout,
		.retry_count = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
		.sqd_event = from->en_sqd_async_notify,
		.ooo = change->ooo,
	};
}

static void siro_fill_responder_attr(struct siro_responder_attr *to, void *resources,
				     const struct siro_qp_change *change)
{
	const struct ib_qp_attr *from = &change->attr;

	*to = (struct siro_responder_attr){
		.resources = resources,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.mtu = change->mtu,
		.dest_qpn = from->dest_qp_num,
		.rq_psn = from->rq_psn,
		.access = from->qp_access_flags,
		.qkey = from->qkey,
		.min_rnr_timer = from->min_rnr_timer,
		.ooo = change->ooo,
	};
}

static void siro_swap_paths(struct siro_half *half, struct siro_qp_change *change,
			    unsigned int index)
{
	swap(half->route, change->routes[index]);
	swap(half->paths, change->paths[index]);
	swap(half->path_count, change->path_counts[index]);
}

static void siro_apply_requester(struct siro_qp *qp, struct siro_qp_change *change)
{
	struct siro_half *half = &qp->sq;
	struct siro_context ctx;
	unsigned long flags;
	u32 state;

	if (!siro_half_enter(qp, half, &ctx))
		return;
	state = siro_next_state(change, siro_requester_state(&qp->requester));
	if (change->set_path)
		siro_swap_paths(half, change, 0);
	siro_fill_requester_attr(&qp->requester_attr, change);
	qp->requester_attr.paths = half->path_count + 1;
	if (state != SIRO_QPS_RESET) {
		siro_requester_modify(&qp->requester, &ctx, state, &qp->requester_attr);
	} else {
		half->epoch++;
		spin_lock_irqsave(&qp->post_send_lock, flags);
		siro_requester_modify(&qp->requester, &ctx, state, &qp->requester_attr);
		spin_unlock_irqrestore(&qp->post_send_lock, flags);
	}
	siro_half_leave(qp, half, &ctx);
}

/* Indices run on: user space knows them. */
static void siro_empty_rq(struct siro_qp *qp)
{
	struct siro_ring *ring = &qp->rq_ring;
	unsigned long flags;

	if (qp->srq)
		return;
	spin_lock_irqsave(&qp->post_recv_lock, flags);
	ring->index = READ_ONCE(ring->header->producer);
	WRITE_ONCE(ring->header->consumer, ring->index);
	spin_unlock_irqrestore(&qp->post_recv_lock, flags);
}

static void siro_apply_responder(struct siro_qp *qp, struct siro_qp_change *change)
{
	struct siro_half *half = &qp->rq;
	struct siro_context ctx;
	u32 state;

	if (!siro_half_enter(qp, half, &ctx))
		return;
	state = siro_next_state(change, siro_responder_state(&qp->responder));
	if (change->set_path)
		siro_swap_paths(half, change, 1);
	if (change->set_resources)
		swap(qp->resources, change->resources);
	siro_fill_responder_attr(&qp->responder_attr, qp->resources, change);
	qp->responder_attr.paths = half->path_count + 1;
	if (state == SIRO_QPS_RESET) {
		half->epoch++;
		siro_responder_discard(&qp->responder, qp);
		siro_empty_rq(qp);
	}
	siro_responder_modify(&qp->responder, &ctx, state, &qp->responder_attr);
	siro_half_leave(qp, half, &ctx);
}

static void siro_change_apply(struct siro_qp *qp, struct siro_qp_change *change)
{
	if (change->set_state)
		trace_siro_qp_state(qp->ibqp.device->index, qp->qpn, qp->attr.qp_state,
				    change->attr.qp_state);
	siro_apply_requester(qp, change);
	siro_apply_responder(qp, change);
	qp->attr = change->attr;
	qp->ooo = change->ooo;
	if (qp->attr.qp_state == IB_QPS_RESET) {
		qp->ooo_wish = SIRO_OOO_DEFAULT;
		qp->paths_wish = 0;
		siro_cq_purge(qp->send_cq, qp);
		siro_cq_purge(qp->recv_cq, qp);
	}
}

static int siro_qp_change(struct siro_qp *qp, const struct ib_qp_attr *attr, int mask,
			  enum ib_mtu active_mtu)
{
	enum ib_qp_state before = siro_qp_state(qp);
	struct siro_qp_change *change;
	int err;

	err = siro_change_check(qp, before, attr, mask, active_mtu);
	if (err)
		return err;
	change = kzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;

	change->before = before;
	err = siro_change_prepare(change, qp, attr, mask, active_mtu);
	if (!err)
		siro_change_apply(qp, change);
	siro_change_free(change);
	kfree(change);
	return err;
}

/* The core lets no private bit of the mask through from user space. */
static int siro_modify_request(struct ib_udata *udata, int *mask, u8 *paths)
{
	struct siro_modify_qp_req req;
	int err;

	if (!udata || !udata->inlen)
		return 0;
	err = siro_copy_request(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.flags & ~SIRO_MODIFY_QP_OOO)
		return -EOPNOTSUPP;
	if (req.reserved || req.paths > SIRO_MAX_PATHS)
		return -EINVAL;
	if (req.flags & SIRO_MODIFY_QP_OOO)
		*mask |= IB_QP_OOO_RW_DATA_PLACEMENT;
	*paths = req.paths;
	return 0;
}

int siro_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	struct ib_port_attr port;
	u8 paths = 0;
	int err;

	if (mask & ~(IB_QP_ATTR_STANDARD_BITS | IB_QP_OOO_RW_DATA_PLACEMENT))
		return -EOPNOTSUPP;
	err = siro_modify_request(udata, &mask, &paths) ?: ib_query_port(ibqp->device, 1, &port);
	if (err)
		return err;

	mutex_lock(&qp->modify_lock);
	if (paths)
		qp->paths_wish = paths;
	err = siro_qp_change(qp, attr, mask, port.active_mtu);
	mutex_unlock(&qp->modify_lock);
	return err;
}

static void siro_query_live(struct siro_qp *qp, struct ib_qp_attr *attr)
{
	spin_lock_bh(&qp->sq.lock);
	attr->sq_psn = siro_requester_psn(&qp->requester);
	attr->sq_draining = siro_requester_draining(&qp->requester);
	spin_unlock_bh(&qp->sq.lock);
	spin_lock_bh(&qp->rq.lock);
	attr->rq_psn = siro_responder_psn(&qp->responder);
	spin_unlock_bh(&qp->rq.lock);
}

int siro_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct siro_qp *qp = to_siro_qp(ibqp);

	mutex_lock(&qp->modify_lock);
	*attr = qp->attr;
	attr->qp_state = siro_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	siro_query_live(qp, attr);
	*init = qp->init;
	mutex_unlock(&qp->modify_lock);
	return 0;
}
