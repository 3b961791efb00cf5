// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Bad fields: who tells what, and what does not count as bad. */
#include "scenarios.h"
#include "signer.h"

#define BLOCKS 5
#define BAD_BLOCK 3

static const uint32_t guard_error = SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD;
static const uint32_t app_error = SIROCCODV_MKEY_SIG_BLOCK_BAD_APPTAG;
static const uint32_t ref_error = SIROCCODV_MKEY_SIG_BLOCK_BAD_REFTAG;

static uint32_t stride_of(const struct side *side)
{
	return side->block + field_bytes(side->format);
}

/* Where the field of the bad block is in a stream. */
static uint32_t bad_field(const struct side *side)
{
	return BAD_BLOCK * stride_of(side) + side->block;
}

static uint32_t guard_bits(const struct side *side)
{
	return side->format <= T10_CSUM ? 16 : 8 * field_bytes(side->format);
}

/* Its first byte has been changed by @bits. */
static struct siroccodv_sig_err bad_guard(const struct signer *s,
					  const struct side *side, uint8_t bits)
{
	const uint64_t guard =
		guard_of(side, s->data + BAD_BLOCK * side->block);

	return (struct siroccodv_sig_err){
		.actual_value = guard,
		.expected_value = guard ^ (uint64_t)bits
						  << (guard_bits(side) - 8),
		.offset = BAD_BLOCK * stride_of(side),
		.side = side == &s->wire,
	};
}

static struct siroccodv_sig_err bad_tag(const struct signer *s,
					const struct side *side, uint64_t found,
					uint64_t wanted)
{
	return (struct siroccodv_sig_err){
		.actual_value = wanted,
		.expected_value = found,
		.offset = BAD_BLOCK * stride_of(side),
		.side = side == &s->wire,
	};
}

/* Blocks with fields go out and are checked where they come from. */
static struct signer checked_memory(struct side memory)
{
	struct signer s =
		new_signer(&a, memory, no_fields, BLOCKS, 3, BY_REQUEST);

	fill_memory(&s);
	return s;
}

/* The transfer succeeds all the same, and its data arrives. */
static void send_bad(struct signer *s)
{
	expect_on_wire(s);
	CHECK_IS(send_out(s, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
	CHECK(as_expected());
}

/* ---- where ---- */

static void guard__in_memory(void)
{
	enum format f;

	set_up();
	for (f = T10_CRC; f < FORMATS; f++) {
		struct signer s = checked_memory(side_of(f, 512));

		spoil_memory(&s, bad_field(&s.memory), 0x41);
		send_bad(&s);
		expect_error(&s, bad_guard(&s, &s.memory, 0x41), guard_error);
	}
}

/* What comes through the wire to either end, by each operation. */
static void take_bad(struct signer s, enum ibv_wr_opcode opcode)
{
	fill_wire(&s);
	expect_in_memory(&s);
	spoil_wire(&s, bad_field(&s.wire), 0x18);
	CHECK_IS(take_in(&s, opcode), IBV_WC_SUCCESS);
	CHECK(as_expected());
	expect_error(&s, bad_guard(&s, &s.wire, 0x18), guard_error);
}

static void guard__on_the_wire(void)
{
	enum format f;

	set_up();
	for (f = T10_CRC; f < FORMATS; f++) {
		const struct side wire = side_of(f, 520);

		take_bad(new_signer(&a, no_fields, wire, BLOCKS, 3, BY_CALL),
			 IBV_WR_RDMA_READ);
		take_bad(new_signer(&b, no_fields, wire, BLOCKS, 3, BY_CALL),
			 IBV_WR_RDMA_WRITE);
		take_bad(new_signer(&b, no_fields, wire, BLOCKS, 3, BY_CALL),
			 IBV_WR_SEND);
	}
}

static void data__is_what_the_guard_is_for(void)
{
	struct siroccodv_sig_err want;
	struct signer s;

	set_up();
	s = checked_memory(side_of(CRC32C, 512));
	want = bad_guard(&s, &s.memory, 0);
	s.data[BAD_BLOCK * 512 + 77] ^= 1;
	spoil_memory(&s, BAD_BLOCK * stride_of(&s.memory) + 77, 1);
	want.actual_value = guard_of(&s.memory, s.data + BAD_BLOCK * 512);
	send_bad(&s);
	expect_error(&s, want, guard_error);
}

/* A bad guard that is passed on is bad at the peer, too. */
static void guard__passed_on(void)
{
	const struct side side = side_of(T10_CRC, 512);
	struct signer sa, sb;

	set_up();
	sa = new_signer(&a, side, side, BLOCKS, 3, BY_REQUEST);
	sb = new_signer(&b, side, side, BLOCKS, 3, BY_REQUEST);
	fill_memory(&sa);
	spoil_memory(&sa, bad_field(&side), 0x80);
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE,
			  (struct ibv_sge){ 0, wire_length(&sa), sa.mkey->lkey },
			  sb.mkey->rkey, 0), IBV_WC_SUCCESS);
	sb.data = sa.data;
	expect_error(&sa, bad_guard(&sa, &sa.memory, 0x80), guard_error);
	expect_error(&sb, bad_guard(&sb, &sb.wire, 0x80), guard_error);
}

