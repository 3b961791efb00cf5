// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sums of the 16-bit words of a message in ones' complement, for the IP checksum. */
#pragma once

#include "base/base.h"

namespace sirocco::checksum {

constexpr u16 fold(u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<u16>((sum & 0xffff) + (sum >> 16));
}

/* Words as this CPU reads them: who wants the sum in network order swaps the result. */
inline u16 sum(const u8 *data, u64 length)
{
	u64 low = 0, high = 0, tail = 0;

	for (; length >= 8; data += 8, length -= 8) {
		u64 word = load<u64>(data);

		low += word & 0xffffffff;
		high += word >> 32;
	}
	memory_copy(&tail, data, length);
	low += tail & 0xffffffff;
	high += tail >> 32;
	return fold(u64{fold(low)} + fold(high));
}

} // namespace sirocco::checksum
