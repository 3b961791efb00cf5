// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The round trip time and how much it varies (RFC 6298). */
#pragma once

#include "base/base.h"

namespace sirocco {

class RoundTrip {
public:
	bool is_known() const
	{
		return smoothed_;
	}

	/* In nanoseconds. */
	u64 smoothed() const
	{
		return smoothed_;
	}

	u64 variation() const
	{
		return variation_;
	}

	void measure(u64 rtt)
	{
		rtt = max(rtt, u64{1});
		if (!smoothed_) {
			smoothed_ = rtt;
			variation_ = rtt / 2;
			return;
		}

		u64 difference = rtt > smoothed_ ? rtt - smoothed_ : smoothed_ - rtt;

		variation_ = (3 * variation_ + difference) / 4;
		smoothed_ = (7 * smoothed_ + rtt) / 8;
	}

private:
	u64 smoothed_ = 0;
	u64 variation_ = 0;
};

} // namespace sirocco
