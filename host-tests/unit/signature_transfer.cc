// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Whole streams through a region, cut at will, against the model. */
#include "signature_region.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <tuple>

using host::bytes;
using sirocco::SignatureStatus;
using namespace signature_model;

namespace {

constexpr int rounds = 700;

template <typename T>
T one_of(std::mt19937 &random, const std::vector<T> &all)
{
	return all[random() % all.size()];
}

siro_sig_domain any_domain(std::mt19937 &random, uint32_t interval)
{
	siro_sig_domain d = signature_domain(static_cast<uint16_t>(random() % 6), interval);
	uint32_t width = field_length(d.format);
	bool t10 = d.format == SIRO_SIG_T10_CRC || d.format == SIRO_SIG_T10_CSUM;

	d.seed = one_of<uint64_t>(random, {0, ~0ull, random()});
	if (t10)
		d.seed &= 0xffff;
	else if (width == 4)
		d.seed &= 0xffffffff;
	d.app_tag = one_of<uint16_t>(random, {0, 0x1234, 0xffff});
	d.app_mask = one_of<uint16_t>(random, {0xffff, 0xffff, 0x0ff0, 0});
	d.ref_tag = one_of<uint32_t>(random, {0, 0xffffffff, 0xfffffffe, 77});
	d.flags = static_cast<uint16_t>(random() % 8);
	return d;
}

signature_attributes any_attributes(std::mt19937 &random)
{
	static const std::vector<uint32_t> intervals = {8, 8, 16, 24, 64, 512, 520};
	signature_attributes a;
	uint32_t memory = one_of(random, intervals);
	uint32_t wire = random() % 3 ? memory : one_of(random, intervals);

	a.memory = any_domain(random, memory);
	a.wire = any_domain(random, wire);
	if (random() % 2) {
		a.wire.format = a.memory.format;
		a.wire.seed = a.memory.seed;
	}
	a.data_length = std::lcm(memory, wire) * (1 + random() % 4);
	a.check_mask = one_of<uint8_t>(
		random, {0xff, 0xff, 0xf0, 0xc0, 0x30, 0x0f, 0, static_cast<uint8_t>(random())});
	a.interleaved = random() % 2;
	a.longest_piece = one_of<uint32_t>(random, {0, 1, 13, 700});
	a.copy_mask = static_cast<uint8_t>(random());
	a.flags = one_of<uint16_t>(random, {0, 0, SIRO_SIG_COPY_MASK, SIRO_SIG_POISON,
					    SIRO_SIG_COPY_MASK | SIRO_SIG_POISON});
	return a;
}

/* Attributes that are accepted. */
signature_attributes good_attributes(std::mt19937 &random)
{
	for (;;) {
		signature_attributes a = any_attributes(random);

		if (!signature_region(a).prepared)
			return a;
	}
}

/* Some blocks become bad, or look escaped. */
void corrupt(std::mt19937 &random, const siro_sig_domain &domain, content &c)
{
	uint32_t field = field_length(domain.format);

	for (size_t at = 0; field && at < c.fields.size(); at += field)
		switch (random() % 8) {
		case 0:
			c.fields[at + random() % field] ^= static_cast<uint8_t>(1 + random() % 255);
			break;
		case 1:
			c.data[at / field * domain.interval + random() % domain.interval] ^= 0x10;
			break;
		case 2:
			std::fill(&c.fields[at + 2], &c.fields[at + 4], uint8_t{0xff});
			break;
		case 3:
			std::fill(&c.fields[at], &c.fields[at] + field, uint8_t{0xff});
			break;
		}
}

content any_input(std::mt19937 &random, const signature_attributes &a,
		  const siro_sig_domain &domain)
{
	content c = make_content(domain,
				 signature_noise(a.data_length, static_cast<unsigned>(random())));

	corrupt(random, domain, c);
	return c;
}

void expect_first(siro_signature &sig, const std::map<uint64_t, siro_sig_error> &errors)
{
	if (errors.empty())
		expect_no_error(sig);
	else
		expect_error(sig, errors.begin()->second);
}

void expect_some(siro_signature &sig, const std::map<uint64_t, siro_sig_error> &errors)
{
	siro_sig_error got = {};
	bool any = siro_signature_check(&sig, signature_region::key, &got);

	EXPECT_EQ(any, !errors.empty());
	if (!any || errors.empty())
		return;
	EXPECT_TRUE(std::any_of(errors.begin(), errors.end(), [&](auto &e) {
		return e.second.offset == got.offset && e.second.type == got.type &&
		       e.second.expected == got.expected && e.second.actual == got.actual &&
		       e.second.domain == got.domain;
	})) << got.offset;
}

bytes slice(const bytes &from, uint64_t at, uint64_t length)
{
	return bytes(from.begin() + static_cast<long>(at),
		     from.begin() + static_cast<long>(at + length));
}

void expect_memory(signature_region &r, const outcome &want)
{
	content got = r.read();

	EXPECT_TRUE(got.data == want.output.data);
	if (r.sig.memory.format) {
		EXPECT_TRUE(got.fields == want.output.fields);
	}
}

/* A packet as it lies in a buffer: two pieces. */
SignatureStatus place_cut(std::mt19937 &random, signature_region &r, uint64_t at,
			  const bytes &packet)
{
	uint64_t cut = random() % 2 ? random() % packet.size() : 0;
	SignatureStatus first = cut ? r.place(at, slice(packet, 0, cut)) : SignatureStatus::done;

	if (first != SignatureStatus::done)
		return first;
	return r.place(at + cut, slice(packet, cut, packet.size() - cut));
}

struct flow {
	signature_region region;
	bytes wire;
	outcome want;
};

/* A region that is about to receive @wire. */
flow any_reception(std::mt19937 &random)
{
	signature_attributes a = good_attributes(random);
	content input = any_input(random, a, a.wire);
	flow f = {signature_region(a, static_cast<unsigned>(random())), join(a.wire, input), {}};

	f.want = transfer(f.region.sig, SIRO_SIG_ON_WIRE, input);
	EXPECT_EQ(f.region.sig.wire_length, f.wire.size());
	return f;
}

flow any_transmission(std::mt19937 &random)
{
	signature_attributes a = good_attributes(random);
	content input = any_input(random, a, a.memory);
	flow f = {signature_region(a, static_cast<unsigned>(random())), {}, {}};

	f.region.write(input);
	f.want = transfer(f.region.sig, SIRO_SIG_IN_MEMORY, input);
	f.wire = join(a.wire, f.want.output);
	EXPECT_EQ(f.region.sig.wire_length, f.wire.size());
	return f;
}

} // namespace

