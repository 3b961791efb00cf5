// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "extents.h"
#include "pieces.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using sirocco::Extents;

namespace {

constexpr int einval = -22, enospc = -28;
constexpr uint64_t lengths[] = {1, 7, 511, 4096, 65537, 1 << 20};
constexpr uint32_t counts[] = {1, 2, 17, 4096};

/* Pieces that lie apart; the first byte of each is @align modulo 8. */
pieces apart(uint32_t count, const std::vector<uint64_t> &cycle, uint32_t align = 0)
{
	pieces out;
	uint64_t at = 0x10000 + align;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t length = cycle[i % cycle.size()];

		out.push_back({at, length, 0, i + 1});
		at += (length + 64 + 7) / 8 * 8;
	}
	std::reverse(out.begin(), out.end());
	return out;
}

/* Bytes of a piece that tell its bounds. */
std::vector<uint64_t> edges(uint64_t length)
{
	if (length < 4)
		return length == 1 ? std::vector<uint64_t>{0}
				   : std::vector<uint64_t>{0, length - 1};
	return {0, 1, length / 2, length - 1};
}

void expect_edges(const piece_list &l, const pieces &all)
{
	Extents extents(l.list);
	uint32_t hint = 0;
	uint64_t start = 0;

	for (auto &p : all) {
		for (uint64_t at : edges(p.length)) {
			uint32_t none = 0;
			auto next = extents.at(start + at, hint);
			auto fresh = extents.at(start + at, none);

			ASSERT_EQ(next.address, p.address + at);
			ASSERT_EQ(next.length, p.length - at);
			ASSERT_EQ(next.lkey, p.lkey);
			ASSERT_EQ(fresh.address, next.address);
			ASSERT_EQ(fresh.length, next.length);
		}
		start += p.length;
	}
	EXPECT_EQ(l.list.row_length, start);
}

void expect_bytes(const piece_list &l, const std::vector<uint64_t> &addresses)
{
	Extents extents(l.list);
	uint32_t hint = 0;

	ASSERT_EQ(l.list.row_length * l.list.repeat, addresses.size());
	for (uint64_t at = 0; at < addresses.size(); at++) {
		auto piece = extents.at(at, hint);

		ASSERT_EQ(piece.address, addresses[at]) << at;
		ASSERT_GE(piece.length, 1u) << at;
		ASSERT_LE(at + piece.length, addresses.size()) << at;
		ASSERT_EQ(piece.address + piece.length - 1, addresses[at + piece.length - 1]) << at;
	}
}

void expect_bytes(const pieces &all, uint32_t repeat = 1)
{
	expect_bytes(piece_list(all, repeat), addresses_of(all, repeat));
}

uint32_t shift_of(const std::vector<uint64_t> &of)
{
	pieces all;

	for (uint64_t length : of)
		all.push_back({(all.size() + 1) << 30, length});
	return piece_list(all).list.shift;
}

} // namespace

TEST(extents_at, equal_lengths__against_the_list_itself)
{
	for (uint32_t count : counts)
		for (uint64_t length : lengths)
			for (uint32_t align = 0; align < 8; align++) {
				auto all = apart(count, {length}, align);
				piece_list l(all);
				bool pages = count > 2 && (length == 4096 || length == 1 << 20);

				ASSERT_EQ(l.list.shift != 0, pages) << count << " " << length;
				expect_edges(l, all);
			}
}

TEST(extents_at, unequal_lengths__against_the_list_itself)
{
	for (uint32_t count : counts)
		for (uint32_t align = 0; align < 8; align++) {
			auto all = apart(count, {lengths, lengths + 6}, align);
			piece_list l(all);

			ASSERT_EQ(l.list.shift, 0u);
			expect_edges(l, all);
		}
}

TEST(extents_at, each_byte__against_bytewise_model)
{
	for (uint32_t count : {1u, 2u, 17u})
		for (uint32_t align = 0; align < 8; align++)
			expect_bytes(apart(count, {1, 7, 511, 4096}, align));
}

TEST(extents_finish, pages_in_disguise__are_found_without_a_search)
{
	EXPECT_EQ(shift_of({4096, 4096, 4096}), 12u);
	EXPECT_EQ(shift_of({100, 4096, 4096, 5}), 12u);
	EXPECT_EQ(shift_of({5000, 4096, 4096, 4096}), 12u);
	EXPECT_EQ(shift_of({1, 2, 1}), 1u);
	EXPECT_EQ(shift_of({9, 1ull << 29, 8}), 29u);
	for (uint32_t first : {1u, 100u, 9000u})
		for (uint32_t last : {1u, 511u, 512u})
			expect_bytes({{0x10000, first},
				      {0x20001, 512},
				      {0x30007, 512},
				      {0x40000, last}});
}

