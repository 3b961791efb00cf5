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
	bool news = note_executed(now, next);
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

	u16 duplicates = static_cast<u16>(sack.duplicates() - peer_duplicates_);

	peer_duplicates_ = sack.duplicates();
	call.ctx.counters[SIRO_CNT_SPURIOUS_RETRANSMITS] += board_.came_twice(duplicates);
	sack.for_each([&](u32 distance) { news |= note_taken(now, next + distance); });
	note_missing(now, next);
	if (!news)
		return;
	timer_.heard(now);
	probed_ = false;
	arm_probe(now);
}

/*
 * The peer has executed everything before @end. That says nothing of responses.
 * True if it is news.
 */
bool Requester::note_executed(u64 now, Psn end)
{
	bool news = false;

	for (u32 i = queue_.completed(); i != queue_.started(); i++) {
		const SendEntry &e = queue_.entry(i);
		Psn from = e.first_psn < una_ ? una_ : e.first_psn;

		if (end <= from)
			break;
		if (!wants_response(e.wqe.opcode))
			news |= board_.arrived(now, from, end < e.end_psn() ? end : e.end_psn());
	}
	return news;
}

/* The peer has taken @psn before its turn. */
bool Requester::note_taken(u64 now, Psn psn)
{
	bool open = board_.is_flying(psn) || board_.is_lost(psn);

	return open && !is_response(psn) && board_.arrived(now, psn);
}

/* The peer waits for the request of @psn, and has later ones. */
void Requester::note_missing(u64 now, Psn psn)
{
	if (!board_.is_flying(psn) || !is_response(psn))
		return;

	const SendEntry &e = queue_.find(psn);
	u32 end = min(chunk_end(psn.since(e.first_psn)), e.packets);

	board_.overtake(now, psn, e.first_psn + end);
}

/* Of what has been sent. */
bool Requester::is_response(Psn psn)
{
	return wants_response(queue_.find(psn).wqe.opcode);
}

bool Requester::waits_for_response()
{
	return queue_.has_started() && wants_response(queue_.oldest().wqe.opcode);
}

/*
 * Who is lost, now that all of a call has been looked at. Of requests that is the
 * peer's to say if it did not agree; responses that are missing anyone sends again.
 */
void Requester::judge(Call &call)
{
	board_.take_sample();
	if (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD)
		return;
	board_.judge(call.ctx.now, una_, sent_.since(una_), [this](Psn psn) {
		if (rd_outstanding_ && is_response(psn))
			return Scoreboard::Answer::response;
		return agreed_ ? Scoreboard::Answer::acknowledgement : Scoreboard::Answer::untold;
	});
}

/*
 * The answer to the oldest packet tells what else is missing. If none comes again
 * and again, everything goes: the peer may have lost what it had.
 */
void Requester::resume_after_timeout()
{
	bool knows = board_.is_kept() && (agreed_ || waits_for_response());

	if (knows && timer_.backoffs() < patient_backoffs) {
		lose_run(una_);
	} else {
		rewind(una_);
		rewound_ = true;
		rewound_to_ = una_;
	}
}

void Requester::arm_probe(u64 now)
{
	bool may = agreed_ || (board_.is_kept() && waits_for_response());
	u64 delay = board_.probe_delay();

	probe_at_ = may && delay && una_ != sent_ && !probed_ ? now + delay : 0;
}

/* The last packets may be lost and nothing that follows tells of it. */
void Requester::probe(Call &call)
{
	u32 span = sent_.since(una_);

	if (!probe_at_ || call.ctx.now < probe_at_)
		return;
	probe_at_ = 0;
	if (rnr_until_ || !span)
		return;

	/* An answer to what comes last shows all; of READs the oldest may be asked for. */
	u32 last = agreed_ ? board_.last_flying(una_, span) : span;
	bool is_told = last < span && !is_response(una_ + last);

	lose_run(una_ + (is_told ? last : 0));
	call.ctx.counters[SIRO_CNT_TAIL_PROBES]++;
	probed_ = true;
}

/* Of a READ, with the responses after @psn that have not come either. */
void Requester::lose_run(Psn psn)
{
	SendEntry &e = queue_.find(psn);
	u32 index = psn.since(e.first_psn);
	u32 end = is_read(e.wqe.opcode) ? min(chunk_end(index), e.packets) : index + 1;

	do
		board_.lose(e.first_psn + index++);
	while (index < end && board_.is_flying(e.first_psn + index));
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
		u32 at = psn.since(e.first_psn);

		if (e.status)
			return false;
		if (is_read(e.wqe.opcode) && must_wait(e, at))
			continue;
		if (!resend(call, e, at))
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

/* Of each chunk one hole at a time, in order: strangers may remember no more of it. */
bool Requester::must_wait(const SendEntry &e, u32 index) const
{
	if (agreed_)
		return false;

	u32 begin = index - index % chunk;
	Psn first = e.first_psn + begin;

	return board_.is_flying(first < una_ ? una_ : first, e.first_psn + index);
}

/* Up to where responses from @index on are lost; they are asked for by chunk. */
u32 Requester::hole_end(const SendEntry &e, u32 index) const
{
	u32 end = min(chunk_end(index), e.packets);
	u32 i = index + 1;

	while (i < end && board_.is_lost(e.first_psn + i))
		i++;
	return i;
}

} // namespace sirocco
