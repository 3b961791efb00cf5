// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "crc_t10.h"
#include "signature_region.h"
#include "siro_signature.h"
#include "vector_crc.h"

using namespace host;

namespace {

constexpr uint16_t seed = 0x8a5f;

using crc_t10 = VectorCrc;

uint16_t by_table(uint16_t crc, const uint8_t *data, size_t length)
{
	static uint16_t table[256];

	if (!table[1])
		for (int i = 0; i < 256; i++) {
			uint8_t byte = static_cast<uint8_t>(i);

			table[i] = siro_port_crc_t10(0, &byte, 1);
		}
	for (; length; length--)
		crc = static_cast<uint16_t>(crc << 8 ^ table[crc >> 8 ^ *data++]);
	return crc;
}

} // namespace

TEST(crc_t10_constants, powers__are_remainders)
{
	static const struct {
		int exponent;
		uint64_t constant;
	} powers[] = {
		{64, SIRO_T10_X64},   {80, SIRO_T10_X80},   {128, SIRO_T10_X128},
		{192, SIRO_T10_X192}, {256, SIRO_T10_X256}, {320, SIRO_T10_X320},
		{384, SIRO_T10_X384}, {448, SIRO_T10_X448}, {512, SIRO_T10_X512},
		{576, SIRO_T10_X576},
	};

	for (auto &power : powers)
		EXPECT_EQ(power.constant, divide_power(power.exponent, SIRO_T10_P, 16).remainder)
			<< power.exponent;
}

TEST(crc_t10_constants, quotient__is_that_of_x63)
{
	EXPECT_EQ(SIRO_T10_QUOTIENT, divide_power(63, SIRO_T10_P, 16).quotient << 1);
}

TEST_F(crc_t10, fold__every_length_and_alignment)
{
	expect_every_length(siro_crc_t10, siro_port_crc_t10, seed, signature_noise(600),
			    SIRO_CRC_T10_MIN);
}

TEST_F(crc_t10, fold__around_a_page)
{
	expect_every_length(siro_crc_t10, siro_port_crc_t10, seed, signature_noise(4096 + 20),
			    4096 - 20);
}

TEST_F(crc_t10, fold__every_bit_counts)
{
	/* The model goes bit by bit: the port function of the host tests. */
	expect_every_bit(siro_crc_t10, siro_port_crc_t10, uint16_t{0}, 150);
}

TEST_F(crc_t10, fold__every_seed)
{
	bytes data = signature_noise(77);

	for (uint32_t s = 0; s < 0x10000; s++)
		ASSERT_EQ(siro_crc_t10(static_cast<uint16_t>(s), data.data(), data.size()),
			  by_table(static_cast<uint16_t>(s), data.data(), data.size()));
}

/* To be built without sanitizers: docs/hacking.md. */
TEST_F(crc_t10, DISABLED_time__fold_and_table)
{
	bytes data = signature_noise(4104);

	for (size_t length : {16, 32, 48, 64, 128, 256, 512, 520, 4096, 4104})
		printf("%5zu bytes: table %7.1f ns, fold %6.1f ns\n", length,
		       nanoseconds(by_table, seed, data.data(), length),
		       nanoseconds(siro_crc_t10, seed, data.data(), length));
}
