// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "requester.h"

#include "deadline.h"
#include "work_request.h"

namespace sirocco {

Requester::Requester(const siro_requester_config &config)
	: held_(config.held), board_(config.stamps), queue_(config), flow_(config.flow),
	  cookie_(config.cookie), qpn_(config.qpn), pd_(config.pd), type_(config.type),
	  signal_all_(config.signal_all), sig_pipelining_(config.sig_pipelining)
{
}

void Requester::modify(siro_context &ctx, u32 state, const siro_requester_attr &attr)
{
	u32 before = exchange(state_, state);

	attr_ = attr;
	timer_.configure(attr.timeout, attr.retry_count);
	drained_ = false;
	if (stopped_ && state != SIRO_QPS_SQD)
		stopped_ = sig_error_ = false;

	if (state == SIRO_QPS_RESET) {
		set_agreed(ctx, false);
		discard(ctx.port);
		send_ = queue_.completed();
		packet_ = 0;
		sig_error_ = false;
	}
	if (before == SIRO_QPS_RTR && state == SIRO_QPS_RTS) {
		una_ = sent_ = next_psn_ = Psn(attr.sq_psn);
		ssn_ = 0;
		limited_ = false;
		rd_outstanding_ = 0;
		unasked_ = 0;
		rewound_ = false;
		rnr_until_ = 0;
		probe_at_ = 0;
		peer_window_ = wide_window;
		peer_duplicates_ = 0;
		board_.reset();
		timer_.reset();
	}
	if (state == SIRO_QPS_RTS)
		rnr_left_ = attr.rnr_retry;
	if (state >= SIRO_QPS_RTS)
		run(ctx);
}

void Requester::discard(void *port)
{
	discard_held(port);
	for (u32 i = queue_.completed(); i != queue_.posted(); i++)
		abandon(port, queue_.entry(i).wqe);
	queue_.clear();
}

void Requester::run(siro_context &ctx)
{
	Call call(ctx, pd_, sig_cursor_);

	transmit(call);
	finish(call);
}

void Requester::timeout(siro_context &ctx)
{
	Call call(ctx, pd_, sig_cursor_);

	if (state_ == SIRO_QPS_RTS || state_ == SIRO_QPS_SQD) {
		if (timer_.expired(ctx.now) && timer_.exhausted(ctx.now)) {
			ctx.counters[SIRO_CNT_RETRY_EXCEEDED_ERR]++;
			fail(call, SIRO_WC_RETRY_EXC_ERR);
		} else if (timer_.expired(ctx.now)) {
			ctx.counters[SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR]++;
			resume_after_timeout();
			timer_.back_off(ctx.now);
		}
		judge(call);
		probe(call);
	}
	transmit(call);
	finish(call);
}

/* The end of every call: what became due, and when to be called again. */
void Requester::finish(Call &call)
{
	siro_context &ctx = call.ctx;

	if (ctx.outcome & SIRO_OUT_SIG_ERROR)
		sig_error_ = sig_pipelining_;
	fail_oldest_if_bad(call);
	if (state_ == SIRO_QPS_ERR || state_ == SIRO_QPS_SQE)
		flush(call);
	if (state_ == SIRO_QPS_SQD && (attr_.sqd_event || stopped_) && !drained_ &&
	    !queue_.has_started()) {
		drained_ = true;
		ctx.events |= SIRO_EVENT_SQ_DRAINED;
	}
	ctx.deadline = 0;
	if (state_ == SIRO_QPS_RTS || state_ == SIRO_QPS_SQD)
		ctx.deadline = next_deadline();
}

u64 Requester::next_deadline() const
{
	u64 first = rnr_until_ ? rnr_until_ : timer_.deadline();

	first = earlier(first, probe_at_);
	return earlier(first, board_.deadline());
}

int Requester::cancel(u64 wr_id, u32 &count)
{
	if (state_ != SIRO_QPS_SQD)
		return einval;

	u32 posted = queue_.posted();

	queue_.fetch();
	for (u32 i = queue_.started(); i != queue_.posted(); i++) {
		SendEntry &e = queue_.entry(i);

		if (e.wqe.wr_id != wr_id || e.wqe.opcode == SIRO_WR_NOP)
			continue;
		e.become_nop();
		count++;
	}
	return queue_.posted() != posted;
}

/* A list that was never registered goes back to who allocated it. */
void Requester::abandon(void *port, siro_send_wqe &wqe)
{
	/* What user space wrote into a bad WQE is no list. */
	if (queue_.is_kernel() && wqe.opcode == SIRO_WR_REG_INDIR_MR && wqe.reg.mr)
		siro_port_mr_abandon_list(port, exchange(wqe.reg.mr, 0ull));
}

/* Retires the oldest entry, with a CQE if it is to have one. */
void Requester::complete(Call &call, u32 status)
{
	abandon(call.ctx.port, queue_.oldest().wqe);

	const siro_send_wqe wqe = queue_.oldest().wqe;
	siro_context &ctx = call.ctx;
	siro_cqe cqe{};

	cqe.wr_id = wqe.wr_id;
	cqe.cookie = cookie_;
	cqe.qp_num = qpn_;
	cqe.byte_len = queue_.oldest().length;
	cqe.status = static_cast<u8>(status);
	cqe.opcode = completion_opcode(wqe.opcode);

	/* From here on a kernel poster may build a new entry in its place. */
	queue_.retire();

	if (status == SIRO_WC_SUCCESS) {
		if (is_send(wqe.opcode))
			ctx.counters[SIRO_CNT_RDMA_SENDS]++;
		if (!signal_all_ && !(wqe.flags & SIRO_SEND_SIGNALED))
			return;
	} else if (status == SIRO_WC_WR_FLUSH_ERR) {
		ctx.counters[SIRO_CNT_REQ_CQE_FLUSH_ERROR]++;
	} else {
		ctx.counters[SIRO_CNT_REQ_CQE_ERROR]++;
	}
	siro_port_complete_send(ctx.port, &ctx, &cqe);
}

/* The oldest entry has been executed by the peer. */
void Requester::complete_oldest(Call &call)
{
	const siro_send_wqe &wqe = queue_.oldest().wqe;

	if (wqe.opcode == SIRO_WR_RDMA_READ_WITH_INV) {
		call.regions.release();
		if (siro_port_mr_invalidate(call.ctx.port, wqe.imm, pd_, 0)) {
			fail(call, SIRO_WC_LOC_QP_OP_ERR);
			return;
		}
	}
	complete(call, SIRO_WC_SUCCESS);
	retire_local(call);
}

/* Local operations complete in their turn. */
void Requester::retire_local(Call &call)
{
	while (queue_.has_started() && !queue_.oldest().packets && !queue_.oldest().status)
		complete(call, SIRO_WC_SUCCESS);
}

/* The oldest entry fails and takes the queue along (IBTA 10.10.2.3). */
void Requester::fail(Call &call, u32 status)
{
	discard_held(call.ctx.port);
	if (!queue_.is_empty())
		complete(call, status);
	if (type_ == SIRO_QPT_RC) {
		state_ = SIRO_QPS_ERR;
		call.ctx.outcome |= SIRO_OUT_QP_ERROR;
	} else {
		state_ = SIRO_QPS_SQE;
		call.ctx.outcome |= SIRO_OUT_SQ_ERROR;
	}
}

/* An entry that can't be sent fails when everything before it is done. */
void Requester::fail_oldest_if_bad(Call &call)
{
	if (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD)
		return;
	if (!queue_.is_empty() && queue_.oldest().status)
		fail(call, queue_.oldest().status);
}

void Requester::flush(Call &call)
{
	siro_context &ctx = call.ctx;

	discard_held(ctx.port);
	for (;;) {
		if (queue_.is_empty())
			queue_.fetch();
		if (queue_.is_empty())
			break;
		if (!ctx.budget) {
			ctx.outcome |= SIRO_OUT_MORE;
			break;
		}
		ctx.budget--;
		complete(call, SIRO_WC_WR_FLUSH_ERR);
	}
	send_ = queue_.completed();
	packet_ = 0;
	rd_outstanding_ = 0;
	una_ = sent_ = next_psn_;
	rnr_until_ = 0;
	probe_at_ = 0;
	board_.reset();
	timer_.reset();
}

} // namespace sirocco