/* ---- tags ---- */

static void tags__of_either_guard(void)
{
	enum format f;

	set_up();
	for (f = T10_CRC; f <= T10_CSUM; f++) {
		struct signer s = checked_memory(side_of(f, 512));
		const uint32_t field = bad_field(&s.memory);
		const uint32_t ref = s.memory.ref + BAD_BLOCK;

		spoil_memory(&s, field + 3, 0x02);
		send_bad(&s);
		expect_error(&s, bad_tag(&s, &s.memory, 0xabcd ^ 2, 0xabcd),
			     app_error);
		spoil_memory(&s, field + 3, 0x02);
		spoil_memory(&s, field + 4, 0x10);
		send_bad(&s);
		expect_error(&s, bad_tag(&s, &s.memory, ref ^ 0x10000000, ref),
			     ref_error);

		/* Guard before application tag before reference tag. */
		spoil_memory(&s, field + 2, 0x01);
		send_bad(&s);
		expect_error(&s, bad_tag(&s, &s.memory, 0xabcd ^ 0x100, 0xabcd),
			     app_error);
		spoil_memory(&s, field, 0x01);
		send_bad(&s);
		expect_error(&s, bad_guard(&s, &s.memory, 1), guard_error);
	}
}

static void ref_tag__wraps(void)
{
	struct side memory = side_of(T10_CRC, 512);
	struct signer s;

	set_up();
	memory.ref = 0xfffffffe; /* block 3 has 1 */
	s = checked_memory(memory);
	send_bad(&s);
	expect_no_error(&s);
	spoil_memory(&s, bad_field(&memory) + 7, 0x03);
	send_bad(&s);
	expect_error(&s, bad_tag(&s, &s.memory, 2, 1), ref_error);
}

static void check_mask__bytes_that_count(void)
{
	struct signer s;
	uint32_t i;

	set_up();
	s = checked_memory(side_of(T10_CRC, 512));
	for (i = 0; i < 8; i++) {
		s.check_mask = ALL_BYTES & ~(0x80 >> i);
		configure_signer(&s, BY_REQUEST);
		spoil_memory(&s, bad_field(&s.memory) + i, 0xff);
		send_bad(&s);
		expect_no_error(&s);
		spoil_memory(&s, bad_field(&s.memory) + i, 0xff);
	}
	s.check_mask = 0;
	configure_signer(&s, BY_CALL);
	for (i = 0; i < 8; i++)
		spoil_memory(&s, bad_field(&s.memory) + i, 0xff);
	send_bad(&s);
	expect_no_error(&s);
}

static void set_tags(struct signer *s, uint16_t app, uint32_t ref)
{
	const uint32_t field = bad_field(&s->memory);
	const uint8_t tags[] = { app >> 8, app, ref >> 24,
				 ref >> 16, ref >> 8, ref };
	uint32_t i;

	spoil_memory(s, field, 0xff); /* a guard that no one is to look at */
	for (i = 0; i < sizeof(tags); i++)
		spoil_memory(s, field + 2 + i,
			     tags[i] ^
				     s->end->memory[s->l->offset[field + 2 + i]]);
}

static void escape__of_a_block(void)
{
	struct side memory = side_of(T10_CRC, 512);
	struct signer s;

	set_up();
	memory.flags = SIROCCODV_SIG_T10DIF_FLAG_APP_ESCAPE;
	s = checked_memory(memory);
	set_tags(&s, 0xffff, 5);
	send_bad(&s);
	expect_no_error(&s);

	memory.flags = SIROCCODV_SIG_T10DIF_FLAG_APP_REF_ESCAPE;
	s = checked_memory(memory);
	set_tags(&s, 0xffff, 5);
	send_bad(&s);
	expect_error(&s, bad_guard(&s, &s.memory, 0xff), guard_error);
	s = checked_memory(memory);
	set_tags(&s, 0xffff, 0xffffffff);
	send_bad(&s);
	expect_no_error(&s);

	memory.flags = 0;
	s = checked_memory(memory);
	set_tags(&s, 0xffff, 0xffffffff);
	send_bad(&s);
	expect_error(&s, bad_guard(&s, &s.memory, 0xff), guard_error);
}

