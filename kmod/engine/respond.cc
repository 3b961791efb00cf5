// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The responder's way out: READ and atomic responses, ACKs and NAKs. */
#include "responder.h"
#include "sack.h"

namespace sirocco {

namespace {

u8 *put_aeth(u8 *to, u8 syndrome, u32 msn)
{
	wire::Aeth aeth{};

	aeth.syndrome = syndrome;
	aeth.msn = msn;
	store(to, aeth);
	return to + sizeof(aeth);
}

u8 read_opcode(bool is_first, bool is_last)
{
	using namespace wire;

	if (is_last)
		return is_first ? rc_read_response_only : rc_read_response_last;
	return is_first ? rc_read_response_first : rc_read_response_middle;
}

bool budget_left(siro_context &ctx)
{
	if (!ctx.budget)
		ctx.outcome |= SIRO_OUT_MORE;
	return ctx.budget;
}

} // namespace

void Responder::reply_nak(u8 syndrome)
{
	reply_ = Reply::nak;
	reply_syndrome_ = syndrome;
	reply_psn_ = expected_;
}

u8 Responder::ack_syndrome(Call &call) const
{
	u32 count = siro_port_recv_count(call.ctx.port);
	u8 code = count == ~0u ? wire::credits_unlimited : wire::credit_code(count);

	return wire::syndrome(wire::aeth_ack, code);
}

/* Answers in the order of PSNs; one ACK or NAK closes the batch. */
void Responder::respond(Call &call)
{
	if (state_ < SIRO_QPS_RTR || type_ != SIRO_QPT_RC)
		return;
	while (Repeat *again = repeats_.first())
		if (!answer_again(call, *again))
			return;
	while (ReadResource *r = resources_.first_pending())
		if (!answer(call, *r))
			return;
	ack_due_ |= agreed_ && news_;
	news_ = false;
	/* An ACK that had to wait covers what came meanwhile. */
	if (ack_due_ && reply_ != Reply::nak) {
		reply_ = Reply::ack;
		reply_psn_ = expected_ - 1;
	}
	if (reply_ == Reply::none)
		return;
	if (!budget_left(call.ctx) || !send_reply(call)) {
		call.ctx.counters[SIRO_CNT_ACK_DEFERRED]++;
		return;
	}
	reply_ = Reply::none;
	ack_due_ = false;
}

bool Responder::answer(Call &call, ReadResource &r)
{
	while (r.pending()) {
		if (!budget_left(call.ctx))
			return false;
		if (!(r.atomic ? answer_atomic(call, r) : answer_read(call, r)))
			return false;
	}
	return true;
}

/* The key went bad after the READ was accepted: by right if it was answered once. */
bool Responder::refuse_read(Call &call, ReadResource &r)
{
	Psn psn = r.first_psn + r.next;

	if (r.answered) {
		resources_.drop(r);
		return true;
	}
	cancel_answers();
	fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
	reply_psn_ = psn;
	return true;
}

bool Responder::answer_read(Call &call, ReadResource &r)
{
	switch (send_response(call, r, r.next, r.next == r.begin, r.end - r.next)) {
	case Answer::waits:
		return false;
	case Answer::refused:
		return refuse_read(call, r);
	default:
		resources_.advance(r);
		return true;
	}
}

/* Whoever asks again for what is not remembered or has a bad key gets no answer. */
bool Responder::answer_again(Call &call, Repeat &again)
{
	const ReadResource *r = resources_.find_read(again.psn, again.left);
	Answer answer = Answer::sent;

	while (r && again.left && answer != Answer::refused) {
		if (!budget_left(call.ctx))
			return false;
		answer = send_response(call, *r, again.psn.since(r->first_psn), !again.begun,
				       again.left);
		if (answer == Answer::waits)
			return false;
		again.advance();
	}
	repeats_.pop();
	return true;
}

/* Response packet @index of a READ, the first of @left or one of them. */
Responder::Answer Responder::send_response(Call &call, const ReadResource &r, u32 index,
					   bool is_first, u32 left)
{
	u64 offset = u64{index} * attr_.mtu;
	u32 payload = static_cast<u32>(min(u64{attr_.mtu}, r.length - offset));
	u8 opcode = read_opcode(is_first, left == 1);
	u16 props = wire::properties(opcode);
	u32 pad = wire::pad_of(payload);
	u32 bytes = wire::header_bytes(props) + payload + pad + wire::icrc_bytes;
	siro_mr *mr = nullptr;

	if (r.length) {
		mr = call.regions.find(r.rkey, r.va, r.length, SIRO_ACCESS_REMOTE_READ);
		if (!mr)
			return Answer::refused;
	}

	u32 follow_up = min(left, u32{SIRO_MAX_BURST_PACKETS});
	siro_flow &flow = path_choice_.next(call.ctx.port, *flow_, agreed_ ? attr_.paths : 1, true);
	u8 *start = call.burst.reserve(flow, bytes, bytes * follow_up);

	if (!start)
		return Answer::waits;

	u8 *p = wire::put_bth(start, {.opcode = opcode,
				      .dest_qpn = attr_.dest_qpn,
				      .psn = r.first_psn + index,
				      .pad = pad,
				      .marked = agreed_});

	if (props & wire::has_aeth)
		p = put_aeth(p, ack_syndrome(call), r.msn);
	if (is_first)
		call.regions.begin_message();
	if (mr && !call.regions.read(*mr, r.va + offset, p, payload))
		return Answer::refused;
	memory_zero(p + payload, pad);
	call.burst.add(bytes);
	return Answer::sent;
}

bool Responder::answer_atomic(Call &call, ReadResource &r)
{
	constexpr u32 bytes = sizeof(wire::Bth) + sizeof(wire::Aeth) + sizeof(wire::AtomicAckEth) +
			      wire::icrc_bytes;
	u8 *start = call.burst.reserve(*flow_, bytes, bytes);

	if (!start)
		return false;

	u8 *p = wire::put_bth(start, {wire::rc_atomic_acknowledge, attr_.dest_qpn, r.first_psn});

	p = put_aeth(p, ack_syndrome(call), r.msn);
	store(p, wire::AtomicAckEth{r.original});
	call.burst.add(bytes);
	resources_.advance(r);
	return true;
}

/* What came early; if that is more than one SACK holds, each tells of another part. */
u32 Responder::put_sack(Call &call, u8 *to)
{
	u32 highest = highest_.since(expected_);
	u32 base = highest < Sack::map_bits || sack_base_ > highest ? 0 : sack_base_;

	sack_base_ = base + Sack::map_bits;
	call.ctx.counters[SIRO_CNT_SACK_SENT]++;
	return Sack::put(to, early_, expected_, base, highest, duplicates_);
}

bool Responder::send_reply(Call &call)
{
	constexpr u32 bytes = sizeof(wire::Bth) + sizeof(wire::Aeth) + wire::icrc_bytes;
	/* What is expected next may be there and wait for run(): of it alone nothing is said. */
	bool sack = agreed_ && reply_ == Reply::ack && !early_.is_empty() && expected_ < highest_;
	u8 syndrome = reply_ == Reply::ack ? ack_syndrome(call) : reply_syndrome_;
	u8 *start = call.burst.reserve(*flow_, bytes + (sack ? Sack::most_bytes : 0),
				       bytes + (sack ? Sack::most_bytes : 0));

	if (!start)
		return false;

	u8 *p = wire::put_bth(start, {.opcode = wire::rc_acknowledge,
				      .dest_qpn = attr_.dest_qpn,
				      .psn = reply_psn_,
				      .marked = agreed_});

	p = put_aeth(p, syndrome, msn_);
	call.burst.add(bytes + (sack ? put_sack(call, p) : 0));
	if (reply_ == Reply::nak)
		call.ctx.counters[SIRO_CNT_SENT_NAKS]++;
	return true;
}

} // namespace sirocco
