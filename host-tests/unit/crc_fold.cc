// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "crc_fold.h"
#include "vector_crc.h"

#include <array>

using namespace host;

namespace {

constexpr uint64_t polynomial = 0x104c11db7; /* coefficient of x^i in bit i */
constexpr uint32_t seed = 0x8a5f13c7;

using crc_fold = VectorCrc;

uint64_t reflect(uint64_t value)
{
	uint64_t reflected = 0;

	for (int i = 0; i < 64; i++)
		reflected |= (value >> i & 1) << (63 - i);
	return reflected;
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
		EXPECT_EQ(power.constant,
			  reflect(divide_power(power.exponent, polynomial, 32).remainder))
			<< power.exponent;
}

TEST(crc_fold_constants, quotient__is_that_of_x95)
{
	EXPECT_EQ(SIRO_CRC_QUOTIENT, reflect(divide_power(95, polynomial, 32).quotient));
	EXPECT_EQ(SIRO_CRC_P_X31, reflect(polynomial << 31));
}

TEST_F(crc_fold, fold__every_length_and_alignment)
{
	expect_every_length(siro_crc_fold, crc32_bitwise, seed, noise(600), SIRO_CRC_FOLD_MIN);
}

TEST_F(crc_fold, fold__around_a_page)
{
	expect_every_length(siro_crc_fold, crc32_bitwise, seed, noise(4096 + 20), 4096 - 20);
}

TEST_F(crc_fold, fold__every_bit_counts)
{
	expect_every_bit(siro_crc_fold, crc32_bitwise, uint32_t{0}, 150);
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
		       nanoseconds(slices, seed, data.data(), length),
		       nanoseconds(siro_crc_fold, seed, data.data(), length));
}