static void copy_mask__regenerates_the_rest(void)
{
	const struct side side = side_of(T10_CRC, 512);
	struct siroccodv_sig_block_attr attr;
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_SIG_BLOCK,
		.sig_block = &attr,
	};
	struct signer s;

	set_up();
	s = new_signer(&a, side, side, BLOCKS, 3, BY_REQUEST);
	attr = *sig_attr(&side, &side, 0);
	attr.flags = SIROCCODV_SIG_BLOCK_ATTR_FLAG_COPY_MASK;
	attr.copy_mask = SIROCCODV_SIG_MASK_T10DIF_APPTAG;
	CHECK_IS(siroccodv_mkey_configure(s.mkey, &config), 0);
	fill_memory(&s);
	spoil_memory(&s, bad_field(&side), 0x01); /* made anew */
	spoil_memory(&s, bad_field(&side) + 3, 0x01); /* copied */
	spoil_memory(&s, bad_field(&side) + 7, 0x01); /* made anew */
	expect_on_wire(&s);
	b.image[LAYOUT_AREA + bad_field(&side) + 3] ^= 0x01;
	CHECK_IS(send_out(&s, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
	CHECK(as_expected());
	expect_no_error(&s);
}

/* ---- the record ---- */

static void record__first_error_stays(void)
{
	struct siroccodv_sig_err first;
	struct signer s;

	set_up();
	s = checked_memory(side_of(CRC32, 512));
	spoil_memory(&s, bad_field(&s.memory), 0x01);
	first = bad_guard(&s, &s.memory, 0x01);
	send_bad(&s);
	spoil_memory(&s, s.memory.block, 0x01); /* of block 0 */
	send_bad(&s);
	CHECK_IS(local_inv(&a, s.mkey->lkey), IBV_WC_SUCCESS);
	expect_error(&s, first, guard_error);
}

static void record__a_configuration_forgets_it(void)
{
	enum way way;
	struct signer s;

	set_up();
	s = checked_memory(side_of(CRC32, 512));
	for (way = 0; way < WAYS; way++) {
		fill_memory(&s);
		spoil_memory(&s, bad_field(&s.memory), 0x01);
		send_bad(&s);
		configure_signer(&s, way);
		expect_no_error(&s);
		send_bad(&s);
		expect_error(&s, bad_guard(&s, &s.memory, 0x01), guard_error);
	}
}

static void record__of_each_mkey(void)
{
	static struct signer s[200]; /* more than are in one page */
	int i;

	set_up();
	for (i = 0; i < 200; i++)
		s[i] = checked_memory(side_of(CRC32, 512));
	for (i = 0; i < 200; i++) {
		fill_memory(&s[i]);
		if (i % 3)
			spoil_memory(&s[i], bad_field(&s[i].memory), i);
		send_bad(&s[i]);
		if (i % 3 == 1)
			expect_error(&s[i], bad_guard(&s[i], &s[i].memory, i),
				     guard_error);
	}
	for (i = 0; i < 200; i++) {
		if (i % 3 != 2)
			expect_no_error(&s[i]);
		CHECK(!siroccodv_destroy_mkey(s[i].mkey));
	}
	/* Those that come next begin without an error. */
	for (i = 0; i < 200; i++) {
		s[i] = checked_memory(side_of(CRC32, 512));
		expect_no_error(&s[i]);
	}
}

const struct scenario error_scenarios[] = {
	SCENARIO(guard__in_memory),
	SCENARIO(guard__on_the_wire),
	SCENARIO(guard__passed_on),
	SCENARIO(data__is_what_the_guard_is_for),
	SCENARIO(tags__of_either_guard),
	SCENARIO(ref_tag__wraps),
	SCENARIO(check_mask__bytes_that_count),
	SCENARIO(escape__of_a_block),
	SCENARIO(copy_mask__regenerates_the_rest),
	SCENARIO(record__first_error_stays),
	SCENARIO(record__a_configuration_forgets_it),
	SCENARIO(record__of_each_mkey),
	{},
};
