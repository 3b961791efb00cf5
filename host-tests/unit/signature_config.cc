// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which attributes are accepted, and what follows from them. */
#include "signature_region.h"

#include <gtest/gtest.h>

using sirocco::holds_wire_range;

namespace {

constexpr int einval = -22;

signature_attributes attributes(uint16_t memory, uint16_t wire, uint64_t data_length,
				uint32_t interval = 512)
{
	signature_attributes a;

	a.memory = signature_domain(memory, interval);
	a.wire = signature_domain(wire, interval);
	a.data_length = data_length;
	return a;
}

int prepared(const signature_attributes &a)
{
	return signature_region(a).prepared;
}

/* A list of @length bytes that is never touched. */
class plain_list {
public:
	plain_list(siro_extents &list, uint64_t length)
	{
		list.extents = &extent_;
		list.capacity = 1;
		siro_extents_reset(&list, 0);
		EXPECT_EQ(siro_extents_add(&list, 0x1000, length, 0, 0), 0);
		EXPECT_EQ(siro_extents_finish(&list, 1), 0);
	}

private:
	siro_extent extent_;
};

int prepared(const signature_attributes &a, uint64_t mapped, uint64_t metadata)
{
	siro_signature sig = {};
	plain_list data(sig.data, mapped);

	sig.memory = a.memory;
	sig.wire = a.wire;
	if (!metadata)
		return siro_signature_prepare(&sig);

	plain_list fields(sig.metadata, metadata);

	return siro_signature_prepare(&sig);
}

} // namespace

/* T9: the last byte, and one beyond */
TEST(signature_bounds, each_layout__is_that_of_the_wire)
{
	constexpr uint16_t none = SIRO_SIG_NONE, dif = SIRO_SIG_T10_CRC;
	static const struct {
		const char *name;
		uint16_t memory, wire;
		bool metadata;
		uint64_t wire_length;
	} rows[] = {
		{"pass", dif, dif, true, 4160},
		{"only in memory", dif, none, true, 4096},
		{"only on the wire, metadata present", none, dif, true, 4160},
		{"only on the wire", none, dif, false, 4160},
		{"interleaved", dif, dif, false, 4160},
		{"nowhere", none, none, false, 4096},
	};

	for (auto &row : rows) {
		bool interleaved = row.memory && !row.metadata;
		siro_signature sig = {};
		plain_list data(sig.data, interleaved ? 4160 : 4096);
		siro_extents fields = {};
		plain_list metadata(fields, 64);

		if (row.metadata)
			sig.metadata = fields;
		sig.memory = signature_domain(row.memory);
		sig.wire = signature_domain(row.wire);
		ASSERT_EQ(siro_signature_prepare(&sig), 0) << row.name;
		EXPECT_EQ(sig.wire_length, row.wire_length) << row.name;
		EXPECT_EQ(sig.data_length, 4096u) << row.name;
		EXPECT_TRUE(holds_wire_range(sig, row.wire_length - 1, 1)) << row.name;
		EXPECT_TRUE(holds_wire_range(sig, 0, row.wire_length)) << row.name;
		EXPECT_FALSE(holds_wire_range(sig, row.wire_length, 1)) << row.name;
		EXPECT_FALSE(holds_wire_range(sig, 1, row.wire_length)) << row.name;
		EXPECT_FALSE(holds_wire_range(sig, ~0ull, 1)) << row.name;
		EXPECT_FALSE(holds_wire_range(sig, 1, ~0ull)) << row.name;
	}
}

/* Metadata of a side that has no fields is not touched. */
TEST(signature_bounds, metadata_without_fields_in_memory__stays_as_it_is)
{
	signature_attributes a = attributes(SIRO_SIG_NONE, SIRO_SIG_T10_CRC, 1024);
	signature_region r(a), other(attributes(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC, 1024));
	signature_model::content c = signature_model::make_content(a.wire, signature_noise(1024));

	r.sig.metadata = other.sig.metadata;
	ASSERT_EQ(siro_signature_prepare(&r.sig), 0);
	ASSERT_EQ(r.place(0, signature_model::join(a.wire, c)), sirocco::SignatureStatus::done);
	EXPECT_EQ(r.read().data, c.data);
	EXPECT_EQ(other.read().fields, host::bytes(16));
	EXPECT_EQ(r.produce(0, 1040), signature_model::join(a.wire, c));
	EXPECT_EQ(other.read().fields, host::bytes(16));
}

