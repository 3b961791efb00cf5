// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How long a packet that is missing may only be late. */
#pragma once

#include "base/base.h"

#include "psn.h"

namespace sirocco {

/*
 * Begins short, so that a loss is repaired at once. A packet that comes twice
 * after it was asked for again was late, not lost: the next one gets more time.
 */
class ReorderDelay {
public:
	static constexpr u64 least = 50000;
	static constexpr u64 most = 4000000;

	u64 deadline(u64 now) const
	{
		return now + delay_;
	}

	/* @psn is asked for again. */
	void gave_up(Psn psn)
	{
		delay_ = max(delay_ - delay_ / 8, u64{least});
		psn_ = psn;
		watching_ = true;
	}

	/* @psn has come once more. */
	void duplicate(Psn psn)
	{
		if (!watching_ || psn != psn_)
			return;
		watching_ = false;
		delay_ = min(delay_ * 2, u64{most});
	}

private:
	u64 delay_ = least;
	Psn psn_;
	bool watching_ = false;
};

} // namespace sirocco
