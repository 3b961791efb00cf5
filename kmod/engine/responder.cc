// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "responder.h"

#include "deadline.h"
#include "packet.h"

namespace sirocco {

namespace {

constexpr u64 patience = 1000000000; /* with a gap before what is held */

void store_be16(u8 *to, u32 value)
{
	store(to, be16(static_cast<u16>(value)));
}

/* The header as this packet had it, not the super-packet. */
void copy_ipv4_header(u8 *to, const siro_packet &packet, const u8 *from)
{
	constexpr u32 bytes = 20, udp_bytes = 8;
	u32 sum = 0;

	memory_copy(to, from, bytes);
	store_be16(to + 2, bytes + udp_bytes + packet.length);
	store_be16(to + 4, packet.ip_id);
	store_be16(to + 10, 0);
	for (u32 i = 0; i < bytes; i += 2)
		sum += load<be16>(to + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	store_be16(to + 10, ~sum);
}

/* The 40 bytes before a datagram (IBTA A17.4.5.1). */
void make_grh(u8 (&grh)[SIRO_GRH_BYTES], const siro_packet &packet, const siro_batch &batch)
{
	constexpr u32 udp_bytes = 8;

	if (batch.family == 4) {
		memory_zero(grh, sizeof(grh));
		copy_ipv4_header(grh + 20, packet, batch.ip_header);
		return;
	}
	memory_copy(grh, batch.ip_header, sizeof(grh));
	store_be16(grh + 4, udp_bytes + packet.length);
}

} // namespace

Responder::Responder(const siro_responder_config &config)
	: flow_(config.flow), cookie_(config.cookie), qpn_(config.qpn), pd_(config.pd),
	  type_(config.type), srq_(config.srq), held_(config.held)
{
}

void Responder::modify(siro_context &ctx, u32 state, const siro_responder_attr &attr)
{
	u32 before = exchange(state_, state);

	attr_ = attr;
	resources_.assign(attr.resources, attr.max_dest_rd_atomic);

	if (state == SIRO_QPS_RESET) {
		discard(ctx.port);
		reply_ = Reply::none;
		agreed_ = ack_due_ = false;
		siro_port_set_kick(ctx.port, 0);
	}
	if (before == SIRO_QPS_INIT && state == SIRO_QPS_RTR) {
		news_ = false;
		duplicates_ = 0;
		expected_ = Psn(attr.rq_psn);
		msn_ = 0;
		established_ = last_wqe_ = silent_ = ack_due_ = false;
		reply_ = Reply::none;
		resources_.clear();
		repeats_.clear();
	}
	if (state == SIRO_QPS_ERR && before != SIRO_QPS_ERR) {
		discard_held(ctx.port);
		cancel_answers();
		reply_ = Reply::none;
		ack_due_ = false;
		siro_port_set_kick(ctx.port, 1);
	}
	if (state == SIRO_QPS_ERR)
		run(ctx);
}

void Responder::discard(void *port)
{
	discard_held(port);
	has_recv_ = false;
	message_ = Message::none;
}

void Responder::discard_held(void *port)
{
	held_.clear(port, expected_);
	early_.clear();
	has_spoiled_ = false;
	gap_until_ = age_at_ = 0;
}

void Responder::run(siro_context &ctx)
{
	Call call(ctx, pd_, sig_cursor_);

	if (has_next())
		take_held(call);
	nak_gap(call);
	age(call);
	respond(call);
	finish(call);
}

void Responder::receive(siro_context &ctx, const siro_batch &batch)
{
	Call call(ctx, pd_, sig_cursor_);

	if (state_ < SIRO_QPS_RTR || state_ == SIRO_QPS_ERR) {
		ctx.counters[SIRO_CNT_WRONG_STATE] += batch.count;
	} else if (type_ == SIRO_QPT_RC && !flow_matches(*flow_, batch)) {
		ctx.counters[SIRO_CNT_BAD_ADDRESS] += batch.count;
	} else {
		for (u32 i = 0; i < batch.count && state_ != SIRO_QPS_ERR; i++)
			take(call, batch.packets[i], batch);
		nak_gap(call);
	}
	respond(call);
	finish(call);
}

void Responder::finish(Call &call)
{
	if (state_ == SIRO_QPS_ERR)
		flush(call);
	call.burst.send();
	call.ctx.deadline = earlier(gap_until_, age_at_);
}

void Responder::take(Call &call, const siro_packet &packet, const siro_batch &batch)
{
	wire::Headers headers(packet);
	siro_context &ctx = call.ctx;

	if (!headers.in_partition()) {
		ctx.counters[SIRO_CNT_BAD_PKEY]++;
		return;
	}
	if (headers.is(wire::has_deth) != (type_ != SIRO_QPT_RC)) {
		ctx.counters[SIRO_CNT_MALFORMED_PKTS]++;
		return;
	}
	if (type_ != SIRO_QPT_RC) {
		take_datagram(call, packet, batch);
		return;
	}

	s32 ahead = Psn(packet.psn).ahead_of(expected_);

	take_marker(packet);
	if (ahead > 0) {
		ctx.counters[SIRO_CNT_OUT_OF_SEQ_REQUEST]++;
		take_early(call, packet);
	} else if (ahead < 0) {
		count_duplicate(ctx);
		note_duplicate(Psn(packet.psn));
		take_duplicate(call, packet);
	} else if (has_next()) {
		/* The first copy only waits for run(), its data may be placed. */
		count_duplicate(ctx);
	} else {
		if (gap_until_)
			reorder_window_.late(ctx.now - gap_since_);
		take_in_sequence(call, packet);
		news_ |= headers.ack_requested() && !early_.is_empty();
		held_.skip(ctx.port, Psn(packet.psn), expected_);
		forget_early(Psn(packet.psn), expected_);
		take_held(call);
	}
}

/* A peer that marks its requests knows SACKs, and gets the marker back from now on. */
void Responder::take_marker(const siro_packet &packet)
{
	wire::Headers headers(packet);
	constexpr u8 both = SIRO_OOO_CONSENT | SIRO_OOO_MARK;
	bool is_known = headers.is(wire::write) || packet.opcode == wire::rc_read_request;

	if (agreed_ || !is_known || !headers.marked() || (attr_.ooo & both) != both)
		return;
	agreed_ = true;
	news_ = !early_.is_empty();
	gap_until_ = 0;
}

void Responder::take_early(Call &call, const siro_packet &packet)
{
	siro_context &ctx = call.ctx;
	Psn psn(packet.psn);
	u32 ahead = psn.since(expected_);

	if (ahead < PsnWindow::size && early_.has(psn)) {
		count_duplicate(ctx);
		news_ = true;
		return;
	}
	if (ahead < PsnWindow::size && place_early(call, packet)) {
		ctx.counters[SIRO_CNT_OOO_PLACED]++;
	} else if (held_.hold(ctx.port, packet, ahead) == HeldPackets::Verdict::held) {
		ctx.counters[SIRO_CNT_OOO_HELD]++;
		age_at_ = age_at_ ? age_at_ : ctx.now + patience;
	} else {
		ctx.counters[SIRO_CNT_OOO_DROPPED]++;
		if (!agreed_)
			gap_until_ = ctx.now;
		return;
	}
	news_ |= opens_hole(psn) || wire::Headers(packet).ack_requested();
	if (early_.is_empty() || highest_ < psn)
		highest_ = psn;
	if (early_.is_empty())
		ctx.counters[SIRO_CNT_GAPS]++;
	early_.set(psn);
	gap_opened(ctx);
}

/* The peer is told at once; of what follows it learns when it asks. */
bool Responder::opens_hole(Psn psn) const
{
	return early_.is_empty() || highest_ + 1 < psn;
}

/*
 * What is missing may only be late: it gets some time before a NAK asks for it. A
 * peer that understands SACKs decides by itself.
 */
void Responder::gap_opened(siro_context &ctx)
{
	if (!agreed_ && !gap_until_ && !silent_ && !has_next())
		wait_for_gap(ctx.now);
}

void Responder::forget_early(Psn from, Psn to)
{
	early_.clear(from, to);
}

void Responder::count_duplicate(siro_context &ctx)
{
	ctx.counters[SIRO_CNT_DUPLICATE_REQUEST]++;
	duplicates_++;
}

/* A gap that nobody fills must not keep memory from other queue pairs. */
void Responder::age(Call &call)
{
	if (!is_due(age_at_, call.ctx.now) || has_next())
		return;
	age_at_ = 0;
	for (u32 i = 1; i < PsnWindow::size; i++)
		if (held_.look(expected_ + i))
			early_.clear(expected_ + i);
	held_.clear(call.ctx.port, expected_);
	call.ctx.counters[SIRO_CNT_OOO_AGED]++;
}

void Responder::wait_for_gap(u64 now)
{
	gap_since_ = now;
	gap_until_ = now + reorder_window_.length(0);
}

/* What was asked for and comes twice was only late. */
void Responder::note_duplicate(Psn psn)
{
	if (is_asked_ && psn == asked_)
		reorder_window_.in_vain(0);
	is_asked_ &= psn != asked_;
}

/* One NAK for each gap (IBTA 9.7.4.1.2). */
void Responder::nak_gap(Call &call)
{
	if (!gap_until_ || call.ctx.now < gap_until_)
		return;
	gap_until_ = 0;
	if (silent_ || has_next())
		return;
	silent_ = true;
	asked_ = expected_;
	is_asked_ = true;
	reorder_window_.lost();
	reply_nak(wire::syndrome(wire::aeth_nak, wire::nak_psn_sequence));
}

/* Executes what was held and is in sequence now, no more at once than a batch has. */
void Responder::take_held(Call &call)
{
	void *port = call.ctx.port;

	for (u32 taken = 0;; taken++) {
		if (taken == SIRO_MAX_BURST_PACKETS && has_next()) {
			call.ctx.outcome |= SIRO_OUT_MORE;
			return;
		}

		if (state_ == SIRO_QPS_ERR || !has_next())
			break;

		Psn psn = expected_;
		siro_packet *packet = held_.take(psn);

		early_.clear(psn);
		news_ = true;
		if (packet) {
			take_in_sequence(call, *packet);
			siro_port_release(port, packet);
		} else {
			take_placed(call);
		}
		/* A READ takes more PSNs than its own; a refused request none. */
		held_.skip(port, psn, expected_);
		forget_early(psn, expected_);
		if (expected_ == psn)
			break;
	}
	gap_until_ = age_at_ = 0;
	if (state_ == SIRO_QPS_ERR || early_.is_empty())
		return;
	if (!held_.is_empty())
		age_at_ = call.ctx.now + patience;
	gap_opened(call.ctx);
}

/* The turn of a WRITE whose data has been placed. */
void Responder::take_placed(Call &call)
{
	begin_sequence(call);
	if (message_ != Message::none) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
	} else if (has_spoiled_ && spoiled_ == expected_) {
		fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
	} else {
		msn_ = (msn_ + 1) & Psn::mask;
		expected_ = expected_ + 1;
	}
}

void Responder::take_in_sequence(Call &call, const siro_packet &packet)
{
	begin_sequence(call);
	execute(call, packet);
}

void Responder::begin_sequence(Call &call)
{
	/* What was missing is here: a NAK that has not left yet is void. */
	silent_ = false;
	gap_until_ = 0;
	if (reply_ == Reply::nak)
		reply_ = Reply::none;
	if (state_ == SIRO_QPS_RTR && !established_) {
		established_ = true;
		call.ctx.events |= SIRO_EVENT_COMM_EST;
	}
}

/* Executed before: only the answer is repeated (IBTA 9.7.5.1.2, table 50). */
void Responder::take_duplicate(Call &, const siro_packet &packet)
{
	wire::Headers headers(packet);
	Psn psn(packet.psn);

	if (headers.is(wire::send | wire::write)) {
		ack_due_ = true;
		return;
	}

	ReadResource *r = resources_.find(psn);

	if (!r || r->atomic != headers.is(wire::has_atomic_eth))
		return;

	u32 begin = psn.since(r->first_psn);
	u32 end = r->packets;

	if (!r->atomic) {
		wire::Reth reth = headers.reth();
		u64 offset = u64{begin} * attr_.mtu;
		u64 rest = r->length - offset;

		/* Whole packets of the request, nothing that was not asked for before. */
		if (reth.rkey != r->rkey || reth.va != r->va + offset || reth.length > rest ||
		    (reth.length != rest && (reth.length % attr_.mtu || !reth.length)))
			return;
		if (reth.length != rest)
			end = begin + reth.length / attr_.mtu;
	}
	/* What is due anyway comes once. */
	if (r->atomic || (r->pending() && r->next < end) || !repeats_.add(psn, end - begin))
		resources_.repeat(*r, begin, end);
}

void Responder::cancel_answers()
{
	resources_.cancel();
	repeats_.clear();
}

void Responder::take_datagram(Call &call, const siro_packet &packet, const siro_batch &batch)
{
	wire::Headers headers(packet);
	wire::Deth deth = headers.deth();
	siro_context &ctx = call.ctx;
	u8 grh[SIRO_GRH_BYTES];
	siro_cqe cqe{};

	if (deth.qkey != attr_.qkey) {
		ctx.counters[SIRO_CNT_BAD_QKEY]++;
		return;
	}
	if (acquire(call) != Recv::ready ||
	    SgeList(sges_, recv_.num_sge).length() < SIRO_GRH_BYTES + packet.payload_length ||
	    !SgeList(sges_, recv_.num_sge)
		     .has_room(call.regions, 0, SIRO_GRH_BYTES + packet.payload_length)) {
		ctx.counters[SIRO_CNT_OUT_OF_BUFFER]++;
		return;
	}
	make_grh(grh, packet, batch);
	if (!SgeList(sges_, recv_.num_sge).scatter(call.regions, 0, grh, sizeof(grh)) ||
	    !place_recv(call, packet, sizeof(grh))) {
		complete_recv(call, cqe, SIRO_WC_LOC_PROT_ERR);
		return;
	}
	cqe.opcode = SIRO_WC_RECV;
	cqe.byte_len = SIRO_GRH_BYTES + packet.payload_length;
	cqe.src_qp = deth.src_qpn;
	cqe.flags = SIRO_WC_GRH;
	cqe.network_type = batch.family == 4 ? SIRO_NETWORK_IPV4 : SIRO_NETWORK_IPV6;
	if (headers.is(wire::has_imm)) {
		cqe.imm = headers.imm();
		cqe.flags |= SIRO_WC_WITH_IMM;
	}
	if (headers.solicited())
		cqe.flags |= SIRO_WC_SOLICITED;
	complete_recv(call, cqe, SIRO_WC_SUCCESS);
}

/* Makes recv_ the receive WQE in use. */
Responder::Recv Responder::acquire(Call &call)
{
	siro_cqe cqe{};

	if (has_recv_)
		return Recv::ready;
	switch (siro_port_take_recv(call.ctx.port, &call.ctx, &recv_, sges_)) {
	case 1:
		has_recv_ = true;
		return Recv::ready;
	case 0:
		return Recv::none;
	default:
		has_recv_ = true;
		recv_.num_sge = 0;
		if (type_ != SIRO_QPT_RC)
			complete_recv(call, cqe, SIRO_WC_LOC_QP_OP_ERR);
		return Recv::bad;
	}
}

/* The packet counts as lost: the peer will send it again. */
void Responder::drop_for_memory(Call &call)
{
	call.ctx.counters[SIRO_CNT_SIG_DROPPED]++;
}

bool Responder::has_room_in_recv(Call &call, const siro_packet &packet, u64 offset)
{
	return SgeList(sges_, recv_.num_sge).has_room(call.regions, offset, packet.payload_length);
}

bool Responder::place_recv(Call &call, const siro_packet &packet, u64 offset)
{
	SgeList list(sges_, recv_.num_sge);

	return for_each_payload(packet, [&](u32 at, const u8 *data, u32 n) {
		return list.scatter(call.regions, offset + at, data, n);
	});
}

/* @cqe: everything but identity and status. */
void Responder::complete_recv(Call &call, siro_cqe &cqe, u32 status)
{
	siro_context &ctx = call.ctx;

	has_recv_ = false;
	cqe.wr_id = recv_.wr_id;
	cqe.cookie = cookie_;
	cqe.qp_num = qpn_;
	cqe.status = static_cast<u8>(status);
	if (status == SIRO_WC_SUCCESS)
		ctx.counters[SIRO_CNT_RDMA_RECVS]++;
	else if (status == SIRO_WC_WR_FLUSH_ERR)
		ctx.counters[SIRO_CNT_RESP_CQE_FLUSH_ERROR]++;
	else
		ctx.counters[SIRO_CNT_RESP_CQE_ERROR]++;
	if (status != SIRO_WC_SUCCESS)
		cqe.opcode = SIRO_WC_RECV;
	siro_port_complete_recv(ctx.port, &ctx, &cqe);
}

/* Class C and E errors: NAK, then the QP is over (IBTA 9.9.3). */
void Responder::fail(Call &call, u8 nak_code, u32 status)
{
	siro_context &ctx = call.ctx;
	siro_cqe cqe{};

	reply_nak(wire::syndrome(wire::aeth_nak, nak_code));
	ack_due_ = false;
	discard_held(ctx.port);
	message_ = Message::none;
	if (has_recv_)
		complete_recv(call, cqe, status);
	else if (nak_code == wire::nak_remote_access)
		ctx.events |= SIRO_EVENT_QP_ACCESS_ERR;
	else
		ctx.events |= SIRO_EVENT_QP_REQ_ERR;
	state_ = SIRO_QPS_ERR;
	ctx.outcome |= SIRO_OUT_QP_ERROR;
	siro_port_set_kick(ctx.port, 1);
}

void Responder::not_ready(Call &call)
{
	siro_context &ctx = call.ctx;

	ctx.counters[SIRO_CNT_SEND_RNR_ERR]++;
	ctx.counters[SIRO_CNT_OUT_OF_BUFFER]++;
	reply_nak(wire::syndrome(wire::aeth_rnr, attr_.min_rnr_timer));
	silent_ = true;
}

void Responder::flush(Call &call)
{
	siro_context &ctx = call.ctx;
	siro_cqe cqe{};

	message_ = Message::none;
	if (has_recv_)
		complete_recv(call, cqe, SIRO_WC_WR_FLUSH_ERR);
	if (srq_) {
		if (!last_wqe_)
			ctx.events |= SIRO_EVENT_LAST_WQE_REACHED;
		last_wqe_ = true;
		return;
	}
	while (siro_port_take_recv(ctx.port, &ctx, &recv_, sges_)) {
		complete_recv(call, cqe, SIRO_WC_WR_FLUSH_ERR);
		if (!ctx.budget) {
			ctx.outcome |= SIRO_OUT_MORE;
			return;
		}
		ctx.budget--;
	}
}

} // namespace sirocco

