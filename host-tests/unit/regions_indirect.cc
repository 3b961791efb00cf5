// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Access through keys that stand for lists: bounds, rights, what the entries name. */
#include "lone_qp.h"
#include "pieces.h"
#include "regions.h"

#include <algorithm>
#include <cstring>

using namespace host;

namespace {

constexpr uint32_t all_rights = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
				SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;
constexpr uint64_t some_iova = 0x123456789;

/* Code of an engine call: pins must be given back at its end. */
void in_call(lone_qp &q, const std::function<void(sirocco::Regions &)> &use)
{
	q.call_as(true, [&](siro_context *ctx) {
		sirocco::Regions regions(ctx->port, q.opt.pd);

		use(regions);
	});
}

region &add_plain(lone_qp &q, uint64_t length, uint32_t access = all_rights)
{
	region::options o;

	o.length = length;
	o.access = access;
	o.iova = 0x5000000123;
	o.first_offset = 0x123;

	region &r = q.dev.add_region(o);

	r.fill(0x11);
	return r;
}

bytes read_all(lone_qp &q, region &r, uint64_t offset, uint32_t length)
{
	bytes out(length);

	in_call(q, [&](auto &regions) {
		siro_mr *mr = regions.find(r.key(), r.mr.iova + offset, length, 0);

		ASSERT_NE(mr, nullptr);
		ASSERT_TRUE(regions.read(*mr, r.mr.iova + offset, out.data(), length));
	});
	return out;
}

void write_all(lone_qp &q, region &r, uint64_t offset, const bytes &data)
{
	in_call(q, [&](auto &regions) {
		siro_mr *mr = regions.find(r.key(), r.mr.iova + offset, data.size(),
					   SIRO_ACCESS_LOCAL_WRITE);

		ASSERT_NE(mr, nullptr);
		ASSERT_TRUE(regions.write(*mr, r.mr.iova + offset, data.data(),
					  static_cast<uint32_t>(data.size())));
	});
}

bool finds(lone_qp &q, const region &r, uint64_t va, uint64_t length, uint32_t access = 0)
{
	bool found = false;

	in_call(q, [&](auto &regions) { found = regions.find(r.key(), va, length, access); });
	return found;
}

bool reaches(lone_qp &q, const region &r, uint64_t offset, uint64_t length, bool write = false)
{
	bool reachable = false;

	in_call(q, [&](auto &regions) {
		siro_mr *mr = regions.find(r.key(), r.mr.iova + offset, length, 0);

		ASSERT_NE(mr, nullptr);
		reachable = regions.is_reachable(*mr, r.mr.iova + offset, length, write);
	});
	return reachable;
}

packet write_of(const region &r, uint64_t offset, const bytes &data)
{
	return rdma(lone_qp::psn(0), WRITE_ONLY, r.mr.iova + offset, r.key(),
		    static_cast<uint32_t>(data.size()), data, true);
}

packet read_of(const region &r, uint64_t offset, uint32_t length)
{
	return rdma(lone_qp::psn(0), READ_REQUEST, r.mr.iova + offset, r.key(), length);
}

packet add_to(const region &r, uint64_t offset, uint64_t value = 1)
{
	return atomic(lone_qp::psn(0), FETCH_ADD, r.mr.iova + offset, r.key(), value);
}

/* NAK of a request, or 0: done. */
uint8_t refusal_of(lone_qp &q, const packet &p)
{
	q.hand(p);

	auto sent = q.take_sent();

	EXPECT_FALSE(sent.empty());
	return !sent.empty() && sent.back().opcode == ACKNOWLEDGE && !is_ack(sent.back().syndrome)
		       ? sent.back().syndrome
		       : 0;
}

/* The ways in which the region below @list may be of no use. */
using spoil = std::function<void(lone_qp &, region &below)>;

void expect_unreachable(const spoil &how_to)
{
	for (int how = 0; how < 4; how++) {
		lone_qp q;
		region &below = add_plain(q, 100);
		/* Behind bytes that could be reached, which must not change either. */
		region &list = add_indirect(q.dev,
					    {piece_of(q.memory, 0, 7), piece_of(below, 0, 64),
					     piece_of(q.memory, 7, 57)},
					    some_iova);
		bytes before = q.memory.read(0, 64);

		how_to(q, below);
		SCOPED_TRACE(how);
		if (how == 0) {
			EXPECT_EQ(refusal_of(q, write_of(list, 0, bytes(128, 0xee))),
				  NAK_REMOTE_ACCESS);
		} else if (how == 1) {
			EXPECT_EQ(refusal_of(q, read_of(list, 0, 128)), NAK_REMOTE_ACCESS);
		} else if (how == 2) {
			EXPECT_EQ(refusal_of(q, add_to(list, 8 - some_iova % 8)),
				  NAK_REMOTE_ACCESS);
		} else {
			q.post({make_send(5, {{list.mr.iova, 128, list.key()}})});
			EXPECT_EQ(ends_of(q.send_completions()), (ends{{5, SIRO_WC_LOC_PROT_ERR}}));
		}
		EXPECT_EQ(q.memory.read(0, 64), before);
	}
}

} // namespace

