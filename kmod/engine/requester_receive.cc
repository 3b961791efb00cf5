// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The requester's way in: acknowledgements and responses (IBTA 9.7.5, 9.9.2). */
#include "packet.h"
#include "requester.h"
#include "work_request.h"

namespace sirocco {

void Requester::receive(siro_context &ctx, const siro_batch &batch)
{
	Call call(ctx, pd_, sig_cursor_);

	if (type_ != SIRO_QPT_RC || (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD)) {
		ctx.counters[SIRO_CNT_WRONG_STATE] += batch.count;
	} else if (!flow_matches(*flow_, batch)) {
		ctx.counters[SIRO_CNT_BAD_ADDRESS] += batch.count;
	} else {
		for (u32 i = 0; i < batch.count && state_ != SIRO_QPS_ERR; i++)
			take(call, batch.packets[i]);
		take_held(call);
		judge(call);
	}
	transmit(call);
	finish(call);
}

void Requester::take(Call &call, const siro_packet &packet)
{
	Psn psn(packet.psn);

	if (!wire::Headers(packet).in_partition()) {
		call.ctx.counters[SIRO_CNT_BAD_PKEY]++;
		return;
	}
	/* Nothing that was sent, or acknowledged before. */
	if (psn.since(una_) >= sent_.since(una_)) {
		if (packet.opcode == wire::rc_acknowledge && psn + 1 == una_) {
			take_agreement(call, packet);
			take_credits(wire::Headers(packet).aeth());
			take_sack(call, packet);
		} else {
			stale(call, Psn(packet.psn));
		}
		return;
	}

	switch (packet.opcode) {
	case wire::rc_acknowledge:
		take_acknowledge(call, packet);
		break;
	case wire::rc_atomic_acknowledge:
		take_atomic_response(call, packet);
		break;
	default:
		take_read_response(call, packet);
	}
}

void Requester::take_acknowledge(Call &call, const siro_packet &packet)
{
	Psn psn(packet.psn);
	wire::Aeth aeth = wire::Headers(packet).aeth();
	u8 kind = (aeth.syndrome >> 5) & 7;
	u8 value = aeth.syndrome & 0x1f;

	take_agreement(call, packet);
	switch (kind) {
	case wire::aeth_ack:
		take_credits(aeth);
		take_sack(call, packet);
		if (!acknowledge_until(call, psn + 1))
			take_early(call, packet);
		break;
	case wire::aeth_rnr:
	case wire::aeth_nak:
		note_executed(call.ctx.now, psn);
		/*
		 * Everything before the refused packet has been executed. A refusal
		 * that ends the QP comes but once: the peer answers no repetition.
		 */
		if (!acknowledge_until(call, psn)) {
			take_early_refusal(call, packet);
		} else if (kind == wire::aeth_rnr) {
			take_rnr(call, value);
		} else {
			take_nak(call, value);
		}
		break;
	default:
		call.ctx.counters[SIRO_CNT_STALE_RESPONSES]++;
	}
}

/*
 * A response before the refused packet is missing. What ends the queue waits for
 * its turn; a peer that keeps what comes early wants one packet, others want all.
 */
void Requester::take_early_refusal(Call &call, const siro_packet &packet)
{
	bool missing = wire::Headers(packet).aeth().syndrome ==
		       wire::syndrome(wire::aeth_nak, wire::nak_psn_sequence);
	bool not_ready = wire::Headers(packet).aeth().syndrome >> 5 == wire::aeth_rnr;

	if (missing && agreed_) {
		lose_run(Psn(packet.psn));
	} else if (missing || (not_ready && !agreed_)) {
		call.ctx.counters[SIRO_CNT_IMPLIED_NAK_SEQ_ERR]++;
		loss(call, missing ? Psn(packet.psn) : una_);
	} else {
		take_early(call, packet);
	}
}

void Requester::take_rnr(Call &call, u8 code)
{
	siro_context &ctx = call.ctx;
	constexpr u8 forever = 7;

	/* Another copy of the refused packet asks for nothing new: retries are bounded. */
	if (rnr_until_ || state_ == SIRO_QPS_ERR)
		return;
	ctx.counters[SIRO_CNT_RCVD_RNR_ERR]++;
	if (attr_.rnr_retry != forever) {
		if (!rnr_left_) {
			ctx.counters[SIRO_CNT_RETRY_RNR_EXCEEDED_ERR]++;
			fail(call, SIRO_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		rnr_left_--;
	}
	rnr_until_ = ctx.now + wire::rnr_nanoseconds(code);
	if (agreed_)
		lose_run(una_);
	else
		rewind(una_);
	timer_.hold(rnr_until_);
}

void Requester::take_nak(Call &call, u8 code)
{
	switch (code) {
	case wire::nak_psn_sequence:
		call.ctx.counters[SIRO_CNT_RCVD_SEQ_ERR]++;
		if (agreed_)
			lose_run(una_);
		else
			loss(call, una_);
		break;
	case wire::nak_invalid_request:
		fail(call, SIRO_WC_REM_INV_REQ_ERR);
		break;
	case wire::nak_remote_access:
		fail(call, SIRO_WC_REM_ACCESS_ERR);
		break;
	case wire::nak_remote_operation:
		fail(call, SIRO_WC_REM_OP_ERR);
		break;
	default:
		call.ctx.counters[SIRO_CNT_STALE_RESPONSES]++;
	}
}

/*
 * The entry that a data response belongs to, after everything before it has
 * been acknowledged by it; nullptr if something is missing in between.
 */
SendEntry *Requester::answered(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);

	take_agreement(call, packet);
	if (headers.is(wire::has_aeth)) {
		wire::Aeth aeth = headers.aeth();

		if (aeth.syndrome >> 5 != wire::aeth_ack) {
			call.ctx.counters[SIRO_CNT_STALE_RESPONSES]++;
			return nullptr;
		}
		take_credits(aeth);
	}
	/* Placed before its turn, which has come in this batch: take_held() goes on. */
	if (placed_.has(Psn(packet.psn))) {
		stale(call, Psn(packet.psn));
		return nullptr;
	}
	board_.arrived(call.ctx.now, Psn(packet.psn), true);
	if (!acknowledge_until(call, Psn(packet.psn))) {
		timer_.heard(call.ctx.now);
		arm_probe(call.ctx.now);
		if (!place_early(call, packet))
			take_early(call, packet);
		return nullptr;
	}
	if (state_ == SIRO_QPS_ERR || !queue_.has_started())
		return nullptr;
	return &queue_.oldest();
}

void Requester::take_read_response(Call &call, const siro_packet &packet)
{
	SendEntry *e = answered(call, packet);

	if (!e)
		return;
	if (!is_read(e->wqe.opcode)) {
		fail(call, SIRO_WC_BAD_RESP_ERR);
		return;
	}

	u64 offset = u64{e->received} * attr_.mtu;

	if (packet.payload_length != min(u64{attr_.mtu}, e->length - offset)) {
		fail(call, SIRO_WC_BAD_RESP_ERR);
		return;
	}
	if (!SgeList(e->sges(), e->wqe.num_sge)
		     .has_room(call.regions, offset, packet.payload_length)) {
		call.ctx.counters[SIRO_CNT_SIG_DROPPED]++;
		return; /* as if it was lost */
	}
	if (!place(call, *e, offset, packet)) {
		fail(call, SIRO_WC_LOC_PROT_ERR);
		return;
	}
	received_response(call, *e, Psn(packet.psn));
}

/* The oldest entry has its next response. */
void Requester::received_response(Call &call, SendEntry &e, Psn psn)
{
	bool was_asked = psn < cursor();

	e.received++;
	if (was_asked && (e.received % chunk == 0 || e.received == e.packets))
		rd_outstanding_--;
	if (e.received == e.packets)
		complete_oldest(call);
	progress(call, psn + 1);
}

/*
 * What a READ brings goes to its place before its turn if the consumer agreed to
 * that. False: nothing was done, the packet is to be kept.
 */
bool Requester::place_early(Call &call, const siro_packet &packet)
{
	Psn psn(packet.psn);

	if (!consents() || !board_.is_kept() || packet.opcode == wire::rc_atomic_acknowledge ||
	    held_.look(psn) || psn.since(una_) >= PsnWindow::size)
		return false;

	const SendEntry &e = queue_.find(psn);
	u64 offset = u64{psn.since(e.first_psn)} * attr_.mtu;

	/* What is wrong about it is found in its turn. */
	if (!is_read(e.wqe.opcode) ||
	    packet.payload_length != min(u64{attr_.mtu}, e.length - offset) ||
	    !SgeList(e.sges(), e.wqe.num_sge)
		     .has_room(call.regions, offset, packet.payload_length) ||
	    !place(call, e, offset, packet))
		return false;
	placed_.set(psn);
	call.ctx.counters[SIRO_CNT_OOO_PLACED]++;
	return true;
}

void Requester::take_atomic_response(Call &call, const siro_packet &packet)
{
	SendEntry *e = answered(call, packet);

	if (!e)
		return;
	if (!is_atomic(e->wqe.opcode)) {
		fail(call, SIRO_WC_BAD_RESP_ERR);
		return;
	}

	u64 original = wire::Headers(packet).atomic_original();
	SgeList list(e->sges(), e->wqe.num_sge);

	if (!list.scatter(call.regions, 0, reinterpret_cast<const u8 *>(&original),
			  sizeof(original))) {
		fail(call, SIRO_WC_LOC_PROT_ERR);
		return;
	}
	if (Psn(packet.psn) < cursor())
		rd_outstanding_--;
	e->received = 1;
	complete_oldest(call);
	progress(call, Psn(packet.psn) + 1);
}

bool Requester::place(Call &call, const SendEntry &e, u64 offset, const siro_packet &packet)
{
	SgeList list(e.sges(), e.wqe.num_sge);

	return for_each_payload(packet, [&](u32 at, const u8 *data, u32 n) {
		return list.scatter(call.regions, offset + at, data, n);
	});
}

/*
 * The peer has executed everything before @end. False if that includes a READ
 * or atomic whose response has not come: it was lost.
 */
bool Requester::acknowledge_until(Call &call, Psn end)
{
	u32 left = end.since(una_);

	while (left && queue_.has_started() && state_ != SIRO_QPS_ERR) {
		SendEntry &e = queue_.oldest();
		u32 of_entry = e.packets - una_.since(e.first_psn);

		if (wants_response(e.wqe.opcode))
			return false;
		if (left < of_entry) {
			progress(call, end);
			return true;
		}
		left -= of_entry;

		Psn una = e.end_psn();

		complete_oldest(call);
		progress(call, una);
	}
	return true;
}

void Requester::progress(Call &call, Psn una)
{
	u64 now = call.ctx.now;

	if (state_ == SIRO_QPS_ERR)
		return;
	held_.skip(call.ctx.port, una_, una);
	placed_.clear(una_, una);
	board_.arrived(now, una_, una);
	una_ = una;
	rewound_ = rewound_ && una <= rewound_to_;
	probed_ = false;
	arm_probe(now);
	rnr_left_ = attr_.rnr_retry;
	timer_.sampled(now, una_);
	timer_.acknowledged(now, una_ != sent_);
	catch_up();
}

/* What has been acknowledged need not be sent again. */
void Requester::catch_up()
{
	u32 behind = queue_.completed() - send_;

	if (static_cast<s32>(behind) > 0) {
		send_ = queue_.completed();
		packet_ = 0;
	}
	if (send_ == queue_.completed() && queue_.has_started()) {
		const SendEntry &e = queue_.oldest();

		packet_ = max(packet_, e.packets ? una_.since(e.first_psn) : 0);
	}
}

/* Goes on at @from, with what the peer has not executed. */
void Requester::rewind(Psn from)
{
	if (!queue_.has_started())
		return;
	if (cursor() < from)
		from = cursor();

	SendEntry &e = queue_.find(from);

	send_ = queue_.completed();
	rd_outstanding_ = 0;
	while (&queue_.entry(send_) != &e) {
		const SendEntry &before = queue_.entry(send_++);

		rd_outstanding_ += asked_parts(before, before.packets);
	}
	packet_ = from.since(e.first_psn);
	rd_outstanding_ += asked_parts(e, packet_);
	unasked_ = ack_interval;
	board_.forget(from, sent_);
	timer_.retransmitted();
}

/* Parts of a READ or atomic up to packet @end whose answer is not complete. */
u32 Requester::asked_parts(const SendEntry &e, u32 end) const
{
	if (is_atomic(e.wqe.opcode))
		return end > e.received;
	if (!is_read(e.wqe.opcode) || end <= e.received)
		return 0;

	u32 asked = end == e.packets ? div_round_up(end, chunk) : end / chunk;

	return asked - min(asked, e.received / chunk);
}

/*
 * The peer misses @from. The first sign of that starts a recovery, others wait for
 * the timer.
 */
void Requester::loss(Call &call, Psn from)
{
	if ((rewound_ && from <= rewound_to_) || state_ == SIRO_QPS_ERR)
		return;
	rewound_ = true;
	rewound_to_ = from;
	call.ctx.counters[SIRO_CNT_COMPLETER_RETRY_ERR]++;
	rewind(from);
}

/* A response before this packet is missing: lost, or only late. */
void Requester::take_early(Call &call, const siro_packet &packet)
{
	Psn psn(packet.psn);
	const siro_packet *same = held_.first(psn, psn + 1);

	/* An ACK may overtake the response of its PSN, which says more. */
	if (same && same->opcode == wire::rc_acknowledge && packet.opcode != same->opcode)
		held_.skip(call.ctx.port, psn, psn + 1);

	switch (held_.hold(call.ctx.port, packet, psn.since(una_))) {
	case HeldPackets::Verdict::held:
		call.ctx.counters[SIRO_CNT_OOO_HELD]++;
		break;
	case HeldPackets::Verdict::already:
		call.ctx.counters[SIRO_CNT_STALE_RESPONSES]++;
		break;
	case HeldPackets::Verdict::refused:
		call.ctx.counters[SIRO_CNT_OOO_DROPPED]++;
		implied_loss(call, packet);
	}
}

/* The first PSN that something came for before its turn. */
bool Requester::next_early(Psn &psn)
{
	u32 span = min(sent_.since(una_), PsnWindow::size);
	u32 placed = placed_.next(una_, 0, span);
	const siro_packet *held = held_.first(una_, una_ + placed);

	psn = held ? Psn(held->psn) : una_ + placed;
	return held || placed < span;
}

/* Takes what nothing is missing before any more. */
void Requester::take_held(Call &call)
{
	void *port = call.ctx.port;
	Psn psn;

	while (state_ != SIRO_QPS_ERR && next_early(psn)) {
		if (!acknowledge_until(call, psn))
			break;
		if (state_ == SIRO_QPS_ERR)
			break;
		if (placed_.has(psn)) {
			received_response(call, queue_.oldest(), psn);
			continue;
		}

		siro_packet *packet = held_.take(psn);

		if (!packet)
			continue;

		u32 others = held_.count();

		take(call, *packet);
		siro_port_release(port, packet);
		if (held_.count() > others)
			break; /* its own response is missing */
	}
}

void Requester::discard_held(void *port)
{
	held_.clear(port, una_);
	placed_.clear();
}

void Requester::stale(Call &call, Psn psn)
{
	call.ctx.counters[SIRO_CNT_STALE_RESPONSES]++;
	if (sent_.since(psn) <= PsnWindow::size && board_.came_twice(psn))
		call.ctx.counters[SIRO_CNT_SPURIOUS_RETRANSMITS]++;
}

/* @packet came before its turn (IBTA 9.7.5.1.1), and there is no room for it. */
void Requester::implied_loss(Call &call, const siro_packet &packet)
{
	call.ctx.counters[SIRO_CNT_IMPLIED_NAK_SEQ_ERR]++;
	if (!board_.is_kept())
		loss(call, una_);
	else if (packet.opcode != wire::rc_acknowledge)
		board_.lose(Psn(packet.psn));
}

void Requester::take_credits(wire::Aeth aeth)
{
	u8 code = aeth.syndrome & 0x1f;

	limited_ = code != wire::credits_unlimited;
	credit_limit_ = (aeth.msn + wire::credit_count(code)) & Psn::mask;
}

} // namespace sirocco
