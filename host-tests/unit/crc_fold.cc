// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "crc_fold.h"
#include "wire_packet.h"

#include <array>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using namespace host;

namespace {

constexpr uint64_t polynomial = 0x104c11db7; /* coefficient of x^i in bit i */
constexpr uint32_t seed = 0x8a5f13c7;

class crc_fold : public testing::Test {
protected:
	void SetUp() override
	{
		if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1"))
			GTEST_SKIP() << "this CPU lacks PCLMULQDQ or SSE4.1";
	}
};

uint64_t reflect(uint64_t value)
{
	uint64_t reflected = 0;

	for (int i = 0; i < 64; i++)
		reflected |= (value >> i & 1) << (63 - i);
	return reflected;
}

struct Division {
	uint64_t quotient = 0;
	uint64_t remainder = 1;
};

/* x^exponent by the polynomial. Of the quotient above x^95 only the low bits are left. */
Division divide_power(int exponent)
{
	Division d;

	for (int i = 0; i < exponent; i++) {
		d.remainder <<= 1;
		d.quotient <<= 1;
		if (d.remainder >> 32) {
			d.remainder ^= polynomial;
			d.quotient |= 1;
		}
	}
	return d;
}

bytes noise(size_t length)
{
	bytes out(length);
	uint32_t state = 12345;

	for (uint8_t &byte : out) {
		state = state * 1664525 + 1013904223;
		byte = static_cast<uint8_t>(state >> 24);
	}
	return out;
}

/* A copy that ends where its allocation ends, so that ASan sees a read behind. */
uint32_t fold_at(size_t alignment, const uint8_t *data, size_t length)
{
	std::unique_ptr<uint8_t[]> copy(new uint8_t[alignment + length]);

	memcpy(copy.get() + alignment, data, length);
	return siro_crc_fold(seed, copy.get() + alignment, length);
}

void check_lengths(size_t first, size_t last)
{
	bytes data = noise(last);
	uint32_t want = crc32_bitwise(seed, data.data(), first);

	for (size_t length = first;; length++) {
		for (size_t alignment = 0; alignment < 16; alignment++)
			ASSERT_EQ(fold_at(alignment, data.data(), length), want)
				<< length << " bytes, alignment " << alignment;
		if (length == last)
			return;
		want = crc32_bitwise(want, &data[length], 1);
	}
}

uint32_t any_length(uint32_t crc, const uint8_t *data, size_t length)
{
	return length < SIRO_CRC_FOLD_MIN ? crc32_bitwise(crc, data, length)
					  : siro_crc_fold(crc, data, length);
}

/* Eight bytes at a time by eight tables, as crc32_le() does. */
class Slices {
public:
	Slices()
	{
		for (uint32_t i = 0; i < 256; i++) {
			uint8_t byte = static_cast<uint8_t>(i);

			m_table[0][i] = crc32_bitwise(0, &byte, 1);
		}
		for (uint32_t slice = 1; slice < 8; slice++)
			for (uint32_t i = 0; i < 256; i++)
				m_table[slice][i] = one_byte(m_table[slice - 1][i], 0);
	}

	uint32_t operator()(uint32_t crc, const uint8_t *data, size_t length) const
	{
		const auto &t = m_table;

		for (; length >= 8; data += 8, length -= 8) {
			uint32_t low, high;

			memcpy(&low, data, 4);
			memcpy(&high, data + 4, 4);
			low ^= crc;
			crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^
			      t[4][low >> 24] ^ t[3][high & 0xff] ^ t[2][high >> 8 & 0xff] ^
			      t[1][high >> 16 & 0xff] ^ t[0][high >> 24];
		}
		for (; length; length--)
			crc = one_byte(crc, *data++);
		return crc;
	}

private:
	uint32_t one_byte(uint32_t crc, uint8_t byte) const
	{
		return crc >> 8 ^ m_table[0][(crc ^ byte) & 0xff];
	}

	std::array<std::array<uint32_t, 256>, 8> m_table;
};

/* Each call waits for the one before it, as for the parts of one packet. */
template <typename Crc>
double nanoseconds(const Crc &crc, const uint8_t *data, size_t length)
{
	using clock = std::chrono::steady_clock;
	constexpr int calls = 2000, rounds = 200;
	auto best = clock::duration::max();
	volatile uint32_t state = seed;

	for (int round = 0; round < rounds; round++) {
		uint32_t chained = state;
		auto start = clock::now();

		for (int i = 0; i < calls; i++)
			chained = crc(chained, data, length);
		best = std::min(best, clock::now() - start);
		state = chained;
	}
	return std::chrono::duration<double, std::nano>(best).count() / calls;
}

} // namespace

TEST(crc_fold_constants, powers__are_remainders)
{
	static const struct {
		int exponent;
		uint64_t constant;
	} powers[] = {
		{31, SIRO_CRC_X31},   {95, SIRO_CRC_X95},   {127, SIRO_CRC_X127},
		{191, SIRO_CRC_X191}, {255, SIRO_CRC_X255}, {319, SIRO_CRC_X319},
		{383, SIRO_CRC_X383}, {447, SIRO_CRC_X447}, {511, SIRO_CRC_X511},
		{575, SIRO_CRC_X575},
	};

	for (auto &power : powers)
		EXPECT_EQ(power.constant, reflect(divide_power(power.exponent).remainder))
			<< power.exponent;
}

TEST(crc_fold_constants, quotient__is_that_of_x95)
{
	EXPECT_EQ(SIRO_CRC_QUOTIENT, reflect(divide_power(95).quotient));
	EXPECT_EQ(SIRO_CRC_P_X31, reflect(polynomial << 31));
}

TEST_F(crc_fold, fold__every_length_and_alignment)
{
	check_lengths(SIRO_CRC_FOLD_MIN, 600);
}

TEST_F(crc_fold, fold__around_a_page)
{
	check_lengths(4096 - 20, 4096 + 20);
}

TEST_F(crc_fold, fold__every_bit_counts)
{
	bytes zero(150), data = zero;
	uint32_t empty = siro_crc_fold(0, zero.data(), zero.size());

	EXPECT_EQ(empty, 0u);
	for (size_t bit = 0; bit < 8 * data.size(); bit++) {
		data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
		ASSERT_EQ(siro_crc_fold(0, data.data(), data.size()),
			  crc32_bitwise(0, data.data(), data.size()))
			<< bit;
		data[bit / 8] = 0;
	}
}

TEST_F(crc_fold, fold__chained_calls_equal_one)
{
	bytes data = noise(600);

	for (size_t length : {16, 31, 100, 255, 600}) {
		uint32_t whole = siro_crc_fold(seed, data.data(), length);

		for (size_t split = 0; split <= length; split++) {
			uint32_t crc = any_length(seed, data.data(), split);

			ASSERT_EQ(any_length(crc, &data[0] + split, length - split), whole)
				<< split << " of " << length;
		}
	}
}

TEST_F(crc_fold, slices__equal_fold)
{
	bytes data = noise(100);

	EXPECT_EQ(Slices()(seed, data.data(), data.size()),
		  siro_crc_fold(seed, data.data(), data.size()));
}

/* To be built without sanitizers: docs/hacking.md. */
TEST_F(crc_fold, DISABLED_time__fold_and_slices)
{
	bytes data = noise(4112);
	Slices slices;

	for (size_t length : {16, 28, 40, 48, 64, 128, 256, 1040, 4112})
		printf("%5zu bytes: slices %7.1f ns, fold %6.1f ns\n", length,
		       nanoseconds(slices, data.data(), length),
		       nanoseconds(siro_crc_fold, data.data(), length));
}
