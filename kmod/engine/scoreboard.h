// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What became of each packet that was sent: the basis of selective retransmission. */
#pragma once

#include "base/base.h"

#include "psn_window.h"
#include "reorder_window.h"
#include "round_trip.h"

namespace sirocco {

/*
 * A packet counts as lost when one that was sent later has arrived and the time
 * that this one took, and some more for reordering, is over (RFC 8985). A READ is
 * noted with the PSNs of all responses that it asks for. When these were sent is not
 * known, so for them time counts from when a later one has overtaken them.
 */
class Scoreboard {
public:
	/* What tells that a packet has arrived; untold: nothing does before its turn. */
	enum class Answer { untold, acknowledgement, response };

	/* @stamps: of SIRO_RX_WINDOW u32s, or nullptr: nothing is noted. */
	explicit Scoreboard(void *stamps) : stamps_(static_cast<u32 *>(stamps)) {}

	bool is_kept() const
	{
		return stamps_;
	}

	void reset()
	{
		*this = Scoreboard(stamps_);
	}

	/* Packets from @from up to @to start from nothing, what was learned stays. */
	void forget(Psn from, Psn to)
	{
		flying_.clear(from, to);
		lost_.clear(from, to);
		overtaken_.clear(from, to);
		deadline_ = 0;
	}

	void sent(u64 now, Psn psn, bool again)
	{
		if (!stamps_)
			return;
		if (again)
			again_.set(psn);
		else
			again_.clear(psn);
		resent_ += again;
		/* What arrived before is no news, and stamps come round in minutes. */
		if (flying_.is_empty()) {
			is_fresh_ = true;
			jump_ = {};
		}
		flying_.set(psn);
		lost_.clear(psn);
		overtaken_.clear(psn);
		stamp(psn) = ticks(now);
	}

	/*
	 * True if that was not known. @is_response: those that are asked for again are
	 * sent before others that are due, and tell nothing of these.
	 */
	bool arrived(u64 now, Psn psn, bool is_response = false)
	{
		bool news = flying_.has(psn) || lost_.has(psn);

		if (news && overtaken_.has(psn))
			note_overtaken(now, psn);
		else if (news)
			note_arrival(now, psn, is_response);
		flying_.clear(psn);
		lost_.clear(psn);
		overtaken_.clear(psn);
		return news;
	}

	/* From @from up to @to. */
	bool arrived(u64 now, Psn from, Psn to)
	{
		u32 end = min(to.since(from), PsnWindow::size);
		bool news = false;

		for (u32 i = flying_.next(from, 0, end); i < end;
		     i = flying_.next(from, i + 1, end))
			news |= arrived(now, from + i);
		lost_.clear(from, to);
		overtaken_.clear(from, to);
		return news;
	}

	/*
	 * The request for the responses from @from up to @to has not come, but later
	 * ones. Of one that was sent again nobody can say so before a round trip is over.
	 */
	void overtake(u64 now, Psn from, Psn to)
	{
		u32 end = min(to.since(from), PsnWindow::size);

		if (again_.has(from) && since(now, stamp(from)) < trip_.smoothed())
			return;
		for (u32 i = flying_.next(from, 0, end); i < end;
		     i = flying_.next(from, i + 1, end))
			overtake(now, from + i);
	}

	bool is_flying(Psn psn) const
	{
		return flying_.has(psn);
	}

	/* Is any of @from up to @to? */
	bool is_flying(Psn from, Psn to) const
	{
		return flying_.next(from, 0, to.since(from)) < to.since(from);
	}

	bool is_lost(Psn psn) const
	{
		return lost_.has(psn);
	}

	/* Is to be sent again. */
	void lose(Psn psn)
	{
		flying_.clear(psn);
		lost_.set(psn);
	}

	bool has_lost() const
	{
		return !lost_.is_empty();
	}

	u32 next_lost(Psn una, u32 first, u32 span) const
	{
		return lost_.next(una, first, span);
	}

	/* Distance of the last packet on its way from @una; @span: none is. */
	u32 last_flying(Psn una, u32 span) const
	{
		u32 last = span;

		for (u32 i = flying_.next(una, 0, span); i < span;
		     i = flying_.next(una, i + 1, span))
			last = i;
		return last;
	}