/* Pieces of two regions whose pages lie differently. */
TEST(regions_indirect, write_and_read__against_bytewise_model)
{
	for (uint64_t iova : {uint64_t{0}, some_iova, ~uint64_t{0} - 30000})
		for (uint32_t align = 0; align < 8; align++) {
			lone_qp q;
			region &other = add_plain(q, 30000);
			pieces all;
			std::vector<std::pair<region *, uint64_t>> model;
			uint64_t at = align;

			for (uint64_t length : {1, 7, 511, 0, 4096, 4095, 3, 8, 1}) {
				region &from = all.size() % 2 ? other : q.memory;

				all.push_back(piece_of(from, at, length));
				for (uint64_t i = 0; i < length; i++)
					model.emplace_back(&from, at + i);
				at += length / 8 * 8 + 16;
			}

			region &list = add_indirect(q.dev, all, iova);
			bytes around[2] = {q.memory.read(0, 30000), other.read(0, 30000)};

			for (uint32_t from : {0u, 1u, 7u, 518u, 519u, 5000u})
				for (uint32_t n : {1u, 2u, 600u, 3000u}) {
					bytes data = some_bytes(n, from + n);

					write_all(q, list, from, data);
					for (uint32_t i = 0; i < n; i++) {
						auto [where, offset] = model[from + i];

						ASSERT_EQ(where->at(offset), data[i]);
						around[where == &other][offset] = data[i];
					}
					ASSERT_EQ(read_all(q, list, from, n), data);
				}
			ASSERT_EQ(q.memory.read(0, 30000), around[0]);
			ASSERT_EQ(other.read(0, 30000), around[1]);
		}
}

/* SG_GAPS: 4096 odd pieces of kernel memory, backwards. */
TEST(regions_extents, odd_pieces__hold_their_bytes)
{
	lone_qp q;
	bytes memory(4096 * 13, 0x11), data = some_bytes(4096 * 5);
	pieces all;

	for (size_t i = 4096; i--;)
		all.push_back({reinterpret_cast<uintptr_t>(memory.data()) + 13 * i + 3, 5});

	region &r = add_indirect(q.dev, all, some_iova);

	r.mr.layout = SIRO_MR_EXTENTS;
	write_all(q, r, 0, data);
	EXPECT_EQ(read_all(q, r, 0, 4096 * 5), data);
	for (size_t i = 0; i < memory.size(); i++) {
		size_t entry = 4095 - i / 13, in = i % 13;
		bool inside = in >= 3 && in < 8;

		ASSERT_EQ(memory[i], inside ? data[entry * 5 + in - 3] : 0x11) << i;
	}
}

TEST(regions_indirect, bounds__to_the_byte)
{
	for (uint64_t iova : {uint64_t{4096}, some_iova, ~uint64_t{0} - 100}) {
		lone_qp q;
		region &r = add_indirect(
			q.dev, {piece_of(q.memory, 5, 60), piece_of(q.memory, 99, 40)}, iova);

		EXPECT_TRUE(finds(q, r, iova, 100));
		EXPECT_TRUE(finds(q, r, iova + 99, 1));
		EXPECT_TRUE(finds(q, r, iova + 100, 0));
		EXPECT_FALSE(finds(q, r, iova, 101));
		EXPECT_FALSE(finds(q, r, iova + 99, 2));
		EXPECT_FALSE(finds(q, r, iova + 100, 1));
		EXPECT_FALSE(finds(q, r, iova - 1, 1));
		EXPECT_FALSE(finds(q, r, iova - 1, 2));
		EXPECT_FALSE(finds(q, r, iova + 1, ~uint64_t{0}));
		EXPECT_FALSE(finds(q, r, iova + 50, ~uint64_t{0} - 20));
	}
}

/* A packet that does not fit places nothing. */
TEST(regions_indirect, one_byte_too_many__places_none)
{
	for (uint64_t offset : {uint64_t{1}, ~uint64_t{0}}) {
		lone_qp q;
		region &below = add_plain(q, 200);
		region &r = add_indirect(q.dev, {piece_of(below, 0, 50), piece_of(below, 100, 50)},
					 some_iova);

		EXPECT_EQ(refusal_of(q, write_of(r, offset, bytes(100, 0xee))), NAK_REMOTE_ACCESS);
		EXPECT_EQ(below.read(0, 200), bytes(200, 0x11));
	}
}

