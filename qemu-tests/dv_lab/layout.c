// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "layout.h"

/* ---- layouts ---- */

static struct layout *new_layout(struct end *e, uint32_t repeat)
{
	struct layout *l = calloc(1, sizeof(*l));

	CHECK(l);
	l->end = e;
	l->repeat = repeat;
	l->offset = calloc(LAYOUT_AREA, sizeof(*l->offset));
	CHECK(l->offset);
	return l;
}

struct layout *new_list(struct end *e)
{
	return new_layout(e, 0);
}

struct layout *new_interleaved(struct end *e, uint32_t repeat)
{
	return new_layout(e, repeat);
}

static void model_bytes(struct layout *l, uint32_t offset, uint32_t length)
{
	uint32_t i;

	CHECK(l->length + length <= LAYOUT_AREA);
	for (i = 0; i < length; i++)
		l->offset[l->length++] = offset + i;
}

void add_piece(struct layout *l, uint32_t offset, uint32_t length)
{
	CHECK(l->count < MAX_ENTRIES && offset + length <= LAYOUT_AREA);
	l->sge[l->count++] = (struct ibv_sge){
		(uintptr_t)l->end->memory + offset, length, l->end->mr->lkey
	};
	model_bytes(l, offset, length);
}

/* Rows come one after the other, so all but the first change with each piece. */
static void model_rows(struct layout *l)
{
	const uint8_t *memory = l->end->memory;
	uint32_t row, i;

	l->length = 0;
	for (row = 0; row < l->repeat; row++) {
		for (i = 0; i < l->count; i++) {
			const struct siroccodv_mr_interleaved *p = &l->piece[i];

			model_bytes(l,
				    p->addr - (uintptr_t)memory +
					    row * (p->bytes_count +
						   p->bytes_skip),
				    p->bytes_count);
		}
	}
}

void add_interleaved(struct layout *l, uint32_t offset, uint32_t count,
		     uint32_t skip)
{
	CHECK(l->count < MAX_ENTRIES &&
	      offset + l->repeat * (count + skip) <= LAYOUT_AREA);
	l->piece[l->count++] = (struct siroccodv_mr_interleaved){
		.addr = (uintptr_t)l->end->memory + offset,
		.bytes_count = count,
		.bytes_skip = skip,
		.lkey = l->end->mr->lkey,
	};
	model_rows(l);
}

struct layout *random_list(struct end *e, uint32_t count, uint32_t shortest,
			   uint32_t longest)
{
	const uint32_t slot = LAYOUT_AREA / count;
	struct layout *l = new_list(e);
	uint32_t i, length, step;

	CHECK(longest <= slot);
	/* An odd step through a power of two comes everywhere once. */
	for (step = 1; step < count; step *= 2)
		;
	for (i = 0; i < step; i++) {
		const uint32_t at = (i * 5 + 3) & (step - 1);

		if (at >= count)
			continue;
		length = random_between(shortest, longest);
		add_piece(l, at * slot + random_between(0, slot - length),
			  length);
	}
	return l;
}

/* ---- configuration ---- */

struct siroccodv_mkey_table store_table(const struct layout *l)
{
	struct end *e = l->end;
	const void *entries = l->repeat ? (const void *)l->piece : l->sge;
	const size_t entry = l->repeat ? sizeof(l->piece[0]) : sizeof(l->sge[0]);

	memcpy(e->memory + LAYOUT_AREA + 1, entries, l->count * entry);
	memcpy(e->image + LAYOUT_AREA + 1, entries, l->count * entry);
	return (struct siroccodv_mkey_table){
		.layout = l->repeat ? SIROCCODV_MKEY_LAYOUT_INTERLEAVED :
				      SIROCCODV_MKEY_LAYOUT_LIST,
		.repeat_count = l->repeat,
		.num_entries = l->count,
		.lkey = e->mr->lkey,
		.addr = plain_va(e) + 1,
	};
}

static void configure_by_request(struct key *key, uint32_t access, bool table)
{
	const struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = key->iova ? SIROCCODV_MKEY_CONF_ATTR_IOVA : 0,
		.iova = key->iova,
	};
	const struct layout *l = key->layout;
	struct end *e = l->end;
	struct ibv_wc wc;

	ibv_wr_start(e->qp_ex);
	e->qp_ex->wr_id = 0x6b6579;
	e->qp_ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	siroccodv_wr_mkey_configure(e->dv_qp, key->mkey, 2, &attr);
	siroccodv_wr_set_mkey_access_flags(e->dv_qp, access);
	if (table) {
		const struct siroccodv_mkey_table t = store_table(l);

		siroccodv_wr_set_mkey_layout_table(e->dv_qp, &t);
	} else if (l->repeat) {
		siroccodv_wr_set_mkey_layout_interleaved(e->dv_qp, l->repeat,
							 l->count, l->piece);
	} else {
		siroccodv_wr_set_mkey_layout_list(e->dv_qp, l->count, l->sge);
	}
	CHECK_IS(ibv_wr_complete(e->qp_ex), 0);
	wc = completion(e);
	CHECK_IS(wc.status, IBV_WC_SUCCESS);
	CHECK(wc.opcode == IBV_WC_DRIVER1 && wc.wr_id == 0x6b6579);
	CHECK(wc.qp_num == e->qp->qp_num);
}

