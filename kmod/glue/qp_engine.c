// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls into the engine: what happens around them. Each call is for one half
 * under its lock; what it asks for (timers, workers, notifications, the other
 * half's fall into ERR) is done in siro_half_leave().
 */
#include <linux/ktime.h>

#include "tracepoints.h"
#include "verbs.h"

/* How long a half waits for room to transmit. */
#define SIRO_BLOCKED_NS (100 * NSEC_PER_USEC)
/* A retry timer may be late by this, so that others can share the interrupt. */
#define SIRO_TIMER_SLACK_NS (20 * NSEC_PER_USEC)

void siro_half_setup(struct siro_half *half, enum hrtimer_restart (*timer)(struct hrtimer *),
		     work_func_t work)
{
	hrtimer_init(&half->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	half->timer.function = timer;
	INIT_WORK(&half->work, work);
}

void siro_half_stop(struct siro_half *half)
{
	spin_lock_bh(&half->lock);
	half->dead = true;
	spin_unlock_bh(&half->lock);
	hrtimer_cancel(&half->timer);
	cancel_work_sync(&half->work);
}

static void siro_context_init(struct siro_context *ctx, struct siro_qp *qp)
{
	*ctx = (struct siro_context){
		.now = ktime_get_ns(),
		.counters = siro_counters_here(qp->dev),
		.port = qp,
		.budget = SIRO_ENGINE_BUDGET,
	};
}

bool siro_half_enter(struct siro_qp *qp, struct siro_half *half, struct siro_context *ctx)
{
	spin_lock_bh(&half->lock);
	if (half->dead) {
		spin_unlock_bh(&half->lock);
		return false;
	}
	siro_context_init(ctx, qp);
	return true;
}

/* A timer that comes too early does no harm, so it is only ever moved forward. */
static void siro_half_arm(struct siro_half *half, u64 when)
{
	if (half->timer_at && half->timer_at <= when)
		return;
	half->timer_at = when;
	hrtimer_start_range_ns(&half->timer, ns_to_ktime(when), SIRO_TIMER_SLACK_NS,
			       HRTIMER_MODE_ABS_SOFT);
}

static void siro_half_settle(struct siro_half *half, const struct siro_context *ctx)
{
	if (ctx->outcome & SIRO_OUT_BLOCKED) {
		half->blocked = true;
		siro_half_arm(half, ctx->now + SIRO_BLOCKED_NS);
	}
	if (ctx->deadline)
		siro_half_arm(half, ctx->deadline);
	if (ctx->outcome & SIRO_OUT_MORE)
		queue_work(siro_wq, &half->work);
}

static struct siro_cq *siro_half_cq(struct siro_qp *qp, const struct siro_half *half)
{
	return half == &qp->sq ? qp->send_cq : qp->recv_cq;
}

static void siro_cq_event(struct siro_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static void siro_srq_event(struct siro_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

#define SIRO_QP_EVENTS (~(SIRO_EVENT_SRQ_LIMIT | SIRO_EVENT_CQ_ERR))

/* Bottom halves are off, no lock is held. */
static void siro_half_deliver(struct siro_qp *qp, struct siro_half *half,
			      const struct siro_context *ctx)
{
	struct siro_cq *cq = siro_half_cq(qp, half);
	u32 qp_events = ctx->events & SIRO_QP_EVENTS;

	if (ctx->outcome & SIRO_OUT_NOTIFY_CQ)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (likely(!ctx->events))
		return;

	if (ctx->events & SIRO_EVENT_CQ_ERR)
		siro_cq_event(cq);
	if (ctx->events & SIRO_EVENT_SRQ_LIMIT)
		siro_srq_event(qp->srq);
	if (qp_events && qp->ibqp.event_handler) {
		atomic_or(qp_events, &qp->events);
		queue_work(siro_wq, &qp->event_work);
	}
}

static const struct {
	u32 bit;
	enum ib_event_type type;
} siro_qp_event_types[] = {
	{ SIRO_EVENT_COMM_EST, IB_EVENT_COMM_EST },
	{ SIRO_EVENT_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ SIRO_EVENT_QP_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ SIRO_EVENT_QP_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ SIRO_EVENT_QP_FATAL, IB_EVENT_QP_FATAL },
	{ SIRO_EVENT_LAST_WQE_REACHED, IB_EVENT_QP_LAST_WQE_REACHED },
};

/* Consumers are promised that events of a QP come in process context. */
void siro_qp_event_work(struct work_struct *work)
{
	struct siro_qp *qp = container_of(work, struct siro_qp, event_work);
	struct ib_event event = { .device = qp->ibqp.device, .element.qp = &qp->ibqp };
	u32 events = atomic_xchg(&qp->events, 0);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(siro_qp_event_types); i++) {
		if (!(events & siro_qp_event_types[i].bit))
			continue;
		event.event = siro_qp_event_types[i].type;
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	}
}

static u32 siro_half_state(struct siro_qp *qp, const struct siro_half *half)
{
	return half == &qp->sq ? siro_requester_state(&qp->requester) :
				 siro_responder_state(&qp->responder);
}

/* Held: the half's lock, which is dropped; bottom halves are off. */
static void siro_half_fall(struct siro_qp *qp, struct siro_half *half)
	__releases(&half->lock)
{
	struct siro_context ctx;
	u32 state = siro_half_state(qp, half);

	if (half->dead || state == SIRO_QPS_ERR || state == SIRO_QPS_RESET) {
		spin_unlock(&half->lock);
		return;
	}
	siro_context_init(&ctx, qp);
	if (half == &qp->sq)
		siro_requester_modify(&qp->requester, &ctx, SIRO_QPS_ERR, &qp->requester_attr);
	else
		siro_responder_modify(&qp->responder, &ctx, SIRO_QPS_ERR, &qp->responder_attr);
	siro_half_settle(half, &ctx);
	spin_unlock(&half->lock);
	trace_siro_qp_state(qp->ibqp.device->index, qp->qpn, state, SIRO_QPS_ERR);
	siro_half_deliver(qp, half, &ctx);
}

/*
 * The other half entered ERR in life @epoch of the QP. A half that was reset
 * since then is not to fall.
 */
static void siro_half_fail(struct siro_qp *qp, struct siro_half *half, u32 epoch)
{
	spin_lock(&half->lock);
	if (half->epoch == epoch)
		siro_half_fall(qp, half);
	else
		spin_unlock(&half->lock);
}

void siro_qp_fail(struct siro_qp *qp)
{
	local_bh_disable();
	spin_lock(&qp->sq.lock);
	siro_half_fall(qp, &qp->sq);
	spin_lock(&qp->rq.lock);
	siro_half_fall(qp, &qp->rq);
	local_bh_enable();
}

void siro_half_leave(struct siro_qp *qp, struct siro_half *half, struct siro_context *ctx)
{
	u32 epoch = half->epoch;

	siro_half_settle(half, ctx);
	spin_unlock(&half->lock);
	siro_half_deliver(qp, half, ctx);
	if (unlikely(ctx->outcome & SIRO_OUT_QP_ERROR))
		siro_half_fail(qp, half == &qp->sq ? &qp->rq : &qp->sq, epoch);
	local_bh_enable();
}

void siro_qp_receive(struct siro_qp *qp, const struct siro_batch *batch)
{
	struct siro_half *half = batch->packets->response ? &qp->sq : &qp->rq;
	struct siro_context ctx;

	if (!siro_half_enter(qp, half, &ctx))
		return;
	if (half == &qp->sq)
		siro_requester_receive(&qp->requester, &ctx, batch);
	else
		siro_responder_receive(&qp->responder, &ctx, batch);
	siro_half_leave(qp, half, &ctx);
}

static void siro_requester_run_now(struct siro_qp *qp)
{
	struct siro_context ctx;

	if (!siro_half_enter(qp, &qp->sq, &ctx))
		return;
	siro_requester_run(&qp->requester, &ctx);
	siro_half_leave(qp, &qp->sq, &ctx);
}

static void siro_responder_run_now(struct siro_qp *qp)
{
	struct siro_context ctx;

	if (!siro_half_enter(qp, &qp->rq, &ctx))
		return;
	siro_responder_run(&qp->responder, &ctx);
	siro_half_leave(qp, &qp->rq, &ctx);
}

void siro_requester_work(struct work_struct *work)
{
	siro_requester_run_now(container_of(work, struct siro_qp, sq.work));
}

void siro_responder_work(struct work_struct *work)
{
	siro_responder_run_now(container_of(work, struct siro_qp, rq.work));
}

static bool siro_may_lock_half(void)
{
	return !irqs_disabled() && !in_hardirq();
}

void siro_requester_kick(struct siro_qp *qp)
{
	if (siro_may_lock_half())
		siro_requester_run_now(qp);
	else
		queue_work(siro_wq, &qp->sq.work);
}

void siro_responder_kick(struct siro_qp *qp)
{
	if (siro_may_lock_half())
		siro_responder_run_now(qp);
	else
		queue_work(siro_wq, &qp->rq.work);
}

/* Return: whether the half waited for room to transmit. */
static bool siro_half_expire(struct siro_half *half)
{
	bool blocked = half->blocked;

	half->timer_at = 0;
	half->blocked = false;
	return blocked;
}

enum hrtimer_restart siro_requester_timer(struct hrtimer *timer)
{
	struct siro_qp *qp = container_of(timer, struct siro_qp, sq.timer);
	struct siro_context ctx;

	if (!siro_half_enter(qp, &qp->sq, &ctx))
		return HRTIMER_NORESTART;
	if (siro_half_expire(&qp->sq))
		siro_requester_run(&qp->requester, &ctx);
	siro_requester_timeout(&qp->requester, &ctx);
	siro_half_leave(qp, &qp->sq, &ctx);
	return HRTIMER_NORESTART;
}

enum hrtimer_restart siro_responder_timer(struct hrtimer *timer)
{
	struct siro_qp *qp = container_of(timer, struct siro_qp, rq.timer);
	struct siro_context ctx;

	if (!siro_half_enter(qp, &qp->rq, &ctx))
		return HRTIMER_NORESTART;
	siro_half_expire(&qp->rq);
	siro_responder_run(&qp->responder, &ctx);
	siro_half_leave(qp, &qp->rq, &ctx);
	return HRTIMER_NORESTART;
}
