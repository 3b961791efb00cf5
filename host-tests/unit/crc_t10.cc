// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "crc_t10.h"
#include "signature_region.h"
#include "siro_signature.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>

using host::bytes;

namespace {

constexpr uint16_t seed = 0x8a5f;

class crc_t10 : public testing::Test {
protected:
	void SetUp() override
	{
		if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1"))
			GTEST_SKIP() << "this CPU lacks PCLMULQDQ or SSE4.1";
	}
};

struct division {
	uint64_t quotient = 0;
	uint64_t remainder = 1;
};

/* x^exponent by the polynomial */
division divide_power(int exponent)
{
	division d;

	for (int i = 0; i < exponent; i++) {
		d.remainder <<= 1;
		d.quotient <<= 1;
		if (d.remainder >> 16) {
			d.remainder ^= SIRO_T10_P;
			d.quotient |= 1;
		}
	}
	return d;
}

/* A copy that ends where its allocation ends, so that ASan sees a read behind. */
uint16_t fold_at(size_t alignment, const uint8_t *data, size_t length)
{
	std::unique_ptr<uint8_t[]> copy(new uint8_t[alignment + length]);

	memcpy(copy.get() + alignment, data, length);
	return siro_crc_t10(seed, copy.get() + alignment, length);
}

/* Bit by bit: the port function of the host tests. */
void check_lengths(size_t first, size_t last)
{
	bytes data = signature_noise(last);
	uint16_t want = siro_port_crc_t10(seed, data.data(), first);

	for (size_t length = first;; length++) {
		for (size_t alignment = 0; alignment < 16; alignment++)
			ASSERT_EQ(fold_at(alignment, data.data(), length), want)
				<< length << " bytes, alignment " << alignment;
		if (length == last)
			return;
		want = siro_port_crc_t10(want, &data[length], 1);
	}
}

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

/* Each call waits for the one before it. */
template <typename Crc>
double nanoseconds(const Crc &crc, const uint8_t *data, size_t length)
{
	using clock = std::chrono::steady_clock;
	constexpr int calls = 2000, tries = 200;
	auto best = clock::duration::max();
	volatile uint16_t state = seed;

	for (int i = 0; i < tries; i++) {
		uint16_t chained = state;
		auto start = clock::now();

		for (int call = 0; call < calls; call++)
			chained = crc(chained, data, length);
		best = std::min(best, clock::now() - start);
		state = chained;
	}
	return std::chrono::duration<double, std::nano>(best).count() / calls;
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
		EXPECT_EQ(power.constant, divide_power(power.exponent).remainder) << power.exponent;
}

TEST(crc_t10_constants, quotient__is_that_of_x63)
{
	EXPECT_EQ(SIRO_T10_QUOTIENT, divide_power(63).quotient << 1);
}

TEST_F(crc_t10, fold__every_length_and_alignment)
{
	check_lengths(SIRO_CRC_T10_MIN, 600);
}

TEST_F(crc_t10, fold__around_a_page)
{
	check_lengths(4096 - 20, 4096 + 20);
}

TEST_F(crc_t10, fold__every_bit_counts)
{
	bytes data(150);

	EXPECT_EQ(siro_crc_t10(0, data.data(), data.size()), 0u);
	for (size_t bit = 0; bit < 8 * data.size(); bit++) {
		data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
		ASSERT_EQ(siro_crc_t10(0, data.data(), data.size()),
			  siro_port_crc_t10(0, data.data(), data.size()))
			<< bit;
		data[bit / 8] = 0;
	}
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
		       nanoseconds(by_table, data.data(), length),
		       nanoseconds(siro_crc_t10, data.data(), length));
}
