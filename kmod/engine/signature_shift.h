// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What zero bytes behind a message do to its CRC, without going through them. */
#pragma once

#include "base/base.h"

namespace sirocco {

/*
 * A state is a polynomial whose highest power is in bit 0, P without its highest
 * power likewise. A zero byte multiplies it with x^8 modulo P; as many as fit 16
 * bits are four multiplications at most, one for each digit.
 */
template <unsigned_integral T, T polynomial>
class Shift {
public:
	static T by(T state, u16 bytes)
	{
		for (const auto &place : powers.of) {
			if (bytes & 15)
				state = multiply(state, place[bytes & 15]);
			bytes >>= 4;
		}
		return state;
	}

private:
	static constexpr T one = T{1} << (8 * sizeof(T) - 1);

	static constexpr T multiply(T a, T b)
	{
		T product = 0;

		for (T bit = one; bit; bit >>= 1) {
			if (a & bit)
				product ^= b;
			b = static_cast<T>((b >> 1) ^ (b & 1 ? polynomial : 0));
		}
		return product;
	}

	/* of[place][digit] = x^(8 digit 16^place) */
	struct Powers {
		T of[4][16];

		constexpr Powers() : of{}
		{
			T base = one >> 8 % (8 * sizeof(T));

			for (auto &place : of) {
				place[0] = one;
				for (u32 digit = 1; digit < 16; digit++)
					place[digit] = multiply(place[digit - 1], base);
				base = multiply(place[15], base);
			}
		}
	};

	static constexpr Powers powers{};
};

} // namespace sirocco
