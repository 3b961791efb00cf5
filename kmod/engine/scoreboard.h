// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What became of each packet that was sent: the basis of selective retransmission. */
#pragma once

#include "base/base.h"

#include "psn_window.h"
#include "round_trip.h"

namespace sirocco {

/*
 * A packet counts as lost when one that was sent later has arrived and the time
 * that this one took, and some more for reordering, is over (RFC 8985). The time
 * for reordering follows the variation of the round trip and grows if a packet
 * turns out to have been sent again in vain.
 */
class Scoreboard {
public:
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

	/* Packets that are on their way start from nothing, what was learned stays. */
	void forget()
	{
		flying_.clear();
		lost_.clear();
		again_.clear();
		deadline_ = 0;
		is_fresh_ = true;
	}

	void sent(u64 now, Psn psn, bool again)
	{
		if (!stamps_)
			return;
		if (again)
			again_.set(psn);
		else
			again_.clear(psn);
		/* What arrived before is no news, and stamps come round in minutes. */
		is_fresh_ |= flying_.is_empty();
		flying_.set(psn);
		lost_.clear(psn);
		stamp(psn) = ticks(now);
	}

	/* True if that was not known. */
	bool arrived(u64 now, Psn psn)
	{
		bool news = flying_.has(psn) || lost_.has(psn);

		if (news)
			note_arrival(now, psn);
		flying_.clear(psn);
		lost_.clear(psn);
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
		return news;
	}

	bool is_flying(Psn psn) const
	{
		return flying_.has(psn);
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

	/* At the end of a call: who is lost of @span packets from @una on. */
	void judge(u64 now, Psn una, u32 span)
	{
		u64 patience = newest_trip_ + reorder_window();

		deadline_ = 0;
		if (is_fresh_)
			return;
		/* Only a packet that was sent again is newer than those of higher PSNs. */
		if (!newest_again_)
			span = una <= newest_ ? min(span, newest_.since(una)) : 0;
		for (u32 i = flying_.next(una, 0, span); i < span;
		     i = flying_.next(una, i + 1, span)) {
			Psn psn = una + i;
			u64 age = since(now, stamp(psn));

			if (!is_older(psn))
				continue;
			if (age >= patience)
				lose(psn);
			else if (!deadline_ || now + patience - age < deadline_)
				deadline_ = now + patience - age;
		}
	}

	/* When judge() may find more; 0: not by time alone. */
	u64 deadline() const
	{
		return deadline_;
	}

	/* How much later than others a packet may come. */
	u64 reorder_window() const
	{
		return max(trip_.smoothed() / 4, 4 * trip_.variation()) << shift_;
	}

	/* A tail of which nothing is heard for so long may be lost. */
	u64 probe_delay() const
	{
		u64 trip = trip_.smoothed();

		return max(max(2 * trip, trip + 4 * trip_.variation()), u64{least_probe_delay});
	}

	/* Packets sent again in vain since the last call. */
	u32 take_spurious()
	{
		return exchange(spurious_, 0u);
	}

private:
	static constexpr u32 most_shift = 4;
	static constexpr u32 calm_losses = 16;
	static constexpr u64 least_probe_delay = 250000;
	static constexpr u32 tick_shift = 8; /* a stamp counts units of 256 ns */

	static u32 ticks(u64 now)
	{
		return static_cast<u32>(now >> tick_shift);
	}

	static u64 since(u64 now, u32 stamp)
	{
		return u64{ticks(now) - stamp} << tick_shift;
	}

	u32 &stamp(Psn psn)
	{
		return stamps_[psn.value() % PsnWindow::size];
	}

	void note_arrival(u64 now, Psn psn)
	{
		u32 sent = stamp(psn);
		u64 trip = since(now, sent);

		if (again_.has(psn)) {
			/* Too soon for an answer to the second copy. */
			if (trip < trip_.smoothed() / 2) {
				note_spurious();
				return;
			}
			note_repaired();
		} else {
			sample_ = max(sample_, max(trip, u64{1}));
		}

		s32 later = is_fresh_ ? 1 : static_cast<s32>(sent - newest_stamp_);

		if (later < 0 || (!later && psn < newest_))
			return;
		newest_stamp_ = sent;
		newest_ = psn;
		newest_trip_ = trip;
		newest_again_ = again_.has(psn);
		is_fresh_ = false;
	}

	void note_spurious()
	{
		spurious_++;
		repaired_ = 0;
		shift_ = min(shift_ + 1, most_shift);
	}

	void note_repaired()
	{
		if (++repaired_ < calm_losses || !shift_)
			return;
		repaired_ = 0;
		shift_--;
	}

	/* Sent before the newest that has arrived. */
	bool is_older(Psn psn)
	{
		s32 later = static_cast<s32>(stamp(psn) - newest_stamp_);

		return later < 0 || (!later && psn < newest_);
	}

	u32 *stamps_;
	PsnWindow flying_; /* sent, and nothing is known of it */
	PsnWindow lost_; /* to be sent again */
	PsnWindow again_; /* was sent more than once */
	RoundTrip trip_;
	u64 sample_ = 0;
	u64 deadline_ = 0;
	u64 newest_trip_ = 0;
	u32 newest_stamp_ = 0;
	Psn newest_; /* of those that have arrived, the one that was sent last */
	u32 shift_ = 0;
	u32 repaired_ = 0;
	u32 spurious_ = 0;
	bool newest_again_ = false;
	bool is_fresh_ = true; /* nothing has arrived */
};

} // namespace sirocco