TEST(regions_indirect, length_shorter_than_the_list__hides_the_rest)
{
	lone_qp q;
	region &r = add_indirect(q.dev, {piece_of(q.memory, 0, 100)}, some_iova);

	r.mr.length = 60;
	EXPECT_TRUE(finds(q, r, some_iova, 60));
	EXPECT_FALSE(finds(q, r, some_iova, 61));
	EXPECT_FALSE(finds(q, r, some_iova + 60, 1));
}

/* What the list grants and what lies below it, all combinations. */
TEST(regions_indirect, rights__of_the_list_and_of_what_is_below)
{
	for (uint32_t access = 0; access < 16; access++)
		for (uint32_t below_access = 0; below_access < 16; below_access++)
			for (int op = 0; op < 3; op++) {
				lone_qp q;
				region &below = add_plain(q, 64, below_access);
				/* As aligned as the memory is. */
				region &r = add_indirect(q.dev, {piece_of(below, 0, 24)},
							 0x1000 + 0x123 % 8, access);
				bool change = below_access & SIRO_ACCESS_LOCAL_WRITE;
				bool good;
				uint8_t got;

				if (op == 0) {
					good = (access & SIRO_ACCESS_REMOTE_WRITE) && change;
					got = refusal_of(q, write_of(r, 0, bytes(16, 0xee)));
				} else if (op == 1) {
					good = access & SIRO_ACCESS_REMOTE_READ;
					got = refusal_of(q, read_of(r, 0, 16));
				} else {
					good = (access & SIRO_ACCESS_REMOTE_ATOMIC) && change;
					got = refusal_of(q, add_to(r, 8 - r.mr.iova % 8));
				}
				ASSERT_EQ(got, good ? 0 : NAK_REMOTE_ACCESS)
					<< op << ": " << access << ", " << below_access;
				if (!good) {
					ASSERT_EQ(below.read(0, 64), bytes(64, 0x11));
				}
			}
}

/* Local use. */
TEST(regions_indirect, local_write__needs_the_right_on_both)
{
	for (uint32_t access : {0u, uint32_t{SIRO_ACCESS_LOCAL_WRITE}})
		for (uint32_t below_access : {0u, uint32_t{SIRO_ACCESS_LOCAL_WRITE}}) {
			lone_qp q;
			region &below = add_plain(q, 64, below_access);
			region &r =
				add_indirect(q.dev, {piece_of(below, 3, 40)}, some_iova, access);
			siro_sge sge = {some_iova, 40, r.key()};
			sirocco::SgeList list(&sge, 1);
			bytes data(40, 0xee);

			in_call(q, [&](auto &regions) {
				EXPECT_EQ(list.scatter(regions, 0, data.data(), 40),
					  access && below_access);
				EXPECT_TRUE(list.gather(regions, 0, data.data(), 40));
			});
			EXPECT_EQ(below.at(3), access && below_access ? 0xee : 0x11);
		}
}

TEST(regions_indirect, below_invalid__is_an_access_error)
{
	expect_unreachable([](auto &, region &below) { below.invalidate(); });
}

TEST(regions_indirect, below_gone__is_an_access_error)
{
	expect_unreachable([](auto &q, region &below) { q.dev.remove_region(below); });
}

TEST(regions_indirect, below_registered_anew_under_the_next_key__is_an_access_error)
{
	expect_unreachable(
		[](auto &, region &below) { below.mr.key = device::next_key(below.mr.key); });
}

TEST(regions_indirect, below_of_another_domain__is_an_access_error)
{
	expect_unreachable([](auto &, region &below) { below.mr.pd = 2; });
}

TEST(regions_indirect, entry_beyond_the_region_below__is_an_access_error)
{
	expect_unreachable([](auto &, region &below) { below.mr.iova += 100; });
	expect_unreachable([](auto &, region &below) { below.mr.length = 7; });
}

TEST(regions_indirect, list_of_another_domain__is_an_access_error)
{
	lone_qp q;
	region &r = add_indirect(q.dev, {piece_of(q.memory, 0, 100)}, some_iova, all_rights, 2);

	EXPECT_FALSE(finds(q, r, some_iova, 1));
	EXPECT_EQ(refusal_of(q, read_of(r, 0, 1)), NAK_REMOTE_ACCESS);
}

TEST(regions_indirect, list_in_a_list__is_an_access_error)
{
	lone_qp q;
	region &inner = add_indirect(q.dev, {piece_of(q.memory, 0, 100)}, some_iova);
	region &outer = add_indirect(q.dev, {piece_of(q.memory, 0, 50), piece_of(inner, 0, 50)}, 0);

	EXPECT_TRUE(reaches(q, inner, 0, 100));
	EXPECT_TRUE(reaches(q, outer, 0, 50));
	EXPECT_FALSE(reaches(q, outer, 0, 51));
	EXPECT_FALSE(reaches(q, outer, 50, 1, true));
	EXPECT_EQ(refusal_of(q, read_of(outer, 49, 2)), NAK_REMOTE_ACCESS);
}

