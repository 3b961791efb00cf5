// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fields on both sides: what is copied, what is made anew. */
#include "signature_region.h"

#include <gtest/gtest.h>

using host::bytes;
using namespace signature_model;

namespace {

signature_attributes both(uint16_t memory, uint16_t wire)
{
	signature_attributes a;

	a.memory = signature_domain(memory);
	a.wire = signature_domain(wire);
	a.memory.app_tag = a.wire.app_tag = 0x1111;
	a.memory.ref_tag = a.wire.ref_tag = 0x2222;
	a.memory.flags = a.wire.flags = SIRO_SIG_REF_REMAP;
	a.data_length = 1024;
	return a;
}

/* Fields on the wire for @input in memory. */
bytes sent(const signature_attributes &a, const content &input)
{
	signature_region r(a);

	EXPECT_EQ(r.prepared, 0);
	r.write(input);
	return part(a.wire, r.produce(0, static_cast<uint32_t>(r.sig.wire_length))).fields;
}

bytes received(const signature_attributes &a, const content &input)
{
	signature_region r(a);

	EXPECT_EQ(r.prepared, 0);
	EXPECT_EQ(r.place(0, join(a.wire, input)), sirocco::SignatureStatus::done);
	return r.read().fields;
}

content in_memory(const signature_attributes &a)
{
	return make_content(a.memory, signature_noise(a.data_length));
}

} // namespace

/* T6: the tuples of two blocks of ones */
TEST(signature_pass, tuples_of_known_data__are_known)
{
	signature_attributes a = both(SIRO_SIG_NONE, SIRO_SIG_T10_CRC);

	a.wire.app_tag = 0;
	a.wire.ref_tag = 0x10;
	EXPECT_EQ(sent(a, {bytes(1024, 0xff), {}}),
		  (bytes{0xe6, 0xa1, 0, 0, 0, 0, 0, 0x10, 0xe6, 0xa1, 0, 0, 0, 0, 0, 0x11}));
}

/* T6: the peer sees a corrupt guard too */
TEST(signature_pass, same_guards__travel_even_if_wrong)
{
	signature_attributes a = both(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC);
	content c = in_memory(a);

	for (uint8_t &byte : c.fields)
		byte ^= 0x5a;
	EXPECT_EQ(sent(a, c), c.fields);
	EXPECT_EQ(received(a, c), c.fields);
}

/* T6 */
TEST(signature_pass, checksum_to_crc_and_back__is_the_same)
{
	signature_attributes a = both(SIRO_SIG_T10_CSUM, SIRO_SIG_T10_CRC);
	content memory = in_memory(a), wire = make_content(a.wire, memory.data);

	EXPECT_NE(memory.fields, wire.fields);
	EXPECT_EQ(sent(a, memory), wire.fields);
	EXPECT_EQ(received(a, wire), memory.fields);
}

/* T6: a conversion hides corruption from the peer, unless it is told not to */
TEST(signature_pass, conversion_of_bad_guard__is_good_or_poisoned)
{
	signature_attributes a = both(SIRO_SIG_T10_CSUM, SIRO_SIG_T10_CRC);
	content c = in_memory(a);
	bytes good = sent(a, c);

	c.fields[8] ^= 0x40;
	EXPECT_EQ(sent(a, c), good);
	a.flags = SIRO_SIG_POISON;
	good[8] ^= 0x40;
	EXPECT_EQ(sent(a, c), good);
	a.check_mask = 0x3f;
	good[8] ^= 0x40;
	EXPECT_EQ(sent(a, c), good);
}

/* T6 */
TEST(signature_pass, different_tags__are_remapped)
{
	signature_attributes a = both(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC);
	content c = in_memory(a);

	a.wire.ref_tag = 0xffffffff;
	a.wire.app_tag = 0xabcd;

	bytes fields = sent(a, c);

	EXPECT_EQ(bytes(&fields[0], &fields[8]),
		  (bytes{c.fields[0], c.fields[1], 0xab, 0xcd, 0xff, 0xff, 0xff, 0xff}));
	EXPECT_EQ(bytes(&fields[8], &fields[8] + 8),
		  (bytes{c.fields[8], c.fields[9], 0xab, 0xcd, 0, 0, 0, 0}));
}

/* T6 */
TEST(signature_pass, copy_mask__is_by_bytes)
{
	signature_attributes a = both(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC);

	a.wire.app_tag = 0x7777;
	a.wire.ref_tag = 0x88888888;
	a.wire.seed = 0xffff;
	a.flags = SIRO_SIG_COPY_MASK;
	a.check_mask = 0;

	content c = in_memory(a);
	bytes made = make_content(a.wire, c.data).fields;

	c.fields = signature_noise(16, 99);
	for (int mask = 0; mask < 256; mask++) {
		bytes want = made;

		for (size_t i = 0; i < 16; i++)
			if (mask >> (7 - i % 8) & 1)
				want[i] = c.fields[i];
		a.copy_mask = static_cast<uint8_t>(mask);
		EXPECT_EQ(sent(a, c), want) << mask;
	}
}

/* T6: an escaped block keeps what is copied, its guard follows the format */
TEST(signature_pass, escaped_block__has_its_guard_made_anew_if_formats_differ)
{
	signature_attributes a = both(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC);

	a.memory.flags |= SIRO_SIG_APP_ESCAPE;

	content c = in_memory(a);

	c.fields[0] ^= 1;
	c.fields[2] = c.fields[3] = 0xff;
	EXPECT_EQ(sent(a, c), c.fields);

	a.wire.format = SIRO_SIG_T10_CSUM;
	a.flags = SIRO_SIG_POISON;

	bytes want = make_content(a.wire, c.data).fields;

	want[2] = want[3] = 0xff;
	EXPECT_EQ(sent(a, c), want);
}

/* Nothing is copied between blocks of different sizes. */
TEST(signature_pass, different_intervals__are_made_anew)
{
	signature_attributes a = both(SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC);

	a.wire.interval = 256;

	content c = in_memory(a), want = make_content(a.wire, c.data);

	c.fields[0] ^= 1;
	EXPECT_EQ(sent(a, c), want.fields);
	want.fields[0] ^= 1;
	c = in_memory(a);
	EXPECT_EQ(received(a, want), c.fields);
}
