// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the tests of CRCs by folding share. */
#pragma once

#include "wire_packet.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

namespace host {

class VectorCrc : public testing::Test {
protected:
	void SetUp() override
	{
		if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1"))
			GTEST_SKIP() << "this CPU lacks PCLMULQDQ or SSE4.1";
	}
};

struct Division {
	uint64_t quotient = 0; /* its low bits */
	uint64_t remainder = 1;
};

/* x^exponent by a polynomial of this degree; coefficient of x^i in bit i */
inline Division divide_power(int exponent, uint64_t polynomial, int degree)
{
	Division d;

	for (int i = 0; i < exponent; i++) {
		d.remainder <<= 1;
		d.quotient <<= 1;
		if (d.remainder >> degree) {
			d.remainder ^= polynomial;
			d.quotient |= 1;
		}
	}
	return d;
}

/* Of a copy that ends where its allocation ends, so that ASan sees a read behind. */
template <typename State, typename Crc>
State crc_at(size_t alignment, const Crc &crc, State seed, const uint8_t *data, size_t length)
{
	std::unique_ptr<uint8_t[]> copy(new uint8_t[alignment + length]);

	memcpy(copy.get() + alignment, data, length);
	return crc(seed, copy.get() + alignment, length);
}

/* Each length from the first size of @data on, at each alignment, against @model. */
template <typename State, typename Crc, typename Model>
void expect_every_length(const Crc &crc, const Model &model, State seed, const bytes &data,
			 size_t first)
{
	State want = model(seed, data.data(), first);

	for (size_t length = first;; length++) {
		for (size_t alignment = 0; alignment < 16; alignment++)
			ASSERT_EQ(crc_at(alignment, crc, seed, data.data(), length), want)
				<< length << " bytes, alignment " << alignment;
		if (length == data.size())
			return;
		want = model(want, &data[length], 1);
	}
}

/* Data of one bit, at each place. */
template <typename State, typename Crc, typename Model>
void expect_every_bit(const Crc &crc, const Model &model, State zero, size_t length)
{
	bytes data(length);

	EXPECT_EQ(crc(zero, data.data(), length), zero);
	for (size_t bit = 0; bit < 8 * length; bit++) {
		data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
		ASSERT_EQ(crc(zero, data.data(), length), model(zero, data.data(), length)) << bit;
		data[bit / 8] = 0;
	}
}

/* Each call waits for the one before it, as for the parts of one packet. */
template <typename State, typename Crc>
double nanoseconds(const Crc &crc, State seed, const uint8_t *data, size_t length)
{
	using clock = std::chrono::steady_clock;
	constexpr int calls = 2000, rounds = 200;
	auto best = clock::duration::max();
	volatile State state = seed;

	for (int round = 0; round < rounds; round++) {
		State chained = state;
		auto start = clock::now();

		for (int i = 0; i < calls; i++)
			chained = crc(chained, data, length);
		best = std::min(best, clock::now() - start);
		state = chained;
	}
	return std::chrono::duration<double, std::nano>(best).count() / calls;
}

} // namespace host
