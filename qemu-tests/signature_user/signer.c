// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signer.h"

const struct side no_fields = { .format = NONE };

struct side side_of(enum format format, uint32_t block)
{
	return (struct side){
		.format = format,
		.block = block,
		.app = 0xabcd,
		.ref = 0x01234567,
		.flags = SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP,
	};
}

/* ---- configuration ---- */

static const struct siroccodv_sig_block_domain *
sig_domain(const struct side *side, bool wire)
{
	static struct siroccodv_sig_block_domain domains[2];
	static struct siroccodv_sig_t10dif difs[2];
	static struct siroccodv_sig_crc crcs[2];
	struct siroccodv_sig_block_domain *domain = &domains[wire];

	if (side->format == NONE)
		return NULL;
	*domain = (struct siroccodv_sig_block_domain){ .block_size =
							       side->block };
	if (side->format <= T10_CSUM) {
		difs[wire] = (struct siroccodv_sig_t10dif){
			.bg_type = side->format - T10_CRC,
			.bg = side->seed,
			.app_tag = side->app,
			.ref_tag = side->ref,
			.flags = side->flags,
		};
		domain->sig_type = SIROCCODV_SIG_TYPE_T10DIF;
		domain->dif = &difs[wire];
	} else {
		crcs[wire] = (struct siroccodv_sig_crc){
			.type = side->format - CRC32,
			.seed = side->seed,
		};
		domain->sig_type = SIROCCODV_SIG_TYPE_CRC;
		domain->crc = &crcs[wire];
	}
	return domain;
}

const struct siroccodv_sig_block_attr *sig_attr(const struct side *memory,
						const struct side *wire,
						uint8_t check_mask)
{
	static struct siroccodv_sig_block_attr attr;

	attr = (struct siroccodv_sig_block_attr){
		.mem = sig_domain(memory, false),
		.wire = sig_domain(wire, true),
		.check_mask = check_mask,
	};
	return &attr;
}

static void configure_by_request(struct signer *s, bool table)
{
	const struct siroccodv_mkey_conf_attr no_attr = {};
	struct siroccodv_mkey_table t;
	struct end *e = s->end;

	if (table)
		t = store_table(s->l);
	ibv_wr_start(e->qp_ex);
	e->qp_ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	siroccodv_wr_mkey_configure(e->dv_qp, s->mkey, 3, &no_attr);
	siroccodv_wr_set_mkey_access_flags(e->dv_qp, ALL_RIGHTS);
	if (table)
		siroccodv_wr_set_mkey_layout_table(e->dv_qp, &t);
	else
		siroccodv_wr_set_mkey_layout_list(e->dv_qp, s->l->count,
						  s->l->sge);
	siroccodv_wr_set_mkey_sig_block(
		e->dv_qp, sig_attr(&s->memory, &s->wire, s->check_mask));
	CHECK_IS(ibv_wr_complete(e->qp_ex), 0);
	CHECK_IS(completion(e).status, IBV_WC_SUCCESS);
}

static void configure_by_call(struct signer *s)
{
	const struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_ACCESS |
			     SIROCCODV_MKEY_CONFIG_LIST |
			     SIROCCODV_MKEY_CONFIG_SIG_BLOCK,
		.access_flags = ALL_RIGHTS,
		.num_entries = s->l->count,
		.sge_list = s->l->sge,
		.sig_block = sig_attr(&s->memory, &s->wire, s->check_mask),
	};

	CHECK_IS(siroccodv_mkey_configure(s->mkey, &config), 0);
}

void configure_signer(struct signer *s, enum way way)
{
	if (way == BY_CALL)
		configure_by_call(s);
	else
		configure_by_request(s, way == BY_TABLE);
}

/* Pieces that do not end where blocks do. */
static struct layout *list_of_length(struct end *e, uint32_t length,
				     uint32_t pieces)
{
	struct layout *l = new_list(e);
	uint32_t i, left = length, piece;

	for (i = 0; i < pieces; i++) {
		piece = i + 1 < pieces ? length / pieces : left;
		add_piece(l, (pieces - 1 - i) * (LAYOUT_AREA / pieces) + i,
			  piece);
		left -= piece;
	}
	return l;
}

