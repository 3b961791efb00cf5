// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_guard.h"
#include "signature_region.h"

#include <algorithm>
#include <gtest/gtest.h>

using host::bytes;
using sirocco::Guard;

namespace {

constexpr uint16_t formats[] = {SIRO_SIG_T10_CRC, SIRO_SIG_T10_CSUM, SIRO_SIG_CRC32,
				SIRO_SIG_CRC32C, SIRO_SIG_CRC64};

uint64_t ones(uint16_t format)
{
	switch (format) {
	case SIRO_SIG_T10_CRC:
	case SIRO_SIG_T10_CSUM:
		return 0xffff;
	case SIRO_SIG_CRC64:
		return ~0ull;
	default:
		return 0xffffffff;
	}
}

/* Not all tables have blocks of a multiple of 8. */
uint64_t guard(uint16_t format, bool seed, const bytes &data)
{
	siro_sig_domain domain = signature_domain(format, static_cast<uint32_t>(data.size()));

	domain.seed = seed ? ones(format) : 0;

	siro_sig_sum sum = Guard(domain).begin();

	Guard(domain).add(sum, 0, 0, data.data(), static_cast<uint32_t>(data.size()));
	return Guard(domain).finish(sum, static_cast<uint32_t>(data.size()));
}

bytes counting(size_t length)
{
	bytes out(length);

	for (size_t i = 0; i < length; i++)
		out[i] = static_cast<uint8_t>(i);
	return out;
}

bytes ascii_digits()
{
	return {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
}

/* Pieces between sorted cuts, in the order of @order. */
uint64_t guard_in_pieces(const siro_sig_domain &domain, const bytes &data,
			 const std::vector<uint32_t> &cuts, const std::vector<size_t> &order)
{
	Guard g(domain);
	siro_sig_sum sum = g.begin();
	uint32_t end = 0;

	for (size_t i : order) {
		uint32_t from = i ? cuts[i - 1] : 0;
		uint32_t to = i < cuts.size() ? cuts[i] : static_cast<uint32_t>(data.size());

		g.add(sum, end, from, data.data() + from, to - from);
		end = to;
	}
	return g.finish(sum, end);
}

} // namespace

/* T1: the table of the definitions */
TEST(signature_guard, known_data__has_known_guards)
{
	static const struct {
		const char *name;
		bytes data;
		uint16_t crc, crc_ones, csum;
		uint32_t crc32, crc32c;
	} rows[] = {
		{"zeros", bytes(512, 0), 0, 0x72bb, 0xffff, 0xb2aa7578, 0x30fcedc0},
		{"ones", bytes(512, 0xff), 0xe6a1, 0x941a, 0, 0xbd7bc39f, 0x5bd99297},
		{"counting", counting(512), 0x4f10, 0x3dab, 0x7f80, 0x1c613576, 0xae10ee5a},
		{"a5", bytes(512, 0xa5), 0x9ec6, 0xec7d, 0x5a5a, 0xc906d311, 0x7be5157d},
		{"ones 520", bytes(520, 0xff), 0xb5f7, 0x8952, 0, 0xa3a3cdf0, 0xd36b63cc},
		{"ones 4096", bytes(4096, 0xff), 0x8b5d, 0x6cbf, 0, 0xf154670a, 0x25c1fe13},
		{"counting 4096", counting(4096), 0x8f6d, 0x688f, 0xfc03, 0xa2912082, 0x9c71fe32},
	};

	for (auto &row : rows) {
		EXPECT_EQ(guard(SIRO_SIG_T10_CRC, false, row.data), row.crc) << row.name;
		EXPECT_EQ(guard(SIRO_SIG_T10_CRC, true, row.data), row.crc_ones) << row.name;
		EXPECT_EQ(guard(SIRO_SIG_T10_CSUM, false, row.data), row.csum) << row.name;
		EXPECT_EQ(guard(SIRO_SIG_CRC32, true, row.data), row.crc32) << row.name;
		EXPECT_EQ(guard(SIRO_SIG_CRC32C, true, row.data), row.crc32c) << row.name;
	}
}

/* T1 */
TEST(signature_guard, digits_and_seed_0__have_known_guards)
{
	EXPECT_EQ(guard(SIRO_SIG_T10_CRC, false, ascii_digits()), 0xd0dbu);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, true, ascii_digits()), 0xcbf43926u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32C, true, ascii_digits()), 0xe3069283u);
	EXPECT_EQ(guard(SIRO_SIG_CRC64, true, ascii_digits()), 0xae8b14860a799888u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, false, bytes(512, 0)), 0xffffffffu);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, false, bytes(512, 0xff)), 0xf02e4918u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32C, false, bytes(512, 0xff)), 0x94da80a8u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, false, counting(512)), 0x5134bff1u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32C, false, counting(512)), 0x6113fc65u);
}