TEST(extents_finish, no_pages__are_searched)
{
	EXPECT_EQ(shift_of({4096}), 0u);
	EXPECT_EQ(shift_of({4096, 4096}), 0u);
	EXPECT_EQ(shift_of({4096, 4096, 4097}), 0u);
	EXPECT_EQ(shift_of({4096, 4096, 4095, 4096}), 0u);
	EXPECT_EQ(shift_of({4096, 4095, 4096, 4096}), 0u);
	EXPECT_EQ(shift_of({4096, 4096, 4096, 8192, 4096}), 0u);
	EXPECT_EQ(shift_of({4096, 513, 513, 100}), 0u);
	EXPECT_EQ(shift_of({1, 1, 1}), 0u);
	expect_bytes(
		{{0x10000, 512}, {0x20001, 512}, {0x30007, 510}, {0x40000, 512}, {0x50000, 512}});
}

TEST(extents_add, empty_entries__count_and_hold_nothing)
{
	for (size_t empty = 0; empty < 4; empty++) {
		auto all = apart(4, {1, 7, 511});

		all[empty].length = 0;

		piece_list l(all);

		EXPECT_EQ(l.list.entries, 4u);
		EXPECT_EQ(l.list.count, 3u);
		EXPECT_EQ(l.add({0x900000, 1}), enospc);
		expect_bytes(l, addresses_of(all));
	}
}

TEST(extents_finish, no_byte__is_refused)
{
	piece_list none(3), empty(3), rows(3);

	EXPECT_EQ(none.finish(), einval);
	EXPECT_EQ(empty.add({0x1000, 0}), 0);
	EXPECT_EQ(empty.add({0x2000, 0}), 0);
	EXPECT_EQ(empty.finish(), einval);
	EXPECT_EQ(rows.add({0x1000, 1}), 0);
	EXPECT_EQ(rows.finish(0), einval);
	EXPECT_EQ(rows.finish(1), 0);
}

TEST(extents_add, more_than_fit__are_refused_and_change_nothing)
{
	piece_list l(2);

	EXPECT_EQ(l.add({0x1000, 5}), 0);
	EXPECT_EQ(l.add({0x2000, 6}), 0);
	EXPECT_EQ(l.add({0x3000, 7}), enospc);
	EXPECT_EQ(l.list.row_length, 11u);
	EXPECT_EQ(l.finish(), 0);
	expect_bytes(l, addresses_of({{0x1000, 5}, {0x2000, 6}}));
}

TEST(extents_add, entries_that_touch__merge_if_asked)
{
	pieces all = {{0x1000, 100}, {0x1064, 28}, {0x2000, 0},
		      {0x1080, 1},   {0x3000, 9},  {0x2ff7, 9}};
	piece_list merged(all, 1, true), separate(all);

	EXPECT_EQ(merged.list.count, 3u);
	EXPECT_EQ(merged.list.entries, 6u);
	EXPECT_EQ(separate.list.count, 5u);
	expect_bytes(merged, addresses_of(all));
	expect_bytes(separate, addresses_of(all));
}

TEST(extents_add, merged_entries__count_against_the_capacity)
{
	piece_list l(2, true);

	EXPECT_EQ(l.add({0x1000, 8}), 0);
	EXPECT_EQ(l.add({0x1008, 8}), 0);
	EXPECT_EQ(l.add({0x1010, 8}), enospc);
}

/* 48 bytes out of 58 and more */
TEST(extents_rows, pieces_and_gaps__against_bytewise_model)
{
	pieces two = {{0x1000, 8, 2}, {0x5000, 8, 2}};

	EXPECT_EQ(addresses_of(two, 3).size(), 48u);
	for (uint32_t repeat : {1u, 2u, 3u, 100u}) {
		expect_bytes(two, repeat);
		expect_bytes({{0x1000, 8}, {0x5000, 8}}, repeat);
		expect_bytes({{0x1003, 1, 511}}, repeat);
		expect_bytes({{0x1000, 7, 1},
			      {0x2000, 0, 9},
			      {0x3000, 64},
			      {0x4001, 64, 3},
			      {0x9000, 64},
			      {0x8000, 5, 5}},
			     repeat);
	}
}

