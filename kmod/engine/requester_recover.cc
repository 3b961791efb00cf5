// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Selective retransmission: only what was lost is sent again. */
#include "packet.h"
#include "requester.h"
#include "work_request.h"

namespace sirocco {

void Requester::set_agreed(siro_context &ctx, bool agreed)
{
	if (agreed == agreed_)
		return;
	agreed_ = agreed;
	ctx.counters[SIRO_CNT_QP_OOO_ACTIVE] += agreed ? 1 : ~u64{0};
}

/* The peer places out of order and says what has come. */
void Requester::take_agreement(Call &call, const siro_packet &packet)
{
	if (marks() && wire::Headers(packet).marked())
		set_agreed(call.ctx, true);
}

/*
 * What an ACK says: all before its PSN has arrived, and what the extension names.
 * No request completes by that.
 */
void Requester::take_sack(Call &call, const siro_packet &packet)
{
	Psn next = Psn(packet.psn) + 1;
	u64 now = call.ctx.now;
	bool news = board_.arrived(now, una_, next);
	u8 bytes[Sack::most_bytes];

	if (!agreed_ || !packet.payload_length || packet.payload_length > sizeof(bytes))
		return;

	PacketReader reader(packet);

	reader.skip(packet.header_length);
	reader.copy(bytes, packet.payload_length);

	u32 outstanding = sent_.since(next);
	Sack sack = Sack::parse(bytes, packet.payload_length, outstanding ? outstanding - 1 : 0);

	if (!sack.is_good()) {
		call.ctx.counters[SIRO_CNT_SACK_INVALID]++;
		return;
	}
	call.ctx.counters[SIRO_CNT_SACK_RECEIVED]++;
	peer_window_ = clamp(sack.window(), u32{chunk}, u32{wide_window});
	sack.for_each([&](u32 distance) { news |= board_.arrived(now, next + distance); });
	if (!news)
		return;
	timer_.heard(now);
	probed_ = false;
	arm_probe(now);
}

/* Who is lost, now that all of a call has been looked at. */
void Requester::judge(Call &call)
{
	board_.take_sample();
	if (!agreed_ || (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD))
		return;
	board_.judge(call.ctx.now, una_, sent_.since(una_));
	call.ctx.counters[SIRO_CNT_SPURIOUS_RETRANSMITS] += board_.take_spurious();
}

/*
 * The first hole in each chunk of a READ that later responses show: what a peer
 * remembers of a request is for one answer at a time.
 */
void Requester::repair_reads(Call &call)
{
	u32 span = min(sent_.since(una_), PsnWindow::size);
	u32 last = 0;

	if (rewound_ || state_ == SIRO_QPS_ERR)
		return;
	rewound_ = true;
	missing_until_ = 0;
	reorder_delay_.gave_up(una_);
	call.ctx.counters[SIRO_CNT_COMPLETER_RETRY_ERR]++;
	board_.lose(una_);
	for (u32 i = span; i-- && !last;)
		if (has_response(una_ + i))
			last = i;
	for (u32 i = queue_.completed(); i != queue_.started(); i++) {
		const SendEntry &e = queue_.entry(i);
		u32 at = i == queue_.completed() ? una_.since(e.first_psn) : 0;

		if (!is_read(e.wqe.opcode))
			continue;
		/* The chunk of una_ has its hole. */
		if (at || i == queue_.completed())
			at = (at / chunk + 1) * chunk;
		for (; at < e.packets; at = (at / chunk + 1) * chunk) {
			u32 end = min((at / chunk + 1) * chunk, e.packets);

			while (at < end && has_response(e.first_psn + at))
				at++;

			Psn psn = e.first_psn + at;

			if (psn.since(una_) >= last)
				return;
			if (at < end && !board_.is_flying(psn))
				board_.lose(psn);
		}
	}
}

/*
 * The answer to the oldest packet tells what else is missing. If none comes again
 * and again, everything goes: the peer may have lost what it had.
 */
void Requester::resume_after_timeout()
{
	if (agreed_ && timer_.backoffs() < 2)
		board_.lose(una_);
	else
		rewind();
}

void Requester::arm_probe(u64 now)
{
	probe_at_ = agreed_ && una_ != sent_ && !probed_ ? now + board_.probe_delay() : 0;
}

/* The last packets may be lost and nothing that follows tells of it. */
void Requester::probe(Call &call)
{
	u32 span = sent_.since(una_);

	if (!probe_at_ || call.ctx.now < probe_at_)
		return;
	probe_at_ = 0;
	if (rnr_until_ || board_.has_lost() || !agreed_ || !span)
		return;

	u32 last = board_.last_flying(una_, span);

	board_.lose(una_ + (last < span ? last : 0));
	call.ctx.counters[SIRO_CNT_TAIL_PROBES]++;
	probed_ = true;
}

/* False: there is no room to send more now. */
bool Requester::resend_lost(Call &call)
{
	u32 span = min(sent_.since(una_), PsnWindow::size);
	u32 index = queue_.completed();

	for (u32 i = board_.next_lost(una_, 0, span); i < span;
	     i = board_.next_lost(una_, i + 1, span)) {
		Psn psn = una_ + i;

		while (psn.since(queue_.entry(index).first_psn) >= queue_.entry(index).packets)
			index++;
		if (!call.ctx.budget) {
			call.ctx.outcome |= SIRO_OUT_MORE;
			return false;
		}

		SendEntry &e = queue_.entry(index);

		if (e.status || !resend(call, e, psn.since(e.first_psn)))
			return false;
	}
	return true;
}

bool Requester::resend(Call &call, SendEntry &e, u32 index)
{
	timer_.retransmitted();
	if (is_read(e.wqe.opcode))
		return send_read_request(call, e, index, hole_end(e, index));
	if (is_atomic(e.wqe.opcode))
		return send_atomic_request(call, e);
	return send_segment(call, e, index, true);
}

/* Where responses from @index on are there again; they are asked for by chunk. */
u32 Requester::hole_end(const SendEntry &e, u32 index)
{
	u32 end = min((index / chunk + 1) * chunk, e.packets);
	u32 i = index + 1;

	while (i < end && !has_response(e.first_psn + i))
		i++;
	return i;
}

} // namespace sirocco