using namespace sirocco;

static_assert(sizeof(Requester) <= sizeof(siro_requester) && alignof(Requester) <= 8);

static Requester &engine(siro_requester *req)
{
	return *reinterpret_cast<Requester *>(req);
}

static const Requester &engine(const siro_requester *req)
{
	return *reinterpret_cast<const Requester *>(req);
}

extern "C" void siro_requester_init(siro_requester *req, const siro_requester_config *config)
{
	construct_at<Requester>(req, *config);
}

extern "C" void siro_requester_modify(siro_requester *req, siro_context *ctx, __u32 state,
				      const siro_requester_attr *attr)
{
	engine(req).modify(*ctx, state, *attr);
}

extern "C" __u32 siro_requester_state(const siro_requester *req)
{
	return engine(req).state();
}

extern "C" __u32 siro_requester_psn(const siro_requester *req)
{
	return engine(req).psn().value();
}

extern "C" __u32 siro_requester_draining(const siro_requester *req)
{
	return engine(req).draining();
}

extern "C" __u32 siro_requester_agreed(const siro_requester *req)
{
	return engine(req).has_agreed();
}

extern "C" siro_send_wqe *siro_requester_reserve(siro_requester *req)
{
	return engine(req).queue().reserve();
}

extern "C" int siro_requester_commit(siro_requester *req)
{
	if (engine(req).state() < SIRO_QPS_RTS)
		return einval;
	return engine(req).queue().commit() ? 0 : einval;
}

extern "C" int siro_requester_cancel(siro_requester *req, __u64 wr_id, __u32 *count)
{
	return engine(req).cancel(wr_id, *count);
}

extern "C" void siro_requester_run(siro_requester *req, siro_context *ctx)
{
	engine(req).run(*ctx);
}

extern "C" void siro_requester_receive(siro_requester *req, siro_context *ctx,
				       const siro_batch *batch)
{
	engine(req).receive(*ctx, *batch);
}

extern "C" void siro_requester_discard(siro_requester *req, void *port)
{
	engine(req).discard(port);
}

extern "C" void siro_requester_timeout(siro_requester *req, siro_context *ctx)
{
	engine(req).timeout(*ctx);
}
