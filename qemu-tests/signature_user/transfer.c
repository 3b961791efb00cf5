// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Insert, strip and pass: what comes out, in memory and on the wire. */
#include "scenarios.h"
#include "signer.h"

static void exercise_out(struct signer *s, enum ibv_wr_opcode opcode)
{
	fill_memory(s);
	expect_on_wire(s);
	CHECK_IS(send_out(s, opcode), IBV_WC_SUCCESS);
	CHECK(as_expected());
	expect_no_error(s);
}

static void exercise_in(struct signer *s, enum ibv_wr_opcode opcode)
{
	fill_wire(s);
	expect_in_memory(s);
	CHECK_IS(take_in(s, opcode), IBV_WC_SUCCESS);
	CHECK(as_expected());
	expect_no_error(s);
}

/* Every operation, each end in turn has the signature. */
static void exercise_sides(struct side memory, struct side wire,
			   uint32_t blocks, uint32_t pieces)
{
	struct signer sa = new_signer(&a, memory, wire, blocks, pieces,
				      BY_REQUEST);
	struct signer sb = new_signer(&b, memory, wire, blocks, pieces,
				      BY_CALL);

	exercise_out(&sa, IBV_WR_RDMA_WRITE);
	exercise_out(&sa, IBV_WR_SEND);
	exercise_in(&sa, IBV_WR_RDMA_READ);
	exercise_out(&sb, IBV_WR_RDMA_READ);
	exercise_in(&sb, IBV_WR_RDMA_WRITE);
	exercise_in(&sb, IBV_WR_SEND);
	CHECK(!siroccodv_destroy_mkey(sa.mkey));
	CHECK(!siroccodv_destroy_mkey(sb.mkey));
}

static void exercise_format(enum format format)
{
	static const uint32_t blocks[] = { 512, 520, 4048, 4096, 4160, 8 };
	uint64_t ones = -1ull >> (64 - 8 * field_bytes(format));
	struct side side;
	size_t i;

	if (format <= T10_CSUM)
		ones = 0xffff;
	set_up();
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		side = side_of(format, blocks[i]);
		side.seed = i % 2 ? ones : 0;
		exercise_sides(no_fields, side, 5, 3);
		exercise_sides(side, no_fields, 5, 3);
		exercise_sides(side, side, 5, 3);
	}
}

static void t10dif_crc__insert_strip_pass(void)
{
	exercise_format(T10_CRC);
}

static void t10dif_csum__insert_strip_pass(void)
{
	exercise_format(T10_CSUM);
}

static void crc32__insert_strip_pass(void)
{
	exercise_format(CRC32);
}

static void crc32c__insert_strip_pass(void)
{
	exercise_format(CRC32C);
}

static void crc64__insert_strip_pass(void)
{
	exercise_format(CRC64);
}

/* Each format in memory with each on the wire. */
static void conversion__all_pairs(void)
{
	enum format m, w;

	set_up();
	for (m = T10_CRC; m < FORMATS; m++) {
		for (w = T10_CRC; w < FORMATS; w++) {
			struct side memory = side_of(m, 512);
			struct side wire = side_of(w, 512);

			wire.app = 0x1111;
			wire.ref = 0xfffffffe; /* wraps */
			exercise_sides(memory, wire, 5, 3);
		}
	}
}

static void conversion__other_block_size(void)
{
	set_up();
	exercise_sides(side_of(T10_CRC, 512), side_of(CRC64, 4096), 3, 5);
	exercise_sides(side_of(CRC32C, 4096), side_of(T10_CSUM, 512), 3, 5);
}

static void long_stream__many_pieces(void)
{
	set_up();
	exercise_sides(side_of(T10_CRC, 512), side_of(T10_CRC, 512), 200, 25);
	exercise_sides(no_fields, side_of(CRC32, 4096), 30, 25);
}

static void table__of_pieces(void)
{
	struct signer s;

	set_up();
	s = new_signer(&a, no_fields, side_of(T10_CRC, 512), 100, 300,
		       BY_TABLE);
	exercise_out(&s, IBV_WR_RDMA_WRITE);
	exercise_in(&s, IBV_WR_RDMA_READ);
}

/* Blocks and fields in buffers of their own. */
static void interleaved__separate_fields(void)
{
	const struct side side = side_of(T10_CRC, 512);
	const struct siroccodv_mkey_conf_attr no_attr = {};
	struct siroccodv_mr_interleaved pieces[2];
	struct signer s;

	set_up();
	s = new_signer(&a, side, no_fields, 16, 2, BY_CALL);
	s.l = new_interleaved(&a, 16);
	add_interleaved(s.l, 0, 512, 0);
	add_interleaved(s.l, 512 * 1024, 8, 0);
	memcpy(pieces, s.l->piece, sizeof(pieces));
	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(a.dv_qp, s.mkey, 1, &no_attr);
	siroccodv_wr_set_mkey_layout_interleaved(a.dv_qp, 16, 2, pieces);
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	exercise_out(&s, IBV_WR_RDMA_WRITE);
	exercise_in(&s, IBV_WR_RDMA_READ);
}

