// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Life of queue pairs. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "verbs.h"

static int siro_qp_type(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return SIRO_QPT_RC;
	case IB_QPT_UD:
		return SIRO_QPT_UD;
	case IB_QPT_GSI:
		return SIRO_QPT_GSI;
	default:
		return -EOPNOTSUPP;
	}
}

static int siro_qp_check_cap(const struct ib_device_attr *limits,
			     const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (cap->max_send_wr > limits->max_qp_wr || cap->max_send_sge > limits->max_send_sge ||
	    cap->max_inline_data > SIRO_MAX_INLINE)
		return -EINVAL;
	if (init->srq)
		return 0;
	if (cap->max_recv_wr > limits->max_qp_wr || cap->max_recv_sge > limits->max_recv_sge)
		return -EINVAL;
	return 0;
}

static int siro_qp_check_request(const struct ib_qp_init_attr *init, struct ib_udata *udata,
				 struct siro_create_qp_req *req)
{
	int err = siro_copy_request(udata, req, sizeof(*req));

	if (err)
		return err;
	if (req->comp_mask || req->flags & ~SIRO_QP_SIG_PIPELINING)
		return -EOPNOTSUPP;
	return req->flags && init->qp_type != IB_QPT_RC ? -EOPNOTSUPP : 0;
}

static int siro_qp_check(struct siro_dev *dev, const struct ib_qp_init_attr *init,
			 struct ib_udata *udata, struct siro_create_qp_req *req)
{
	int err;

	if (init->create_flags & ~IB_QP_CREATE_INTEGRITY_EN || siro_qp_type(init->qp_type) < 0)
		return -EOPNOTSUPP;
	if (init->create_flags && init->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (init->qp_type == IB_QPT_GSI && (udata || init->port_num != 1))
		return -EINVAL;
	err = siro_qp_check_cap(&dev->ibdev.attrs, init);
	if (err || !udata)
		return err;
	return siro_qp_check_request(init, udata, req);
}

static void siro_qp_setup(struct siro_qp *qp, const struct ib_qp_init_attr *init, bool user,
			  u32 flags)
{
	struct ib_qp *ibqp = &qp->ibqp;

	qp->dev = to_siro_dev(ibqp->device);
	qp->type = siro_qp_type(init->qp_type);
	qp->pd = to_siro_pd(ibqp->pd)->number;
	qp->user = user;
	qp->sig_pipelining = flags & SIRO_QP_SIG_PIPELINING;
	qp->send_cq = to_siro_cq(init->send_cq);
	qp->recv_cq = to_siro_cq(init->recv_cq);
	qp->srq = init->srq ? to_siro_srq(init->srq) : NULL;
	qp->init = *init;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->attr.path_mig_state = IB_MIG_MIGRATED;

	/* Not in a common function: lockdep shall tell the halves apart. */
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	spin_lock_init(&qp->post_send_lock);
	spin_lock_init(&qp->post_recv_lock);
	siro_half_setup(&qp->sq, siro_requester_timer, siro_requester_work);
	siro_half_setup(&qp->rq, siro_responder_timer, siro_responder_work);
	mutex_init(&qp->modify_lock);
	INIT_WORK(&qp->event_work, siro_qp_event_work);
	init_completion(&qp->unused);
	refcount_set(&qp->ref, 1);
}

/* A registration of a signature region is in the WQE as a whole. */
static u32 siro_least_payload(const struct ib_qp_init_attr *init)
{
	if (init->create_flags & IB_QP_CREATE_INTEGRITY_EN)
		return round_up(sizeof(struct siro_sig_conf), sizeof(struct siro_sge));
	return sizeof(struct siro_sge);
}

static int siro_sq_create(struct siro_qp *qp, struct siro_ring *ring)
{
	struct ib_qp_cap *cap = &qp->init.cap;
	u32 payload = max3(cap->max_send_sge * (u32)sizeof(struct siro_sge),
			   round_up(cap->max_inline_data, (u32)sizeof(struct siro_sge)),
			   siro_least_payload(&qp->init));
	u32 stride = sizeof(struct siro_send_wqe) + payload;
	u32 limit = min_t(u32, roundup_pow_of_two(max(cap->max_send_wr, 1u)),
			  qp->dev->ibdev.attrs.max_qp_wr);
	int err;

	err = siro_ring_create(ring, &qp->sq_mem, limit, stride, qp->user, qp->user);
	if (err)
		return err;
	qp->shadow = kvzalloc((size_t)ring->slots * (stride + SIRO_SQ_EXTRA), GFP_KERNEL);
	if (!qp->shadow)
		return -ENOMEM;

	cap->max_send_wr = limit;
	cap->max_send_sge = payload / sizeof(struct siro_sge);
	cap->max_inline_data = payload;
	return 0;
}

static int siro_rq_create(struct siro_qp *qp)
{
	struct ib_qp_cap *cap = &qp->init.cap;
	u32 limit = min_t(u32, roundup_pow_of_two(max(cap->max_recv_wr, 1u)),
			  qp->dev->ibdev.attrs.max_qp_wr);

	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	cap->max_recv_wr = limit;
	cap->max_recv_sge = max(cap->max_recv_sge, 1u);
	return siro_ring_create(&qp->rq_ring, &qp->rq_mem, limit,
				siro_recv_stride(cap->max_recv_sge), qp->user, true);
}

static void siro_qp_construct(struct siro_qp *qp, const struct siro_ring *sq_ring)
{
	const struct siro_requester_config requester = {
		.ring = *sq_ring,
		.shadow = qp->shadow,
		.held = qp->held,
		.stamps = qp->stamps,
		.flow = &qp->sq.route.flow,
		.cookie = qp->user ? 0 : (uintptr_t)&qp->ibqp,
		.qpn = qp->qpn,
		.pd = qp->pd,
		.type = qp->type,
		.max_sge = qp->init.cap.max_send_sge,
		.max_inline = qp->init.cap.max_inline_data,
		.signal_all = qp->init.sq_sig_type == IB_SIGNAL_ALL_WR,
		.user = qp->user,
		.sig_pipelining = qp->sig_pipelining,
	};
	const struct siro_responder_config responder = {
		.held = qp->held ? qp->held + SIRO_RX_WINDOW : NULL,
		.flow = &qp->rq.route.flow,
		.cookie = requester.cookie,
		.qpn = qp->qpn,
		.pd = qp->pd,
		.type = qp->type,
		.srq = !!qp->srq,
	};

	siro_requester_init(&qp->requester, &requester);
	siro_responder_init(&qp->responder, &responder);
}

static int siro_held_create(struct siro_qp *qp)
{
	if (qp->type != SIRO_QPT_RC)
		return 0;
	qp->held = kvcalloc(2 * SIRO_RX_WINDOW, sizeof(*qp->held), GFP_KERNEL_ACCOUNT);
	qp->stamps = kvcalloc(SIRO_RX_WINDOW, sizeof(*qp->stamps), GFP_KERNEL_ACCOUNT);
	return qp->held && qp->stamps ? 0 : -ENOMEM;
}

static int siro_qp_respond(struct siro_qp *qp, const struct siro_ring *sq_ring,
			   struct ib_udata *udata)
{
	struct siro_create_qp_resp resp = {};
	int err;