/* T10 */
TEST(signature_prepare, data_that_is_no_multiple__is_refused)
{
	auto none = SIRO_SIG_NONE, dif = SIRO_SIG_T10_CRC;

	EXPECT_EQ(prepared(attributes(none, dif, 0), 1024, 0), 0);
	EXPECT_EQ(prepared(attributes(none, dif, 0), 1023, 0), einval);
	EXPECT_EQ(prepared(attributes(none, dif, 0), 520, 0), einval);
	EXPECT_EQ(prepared(attributes(none, dif, 0), 8, 0), einval);
	EXPECT_EQ(prepared(attributes(dif, none, 0), 1024, 16), 0);
	EXPECT_EQ(prepared(attributes(dif, none, 0), 1025, 24), einval);
	EXPECT_EQ(prepared(attributes(dif, none, 0), 1040, 0), 0);
	EXPECT_EQ(prepared(attributes(dif, none, 0), 1024, 0), einval);
	EXPECT_EQ(prepared(attributes(dif, none, 0), 1039, 0), einval);
	EXPECT_EQ(prepared(attributes(none, none, 0), 1023, 0), 0);
}

/* T10: each side has its own blocks */
TEST(signature_prepare, data_that_only_one_side_divides__is_refused)
{
	signature_attributes a = attributes(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC, 0);

	a.wire.interval = 1024;
	EXPECT_EQ(prepared(a, 2048, 32), 0);
	EXPECT_EQ(prepared(a, 1536, 24), einval);
	a.memory.interval = 4096;
	EXPECT_EQ(prepared(a, 4096, 8), 0);
	EXPECT_EQ(prepared(a, 5120, 16), einval);
}

TEST(signature_prepare, too_few_fields__are_refused)
{
	signature_attributes a = attributes(SIRO_SIG_T10_CRC, SIRO_SIG_NONE, 0);

	EXPECT_EQ(prepared(a, 4096, 64), 0);
	EXPECT_EQ(prepared(a, 4096, 72), 0);
	EXPECT_EQ(prepared(a, 4096, 63), einval);
	a.memory.format = SIRO_SIG_CRC32;
	EXPECT_EQ(prepared(a, 4096, 32), 0);
	EXPECT_EQ(prepared(a, 4096, 31), einval);
}

TEST(signature_prepare, intervals__are_multiples_of_8_that_fit_16_bits)
{
	for (uint32_t good : {8u, 16u, 512u, 520u, 4048u, 4096u, 4104u, 4160u, 65528u}) {
		EXPECT_EQ(prepared(attributes(SIRO_SIG_NONE, SIRO_SIG_T10_CRC, good, good)), 0);
		EXPECT_EQ(prepared(attributes(SIRO_SIG_CRC64, SIRO_SIG_NONE, good, good)), 0);
	}
	for (uint32_t bad : {0u, 4u, 12u, 511u, 65536u, 1u << 30, ~7u}) {
		signature_attributes a = attributes(SIRO_SIG_NONE, SIRO_SIG_T10_CRC, 0, bad);

		EXPECT_EQ(prepared(a, bad ? bad : 8, 0), einval) << bad;
		std::swap(a.memory, a.wire);
		EXPECT_EQ(prepared(a, bad ? bad : 8, 8), einval) << bad;
		a.memory.format = SIRO_SIG_NONE;
		EXPECT_EQ(prepared(a, bad ? bad : 8, 0), 0) << bad;
	}
}

TEST(signature_prepare, formats_and_seeds__are_known_and_fit)
{
	signature_attributes a = attributes(SIRO_SIG_NONE, SIRO_SIG_CRC64 + 1, 512);

	EXPECT_EQ(prepared(a, 512, 0), einval);
	a.wire.format = SIRO_SIG_T10_CSUM;
	a.wire.seed = 0xffff;
	EXPECT_EQ(prepared(a), 0);
	a.wire.seed = 0x10000;
	EXPECT_EQ(prepared(a), einval);
	a.wire.format = SIRO_SIG_CRC32C;
	EXPECT_EQ(prepared(a), 0);
	a.wire.seed = 0x100000000;
	EXPECT_EQ(prepared(a), einval);
	a.wire.format = SIRO_SIG_CRC64;
	EXPECT_EQ(prepared(a), 0);
}

