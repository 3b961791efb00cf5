// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Byte-granular lists behind one key: building them, finding a byte in them. */
#pragma once

#include "base/base.h"

#include "siro_engine.h"

namespace sirocco {

class Extents {
public:
	explicit Extents(const siro_extents &list) : list_(list) {}

	/* Contiguous bytes in the address space that lkey names. */
	struct Piece {
		u64 address;
		u64 length;
		u32 lkey;
	};

	/*
	 * The piece at @offset, which must lie within the list. @hint: where the
	 * last call was, any number at first; transfers go through a list in order.
	 */
	Piece at(u64 offset, u32 &hint) const;

private:
	bool holds(u32 index, u64 offset) const;
	u64 end(u32 index) const;
	u32 find(u64 offset, u32 hint) const;
	u32 search(u64 offset) const;

	const siro_extents &list_;
};

} // namespace sirocco
