// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The blocks of a region of which a part has arrived. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/*
 * They lie without gaps, and are a digital search tree: a block's key decides bit by
 * bit, from the lowest on, which way leads from the root to it, and it is the first
 * on that way that found no other. So no choice of blocks by a peer makes a search
 * longer than a key has bits, and neighbours, which arrive together, spread evenly.
 * The root is in place 1.
 */
class OpenBlocks {
public:
	explicit OpenBlocks(siro_sig_blocks &blocks) : blocks_(blocks) {}

	/* nullptr: not open */
	siro_sig_block *find(u32 track, u64 index);

	u32 room() const
	{
		return capacity() - blocks_.count;
	}

	/* Only if there is room, and it is not open. */
	siro_sig_block &add(u32 track, u64 index);

	/* Others take its place: pointers to any are void. */
	void remove(siro_sig_block &block);

private:
	u32 capacity() const
	{
		return SIRO_SIG_OWN_BLOCKS + blocks_.spill_count;
	}

	/* Places count from 1, as in siro_sig_block.below. */
	siro_sig_block &at(u16 place)
	{
		return place <= SIRO_SIG_OWN_BLOCKS
			       ? blocks_.own[place - 1]
			       : blocks_.spill[place - 1 - SIRO_SIG_OWN_BLOCKS];
	}

	u16 first() const
	{
		return blocks_.count ? 1 : 0;
	}

	u16 *way_to(u16 &root, u32 track, u64 index);
	u16 *way_to_leaf(siro_sig_block &top);
	void close(u16 hole);

	siro_sig_blocks &blocks_;
};

} // namespace sirocco