	err = siro_ring_expose(udata, qp->sq_mem, sq_ring, &qp->sq_mmap, &resp.sq);
	err = err ?: siro_ring_expose(udata, qp->rq_mem, &qp->rq_ring, &qp->rq_mmap, &resp.rq);
	return err ?: siro_copy_response(udata, &resp, sizeof(resp));
}

static int siro_qp_build(struct siro_qp *qp, struct ib_udata *udata)
{
	struct siro_ring sq_ring;
	int err;

	err = siro_sq_create(qp, &sq_ring) ?: siro_rq_create(qp) ?: siro_held_create(qp);
	if (err)
		return err;
	err = siro_qpn_alloc(qp);
	if (err)
		return err;

	qp->ibqp.qp_num = qp->qpn;
	qp->attr.cap = qp->init.cap;
	siro_qp_construct(qp, &sq_ring);
	if (udata)
		err = siro_qp_respond(qp, &sq_ring, udata);
	err = err ?: siro_qp_publish(qp);
	if (err)
		siro_qp_unpublish(qp);
	return err;
}

/* Frees what there is. */
static void siro_qp_free_memory(struct siro_qp *qp)
{
	siro_route_release(&qp->sq.route);
	siro_route_release(&qp->rq.route);
	siro_paths_free(qp->sq.paths, qp->sq.path_count);
	siro_paths_free(qp->rq.paths, qp->rq.path_count);
	siro_mmap_hide(qp->sq_mmap);
	siro_mmap_hide(qp->rq_mmap);
	siro_ring_mem_put(qp->sq_mem);
	siro_ring_mem_put(qp->rq_mem);
	kvfree(qp->shadow);
	kvfree(qp->held);
	kvfree(qp->stamps);
	kvfree(qp->resources);
}

int siro_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	struct siro_create_qp_req req = {};
	int err;

	err = siro_qp_check(to_siro_dev(ibqp->device), init, udata, &req);
	if (err)
		return err;

	siro_qp_setup(qp, init, udata, req.flags);
	err = siro_qp_build(qp, udata);
	if (err) {
		siro_qp_free_memory(qp);
		return err;
	}
	init->cap = qp->init.cap;
	return 0;
}

int siro_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct siro_qp *qp = to_siro_qp(ibqp);

	siro_qp_unpublish(qp);
	siro_half_stop(&qp->sq);
	siro_half_stop(&qp->rq);
	siro_qp_put(qp);
	wait_for_completion(&qp->unused);

	spin_lock_bh(&qp->sq.lock);
	siro_requester_discard(&qp->requester, qp);
	if (siro_requester_agreed(&qp->requester))
		siro_count(qp->dev, SIRO_CNT_QP_OOO_ACTIVE, -1);
	spin_unlock_bh(&qp->sq.lock);
	spin_lock_bh(&qp->rq.lock);
	siro_responder_discard(&qp->responder, qp);
	spin_unlock_bh(&qp->rq.lock);
	cancel_work_sync(&qp->event_work);
	siro_cq_purge(qp->send_cq, qp);
	siro_cq_purge(qp->recv_cq, qp);
	siro_qp_free_memory(qp);
	return 0;
}
