// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packet sequence numbers: 24 bits, compared as serial numbers (IBTA 9.7.2). */
#pragma once

#include "base/base.h"

namespace sirocco {

class Psn {
public:
	static constexpr u32 mask = 0xffffff;

	constexpr Psn() = default;

	constexpr explicit Psn(u32 value) : value_(value & mask) {}

	constexpr u32 value() const
	{
		return value_;
	}

	constexpr Psn operator+(u32 n) const
	{
		return Psn(value_ + n);
	}

	constexpr Psn operator-(u32 n) const
	{
		return Psn(value_ - n);
	}

	/* How far @this is ahead of @other: -2^23 to 2^23 - 1. */
	constexpr s32 ahead_of(Psn other) const
	{
		return static_cast<s32>((value_ - other.value_) << 8) >> 8;
	}

	/* Steps from @other forward to @this: 0 to 2^24 - 1. */
	constexpr u32 since(Psn other) const
	{
		return (value_ - other.value_) & mask;
	}

	constexpr bool operator==(const Psn &) const = default;

	constexpr bool operator<(Psn other) const
	{
		return ahead_of(other) < 0;
	}

	constexpr bool operator<=(Psn other) const
	{
		return ahead_of(other) <= 0;
	}

private:
	u32 value_ = 0;
};

static_assert(Psn(0).ahead_of(Psn(0xffffff)) == 1 && Psn(0xffffff) < Psn(0));
static_assert(Psn(0x7fffff).ahead_of(Psn(0)) == 0x7fffff && Psn(0x800000) < Psn(0));

} // namespace sirocco
