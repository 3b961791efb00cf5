// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parts of READs that are answered once more. */
#pragma once

#include "base/base.h"

#include "psn.h"

namespace sirocco {

/* What a duplicate request asks for (IBTA 9.7.5.1.2). */
struct Repeat {
	Psn psn; /* next to send */
	u32 left;
	bool begun;

	void advance()
	{
		psn = psn + 1;
		left--;
		begun = true;
	}
};

/* In the order in which they were asked for. */
class RepeatQueue {
public:
	/* False: too many wait. */
	bool add(Psn psn, u32 packets)
	{
		if (count_ == size)
			return false;
		repeats_[(head_ + count_++) % size] = {psn, packets, false};
		return true;
	}

	Repeat *first()
	{
		return count_ ? &repeats_[head_] : nullptr;
	}

	void pop()
	{
		head_ = (head_ + 1) % size;
		count_--;
	}

	void clear()
	{
		count_ = 0;
	}

private:
	static constexpr u32 size = 16;

	Repeat repeats_[size] = {};
	u32 head_ = 0;
	u32 count_ = 0;
};

} // namespace sirocco