TEST(signature_prepare, user_rules__are_stricter)
{
	signature_attributes a = attributes(SIRO_SIG_NONE, SIRO_SIG_NONE, 512);

	EXPECT_EQ(prepared(a), 0);
	a.flags = SIRO_SIG_USER;
	EXPECT_EQ(prepared(a), einval);
	a.wire.format = SIRO_SIG_T10_CRC;
	EXPECT_EQ(prepared(a), 0);
	a.wire.seed = 0xffff;
	EXPECT_EQ(prepared(a), 0);
	a.wire.seed = 0x1234;
	EXPECT_EQ(prepared(a), einval);
	a.flags = 0;
	EXPECT_EQ(prepared(a), 0);
	a.flags = SIRO_SIG_USER;
	a.wire.format = SIRO_SIG_CRC32;
	a.wire.seed = 0xffff;
	EXPECT_EQ(prepared(a), einval);
	a.wire.seed = 0xffffffff;
	EXPECT_EQ(prepared(a), 0);
}

/* T6 */
TEST(signature_prepare, copy_mask__follows_from_equal_parameters)
{
	signature_attributes a = attributes(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC, 512);
	auto mask = [&a] {
		signature_region r(a);

		EXPECT_EQ(r.prepared, 0);
		return r.sig.copy_mask;
	};

	EXPECT_EQ(mask(), 0xff);
	a.wire.format = SIRO_SIG_T10_CSUM;
	EXPECT_EQ(mask(), 0x3f);
	a.wire.app_tag = 1;
	EXPECT_EQ(mask(), 0x0f);
	a.wire.ref_tag = 1;
	EXPECT_EQ(mask(), 0x00);
	a.wire.format = SIRO_SIG_T10_CRC;
	a.wire.seed = 0xffff;
	EXPECT_EQ(mask(), 0xc0);
	a.flags = SIRO_SIG_USER;
	EXPECT_EQ(mask(), 0x00);
	a.wire = a.memory;
	EXPECT_EQ(mask(), 0xff);
	a.wire.interval = 8;
	EXPECT_EQ(mask(), 0x00);
	a.wire.interval = 512;
	a.wire.format = SIRO_SIG_CRC64;
	EXPECT_EQ(mask(), 0x00);
	a.memory.format = SIRO_SIG_CRC64;
	EXPECT_EQ(mask(), 0xff);
	a.memory.format = a.wire.format = SIRO_SIG_CRC32C;
	EXPECT_EQ(mask(), 0xf0);
	a.memory.format = SIRO_SIG_CRC32;
	EXPECT_EQ(mask(), 0x00);
	a.wire.format = SIRO_SIG_NONE;
	EXPECT_EQ(mask(), 0x00);
}

/* T6 */
TEST(signature_prepare, copy_mask_between_different_structures__is_refused)
{
	signature_attributes a = attributes(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CSUM, 1024);

	a.flags = SIRO_SIG_COPY_MASK;
	a.copy_mask = 0xf3;
	EXPECT_EQ(prepared(a), 0);
	EXPECT_EQ(signature_region(a).sig.copy_mask, 0xf3);
	a.wire.interval = 1024;
	EXPECT_EQ(prepared(a), einval);
	a.wire.interval = 512;
	a.wire.format = SIRO_SIG_CRC64;
	EXPECT_EQ(prepared(a), einval);
	a.wire.format = SIRO_SIG_NONE;
	EXPECT_EQ(prepared(a), einval);
	a.memory.format = SIRO_SIG_CRC32;
	a.wire.format = SIRO_SIG_CRC32C;
	EXPECT_EQ(prepared(a), 0);
}

TEST(signature_prepare, poison_between_different_structures__is_refused)
{
	signature_attributes a = attributes(SIRO_SIG_T10_CSUM, SIRO_SIG_T10_CRC, 1024);

	a.flags = SIRO_SIG_POISON;
	EXPECT_EQ(prepared(a), 0);
	a.wire.interval = 1024;
	EXPECT_EQ(prepared(a), einval);
	a.wire.format = SIRO_SIG_NONE;
	EXPECT_EQ(prepared(a), 0);
}