	/* The longest of a call: what came late is in it. */
	void take_sample()
	{
		if (sample_)
			trip_.measure(sample_);
		sample_ = 0;
	}

	/*
	 * At the end of a call: who is lost of @span packets from @una on. @answer_of:
	 * what a PSN waits for.
	 */
	template <typename AnswerOf>
	void judge(u64 now, Psn una, u32 span, AnswerOf answer_of)
	{
		bool holes = false;

		settle_copy();
		note_oversleeping(now);
		deadline_ = 0;
		span = min(span, judged_span(una));
		for (u32 i = flying_.next(una, 0, span); i < span;
		     i = flying_.next(una, i + 1, span)) {
			Psn psn = una + i;

			if (!is_overtaken(psn))
				continue;

			Answer answer = answer_of(psn);

			if (answer == Answer::untold)
				continue;
			holes = true;

			bool is_response = answer == Answer::response;
			u64 until = max(is_response ? response_deadline(now, psn)
						    : request_deadline(now, psn),
					amnesty_);

			if (until < now + tick)
				lose(psn);
			else if (!deadline_ || until < deadline_)
				deadline_ = until;
		}
		if (!holes)
			quickest_ = newest_.trip;
	}

	/* When judge() may find more; 0: not by time alone. */
	u64 deadline() const
	{
		return deadline_;
	}

	u64 reorder_window() const
	{
		return window_.length(trip_.smoothed());
	}

	/* A tail of which nothing is heard for so long may be lost; 0: not known. */
	u64 probe_delay() const
	{
		if (!trip_.is_known())
			return 0;

		u64 trip = trip_.smoothed();
		u64 late = max(4 * trip_.variation(), reorder_window());

		return max(trip + max(trip, late), u64{least_probe_delay});
	}

	/* @psn has arrived twice. True if it was sent twice. */
	bool came_twice(Psn psn)
	{
		if (!again_.has(psn))
			return false;
		again_.clear(psn);
		window_.in_vain(trip_.smoothed());
		return true;
	}

	/*
	 * The peer says that @count packets have arrived twice. About as many as were
	 * sent twice: in vain. Many more: that is the network's doing. Returns how many
	 * were in vain, now and then.
	 */
	u32 came_twice(u32 count)
	{
		twice_ = min(twice_ + count, 2 * enough_resent);
		if (resent_ < enough_resent)
			return 0;

		bool in_vain = twice_ >= enough_resent / 2 && twice_ < 2 * enough_resent;

		resent_ = 0;
		if (in_vain)
			window_.in_vain(trip_.smoothed());
		return exchange(twice_, 0u) * in_vain;
	}

private:
	static constexpr u32 enough_resent = 8;
	static constexpr u64 least_probe_delay = 250000;
	static constexpr u32 tick_shift = 8;
	static constexpr u64 tick = u64{1} << tick_shift; /* ns that a stamp counts */

	/* @trip: 0 if there is none. @again: it was sent twice. */
	struct Arrival {
		u32 stamp = 0;
		Psn psn;
		u64 trip = 0;
		bool again = false;
	};

	/* Sent later. */
	static bool is_newer(const Arrival &a, const Arrival &than)
	{
		s32 later = static_cast<s32>(a.stamp - than.stamp);

		return later > 0 || (!later && than.psn < a.psn);
	}

	static u32 ticks(u64 now)
	{
		return static_cast<u32>(now >> tick_shift);
	}

	static u64 since(u64 now, u32 stamp)
	{
		return u64{ticks(now) - stamp} << tick_shift;
	}

	u32 &stamp(Psn psn) const
	{
		return stamps_[psn.value() % PsnWindow::size];
	}

	void note_arrival(u64 now, Psn psn, bool is_response)
	{
		Arrival a = {stamp(psn), psn, max(since(now, stamp(psn)), u64{1}), again_.has(psn)};

		if (a.again && is_response) {
			window_.lost();
			jump_ = a;
		} else if (a.again) {
			if (a.trip < trip_.smoothed() / 2)
				return; /* too soon for an answer to the second copy */
			if (!copy_.trip || is_newer(a, copy_))
				copy_ = a;
		} else {
			sample_ = max(sample_, a.trip);
			if (!is_response && is_older(psn) && a.trip > quickest_)
				window_.late(a.trip - quickest_);
			has_first_ = true;
			note_newest(a);
		}
	}

