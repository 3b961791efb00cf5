// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The extension of an ACK. */
#include "sack.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

using sirocco::Psn;
using sirocco::PsnWindow;
using sirocco::Sack;

namespace {

constexpr Psn expected(0xfffff0);

struct extension {
	uint8_t bytes[Sack::most_bytes] = {};
	uint32_t length = 0;

	extension(const std::set<uint32_t> &distances, uint32_t base)
	{
		PsnWindow arrived;

		for (auto d : distances)
			arrived.set(expected + d);
		length = Sack::put(bytes, arrived, expected, base, *distances.rbegin(), 0);
	}

	Sack parse(uint32_t most = 1023) const
	{
		return Sack::parse(bytes, length, most);
	}
};

std::set<uint32_t> all(const Sack &sack)
{
	std::set<uint32_t> out;

	sack.for_each([&](uint32_t d) { out.insert(d); });
	return out;
}

} // namespace

/* S3, S4 */
TEST(sack, put_and_parse__tell_the_same)
{
	const std::set<uint32_t> distances = {1, 2, 17, 63, 64, 300};
	extension e(distances, 0);
	Sack sack = e.parse();

	EXPECT_EQ(e.length % 4, 0u);
	EXPECT_LE(e.length, 64u);
	ASSERT_TRUE(sack.is_good());
	EXPECT_EQ(all(sack), distances);
	EXPECT_EQ(sack.window(), 1024u);
}

TEST(sack, put__never_less_than_64_psns)
{
	EXPECT_EQ(extension({1}, 0).length, sizeof(Sack::Header) + 8);
}

TEST(sack, put__of_a_later_part__leaves_the_rest_out)
{
	const std::set<uint32_t> distances = {3, 383, 384, 700, 900, 1023};

	EXPECT_EQ(all(extension(distances, 0).parse()), (std::set<uint32_t>{3, 383}));
	EXPECT_EQ(all(extension(distances, 384).parse()), (std::set<uint32_t>{384, 700}));
	EXPECT_EQ(all(extension(distances, 768).parse()), (std::set<uint32_t>{900, 1023}));
}

/* S6 */
TEST(sack, parse__of_more_than_was_sent__is_refused)
{
	extension e({1, 40}, 0);

	EXPECT_TRUE(e.parse(40).is_good());
	EXPECT_FALSE(e.parse(39).is_good());
	EXPECT_FALSE(e.parse(0).is_good());
}

TEST(sack, parse__of_what_is_expected_next__is_refused)
{
	extension e({1, 40}, 0);

	e.bytes[sizeof(Sack::Header)] |= 1;
	EXPECT_FALSE(e.parse().is_good());
}

TEST(sack, parse__of_a_bit_beyond_the_highest__is_refused)
{
	extension e({1, 40}, 0);

	e.bytes[sizeof(Sack::Header) + 7] |= 0x80;
	EXPECT_FALSE(e.parse().is_good());
}

TEST(sack, parse__of_each_wrong_field__is_refused)
{
	for (uint32_t i : {0, 1, 2, 3}) { /* magic, version, length */
		extension e({1, 40}, 0);

		e.bytes[i] ^= 4;
		EXPECT_FALSE(e.parse().is_good()) << i;
	}
	extension e({1, 40}, 0);

	for (uint32_t n = 0; n < e.length; n++)
		EXPECT_FALSE(Sack::parse(e.bytes, n, 1023).is_good()) << n;
	EXPECT_FALSE(Sack::parse(e.bytes, e.length + 4, 1023).is_good());
}

/* Whatever comes, a good one never names what was not sent. */
TEST(sack, parse__of_noise__stays_within_what_was_sent)
{
	std::mt19937 random(1);
	unsigned good = 0;

	for (int run = 0; run < 200000; run++) {
		extension e({1, 40, 300}, 0);
		uint32_t most = random() % 1100;

		for (uint32_t n = random() % 4; n; n--)
			e.bytes[random() % e.length] ^= 1 << random() % 8;

		Sack sack = e.parse(most);

		if (!sack.is_good())
			continue;
		good++;
		sack.for_each([&](uint32_t d) {
			ASSERT_GE(d, 1u);
			ASSERT_LE(d, most);
		});
	}
	EXPECT_GT(good, 1000u);
}
