// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The blocks of a region of which a part has arrived. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

class OpenBlocks {
public:
	explicit OpenBlocks(siro_sig_blocks &blocks) : blocks_(blocks) {}

	/* nullptr: not open */
	siro_sig_block *find(u32 track, u64 index);

	u32 room() const
	{
		return capacity() - blocks_.count;
	}

	/* Only if there is room. */
	siro_sig_block &add();

	/* @block takes the place of the last one: pointers to both are void. */
	void remove(siro_sig_block &block);

private:
	u32 capacity() const
	{
		return SIRO_SIG_OWN_BLOCKS + blocks_.spill_count;
	}

	siro_sig_block &at(u32 i)
	{
		return i < SIRO_SIG_OWN_BLOCKS ? blocks_.own[i]
					       : blocks_.spill[i - SIRO_SIG_OWN_BLOCKS];
	}

	siro_sig_blocks &blocks_;
};

} // namespace sirocco
