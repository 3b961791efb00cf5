// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which fields are checked, what a bad one is reported as, and for how long. */
#include "signature_region.h"

#include <gtest/gtest.h>

using host::bytes;
using sirocco::SignatureStatus;
using namespace signature_model;

namespace {

constexpr uint32_t blocks = 4;

/* A wire that is checked and stripped: block 0x10 and on, as a disk would number them. */
signature_attributes strip()
{
	signature_attributes a;

	a.wire = signature_domain(SIRO_SIG_T10_CRC);
	a.wire.app_tag = 0x1234;
	a.wire.ref_tag = 0x10;
	a.wire.flags = SIRO_SIG_REF_REMAP;
	a.memory = signature_domain(SIRO_SIG_NONE);
	a.data_length = blocks * 512;
	return a;
}

content good(const signature_attributes &a)
{
	return make_content(a.wire, signature_noise(a.data_length));
}

enum tuple_bytes { guard = 0, app = 2, ref = 4 };

uint8_t &field_byte(content &c, uint32_t block, uint32_t byte)
{
	return c.fields[8 * block + byte];
}

void set_escape(content &c, uint32_t block, bool app_tag, bool ref_tag)
{
	for (uint32_t i = 0; app_tag && i < 2; i++)
		field_byte(c, block, app + i) = 0xff;
	for (uint32_t i = 0; ref_tag && i < 4; i++)
		field_byte(c, block, ref + i) = 0xff;
}

void receive(signature_region &r, const content &c)
{
	ASSERT_EQ(r.prepared, 0);
	ASSERT_EQ(r.place(0, join(r.sig.wire, c)), SignatureStatus::done);
	EXPECT_TRUE(r.read().data == c.data);
}

/* -1: none */
int error_type(const signature_attributes &a, const content &c)
{
	signature_region r(a);
	siro_sig_error error = {};

	receive(r, c);
	return siro_signature_check(&r.sig, signature_region::key, &error) ? error.type : -1;
}

} // namespace

/* T5: each byte of the mask alone against each byte of the field */
TEST(signature_check, check_mask__is_by_bytes)
{
	static const int types[] = {
		SIRO_SIG_BAD_GUARD,  SIRO_SIG_BAD_GUARD,  SIRO_SIG_BAD_APPTAG, SIRO_SIG_BAD_APPTAG,
		SIRO_SIG_BAD_REFTAG, SIRO_SIG_BAD_REFTAG, SIRO_SIG_BAD_REFTAG, SIRO_SIG_BAD_REFTAG,
	};
	signature_attributes a = strip();

	for (uint32_t bad = 0; bad < 8; bad++) {
		content c = good(a);

		field_byte(c, 1, bad) ^= 0x80;
		for (uint32_t checked = 0; checked < 8; checked++) {
			a.check_mask = static_cast<uint8_t>(0x80 >> checked);
			EXPECT_EQ(error_type(a, c), bad == checked ? types[bad] : -1)
				<< bad << " " << checked;
		}
		a.check_mask = 0xff;
		EXPECT_EQ(error_type(a, c), types[bad]);
		a.check_mask = 0;
		EXPECT_EQ(error_type(a, c), -1);
	}
}

/* T5 */
TEST(signature_check, crc_masks__are_by_bytes)
{
	for (uint16_t format : {SIRO_SIG_CRC32, SIRO_SIG_CRC32C, SIRO_SIG_CRC64}) {
		signature_attributes a = strip();
		uint32_t length = field_length(format);

		a.wire.format = format;
		for (uint32_t bad = 0; bad < length; bad++)
			for (uint32_t checked = 0; checked < 8; checked++) {
				content c = good(a);

				c.fields[length + bad] ^= 1;
				a.check_mask = static_cast<uint8_t>(0x80 >> checked);
				EXPECT_EQ(error_type(a, c),
					  bad == checked ? SIRO_SIG_BAD_GUARD : -1);
			}
	}
}

/* T5 */
TEST(signature_check, app_mask__is_by_bits)
{
	signature_attributes a = strip();
	content c = good(a);

	field_byte(c, 2, app) ^= 0x04;
	for (uint16_t mask : {0xffff, 0x0400, 0x0f00, 0xfbff, 0x00ff, 0}) {
		a.wire.app_mask = mask;
		EXPECT_EQ(error_type(a, c), mask & 0x0400 ? SIRO_SIG_BAD_APPTAG : -1) << mask;
	}
}