using namespace sirocco;

static_assert(sizeof(Responder) <= sizeof(siro_responder) && alignof(Responder) <= 8);

static Responder &engine(siro_responder *res)
{
	return *reinterpret_cast<Responder *>(res);
}

static const Responder &engine(const siro_responder *res)
{
	return *reinterpret_cast<const Responder *>(res);
}

extern "C" void siro_responder_init(siro_responder *res, const siro_responder_config *config)
{
	construct_at<Responder>(res, *config);
}

extern "C" void siro_responder_modify(siro_responder *res, siro_context *ctx, __u32 state,
				      const siro_responder_attr *attr)
{
	engine(res).modify(*ctx, state, *attr);
}

extern "C" __u32 siro_responder_state(const siro_responder *res)
{
	return engine(res).state();
}

extern "C" __u32 siro_responder_psn(const siro_responder *res)
{
	return engine(res).psn().value();
}

extern "C" __u32 siro_responder_agreed(const siro_responder *res)
{
	return engine(res).has_agreed();
}

extern "C" void siro_responder_receive(siro_responder *res, siro_context *ctx,
				       const siro_batch *batch)
{
	engine(res).receive(*ctx, *batch);
}

extern "C" void siro_responder_run(siro_responder *res, siro_context *ctx)
{
	engine(res).run(*ctx);
}

extern "C" void siro_responder_discard(siro_responder *res, void *port)
{
	engine(res).discard(port);
}
