// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Integer bit tricks on builtins that never call a libgcc helper. */
#pragma once

#include "traits.h"
#include "types.h"

namespace sirocco {

template <trivially_copyable To, trivially_copyable From>
constexpr To bit_cast(const From &from)
{
	static_assert(sizeof(To) == sizeof(From));
	return __builtin_bit_cast(To, from);
}

template <unsigned_integral T>
constexpr T byteswap(T v)
{
	if constexpr (sizeof(T) == 1)
		return v;
	else if constexpr (sizeof(T) == 2)
		return __builtin_bswap16(v);
	else if constexpr (sizeof(T) == 4)
		return __builtin_bswap32(v);
	else
		return __builtin_bswap64(v);
}

/* __builtin_popcount() would call libgcc, which the kernel does not link. */
constexpr unsigned int popcount(u64 v)
{
	v -= (v >> 1) & 0x5555555555555555;
	v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return static_cast<unsigned int>((v * 0x0101010101010101) >> 56);
}

/* 64 for 0, as is countr_zero(). */
constexpr unsigned int countl_zero(u64 v)
{
	return v ? static_cast<unsigned int>(__builtin_clzll(v)) : 64;
}

constexpr unsigned int countr_zero(u64 v)
{
	return v ? static_cast<unsigned int>(__builtin_ctzll(v)) : 64;
}

/* How many bits it takes to write @v: 0 for 0. */
constexpr unsigned int bit_width(u64 v)
{
	return 64 - countl_zero(v);
}

constexpr bool is_power_of_two(u64 v)
{
	return v && !(v & (v - 1));
}

/* Only defined for 1 <= @v <= 2^63. */
constexpr u64 round_up_power_of_two(u64 v)
{
	return u64{1} << bit_width(v - 1);
}

/* @step must be a power of two. */
template <unsigned_integral T>
constexpr T align_up(T v, T step)
{
	return static_cast<T>((v + step - 1) & ~static_cast<T>(step - 1));
}

/* Unlike (n + d - 1) / d this cannot wrap for n > 0. */
template <unsigned_integral T>
constexpr T div_round_up(T n, T d)
{
	return static_cast<T>(n / d + (n % d != 0));
}

static_assert(popcount(0) == 0 && popcount(~u64{0}) == 64);
static_assert(countl_zero(0) == 64 && countl_zero(1) == 63 && countr_zero(8) == 3);
static_assert(round_up_power_of_two(1) == 1 && round_up_power_of_two(5) == 8);
static_assert(byteswap(u32{0x01020304}) == 0x04030201);

} // namespace sirocco