/* T5: all combinations of the flags and of what is in the tags */
TEST(signature_check, escape__skips_all_checks_of_a_block)
{
	for (int flags = 0; flags < 4; flags++)
		for (int tags = 0; tags < 4; tags++) {
			signature_attributes a = strip();
			content c = good(a);
			bool app_escape = flags & 1, ref_escape = flags & 2;
			bool app_ones = tags & 1, ref_ones = tags & 2;
			bool skipped = app_escape && app_ones && (!ref_escape || ref_ones);

			a.wire.flags = static_cast<uint16_t>(
				(app_escape ? SIRO_SIG_APP_ESCAPE : 0) |
				(ref_escape ? SIRO_SIG_REF_ESCAPE : 0) | SIRO_SIG_REF_REMAP);
			field_byte(c, 1, guard) ^= 1;
			set_escape(c, 1, app_ones, ref_ones);
			EXPECT_EQ(error_type(a, c), skipped ? -1 : SIRO_SIG_BAD_GUARD)
				<< flags << " " << tags;
		}
}

/* T5: ib_iser's block with a real reference tag, and the same from nvme */
TEST(signature_check, app_tag_of_ones_with_real_reference_tag__depends_on_ref_escape)
{
	signature_attributes a = strip();
	content c = good(a);

	set_escape(c, 0, true, false);
	a.check_mask = 0x0f;
	field_byte(c, 0, ref + 3) ^= 1;
	a.wire.flags = SIRO_SIG_REF_REMAP | SIRO_SIG_APP_ESCAPE | SIRO_SIG_REF_ESCAPE;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_REFTAG);
	a.wire.flags = SIRO_SIG_REF_REMAP | SIRO_SIG_APP_ESCAPE;
	EXPECT_EQ(error_type(a, c), -1);
}

/* T7 */
TEST(signature_check, reference_tag__wraps)
{
	signature_attributes a = strip();

	a.wire.ref_tag = 0xfffffffe;

	content c = good(a);

	EXPECT_EQ(bytes(&c.fields[12], &c.fields[16]), bytes(4, 0xff));
	EXPECT_EQ(bytes(&c.fields[20], &c.fields[24]), bytes(4, 0));
	EXPECT_EQ(error_type(a, c), -1);
	field_byte(c, 2, ref + 3) = 1;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_REFTAG);
}

TEST(signature_check, reference_tag_without_remap__stays)
{
	signature_attributes a = strip();

	a.wire.flags = 0;

	content c = good(a);

	EXPECT_EQ(field_byte(c, 3, ref + 3), 0x10);
	EXPECT_EQ(error_type(a, c), -1);
	field_byte(c, 3, ref + 3) = 0x13;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_REFTAG);
}

/* T8: the values and the offset, on the input's stride */
TEST(signature_check, record__has_what_was_found_and_what_was_computed)
{
	signature_attributes a = strip();
	content c = good(a);
	uint64_t right = c.fields[16] << 8 | c.fields[17];
	signature_region r(a);

	field_byte(c, 2, guard) ^= 0xff;
	receive(r, c);
	expect_error(r.sig,
		     {right ^ 0xff00, right, 2 * 520, 0, SIRO_SIG_BAD_GUARD, SIRO_SIG_ON_WIRE});

	field_byte(c, 2, guard) ^= 0xff;
	field_byte(c, 3, app + 1) = 0x35;
	receive(r, c);
	expect_error(r.sig, {0x1235, 0x1234, 3 * 520, 0, SIRO_SIG_BAD_APPTAG, SIRO_SIG_ON_WIRE});

	field_byte(c, 3, app + 1) = 0x34;
	field_byte(c, 1, ref) = 0x80;
	receive(r, c);
	expect_error(r.sig, {0x80000011, 0x11, 520, 0, SIRO_SIG_BAD_REFTAG, SIRO_SIG_ON_WIRE});
}

