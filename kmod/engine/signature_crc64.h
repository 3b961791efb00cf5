// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The 64-bit CRC of NVMe. By a table here: not every kernel has a function for it. */
#pragma once

#include "base/base.h"

namespace sirocco::crc64 {

constexpr u64 polynomial = 0x9a6c9329ac4bc9b5; /* reflected */

struct Table {
	u64 of[256];

	constexpr Table() : of{}
	{
		for (u32 i = 0; i < 256; i++) {
			of[i] = i;
			for (u32 bit = 0; bit < 8; bit++)
				of[i] = of[i] >> 1 ^ (of[i] & 1 ? polynomial : 0);
		}
	}
};

inline constexpr Table table{};

/* Not inverted. */
[[gnu::noinline]] inline u64 update(u64 state, const u8 *data, u64 length)
{
	for (; length; length--)
		state = state >> 8 ^ table.of[(state ^ *data++) & 0xff];
	return state;
}

} // namespace sirocco::crc64
