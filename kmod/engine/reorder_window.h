// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How much later than packets that were sent after it one may come. */
#pragma once

#include "base/base.h"

namespace sirocco {

/*
 * Begins with two round trips, at least 2 ms and at most 4. Each packet that comes
 * late by itself shows how much is needed at least, one that was sent again in vain
 * that it was too little; each that was lost indeed makes both shorter (compare
 * RFC 8985, 6.2).
 */
class ReorderWindow {
public:
	/* @trip: the smoothed round trip time; all in nanoseconds. */
	u64 length(u64 trip) const
	{
		u64 cautious = clamp(trip, short_trip, long_trip) * caution_ / 8;

		return clamp(max(cautious, learned_), least, max(trip, most));
	}

	/* A packet came @by later than one that was sent after it. */
	void late(u64 by)
	{
		learned_ = max(learned_, by + by / 4);
	}

	void in_vain(u64 trip)
	{
		learned_ = min(2 * length(trip), max(trip, most));
	}

	void lost()
	{
		learned_ -= learned_ / 8;
		caution_ -= caution_ > 1 ? max(caution_ / 4, 1u) : 0;
	}

private:
	static constexpr u64 least = 50000;
	static constexpr u64 most = 4000000;

	/* Of what a trip is taken for: that of a READ begins long before its answer. */
	static constexpr u64 short_trip = 1000000;
	static constexpr u64 long_trip = 2000000;

	u64 learned_ = 0;
	u32 caution_ = 16; /* eighths of a round trip */
};

} // namespace sirocco