/* Any part of the wire, from any byte on. */
static void part__of_the_wire(void)
{
	const struct side wire = side_of(T10_CRC, 512);
	struct signer s;
	uint32_t i;

	set_up();
	s = new_signer(&b, no_fields, wire, 8, 3, BY_CALL);
	fill_memory(&s);
	expect_on_wire(&s);
	CHECK_IS(send_out(&s, IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
	for (i = 0; i < 50; i++) {
		const uint32_t from = random_between(0, wire_length(&s) - 1);
		const uint32_t length =
			random_between(1, wire_length(&s) - from);
		struct ibv_sge sge = plain_sge(&a, length);

		sge.addr += from;
		memset(a.memory + LAYOUT_AREA + from, 0, length);
		CHECK_IS(transfer(IBV_WR_RDMA_READ, sge, s.mkey->rkey, from),
			 IBV_WC_SUCCESS);
		CHECK(as_expected());
	}
}

/* ---- what a configuration keeps ---- */

static void change(struct signer *s, const struct siroccodv_mkey_config *config)
{
	CHECK_IS(siroccodv_mkey_configure(s->mkey, config), 0);
}

static void signature__stays_with_another_layout(void)
{
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST,
	};
	struct signer s;

	set_up();
	s = new_signer(&a, no_fields, side_of(CRC32C, 512), 4, 2, BY_REQUEST);
	s.l = new_list(&a);
	add_piece(s.l, 300000, s.length);
	config.num_entries = 1;
	config.sge_list = s.l->sge;
	change(&s, &config);
	exercise_out(&s, IBV_WR_RDMA_WRITE);

	/* Another signature, the same layout. */
	s.wire = side_of(T10_CSUM, 512);
	config.comp_mask = SIROCCODV_MKEY_CONFIG_SIG_BLOCK;
	config.sig_block = sig_attr(&s.memory, &s.wire, ALL_BYTES);
	change(&s, &config);
	exercise_out(&s, IBV_WR_RDMA_WRITE);
	exercise_in(&s, IBV_WR_RDMA_READ);
}

static void reset__is_a_plain_mkey(void)
{
	const struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = SIROCCODV_MKEY_CONF_ATTR_FLAGS,
		.conf_flags = SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR,
	};
	const struct side wire = side_of(CRC32C, 512);
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_RESET_SIG_ATTR,
	};
	struct signer s;

	set_up();
	s = new_signer(&a, no_fields, wire, 4, 2, BY_REQUEST);
	change(&s, &config);
	s.wire = no_fields;
	exercise_out(&s, IBV_WR_RDMA_WRITE);
	exercise_in(&s, IBV_WR_RDMA_READ);

	s.wire = wire;
	configure_signer(&s, BY_REQUEST);
	exercise_out(&s, IBV_WR_RDMA_WRITE);
	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(a.dv_qp, s.mkey, 0, &attr);
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	s.wire = no_fields;
	exercise_out(&s, IBV_WR_RDMA_WRITE);

	/* So is one that never had a signature. */
	s = new_signer(&a, no_fields, wire, 4, 2, BY_REQUEST);
	CHECK_IS(local_inv(&a, s.mkey->lkey), IBV_WC_SUCCESS);
	config.comp_mask = SIROCCODV_MKEY_CONFIG_ACCESS |
			   SIROCCODV_MKEY_CONFIG_LIST;
	config.access_flags = ALL_RIGHTS;
	config.num_entries = s.l->count;
	config.sge_list = s.l->sge;
	change(&s, &config);
	s.wire = no_fields;
	exercise_out(&s, IBV_WR_RDMA_WRITE);
}

const struct scenario transfer_scenarios[] = {
	SCENARIO(t10dif_crc__insert_strip_pass),
	SCENARIO(t10dif_csum__insert_strip_pass),
	SCENARIO(crc32__insert_strip_pass),
	SCENARIO(crc32c__insert_strip_pass),
	SCENARIO(crc64__insert_strip_pass),
	SCENARIO(conversion__all_pairs),
	SCENARIO(conversion__other_block_size),
	SCENARIO(long_stream__many_pieces),
	SCENARIO(table__of_pieces),
	SCENARIO(interleaved__separate_fields),
	SCENARIO(part__of_the_wire),
	SCENARIO(signature__stays_with_another_layout),
	SCENARIO(reset__is_a_plain_mkey),
	{},
};
