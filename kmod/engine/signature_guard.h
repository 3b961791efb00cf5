// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The guard of a block: a CRC or a checksum of its data, which comes in pieces. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/*
 * A block's guard as a sum of its pieces. CRCs are linear: the state after a piece
 * is shifted by the rest of the block and added to what is known of the others.
 * Pieces that follow each other are a run and need no shift. A checksum has no
 * shift: its run is the sum of all.
 */
class Guard {
public:
	explicit Guard(const siro_sig_domain &domain) : domain_(domain) {}

	siro_sig_sum begin() const;

	/* The piece begins at @offset of the block, the run so far ended at @end. */
	void add(siro_sig_sum &sum, u32 end, u32 offset, const u8 *data, u32 length) const;

	/* All pieces were added. As a number: the field holds it in big endian. */
	u64 finish(const siro_sig_sum &sum, u32 end) const;

private:
	bool is_checksum() const
	{
		return domain_.format == SIRO_SIG_T10_CSUM;
	}

	u64 update(u64 state, const u8 *data, u32 length) const;
	[[gnu::noinline]] u64 shift_to_end(u64 state, u32 end) const;

	const siro_sig_domain &domain_;
};

} // namespace sirocco