struct signer new_signer(struct end *e, struct side memory, struct side wire,
			 uint32_t blocks, uint32_t pieces, enum way way)
{
	const uint32_t block = memory.block > wire.block ? memory.block :
							   wire.block;
	struct signer s = {
		.end = e,
		.mkey = make_mkey(e, pieces, SIROCCODV_MKEY_BLOCK_SIGNATURE),
		.memory = memory,
		.wire = wire,
		.check_mask = ALL_BYTES,
		.length = blocks * block,
	};

	CHECK(s.length * 2 <= LONGEST);
	s.data = malloc(s.length);
	CHECK(s.data);
	s.l = list_of_length(e, stream_length(&memory, s.length), pieces);
	configure_signer(&s, way);
	return s;
}

uint32_t wire_length(const struct signer *s)
{
	return stream_length(&s->wire, s->length);
}

/* ---- content ---- */

static struct end *other_end(const struct signer *s)
{
	return s->end == &a ? &b : &a;
}

static void new_data(struct signer *s)
{
	uint32_t i;

	for (i = 0; i < s->length; i++)
		s->data[i] = random_number();
}

/* Bytes of the layout, in what memory is to hold and perhaps in what it holds. */
static void put_memory(struct signer *s, bool now)
{
	static uint8_t stream[LONGEST];
	uint32_t i;

	make_stream(&s->memory, s->data, s->length, stream);
	for (i = 0; i < s->l->length; i++) {
		s->end->image[s->l->offset[i]] = stream[i];
		if (now)
			s->end->memory[s->l->offset[i]] = stream[i];
	}
}

static void put_wire(struct signer *s, bool now)
{
	struct end *e = other_end(s);

	make_stream(&s->wire, s->data, s->length, e->image + LAYOUT_AREA);
	if (now)
		memcpy(e->memory + LAYOUT_AREA, e->image + LAYOUT_AREA,
		       wire_length(s));
}

void fill_memory(struct signer *s)
{
	new_data(s);
	put_memory(s, true);
}

void fill_wire(struct signer *s)
{
	new_data(s);
	put_wire(s, true);
}

void expect_in_memory(struct signer *s)
{
	put_memory(s, false);
}

void expect_on_wire(struct signer *s)
{
	put_wire(s, false);
}

void spoil_memory(struct signer *s, uint32_t offset, uint8_t bits)
{
	const uint32_t at = s->l->offset[offset];

	s->end->memory[at] ^= bits;
	s->end->image[at] ^= bits;
}

void spoil_wire(struct signer *s, uint32_t offset, uint8_t bits)
{
	struct end *e = other_end(s);

	e->memory[LAYOUT_AREA + offset] ^= bits;
	e->image[LAYOUT_AREA + offset] ^= bits;
}

/* ---- traffic ---- */

/* a posts the request; the signer is at either end. */
static enum ibv_wc_status move_stream(struct signer *s,
				      enum ibv_wr_opcode opcode)
{
	const struct ibv_sge through = { 0, wire_length(s), s->mkey->lkey };
	const struct ibv_sge plain = plain_sge(other_end(s), wire_length(s));
	const bool at_a = s->end == &a;
	const struct ibv_sge local = at_a ? through : plain;
	const struct ibv_sge remote = at_a ? plain : through;
	enum ibv_wc_status status;

	if (opcode == IBV_WR_SEND)
		post_recv(&b, remote);
	status = transfer(opcode, local, remote.lkey, remote.addr);
	if (opcode == IBV_WR_SEND && !status)
		CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
	return status;
}

enum ibv_wc_status send_out(struct signer *s, enum ibv_wr_opcode opcode)
{
	CHECK((opcode == IBV_WR_RDMA_READ) == (s->end == &b));
	return move_stream(s, opcode);
}

enum ibv_wc_status take_in(struct signer *s, enum ibv_wr_opcode opcode)
{
	CHECK((opcode == IBV_WR_RDMA_READ) == (s->end == &a));
	return move_stream(s, opcode);
}

/* ---- verdicts ---- */

void expect_no_error(const struct signer *s)
{
	struct siroccodv_mkey_err err;

	CHECK_IS(siroccodv_mkey_check(s->mkey, &err), 0);
	CHECK_IS(err.err_type, SIROCCODV_MKEY_NO_ERR);
}

void expect_error(const struct signer *s, struct siroccodv_sig_err want,
		  uint32_t type)
{
	struct siroccodv_mkey_err err;

	CHECK_IS(siroccodv_mkey_check(s->mkey, &err), 0);
	CHECK_IS(err.err_type, type);
	CHECK_IS(err.err.sig.expected_value, want.expected_value);
	CHECK_IS(err.err.sig.actual_value, want.actual_value);
	CHECK_IS(err.err.sig.offset, want.offset);
	CHECK_IS(err.err.sig.side, want.side);
	expect_no_error(s);
}
