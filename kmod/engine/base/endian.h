// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Big-endian fields of wire headers: byte arrays, so of any alignment. */
#pragma once

#include "bits.h"
#include "memory.h"
#include "types.h"

namespace sirocco {

/*
 * A Bytes-byte big-endian number. Reads as its host value; assigning a value
 * that does not fit keeps the low bytes, as the hardware field would.
 */
template <typename T, unsigned int Bytes>
class big_endian {
public:
	static constexpr T max = static_cast<T>(~T{0} >> (8 * (sizeof(T) - Bytes)));

	big_endian() = default;

	constexpr big_endian(T value)
	{
		set(value);
	}

	constexpr operator T() const
	{
		return get();
	}

	constexpr T get() const
	{
		if (!__builtin_is_constant_evaluated() && Bytes == sizeof(T))
			return byteswap(load<T>(bytes_));

		T value = 0;

		for (unsigned int i = 0; i < Bytes; i++)
			value = static_cast<T>((u64{value} << 8) | bytes_[i]);
		return value;
	}

	constexpr void set(T value)
	{
		if (!__builtin_is_constant_evaluated() && Bytes == sizeof(T))
			return store(bytes_, byteswap(value));

		for (unsigned int i = 0; i < Bytes; i++)
			bytes_[i] = static_cast<u8>(value >> (8 * (Bytes - 1 - i)));
	}

private:
	u8 bytes_[Bytes];
};

using be16 = big_endian<u16, 2>;
using be24 = big_endian<u32, 3>;
using be32 = big_endian<u32, 4>;
using be64 = big_endian<u64, 8>;

static_assert(sizeof(be16) == 2 && alignof(be16) == 1);
static_assert(sizeof(be24) == 3 && alignof(be24) == 1);
static_assert(sizeof(be32) == 4 && alignof(be32) == 1);
static_assert(sizeof(be64) == 8 && alignof(be64) == 1);
static_assert(be24::max == 0xffffff && be24(0x1020304) == 0x020304);

} // namespace sirocco
