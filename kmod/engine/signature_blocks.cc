// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_blocks.h"

namespace sirocco {

siro_sig_block *OpenBlocks::find(u32 track, u64 index)
{
	for (u32 i = 0; i < blocks_.count; i++) {
		siro_sig_block &block = at(i);

		if (block.index == index && block.track == track)
			return &block;
	}
	return nullptr;
}

siro_sig_block &OpenBlocks::add()
{
	return at(blocks_.count++);
}

void OpenBlocks::remove(siro_sig_block &block)
{
	siro_sig_block &last = at(--blocks_.count);

	if (&block != &last)
		block = last;
}

} // namespace sirocco
