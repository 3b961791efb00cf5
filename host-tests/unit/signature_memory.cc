// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signature regions whose lists name other regions, as those of user space do. */
#include "lone_qp.h"
#include "pieces.h"
#include "signature_region.h"

#include <algorithm>

using namespace host;
using sirocco::SignatureStatus;
using namespace signature_model;

namespace {

constexpr uint32_t blocks = 4, interval = 512;

/* Blocks in one region and tuples in another, interleaved by rows; or in lists of their own. */
class signature_keyed : public testing::Test {
protected:
	signature_keyed()
		: data(q.dev.add_region(sized(4096))), tuples(q.dev.add_region(sized(4096)))
	{
		sig.memory = sig.wire = signature_domain(SIRO_SIG_T10_CRC, interval);
		sig.check_mask = 0xff;
		sig.key = signature_region::key;
	}

	static region::options sized(uint64_t length)
	{
		region::options o;

		o.length = length;
		o.iova = 0x70000123;
		o.first_offset = 0x123;
		return o;
	}

	void interleave()
	{
		rows = std::make_unique<piece_list>(
			pieces{piece_of(data, 5, interval, 100), piece_of(tuples, 3, 8, 1)},
			blocks);
		sig.data = rows->list;
		ASSERT_EQ(siro_signature_prepare(&sig), 0);
	}

	void separate()
	{
		rows = std::make_unique<piece_list>(pieces{
			piece_of(data, 7, 1000), piece_of(data, 2000, blocks * interval - 1000)});
		fields = std::make_unique<piece_list>(
			pieces{piece_of(tuples, 1, 13), piece_of(tuples, 100, 19)});
		sig.data = rows->list;
		sig.metadata = fields->list;
		ASSERT_EQ(siro_signature_prepare(&sig), 0);
	}

	template <typename Use>
	auto with_memory(Use use)
	{
		using result = decltype(use(std::declval<sirocco::SignatureMemory &>()));
		result out{};

		q.call_as(true, [&](siro_context *ctx) {
			sirocco::Regions below(ctx->port, q.opt.pd);
			sirocco::SignatureMemory memory(sig, below);

			out = use(memory);
		});
		return out;
	}

	SignatureStatus place(const bytes &wire)
	{
		return with_memory([&](auto &memory) {
			return sirocco::SignatureReceiver(sig, memory)
				.place(0, wire.data(), static_cast<uint32_t>(wire.size()));
		});
	}

	SignatureStatus produce(bytes &wire)
	{
		return with_memory([&](auto &memory) {
			siro_sig_cursor cursor = {};

			wire.resize(sig.wire_length);
			return sirocco::SignatureSender(sig, memory, cursor)
				.produce(0, wire.data(), static_cast<uint32_t>(wire.size()));
		});
	}

	bool reaches(uint64_t from, uint64_t length, bool write)
	{
		return with_memory(
			[&](auto &memory) { return memory.is_reachable(from, length, write); });
	}

	bytes good_wire()
	{
		return join(sig.wire, make_content(sig.wire, signature_noise(sig.data_length)));
	}

	lone_qp q;
	region &data, &tuples;
	std::unique_ptr<piece_list> rows, fields;
	siro_signature sig = {};
};

} // namespace

TEST_F(signature_keyed, rows__hold_blocks_and_tuples_apart)
{
	interleave();

	bytes wire = good_wire(), back;

	ASSERT_EQ(place(wire), SignatureStatus::done);
	expect_no_error(sig);
	for (uint32_t i = 0; i < blocks; i++) {
		auto at = wire.begin() + i * 520;

		EXPECT_EQ(data.read(5 + i * 612, 512), bytes(at, at + 512));
		EXPECT_EQ(tuples.read(3 + i * 9, 8), bytes(at + 512, at + 520));
	}
	ASSERT_EQ(produce(back), SignatureStatus::done);
	EXPECT_EQ(back, wire);
}

TEST_F(signature_keyed, lists__are_filled_in_order)
{
	separate();

	bytes wire = good_wire(), back;
	content c = part(sig.wire, wire);

	ASSERT_EQ(place(wire), SignatureStatus::done);
	expect_no_error(sig);
	EXPECT_EQ(data.read(7, 1000), bytes(c.data.begin(), c.data.begin() + 1000));
	EXPECT_EQ(tuples.read(1, 13), bytes(c.fields.begin(), c.fields.begin() + 13));
	EXPECT_EQ(tuples.read(100, 19), bytes(c.fields.begin() + 13, c.fields.end()));
	ASSERT_EQ(produce(back), SignatureStatus::done);
	EXPECT_EQ(back, wire);
}

/* The fields of the blocks that are touched, and of no others */
TEST_F(signature_keyed, key_that_is_no_good__is_told_before_and_fails)
{
	separate();

	bytes wire = good_wire(), back;

	tuples.mr.access = 0;
	EXPECT_TRUE(reaches(0, 2048, false));
	EXPECT_FALSE(reaches(0, 1, true));
	EXPECT_EQ(place(wire), SignatureStatus::bad_memory);
	EXPECT_EQ(produce(back), SignatureStatus::done);
	tuples.mr.pd++;
	EXPECT_FALSE(reaches(0, 1, false));
	EXPECT_EQ(produce(back), SignatureStatus::bad_memory);
	tuples.mr.pd--;
	data.mr.layout = SIRO_MR_SIGNATURE;
	EXPECT_FALSE(reaches(100, 1, false));
	EXPECT_TRUE(reaches(0, 0, true));
}

TEST_F(signature_keyed, entry_that_leaves_its_region__fails_only_where_it_is)
{
	separate();
	tuples.mr.length = 100 + 5; /* the tuple of block 2 ends at 11 of the second entry */
	EXPECT_TRUE(reaches(0, 1024, false));
	EXPECT_FALSE(reaches(1024, 1, false));
	EXPECT_FALSE(reaches(1000, 100, false));
}
