// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A bit for each PSN of a window. */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "siro_engine.h"

namespace sirocco {

/* The window may be anywhere, but no two PSNs that are set are SIRO_RX_WINDOW apart. */
class PsnWindow {
public:
	static constexpr u32 size = SIRO_RX_WINDOW;

	bool is_empty() const
	{
		return !count_;
	}

	bool has(Psn psn) const
	{
		return words_[index(psn)] & bit(psn);
	}

	void set(Psn psn)
	{
		count_ += !has(psn);
		words_[index(psn)] |= bit(psn);
	}

	void clear(Psn psn)
	{
		count_ -= has(psn);
		words_[index(psn)] &= ~bit(psn);
	}

	void clear()
	{
		*this = {};
	}

	/* From @from up to @to. */
	void clear(Psn from, Psn to)
	{
		u32 end = min(to.since(from), size);

		for (u32 i = next(from, 0, end); i < end; i = next(from, i + 1, end))
			clear(from + i);
	}

	/* Steps from @base to the first PSN that is set, from @first on; @end: none before it. */
	u32 next(Psn base, u32 first, u32 end) const
	{
		u32 at = first;

		if (!count_)
			return end;
		while (at < end) {
			u32 skip = (base + at).value() % word_bits;
			u64 rest = words_[index(base + at)] >> skip;

			if (rest)
				return min(at + countr_zero(rest), end);
			at += word_bits - skip;
		}
		return end;
	}

private:
	static constexpr u32 word_bits = 64;

	static u32 index(Psn psn)
	{
		return psn.value() % size / word_bits;
	}

	static u64 bit(Psn psn)
	{
		return u64{1} << (psn.value() % word_bits);
	}

	u64 words_[size / word_bits] = {};
	u32 count_ = 0;
};

static_assert((Psn::mask + 1) % PsnWindow::size == 0);

} // namespace sirocco