	/* A response that was waited for: late, or lost if it was asked for again. */
	void note_overtaken(u64 now, Psn psn)
	{
		if (again_.has(psn))
			window_.lost();
		else
			window_.late(since(now, stamp(psn)));
	}

	/*
	 * Who is sent again may not have been lost, but the machine was busy, and what
	 * answers is the first copy: then answers to others that were sent but once come
	 * with it, and nobody is lost by that (compare RFC 5682).
	 */
	void settle_copy()
	{
		if (copy_.trip && !has_first_) {
			window_.lost();
			note_newest(copy_);
		}
		copy_ = {};
		has_first_ = false;
	}

	void note_newest(const Arrival &a)
	{
		if (!is_fresh_ && !is_newer(a, newest_))
			return;
		quickest_ = is_fresh_ ? a.trip : min(quickest_, a.trip);
		newest_ = a;
		is_fresh_ = false;
	}

	/*
	 * Whoever is called much too late could not see what has arrived meanwhile, and
	 * the peer may be the same machine: nobody is blamed for a while.
	 */
	void note_oversleeping(u64 now)
	{
		u64 usual = newest_.trip + reorder_window();

		if (deadline_ && now > deadline_ + usual / 2)
			amnesty_ = now + usual;
	}

	/* Only a packet that was sent again is newer than those of higher PSNs. */
	u32 judged_span(Psn una) const
	{
		u32 span = is_fresh_ ? 0 : span_before(una, newest_.psn);

		if ((!is_fresh_ && newest_.again) || !overtaken_.is_empty())
			return PsnWindow::size;
		return jump_.trip ? max(span, span_before(una, jump_.psn)) : span;
	}

	static u32 span_before(Psn una, Psn psn)
	{
		return una <= psn ? psn.since(una) : 0;
	}

	void overtake(u64 now, Psn psn)
	{
		if (overtaken_.has(psn))
			return;
		overtaken_.set(psn);
		stamp(psn) = ticks(now);
	}

	bool is_overtaken(Psn psn) const
	{
		return overtaken_.has(psn) || is_older(psn) || is_before_jump(psn);
	}

	u64 request_deadline(u64 now, Psn psn) const
	{
		u64 enough = newest_.trip + reorder_window();

		return now + enough - min(since(now, stamp(psn)), enough);
	}

	u64 response_deadline(u64 now, Psn psn)
	{
		overtake(now, psn);

		u64 window = reorder_window();

		return now + window - min(since(now, stamp(psn)), window);
	}

	/* Sent before the newest that has arrived. */
	bool is_older(Psn psn) const
	{
		return !is_fresh_ && is_newer(newest_, {stamp(psn), psn});
	}

	/* Asked for again, before the response of that kind that came last. */
	bool is_before_jump(Psn psn) const
	{
		return jump_.trip && again_.has(psn) && is_newer(jump_, {stamp(psn), psn});
	}

	u32 *stamps_;
	PsnWindow flying_; /* sent, and nothing is known of it */
	PsnWindow lost_; /* to be sent again */
	PsnWindow again_; /* was sent more than once */
	PsnWindow overtaken_; /* responses; their stamp tells since when */
	RoundTrip trip_;
	u64 sample_ = 0;
	u64 deadline_ = 0;
	Arrival newest_; /* of those that have arrived, the one that was sent last */
	Arrival jump_; /* a response that was asked for again */
	Arrival copy_; /* of a call, and sent twice */
	bool has_first_ = false; /* in a call one has arrived that was sent but once */
	u64 quickest_ = 0; /* of the newest since a packet before them is missing */
	u64 amnesty_ = 0; /* nobody is lost before */
	ReorderWindow window_;
	u32 resent_ = 0; /* packets since came_twice() has judged */
	u32 twice_ = 0; /* as the peer says */
	bool is_fresh_ = true; /* nothing has arrived */
};

} // namespace sirocco