/* T2, T5, T6, T7 */
TEST(signature_produce, packets_in_order__against_bytewise_model)
{
	std::mt19937 random(1);

	for (int round = 0; round < rounds; round++) {
		flow f = any_transmission(random);
		uint32_t mtu = one_of<uint32_t>(random, {1, 9, 100, 1024, 4096});

		SCOPED_TRACE(round);
		for (auto [at, length] : signature_packets(f.wire.size(), mtu, random))
			ASSERT_TRUE(f.region.produce(at, length) == slice(f.wire, at, length))
				<< at;
		expect_first(f.region.sig, f.want.errors);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

/* T4: repeated and out of order, as READ repair and retransmission have it */
TEST(signature_produce, any_range_at_any_time__against_bytewise_model)
{
	std::mt19937 random(2);

	for (int round = 0; round < rounds; round++) {
		flow f = any_transmission(random);

		SCOPED_TRACE(round);
		for (int i = 0; i < 20; i++) {
			uint64_t at = random() % f.wire.size();
			uint32_t length =
				std::min<uint64_t>(f.wire.size() - at, 1 + random() % 1100);

			ASSERT_TRUE(f.region.produce(at, length) == slice(f.wire, at, length))
				<< at;
		}
		f.region.produce(0, static_cast<uint32_t>(f.wire.size()));
		expect_some(f.region.sig, f.want.errors);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

/* T2, T5, T6, T7: a transfer in order needs no room but the region's own */
TEST(signature_place, packets_in_order__against_bytewise_model)
{
	std::mt19937 random(3);

	for (int round = 0; round < rounds; round++) {
		flow f = any_reception(random);
		uint32_t mtu = one_of<uint32_t>(random, {1, 9, 100, 1024, 4096});

		SCOPED_TRACE(round);
		for (auto [at, length] : signature_packets(f.wire.size(), mtu, random)) {
			ASSERT_TRUE(f.region.has_room(at, length));
			ASSERT_EQ(place_cut(random, f.region, at, slice(f.wire, at, length)),
				  SignatureStatus::done);
		}
		expect_memory(f.region, f.want);
		expect_first(f.region.sig, f.want.errors);
		EXPECT_EQ(f.region.sig.blocks.count, 0u);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

/* T3: out-of-order placement */
TEST(signature_place, packets_in_any_order__against_bytewise_model)
{
	std::mt19937 random(4);

	for (int round = 0; round < rounds; round++) {
		flow f = any_reception(random);
		auto packets = signature_packets(f.wire.size(),
						 one_of<uint32_t>(random, {9, 100, 1024}), random);

		SCOPED_TRACE(round);
		f.region.spill(static_cast<uint32_t>(4 * packets.size()));
		std::shuffle(packets.begin(), packets.end(), random);
		for (auto [at, length] : packets)
			ASSERT_EQ(place_cut(random, f.region, at, slice(f.wire, at, length)),
				  SignatureStatus::done);
		expect_memory(f.region, f.want);
		expect_some(f.region.sig, f.want.errors);
		EXPECT_EQ(f.region.sig.blocks.count, 0u);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

/* A packet that finds no room is dropped and comes again; one that finds it is placed. */
TEST(signature_place, little_room__delays_packets)
{
	std::mt19937 random(5);
	int dropped = 0;

	for (int round = 0; round < 150; round++) {
		flow f = any_reception(random);
		auto packets = signature_packets(f.wire.size(), 100, random);

		SCOPED_TRACE(round);
		f.region.spill(random() % 3);
		std::shuffle(packets.begin(), packets.end(), random);
		for (int pass = 0; !packets.empty(); pass++) {
			std::vector<std::pair<uint64_t, uint32_t>> again;

			ASSERT_LT(pass, 1000);
			for (auto [at, length] : packets) {
				bool room = f.region.has_room(at, length);
				auto blocks = f.region.sig.blocks.count;
				content before = room ? content{} : f.region.read();
				auto status = room ? place_cut(random, f.region, at,
							       slice(f.wire, at, length))
						   : f.region.place(at, slice(f.wire, at, length));

				ASSERT_EQ(status,
					  room ? SignatureStatus::done : SignatureStatus::no_room);
				if (room)
					continue;
				again.emplace_back(at, length);
				dropped++;
				ASSERT_EQ(blocks, f.region.sig.blocks.count);
				ASSERT_TRUE(before.data == f.region.read().data);
			}
			packets = again;
			if (pass == 5)
				f.region.spill(200);
		}
		expect_memory(f.region, f.want);
		expect_some(f.region.sig, f.want.errors);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
	EXPECT_GT(dropped, 100);
}

namespace {

/* Three blocks of 8 bytes; formats of both sides. */
struct pair_of_formats {
	uint16_t memory, wire;
};

constexpr pair_of_formats format_pairs[] = {
	{SIRO_SIG_NONE, SIRO_SIG_T10_CRC},    {SIRO_SIG_T10_CRC, SIRO_SIG_NONE},
	{SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC}, {SIRO_SIG_T10_CSUM, SIRO_SIG_T10_CRC},
	{SIRO_SIG_CRC32, SIRO_SIG_NONE},      {SIRO_SIG_CRC32C, SIRO_SIG_CRC32C},
	{SIRO_SIG_T10_CRC, SIRO_SIG_CRC64},   {SIRO_SIG_CRC64, SIRO_SIG_CRC32},
};

signature_attributes three_blocks(const pair_of_formats &formats, uint32_t interval)
{
	signature_attributes a;

	a.memory = signature_domain(formats.memory, interval);
	a.wire = signature_domain(formats.wire, interval);
	a.data_length = 3 * interval;
	return a;
}

} // namespace

/* T3: every split into three packets, every order */
TEST(signature_place, every_split_of_three_blocks_in_every_order__same_output)
{
	for (auto &formats : format_pairs) {
		signature_attributes a = three_blocks(formats, 8);
		content input = make_content(a.wire, signature_noise(a.data_length));

		if (!input.fields.empty())
			input.fields[field_length(formats.wire)] ^= 1; /* of block 1 */

		bytes wire = join(a.wire, input);
		signature_region r(a);

		ASSERT_EQ(r.prepared, 0);
		r.spill(4);

		outcome want = transfer(r.sig, SIRO_SIG_ON_WIRE, input);

		for (size_t x = 1; x + 1 < wire.size(); x++)
			for (size_t y = x + 1; y < wire.size(); y++) {
				const size_t cuts[] = {0, x, y, wire.size()};
				int order[] = {0, 1, 2};

				do {
					r.write({bytes(a.data_length),
						 bytes(want.output.fields.size())});
					for (int i : order)
						ASSERT_EQ(r.place(cuts[i],
								  slice(wire, cuts[i],
									cuts[i + 1] - cuts[i])),
							  SignatureStatus::done);
					expect_memory(r, want);
					expect_first(r.sig, want.errors);
					ASSERT_FALSE(HasFailure()) << x << " " << y;
				} while (std::next_permutation(order, order + 3));
			}
	}
}

/* T3 */
TEST(signature_produce, every_split_of_three_blocks_in_every_order__same_output)
{
	for (auto &formats : format_pairs) {
		signature_attributes a = three_blocks(formats, 8);
		content input = make_content(a.memory, signature_noise(a.data_length));
		signature_region r(a);

		ASSERT_EQ(r.prepared, 0);
		r.write(input);

		bytes wire = join(a.wire, transfer(r.sig, SIRO_SIG_IN_MEMORY, input).output);

		for (size_t x = 1; x + 1 < wire.size(); x++)
			for (size_t y = x + 1; y < wire.size(); y++) {
				const size_t cuts[] = {0, x, y, wire.size()};
				int order[] = {0, 1, 2};

				do
					for (int i : order)
						ASSERT_TRUE(
							r.produce(cuts[i],
								  static_cast<uint32_t>(
									  cuts[i + 1] - cuts[i])) ==
							slice(wire, cuts[i],
							      cuts[i + 1] - cuts[i]));
				while (std::next_permutation(order, order + 3));
			}
		expect_no_error(r.sig);
	}
}

/* T4 */
TEST(signature_produce, every_offset_and_many_lengths__against_bytewise_model)
{
	for (uint32_t interval : {8u, 512u, 520u})
		for (auto &formats : format_pairs) {
			signature_attributes a = three_blocks(formats, interval);

			a.longest_piece = 300;

			content input = make_content(a.memory, signature_noise(a.data_length));
			signature_region r(a);

			r.write(input);

			bytes wire =
				join(a.wire, transfer(r.sig, SIRO_SIG_IN_MEMORY, input).output);

			for (uint64_t at = 0; at < wire.size(); at++)
				for (uint32_t length : {1u, 8u, 9u, 511u}) {
					if (at + length > wire.size())
						continue;
					r.cursor = {};
					ASSERT_TRUE(r.produce(at, length) ==
						    slice(wire, at, length))
						<< at << " " << length;
				}
			expect_no_error(r.sig);
		}
}

/* A guard covers the bytes that were sent, not what memory holds by then. */
TEST(signature_produce, memory_that_changes__does_not_spoil_what_was_sent)
{
	signature_attributes a = three_blocks({SIRO_SIG_NONE, SIRO_SIG_T10_CRC}, 512);
	bytes data = signature_noise(a.data_length);
	signature_region r(a);

	r.write({data, {}});

	bytes first = r.produce(0, 256);

	r.write({bytes(a.data_length), {}});

	bytes rest = r.produce(256, 264);
	bytes sent(data.begin(), data.begin() + 256);

	sent.resize(512);
	EXPECT_EQ(bytes(rest.end() - 8, rest.end()), field_of(a.wire, sent, 0));
}

/* A block that was only seen in part does not count for the next registration. */
TEST(signature_prepare, open_blocks__are_forgotten)
{
	signature_attributes a = three_blocks({SIRO_SIG_NONE, SIRO_SIG_T10_CRC}, 512);
	content input = make_content(a.wire, signature_noise(a.data_length));
	bytes wire = join(a.wire, input);
	signature_region r(a);

	ASSERT_EQ(r.place(0, slice(wire, 5, 100)), SignatureStatus::done);
	EXPECT_EQ(r.sig.blocks.count, 1u);
	ASSERT_EQ(siro_signature_prepare(&r.sig), 0);
	ASSERT_EQ(r.place(0, wire), SignatureStatus::done);
	expect_no_error(r.sig);
}

/* A transfer that broke off is made again under the same registration. */
TEST(signature_place, block_that_comes_again_from_its_beginning__is_judged_by_that)
{
	signature_attributes a = three_blocks({SIRO_SIG_NONE, SIRO_SIG_T10_CRC}, 512);
	bytes wire = join(a.wire, make_content(a.wire, signature_noise(a.data_length)));
	signature_region r(a);

	ASSERT_EQ(r.place(0, bytes(400, 0x55)), SignatureStatus::done);
	ASSERT_EQ(r.place(0, wire), SignatureStatus::done);
	expect_no_error(r.sig);
	EXPECT_EQ(r.sig.blocks.count, 0u);
}

/* The same in packets: bytes of the broken transfer must not count for the new one. */
TEST(signature_place, block_that_comes_again_in_pieces__is_judged_by_them)
{
	signature_attributes a = three_blocks({SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC}, 512);
	content good = make_content(a.wire, signature_noise(a.data_length));
	bytes wire = join(a.wire, good);

	for (uint32_t cut : {256u, 300u, 100u, 511u}) {
		signature_region r(a);

		ASSERT_EQ(r.place(0, slice(wire, 0, 256)), SignatureStatus::done);
		ASSERT_EQ(r.place(0, slice(wire, 0, cut)), SignatureStatus::done);
		ASSERT_EQ(r.place(cut, slice(wire, cut, wire.size() - cut)), SignatureStatus::done);
		expect_no_error(r.sig);
		EXPECT_EQ(r.sig.blocks.count, 0u);
		EXPECT_EQ(r.read().fields, good.fields);
	}
}

/* What is known of a block's beginning is of blocks that are no more. */
TEST(signature_produce, configured_anew_within_a_message__reads_the_beginning_again)
{
	signature_attributes a;

	a.wire = signature_domain(SIRO_SIG_CRC64, 4096);
	a.data_length = 8192;

	for (uint32_t interval : {16u, 64u, 4096u}) {
		signature_region r(a);
		bytes before = r.produce(0, 4000);

		r.sig.wire = signature_domain(SIRO_SIG_CRC32C, interval);
		ASSERT_EQ(siro_signature_prepare(&r.sig), 0);

		bytes rest = r.produce(4000, 200);

		r.cursor = {};
		EXPECT_EQ(rest, r.produce(4000, 200)) << interval;
	}
}

/* A peer that writes parts of a block twice gets a wrong verdict, and nothing worse. */
TEST(signature_place, bytes_that_come_twice__stay_within_the_open_blocks)
{
	std::mt19937 random(6);

	for (int round = 0; round < rounds; round++) {
		flow f = any_reception(random);

		f.region.spill(random() % 3);
		for (int i = 0; i < 60; i++) {
			uint64_t at = random() % f.wire.size();
			uint64_t length =
				std::min<uint64_t>(f.wire.size() - at, 1 + random() % 1100);

			std::ignore = f.region.place(at, slice(f.wire, at, length));
			ASSERT_LE(f.region.sig.blocks.count,
				  SIRO_SIG_OWN_BLOCKS + f.region.sig.blocks.spill_count);
		}
		siro_signature_prepare(&f.region.sig);
		ASSERT_EQ(f.region.place(0, f.wire), SignatureStatus::done);
		expect_memory(f.region, f.want);
	}
}