/* T1 */
TEST(signature_guard, crc64__has_known_guards)
{
	bytes down = counting(4096);

	std::reverse(down.begin(), down.end());
	EXPECT_EQ(guard(SIRO_SIG_CRC64, true, bytes(4096, 0)), 0x6482d367eb22b64eu);
	EXPECT_EQ(guard(SIRO_SIG_CRC64, true, bytes(4096, 0xff)), 0xc0ddba7302eca3acu);
	EXPECT_EQ(guard(SIRO_SIG_CRC64, true, counting(4096)), 0x3e729f5f6750449cu);
	EXPECT_EQ(guard(SIRO_SIG_CRC64, true, down), 0x9a2df64b8e9e517eu);
}

/* T1 */
TEST(signature_guard, single_bytes__have_known_guards)
{
	bytes last(512), first(512), flipped = counting(512);

	last[511] = 1;
	first[0] = 1;
	flipped[100] ^= 1;
	EXPECT_EQ(guard(SIRO_SIG_T10_CRC, false, last), 0x8bb7u);
	EXPECT_EQ(guard(SIRO_SIG_T10_CRC, true, last), 0xf90cu);
	EXPECT_EQ(guard(SIRO_SIG_T10_CSUM, false, last), 0xfffeu);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, true, last), 0xc5ad45eeu);
	EXPECT_EQ(guard(SIRO_SIG_CRC32C, true, last), 0xc2976ec3u);
	EXPECT_EQ(guard(SIRO_SIG_T10_CRC, false, first), 0xb45eu);
	EXPECT_EQ(guard(SIRO_SIG_T10_CSUM, false, first), 0xfeffu);
	EXPECT_EQ(guard(SIRO_SIG_CRC32, true, first), 0xa2d8ae50u);
	EXPECT_EQ(guard(SIRO_SIG_CRC32C, true, first), 0x8d936c38u);
	EXPECT_EQ(guard(SIRO_SIG_T10_CRC, false, flipped), 0x725fu);
	EXPECT_EQ(guard(SIRO_SIG_T10_CSUM, false, flipped), 0x7e80u);
}

/* The checksum of nothing but zeros shows its seed. */
TEST(signature_guard, checksum_seed__is_its_initial_value)
{
	siro_sig_domain domain = signature_domain(SIRO_SIG_T10_CSUM);

	EXPECT_EQ(guard(SIRO_SIG_T10_CSUM, true, bytes(512, 0)), 0u);
	domain.seed = 0x1234;

	siro_sig_sum sum = Guard(domain).begin();
	bytes zeros(512);

	Guard(domain).add(sum, 0, 0, zeros.data(), 512);
	EXPECT_EQ(Guard(domain).finish(sum, 512), 0xedcbu);
}

/* T3: a block of which each byte may be where two pieces meet, each in any order */
TEST(signature_guard, three_pieces_in_any_order__equal_one)
{
	for (uint16_t format : formats)
		for (bool seed : {false, true})
			for (uint32_t interval : {8u, 24u, 64u}) {
				siro_sig_domain domain = signature_domain(format, interval);
				bytes data = signature_noise(interval, format);

				domain.seed = seed ? ones(format) : 0;

				uint64_t want = signature_model::guard_of(domain, data);

				for (uint32_t a = 1; a < interval - 1; a++)
					for (uint32_t b = a + 1; b < interval; b++) {
						std::vector<size_t> order = {0, 1, 2};

						do
							ASSERT_EQ(guard_in_pieces(domain, data,
										  {a, b}, order),
								  want)
								<< format << " " << a << " " << b;
						while (std::next_permutation(order.begin(),
									     order.end()));
					}
			}
}

/* Each digit of the distance by which a CRC is shifted. */
TEST(signature_guard, largest_block__in_two_pieces_backwards)
{
	bytes data = signature_noise(SIRO_SIG_MAX_INTERVAL);

	for (uint16_t format : formats) {
		siro_sig_domain domain = signature_domain(format, SIRO_SIG_MAX_INTERVAL);
		uint64_t want = signature_model::guard_of(domain, data);

		for (uint32_t cut = 1; cut < data.size(); cut = cut * 3 + 1)
			ASSERT_EQ(guard_in_pieces(domain, data, {cut}, {1, 0}), want)
				<< format << " " << cut;
	}
}

TEST(signature_guard, any_pieces_in_any_order__equal_one)
{
	std::mt19937 random(7);

	for (int round = 0; round < 400; round++) {
		uint16_t format = formats[random() % 5];
		uint32_t interval = 8 * (1 + random() % 600);
		siro_sig_domain domain = signature_domain(format, interval);
		bytes data = signature_noise(interval, static_cast<unsigned>(round));
		std::vector<uint32_t> cuts;
		std::vector<size_t> order = {0};

		for (uint32_t at = 0; (at += 1 + random() % (interval / 4 + 1)) < interval;) {
			cuts.push_back(at);
			order.push_back(order.size());
		}
		std::shuffle(order.begin(), order.end(), random);
		ASSERT_EQ(guard_in_pieces(domain, data, cuts, order),
			  signature_model::guard_of(domain, data));
	}
}