static void configure_by_call(struct key *key, uint32_t access)
{
	const struct layout *l = key->layout;
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_ACCESS,
		.access_flags = access,
		.iova = key->iova,
		.num_entries = l->count,
		.repeat_count = l->repeat,
	};

	if (key->iova)
		config.comp_mask |= SIROCCODV_MKEY_CONFIG_IOVA;
	if (l->repeat) {
		config.comp_mask |= SIROCCODV_MKEY_CONFIG_INTERLEAVED;
		config.interleaved = l->piece;
	} else {
		config.comp_mask |= SIROCCODV_MKEY_CONFIG_LIST;
		config.sge_list = l->sge;
	}
	CHECK_IS(siroccodv_mkey_configure(key->mkey, &config), 0);
}

void configure_at(struct key *key, struct layout *layout, uint32_t access,
		  enum way way, uint64_t iova)
{
	key->layout = layout;
	key->iova = iova;
	if (way == BY_CALL)
		configure_by_call(key, access);
	else
		configure_by_request(key, access, way == BY_TABLE);
}

void configure(struct key *key, struct layout *layout, uint32_t access,
	       enum way way)
{
	configure_at(key, layout, access, way, 0);
}

struct key new_key(struct layout *layout, uint32_t access, enum way way)
{
	struct key key = { make_mkey(layout->end, layout->count, 0), NULL, 0 };

	configure(&key, layout, access, way);
	return key;
}

/* ---- the model ---- */

/**
 * struct place - bytes that an operation reads or writes
 * @offset: where each byte of a layout is; NULL: plain memory
 * @start: first byte in the layout, or in the memory
 */
struct place {
	struct end *end;
	const uint32_t *offset;
	uint32_t start;
	uint32_t key;
	uint64_t va;
};

static uint32_t place_of(const struct place *p, uint32_t i)
{
	return p->offset ? p->offset[p->start + i] : p->start + i;
}

static struct place random_place(struct end *e, const struct key *key,
				 uint32_t length)
{
	struct place p = { .end = e };

	if (key) {
		p.offset = key->layout->offset;
		p.start = random_between(0, key->layout->length - length);
		p.key = key->mkey->lkey;
		p.va = key->iova + p.start;
	} else {
		p.start = LAYOUT_AREA + random_between(0, PLAIN_AREA - length);
		p.key = e->mr->lkey;
		p.va = (uintptr_t)e->memory + p.start;
	}
	return p;
}

static void renew(const struct place *p, uint32_t length)
{
	uint32_t i, at;

	for (i = 0; i < length; i++) {
		at = place_of(p, i);
		p->end->memory[at] = p->end->image[at] = random_number();
	}
}

static void expect_moved(const struct place *from, const struct place *to,
			 uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		to->end->image[place_of(to, i)] =
			from->end->image[place_of(from, i)];
}

static void move_and_compare(enum ibv_wr_opcode opcode,
			     const struct place *local,
			     const struct place *remote, uint32_t length)
{
	const struct ibv_sge sge = { local->va, length, local->key };
	const bool read = opcode == IBV_WR_RDMA_READ;
	const struct place *from = read ? remote : local;
	const struct place *to = read ? local : remote;

	renew(from, length);
	expect_moved(from, to, length);
	if (opcode == IBV_WR_SEND)
		post_recv(&b, (struct ibv_sge){ remote->va, length,
						remote->key });
	CHECK_IS(transfer(opcode, sge, remote->key, remote->va),
		 IBV_WC_SUCCESS);
	if (opcode == IBV_WR_SEND)
		CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
	CHECK(as_expected());
}

static uint32_t shorter(const struct key *ka, const struct key *kb)
{
	const uint32_t la = ka ? ka->layout->length : PLAIN_AREA;
	const uint32_t lb = kb ? kb->layout->length : PLAIN_AREA;

	return la < lb ? la : lb;
}

static void exercise_operation(enum ibv_wr_opcode opcode, const struct key *ka,
			       const struct key *kb)
{
	const uint32_t most = shorter(ka, kb);
	uint32_t round, length;

	for (round = 0; round < 3; round++) {
		struct place local, remote;

		length = round ? random_between(1, most) : most;
		local = random_place(&a, ka, length);
		remote = random_place(&b, kb, length);
		move_and_compare(opcode, &local, &remote, length);
	}
}

void exercise(const struct key *ka, const struct key *kb)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND
	};
	uint32_t i;

	for (i = 0; i < 3; i++) {
		exercise_operation(opcodes[i], ka, kb);
		exercise_operation(opcodes[i], NULL, kb);
		exercise_operation(opcodes[i], ka, NULL);
	}
}
