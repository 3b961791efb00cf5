// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_blocks.h"

namespace sirocco {

/* The link to the block; one that says 0, in which it would have to be, if it is not open. */
u16 *OpenBlocks::way_to(u16 &root, u32 track, u64 index)
{
	u64 key = index << 1 | track;
	u16 *link = &root;

	while (*link) {
		siro_sig_block &block = at(*link);

		if (block.index == index && block.track == track)
			break;
		link = &block.below[key & 1];
		key >>= 1;
	}
	return link;
}

siro_sig_block *OpenBlocks::find(u32 track, u64 index)
{
	u16 root = first();
	u16 place = *way_to(root, track, index);

	return place ? &at(place) : nullptr;
}

siro_sig_block &OpenBlocks::add(u32 track, u64 index)
{
	u16 root = first();
	u16 place = static_cast<u16>(blocks_.count + 1);

	*way_to(root, track, index) = place;
	blocks_.count++;

	siro_sig_block &block = at(place);

	block.index = index;
	block.track = static_cast<u16>(track);
	block.below[0] = block.below[1] = 0;
	return block;
}

/* The link to a block below @top that has none below itself; @top has some. */
u16 *OpenBlocks::way_to_leaf(siro_sig_block &top)
{
	u16 *link = nullptr;

	for (siro_sig_block *block = &top; block->below[0] || block->below[1]; block = &at(*link))
		link = &block->below[!block->below[0]];
	return link;
}

/* Whatever is below a block may be in its place. */
void OpenBlocks::remove(siro_sig_block &block)
{
	u16 root = first();
	u16 *link = way_to_leaf(block);
	bool is_leaf = !link;

	if (is_leaf)
		link = way_to(root, block.track, block.index);

	u16 hole = *link;

	*link = 0;
	if (!is_leaf) {
		u16 below[2] = {block.below[0], block.below[1]};

		block = at(hole);
		block.below[0] = below[0];
		block.below[1] = below[1];
	}
	close(hole);
}

/* The last block moves to where none is any more. */
void OpenBlocks::close(u16 hole)
{
	u16 root = first();
	u16 last = static_cast<u16>(blocks_.count--);

	if (hole == last)
		return;
	*way_to(root, at(last).track, at(last).index) = hole;
	at(hole) = at(last);
}

} // namespace sirocco