/* T8: of memory, when it is the input; fields of 4 bytes */
TEST(signature_check, record_of_memory__counts_its_own_stride)
{
	signature_attributes a = strip();

	a.memory = signature_domain(SIRO_SIG_CRC32, 256);
	a.wire = signature_domain(SIRO_SIG_NONE);

	signature_region r(a);
	content c = make_content(a.memory, signature_noise(a.data_length));
	uint64_t right = 0;

	for (size_t i = 0; i < 4; i++)
		right = right << 8 | c.fields[5 * 4 + i];
	c.fields[5 * 4 + 3] ^= 2;
	r.write(c);
	r.produce(0, static_cast<uint32_t>(r.sig.wire_length));
	expect_error(r.sig, {right ^ 2, right, 5 * 260, 0, SIRO_SIG_BAD_GUARD, SIRO_SIG_IN_MEMORY});
}

/* T8 */
TEST(signature_check, several_bad_fields__guard_then_app_then_reference)
{
	signature_attributes a = strip();
	content c = good(a);

	field_byte(c, 1, ref) ^= 1;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_REFTAG);
	field_byte(c, 1, app) ^= 1;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_APPTAG);
	field_byte(c, 1, guard) ^= 1;
	EXPECT_EQ(error_type(a, c), SIRO_SIG_BAD_GUARD);
}

/* T8: first in time, not in place */
TEST(signature_check, first_error__wins)
{
	signature_attributes a = strip();
	content c = good(a);
	signature_region r(a);

	field_byte(c, 0, guard) ^= 1;
	field_byte(c, 3, ref) ^= 1;

	bytes wire = join(a.wire, c);

	ASSERT_EQ(r.place(3 * 520, bytes(wire.begin() + 3 * 520, wire.end())),
		  SignatureStatus::done);
	ASSERT_EQ(r.place(0, bytes(wire.begin(), wire.begin() + 520)), SignatureStatus::done);
	expect_error(r.sig, {0x01000013, 0x13, 3 * 520, 0, SIRO_SIG_BAD_REFTAG, SIRO_SIG_ON_WIRE});
	expect_no_error(r.sig);
}

/* T8: an invalidation does not touch the latch, a registration does */
TEST(signature_check, error__is_kept_until_asked_for_or_registered_again)
{
	signature_attributes a = strip();
	content bad = good(a);
	signature_region r(a);
	siro_sig_error error = {};

	field_byte(bad, 0, guard) ^= 1;
	receive(r, bad);
	receive(r, good(a));
	EXPECT_EQ(siro_signature_check(&r.sig, signature_region::key, &error), 1);
	expect_no_error(r.sig);

	receive(r, bad);
	ASSERT_EQ(siro_signature_prepare(&r.sig), 0);
	expect_no_error(r.sig);
	receive(r, bad);
	EXPECT_EQ(siro_signature_check(&r.sig, signature_region::key, &error), 1);
}

/* T8 */
TEST(signature_check, other_key__is_a_bad_guard_at_offset_0)
{
	signature_attributes a = strip();
	content bad = good(a);
	signature_region r(a);
	siro_sig_error error = {};

	field_byte(bad, 3, ref) ^= 1;
	receive(r, bad);
	ASSERT_EQ(siro_signature_check(&r.sig, signature_region::key + 1, &error), 1);
	EXPECT_EQ(error.type, SIRO_SIG_BAD_GUARD);
	EXPECT_EQ(error.offset, 0u);
	EXPECT_EQ(error.expected, 0u);
	EXPECT_EQ(error.actual, 0u);
	EXPECT_EQ(error.key, signature_region::key + 1);
	expect_no_error(r.sig);
}

/* A transmission checks a block once, however its packets are cut; a repeated one again. */
TEST(signature_check, transmission__reports_when_the_last_byte_of_data_is_sent)
{
	signature_attributes a = strip();

	std::swap(a.memory, a.wire);

	content c = make_content(a.memory, signature_noise(a.data_length));
	signature_region r(a);
	siro_sig_error error = {};

	field_byte(c, 1, guard) ^= 1;
	r.write(c);
	r.produce(0, 1023);
	expect_no_error(r.sig);
	r.produce(1023, 1);
	EXPECT_EQ(siro_signature_check(&r.sig, signature_region::key, &error), 1);
	EXPECT_EQ(error.offset, 520u);
	r.produce(1024, 1024);
	expect_no_error(r.sig);
	r.produce(600, 424);
	EXPECT_EQ(siro_signature_check(&r.sig, signature_region::key, &error), 1);
}