TEST(extents_rows, total_near_4_gib__is_found)
{
	struct {
		uint64_t row;
		uint32_t repeat;
	} const cases[] = {{1 << 16, 1 << 16}, {65537, 65537}, {65535, 65537},
			   {1, ~0u},           {~0u, 1},       {~0u, ~0u}};

	for (auto &c : cases) {
		pieces all = {{1 << 20, c.row - c.row / 2, 100, 1}, {1ull << 40, c.row / 2, 0, 2}};
		piece_list l(all, c.repeat);
		uint32_t hint = 0;
		auto last = Extents(l.list).at(c.row * c.repeat - 1, hint);
		const piece &at = all[c.row > 1];

		EXPECT_EQ(last.address,
			  at.address + (c.repeat - 1) * (at.length + at.skip) + at.length - 1);
		EXPECT_EQ(last.length, 1u);
		EXPECT_EQ(last.lkey, at.lkey);
	}
}

TEST(extents_add, sums_that_wrap__are_refused)
{
	piece_list l(4);

	EXPECT_EQ(l.add({~0ull - 7, 9}), einval);
	EXPECT_EQ(l.add({2, ~0ull - 1}), einval);
	EXPECT_EQ(l.add({~0ull - 7, 7}), 0);
	EXPECT_EQ(l.add({0, ~0ull - 6}), einval);
	EXPECT_EQ(l.list.row_length, 7u);
	EXPECT_EQ(l.add({0, ~0ull - 7}), 0);
	EXPECT_EQ(l.add({0, 1}), einval);
	EXPECT_EQ(l.finish(), 0);
}

TEST(extents_finish, rows_that_wrap__are_refused)
{
	piece_list length(2), travel(1), end(1), stride(1);

	length.add({0, 1ull << 33});
	EXPECT_EQ(length.finish(1u << 31), einval);
	EXPECT_EQ(length.finish((1u << 31) - 1), 0);

	travel.add({0, 1ull << 31, ~0u});
	EXPECT_EQ(travel.finish(~0u), einval);
	EXPECT_EQ(travel.finish(1u << 31), 0);

	end.add({~0ull - 1000, 100, 100});
	EXPECT_EQ(end.finish(5), 0);
	EXPECT_EQ(end.finish(6), einval);

	stride.add({0, 1ull << 62, 0});
	EXPECT_EQ(stride.finish(4), einval);
	EXPECT_EQ(stride.finish(3), 0);
}

TEST(extents_at, any_hint__only_speeds_it_up)
{
	auto all = apart(17, {1, 7, 511});
	auto addresses = addresses_of(all);
	piece_list l(all);

	for (uint32_t start : {0u, 1u, 7u, 15u, 16u, 17u, 1000u, ~0u - 1, ~0u})
		for (uint64_t at = addresses.size(); at--;) {
			uint32_t hint = start;

			ASSERT_EQ(Extents(l.list).at(at, hint).address, addresses[at]) << start;
			ASSERT_LT(hint, 17u);
		}
}

/* The cursor of a longer list is good for a shorter one. */
TEST(extents_at, hint_of_another_list__is_harmless)
{
	piece_list longer(apart(17, {8})), shorter(pieces{{0x1000, 3}, {0x2000, 3}});
	uint32_t hint = 0;

	Extents(longer.list).at(16 * 8, hint);
	EXPECT_EQ(hint, 16u);
	EXPECT_EQ(Extents(shorter.list).at(4, hint).address, 0x2001u);
	EXPECT_EQ(Extents(longer.list).at(0, hint).lkey, 17u);
}

TEST(extents_at, random_lists_and_accesses__against_bytewise_model)
{
	std::mt19937 r(1);
	auto below = [&r](uint32_t n) {
		return static_cast<uint32_t>(r() % n);
	};

	for (int round = 0; round < 300; round++) {
		pieces all;
		uint32_t count = 1 + below(30), unit = 1 << below(8);

		for (uint32_t i = 0; i < count; i++)
			all.push_back({uint64_t{r()} << 10, below(8) ? unit : below(100), below(50),
				       below(~0u)});
		all[below(count)].length += 1 + below(300);

		uint32_t repeat = below(2) ? 1 : 1 + below(9), hint = below(~0u);
		auto addresses = addresses_of(all, repeat);
		piece_list l(all, repeat);

		for (int i = 0; i < 200; i++) {
			uint64_t at = below(static_cast<uint32_t>(addresses.size()));

			ASSERT_EQ(Extents(l.list).at(at, hint).address, addresses[at]) << round;
		}
	}
}