TEST(regions_indirect, list_that_names_itself__is_an_access_error)
{
	lone_qp q;
	region &r = add_indirect(q.dev, {piece_of(q.memory, 0, 50)}, 0);

	r.live[0].lkey = r.key();
	r.live[0].address = 0;
	EXPECT_FALSE(reaches(q, r, 0, 50));
}

/* Pieces of kernel memory are a direct region. */
TEST(regions_indirect, list_of_extents__is_reached)
{
	lone_qp q;
	bytes memory = some_bytes(100);
	region &gaps = add_indirect(q.dev,
				    {{reinterpret_cast<uintptr_t>(memory.data()) + 60, 40},
				     {reinterpret_cast<uintptr_t>(memory.data()), 60}},
				    0x77);

	gaps.mr.layout = SIRO_MR_EXTENTS;

	region &r = add_indirect(q.dev, {piece_of(gaps, 30, 70), piece_of(gaps, 0, 30)}, some_iova);

	bytes want = memory;

	std::rotate(want.begin(), want.begin() + 90, want.end());
	EXPECT_EQ(read_all(q, r, 0, 100), want);
}

TEST(regions_indirect, atomic_in_one_aligned_entry__is_done)
{
	lone_qp q;
	region &below = add_plain(q, 64);
	uint64_t align = 8 - 0x123 % 8;
	region &r = add_indirect(q.dev, {piece_of(below, 0, 1), piece_of(below, align, 16)},
				 0x1000 - 1);
	uint64_t word = 40;

	memcpy(&below.at(align + 8), &word, 8);
	EXPECT_EQ(refusal_of(q, add_to(r, 9, 2)), 0);
	memcpy(&word, &below.at(align + 8), 8);
	EXPECT_EQ(word, 42u);
}

TEST(regions_indirect, atomic_across_entries_or_misaligned__is_an_invalid_request)
{
	struct {
		uint64_t first; /* length of the entry before it */
		uint64_t place, offset;
	} const cases[] = {
		{4, 0, 0}, /* half here, half there */
		{8, 1, 8}, /* aligned address, misaligned memory */
		{4, 0, 4}, /* aligned memory, misaligned address */
	};
	uint64_t align = 8 - 0x123 % 8;

	for (auto &c : cases) {
		lone_qp q;
		region &below = add_plain(q, 128);
		region &r = add_indirect(q.dev,
					 {piece_of(below, align, c.first),
					  piece_of(below, align + 64 + c.place, 24)},
					 0x1000);

		EXPECT_EQ(refusal_of(q, add_to(r, c.offset)), NAK_INVALID_REQUEST);
		EXPECT_EQ(below.read(0, 128), bytes(128, 0x11));
	}
}

/* More keys in one packet than are pinned at once. */
TEST(regions_indirect, many_keys_in_a_packet__are_all_given_back)
{
	lone_qp q;
	std::vector<region *> below;
	pieces all;
	bytes data = some_bytes(240, 9);

	for (int i = 0; i < 12; i++) {
		below.push_back(&add_plain(q, 30));
		all.push_back(piece_of(*below.back(), 5, 20));
	}

	region &r = add_indirect(q.dev, all, some_iova);

	EXPECT_EQ(refusal_of(q, write_of(r, 0, data)), 0);
	for (size_t i = 0; i < 12; i++) {
		EXPECT_EQ(below[i]->read(5, 20),
			  bytes(data.begin() + 20 * static_cast<long>(i),
				data.begin() + 20 * static_cast<long>(i + 1)));
		EXPECT_EQ(below[i]->mr.users, 0u);
	}
	EXPECT_EQ(r.mr.users, 0u);
}

/* A cursor survives neither another list nor a jump. */
TEST(regions_indirect, list_replaced_between_packets__is_used_at_once)
{
	lone_qp q;
	region &below = add_plain(q, 512);
	region &r = add_indirect(
		q.dev, {piece_of(below, 0, 8), piece_of(below, 16, 8), piece_of(below, 32, 256)},
		some_iova);
	bytes first(lone_qp::mtu, 0xaa), last(16, 0xbb);

	q.hand(rdma(lone_qp::psn(0), WRITE_FIRST, some_iova, r.key(), lone_qp::mtu + 16, first));

	piece_list next(pieces{piece_of(below, 400, 100), piece_of(below, 32, 172)});

	r.mr.extents = next.list;
	q.hand(request(lone_qp::psn(1), WRITE_LAST, last, true));
	EXPECT_EQ(opcodes_of(q.take_sent()), std::vector<unsigned>{ACKNOWLEDGE});
	EXPECT_EQ(below.read(32 + 156, 16), last);
	EXPECT_EQ(below.read(32 + 240, 16), bytes(16, 0x11));
}
