// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The open blocks of a region: found, added and removed in any order. */
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "signature_blocks.h"

namespace {

using key = std::pair<uint32_t, uint64_t>; /* track, index */

struct open_blocks {
	explicit open_blocks(uint32_t capacity) : spill(capacity - SIRO_SIG_OWN_BLOCKS)
	{
		raw.spill = spill.data();
		raw.spill_count = static_cast<uint32_t>(spill.size());
	}

	/* One that can be told from all others. */
	void add(key k, uint32_t mark)
	{
		blocks.add(k.first, k.second).missing = mark;
	}

	void remove(key k)
	{
		blocks.remove(*blocks.find(k.first, k.second));
	}

	const siro_sig_block &at(uint32_t place) const
	{
		return place <= SIRO_SIG_OWN_BLOCKS ? raw.own[place - 1]
						    : spill[place - 1 - SIRO_SIG_OWN_BLOCKS];
	}

	/* Blocks on the longest way from the root. */
	uint32_t depth(uint32_t place = 1) const
	{
		if (!place || !raw.count)
			return 0;
		return 1 + std::max(depth(at(place).below[0]), depth(at(place).below[1]));
	}

	siro_sig_blocks raw{};
	std::vector<siro_sig_block> spill;
	sirocco::OpenBlocks blocks{raw};
};

/* What is in it is what the model says, for all keys that were ever used. */
void expect_model(open_blocks &b, const std::vector<key> &keys,
		  const std::map<key, uint32_t> &model)
{
	ASSERT_EQ(b.raw.count, model.size());
	for (const key &k : keys) {
		const siro_sig_block *found = b.blocks.find(k.first, k.second);
		auto expected = model.find(k);

		ASSERT_EQ(found != nullptr, expected != model.end());
		if (!found)
			continue;
		ASSERT_EQ(found->index, k.second);
		ASSERT_EQ(found->track, k.first);
		ASSERT_EQ(found->missing, expected->second);
	}
}

/* @stride: of the indices. */
void any_order(uint64_t stride, unsigned seed)
{
	constexpr uint32_t capacity = 40;
	std::mt19937_64 random(seed);
	std::map<key, uint32_t> model;
	std::vector<key> keys;
	open_blocks b(capacity);

	for (uint32_t i = 0; i < 2 * capacity; i++)
		keys.emplace_back(i % 2, i / 2 * stride);
	for (uint32_t step = 1; step < 3000; step++) {
		key k = keys[random() % keys.size()];

		if (model.erase(k)) {
			b.remove(k);
		} else if (b.blocks.room()) {
			b.add(k, step);
			model[k] = step;
		}
		ASSERT_EQ(b.blocks.room(), capacity - model.size());
		expect_model(b, keys, model);
	}
}

} // namespace

TEST(signature_blocks, any_order__as_a_map)
{
	for (uint64_t stride : {uint64_t{1}, uint64_t{7}, uint64_t{1} << 12, uint64_t{1} << 40})
		any_order(stride, static_cast<unsigned>(stride));
}

TEST(signature_blocks, neighbours__short_way)
{
	open_blocks b(2050);

	for (uint32_t i = 0; i < 2050; i++)
		b.add({0, 77 + i}, i);
	EXPECT_LE(b.depth(), 1 + 1 + 12u); /* a bit for the track */
}

TEST(signature_blocks, chosen_by_a_peer__way_no_longer_than_a_key)
{
	open_blocks b(2050);

	for (uint32_t i = 0; i < 2050; i++)
		b.add({0, uint64_t{i} << 40}, i);
	EXPECT_LE(b.depth(), 65u);
}

TEST(signature_blocks, removed_to_the_last__empty)
{
	open_blocks b(100);

	for (uint64_t i = 0; i < 100; i++)
		b.add({0, i * i}, 0);
	for (uint64_t i = 0; i < 100; i++)
		b.remove({0, (i * 37 % 100) * (i * 37 % 100)});
	EXPECT_EQ(b.raw.count, 0u);
	EXPECT_EQ(b.blocks.find(0, 0), nullptr);
}
