// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signature regions as kernel clients use them (rules L1 to L8). */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmstat.h>
#include <net/checksum.h>
#include <rdma/rw.h>
#include <rdma/sirocco.h>

#include "region.h"

#define INTERVAL 512
#define STRIDE 520
#define BLOCKS 8
#define DATA (BLOCKS * INTERVAL)
#define TUPLES (BLOCKS * 8)
#define WIRE (BLOCKS * STRIDE)
#define FIRST_REF 0xfffffffe

/* Where the parts lie in the buffer of an end. */
#define AT_DATA 100
#define AT_TUPLES 8192
#define AT_WIRE 16384
#define DATA_SGS 3
#define TUPLE_SGS 2

struct protection {
	const char *name;
	bool in_memory, on_wire;
	bool meta_list; /* though memory may have no tuples */
	enum ib_t10_dif_bg_type guard; /* in memory */
};

/* rdma_rw_*() transfers what is mapped, so the first is not for them. */
#define FIRST_OF_RW 1
static const struct protection protections[] = {
	{ "insert without a list of tuples", false, true, false, IB_T10DIF_CRC },
	{ "insert with a list of tuples", false, true, true, IB_T10DIF_CRC },
	{ "strip", true, false, true, IB_T10DIF_CRC },
	{ "pass", true, true, true, IB_T10DIF_CRC },
	{ "convert", true, true, true, IB_T10DIF_CSUM },
};

#define RW_PROTECTIONS (ARRAY_SIZE(protections) - FIRST_OF_RW)

static const struct protection *const pass = &protections[3];

/* One side's data and tuples as lists of odd pieces. */
struct lists {
	struct scatterlist data[DATA_SGS], tuples[TUPLE_SGS];
};

static void lists_init(struct lists *lists, struct rc_end *end)
{
	u8 *data = end->buffer + AT_DATA, *tuples = end->buffer + AT_TUPLES;

	sg_init_table(lists->data, DATA_SGS);
	sg_set_buf(&lists->data[0], data, 700);
	sg_set_buf(&lists->data[1], data + 700, 1);
	sg_set_buf(&lists->data[2], data + 701, DATA - 701);
	sg_init_table(lists->tuples, TUPLE_SGS);
	sg_set_buf(&lists->tuples[0], tuples, 24);
	sg_set_buf(&lists->tuples[1], tuples + 24, TUPLES - 24);
}

static void fill_domain(struct ib_sig_domain *domain, bool has_tuples,
			enum ib_t10_dif_bg_type guard)
{
	domain->sig_type = has_tuples ? IB_SIG_TYPE_T10_DIF : IB_SIG_TYPE_NONE;
	domain->sig.dif.bg_type = guard;
	domain->sig.dif.pi_interval = INTERVAL;
	domain->sig.dif.ref_tag = FIRST_REF;
	domain->sig.dif.ref_remap = true;
	domain->sig.dif.app_escape = true;
	domain->sig.dif.apptag_check_mask = 0xffff;
}

static void fill_attrs(struct ib_sig_attrs *attrs, const struct protection *p)
{
	memset(attrs, 0, sizeof(*attrs));
	attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG | IB_SIG_CHECK_REFTAG;
	fill_domain(&attrs->mem, p->in_memory, p->guard);
	fill_domain(&attrs->wire, p->on_wire, IB_T10DIF_CRC);
}

/* Bit by bit, as the standard has it. */
static u16 crc_of(const u8 *block)
{
	u16 crc = 0;
	int i, bit;

	for (i = 0; i < INTERVAL; i++) {
		crc ^= block[i] << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x8000 ? 0x8bb7 : 0);
	}
	return crc;
}

static void make_tuple(u8 *tuple, const u8 *block, u32 index, enum ib_t10_dif_bg_type guard)
{
	__be16 word = guard == IB_T10DIF_CRC ? cpu_to_be16(crc_of(block)) :
					       (__force __be16)ip_compute_csum(block, INTERVAL);
	__be32 ref = cpu_to_be32(FIRST_REF + index);

	memcpy(tuple, &word, 2);
	memset(tuple + 2, 0, 2);
	memcpy(tuple + 4, &ref, 4);
}

static void make_tuples(u8 *tuples, const u8 *data, enum ib_t10_dif_bg_type guard)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		make_tuple(tuples + 8 * i, data + INTERVAL * i, i, guard);
}

/* @data as it is on the wire. Return: bytes. */
static u32 make_wire(u8 *wire, const u8 *data, const struct protection *p)
{
	u32 i;

	if (!p->on_wire) {
		memcpy(wire, data, DATA);
		return DATA;
	}
	for (i = 0; i < BLOCKS; i++) {
		memcpy(wire + STRIDE * i, data + INTERVAL * i, INTERVAL);
		make_tuple(wire + STRIDE * i + INTERVAL, data + INTERVAL * i, i, IB_T10DIF_CRC);
	}
	return WIRE;
}

/* A signature region of B by hand. */
struct signature {
	struct ib_mr *mr;
	struct lists lists;
};

static void signature_init(struct kunit *test, struct signature *s, struct rc_end *end)
{
	lists_init(&s->lists, end);
	ib_dma_map_sg(end->dev, s->lists.data, DATA_SGS, DMA_BIDIRECTIONAL);
	ib_dma_map_sg(end->dev, s->lists.tuples, TUPLE_SGS, DMA_BIDIRECTIONAL);
	s->mr = ib_alloc_mr_integrity(end->pd, 256, 256);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->mr));
}

static void signature_exit(struct signature *s)
{
	ib_dereg_mr(s->mr);
}

static int signature_map(struct signature *s)
{
	return ib_map_mr_sg_pi(s->mr, s->lists.data, DATA_SGS, NULL, s->lists.tuples, TUPLE_SGS,
			       NULL, SZ_4K);
}

static struct ib_reg_wr integrity_wr_of(struct ib_mr *mr, u64 wr_id)
{
	return (struct ib_reg_wr){
		.wr = { .wr_id = wr_id, .opcode = IB_WR_REG_MR_INTEGRITY,
			.send_flags = IB_SEND_SIGNALED },
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
}

static void signature_register(struct kunit *test, struct rc_end *end, struct signature *s)
{
	struct ib_reg_wr wr = integrity_wr_of(s->mr, 1000);

	KUNIT_EXPECT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
	expect_wc(test, end->cq, 1000, IB_WC_SUCCESS);
}

static void expect_clean(struct kunit *test, struct ib_mr *mr)
{
	struct ib_mr_status status;

	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status), 0);
	KUNIT_EXPECT_EQ(test, status.fail_status, 0u);
}

/* Where interrupts are off, as a consumer's completion handler may be. */
static void expect_bad(struct kunit *test, struct ib_mr *mr, enum ib_sig_err_type type,
		       u32 block)
{
	struct ib_mr_status status;
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, status.fail_status, (u32)IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, (int)status.sig_err.err_type, (int)type);
	KUNIT_EXPECT_EQ(test, status.sig_err.sig_err_offset, (u64)block * STRIDE);
	KUNIT_EXPECT_EQ(test, status.sig_err.key, mr->rkey);
	expect_clean(test, mr);
}

/* ---- The way of rw.c ---- */

struct rw {
	struct rdma_rw_ctx ctx;
	struct lists lists;
	struct ib_sig_attrs attrs;
	u32 tuple_sgs;
	enum dma_data_direction dir;
};

static void rw_begin(struct kunit *test, struct rw *rw, struct rc_pair *pair,
		     const struct protection *p, enum dma_data_direction dir)
{
	lists_init(&rw->lists, &pair->b);
	fill_attrs(&rw->attrs, p);
	rw->tuple_sgs = p->meta_list ? TUPLE_SGS : 0;
	rw->dir = dir;
	KUNIT_ASSERT_GT(test,
			rdma_rw_ctx_signature_init(&rw->ctx, pair->b.qp, 1, rw->lists.data,
						   DATA_SGS, rw->lists.tuples, rw->tuple_sgs,
						   &rw->attrs, pair->a.addr + AT_WIRE,
						   pair->a.pd->unsafe_global_rkey, dir),
			0);
}

/* The transfer ends well, whatever the blocks are like. */
static void rw_run(struct kunit *test, struct rw *rw, struct rc_pair *pair)
{
	struct ib_cqe cqe = {};
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_post(&rw->ctx, pair->b.qp, 1, &cqe, NULL), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_PTR_EQ(test, wc.wr_cqe, &cqe);
	KUNIT_EXPECT_STREQ(test, ib_wc_status_msg(wc.status), ib_wc_status_msg(IB_WC_SUCCESS));
}

static void rw_end(struct rw *rw, struct rc_pair *pair)
{
	rdma_rw_ctx_destroy_signature(&rw->ctx, pair->b.qp, 1, rw->lists.data, DATA_SGS,
				      rw->lists.tuples, rw->tuple_sgs, rw->dir);
}

static void wipe(struct rc_pair *pair)
{
	memset(pair->a.buffer, 0xcc, PAIR_BUFFER);
	memset(pair->b.buffer, 0xcc, PAIR_BUFFER);
}

static void rdma_rw__writes_every_protection(struct kunit *test)
{
	u8 *expected = kunit_kzalloc(test, WIRE, GFP_KERNEL);
	struct rc_pair *pair = test->priv;
	u32 i, length;
	struct rw rw;

	for (i = 0; i < 3 * RW_PROTECTIONS; i++) {
		const struct protection *p = &protections[FIRST_OF_RW + i % RW_PROTECTIONS];
		u8 *data = pair->b.buffer + AT_DATA;

		wipe(pair);
		fill_pattern(data, DATA, 3 + i);
		make_tuples(pair->b.buffer + AT_TUPLES, data, p->guard);
		length = make_wire(expected, data, p);
		rw_begin(test, &rw, pair, p, DMA_TO_DEVICE);
		rw_run(test, &rw, pair);
		expect_clean(test, rw.ctx.reg->mr);
		rw_end(&rw, pair);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(pair->a.buffer + AT_WIRE, expected, length), 0,
				    "%s", p->name);
		KUNIT_EXPECT_EQ(test, pair->a.buffer[AT_WIRE + length], 0xcc);
	}
}

static void rdma_rw__reads_every_protection(struct kunit *test)
{
	u8 *data = kunit_kzalloc(test, DATA + TUPLES, GFP_KERNEL), *tuples = data + DATA;
	struct rc_pair *pair = test->priv;
	struct rw rw;
	u32 i;

	for (i = 0; i < 3 * RW_PROTECTIONS; i++) {
		const struct protection *p = &protections[FIRST_OF_RW + i % RW_PROTECTIONS];
		u8 *got = pair->b.buffer;

		wipe(pair);
		fill_pattern(data, DATA, 3 + i);
		make_tuples(tuples, data, p->guard);
		make_wire(pair->a.buffer + AT_WIRE, data, p);
		rw_begin(test, &rw, pair, p, DMA_FROM_DEVICE);
		rw_run(test, &rw, pair);
		expect_clean(test, rw.ctx.reg->mr);
		rw_end(&rw, pair);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(got + AT_DATA, data, DATA), 0, "%s", p->name);
		if (p->in_memory)
			KUNIT_EXPECT_EQ_MSG(test, memcmp(got + AT_TUPLES, tuples, TUPLES), 0,
					    "%s", p->name);
		else
			KUNIT_EXPECT_NULL(test, memchr_inv(got + AT_TUPLES, 0xcc, TUPLES));
	}
}

static const struct {
	u32 at;
	enum ib_sig_err_type type;
} damages[] = {
	{ 0, IB_SIG_BAD_GUARD },
	{ 511, IB_SIG_BAD_GUARD },
	{ 512, IB_SIG_BAD_GUARD },
	{ 514, IB_SIG_BAD_APPTAG },
	{ 519, IB_SIG_BAD_REFTAG },
};

/* The key has changed, though the region has not been registered. */
static void rdma_rw__after_a_refused_post(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_cqe cqe = {};
	struct rw rw;

	wipe(pair);
	rw_begin(test, &rw, pair, &protections[0], DMA_TO_DEVICE);
	rw.ctx.reg->mr->sig_attrs->mem.sig_type = 7;
	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_post(&rw.ctx, pair->b.qp, 1, &cqe, NULL), -EINVAL);
	rw_end(&rw, pair);

	rw_begin(test, &rw, pair, &protections[0], DMA_TO_DEVICE);
	rw_run(test, &rw, pair);
	expect_clean(test, rw.ctx.reg->mr);
	rw_end(&rw, pair);
}

/* No completion in error: only the status tells. */
static void rdma_rw__bad_blocks(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	u8 *data = pair->b.buffer + AT_DATA;
	struct rw rw;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		wipe(pair);
		fill_pattern(data, DATA, i);
		make_wire(pair->a.buffer + AT_WIRE, data, pass);
		pair->a.buffer[AT_WIRE + 5 * STRIDE + damages[i].at] ^= 0x10;
		pair->a.buffer[AT_WIRE + 6 * STRIDE] ^= 0x10; /* a later one is not told of */
		rw_begin(test, &rw, pair, pass, DMA_FROM_DEVICE);
		rw_run(test, &rw, pair);
		expect_bad(test, rw.ctx.reg->mr, damages[i].type, 5);
		rw_end(&rw, pair);
	}
}

/* ---- By hand ---- */

/* The peer writes blocks into a region of B, the last but one with a bad guard. */
static void write_bad_blocks(struct kunit *test, struct rc_pair *pair, struct signature *s)
{
	u8 *data = pair->b.buffer + AT_DATA;

	fill_pattern(data, DATA, 9);
	make_wire(pair->a.buffer, data, pass);
	pair->a.buffer[(BLOCKS - 2) * STRIDE] ^= 1;
	remote_write(test, pair, s->mr->iova, s->mr->rkey, WIRE, IB_WC_SUCCESS);
}

/* A region of B into which the peer has written them. */
static void signature_with_bad_blocks(struct kunit *test, struct signature *s)
{
	struct rc_pair *pair = test->priv;

	signature_init(test, s, &pair->b);
	KUNIT_EXPECT_EQ(test, signature_map(s), 0);
	fill_attrs(s->mr->sig_attrs, pass);
	signature_register(test, &pair->b, s);
	write_bad_blocks(test, pair, s);
}

/* Attributes come after the mapping, with a memset that wipes the metadata's length. */
static void map__attributes_follow(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	u8 *data = pair->b.buffer + AT_DATA;
	u8 *expected = kunit_kzalloc(test, WIRE, GFP_KERNEL);
	struct signature s;

	signature_init(test, &s, &pair->b);
	fill_pattern(data, DATA, 5);
	make_tuples(pair->b.buffer + AT_TUPLES, data, IB_T10DIF_CRC);
	make_wire(expected, data, pass);
	KUNIT_EXPECT_EQ(test, signature_map(&s), 0);
	KUNIT_EXPECT_EQ(test, s.mr->length, (u64)DATA + TUPLES);
	KUNIT_EXPECT_EQ(test, s.mr->sig_attrs->meta_length, TUPLES);
	fill_attrs(s.mr->sig_attrs, pass);
	signature_register(test, &pair->b, &s);
	/* Nor do they matter any more. */
	memset(s.mr->sig_attrs, 0, sizeof(*s.mr->sig_attrs));
	remote_read(test, pair, s.mr->iova, s.mr->rkey, WIRE, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(pair->a.buffer, expected, WIRE), 0);
	expect_clean(test, s.mr);
	signature_exit(&s);
}

static void status__survives_invalidations(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_send_wr send = {
		.wr_id = 3,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct signature s;
	int remote;

	signature_init(test, &s, &pair->b);
	for (remote = 0; remote < 2; remote++) {
		KUNIT_EXPECT_EQ(test, signature_map(&s), 0);
		fill_attrs(s.mr->sig_attrs, pass);
		ib_update_fast_reg_key(s.mr, ib_inc_rkey(s.mr->rkey));
		signature_register(test, &pair->b, &s);
		write_bad_blocks(test, pair, &s);
		if (remote) {
			send.ex.invalidate_rkey = s.mr->rkey;
			KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 4, 0, 0), 0);
			KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &send, NULL), 0);
			expect_wc(test, pair->a.cq, 3, IB_WC_SUCCESS);
			expect_wc(test, pair->b.cq, 4, IB_WC_SUCCESS);
		} else {
			invalidate(test, &pair->b, s.mr->rkey);
		}
		expect_bad(test, s.mr, IB_SIG_BAD_GUARD, BLOCKS - 2);
	}
	signature_exit(&s);
}

static void status__registration_forgets_it(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct signature s;

	signature_with_bad_blocks(test, &s);
	invalidate(test, &pair->b, s.mr->rkey);
	KUNIT_EXPECT_EQ(test, signature_map(&s), 0);
	signature_register(test, &pair->b, &s);
	expect_clean(test, s.mr);
	signature_exit(&s);
}

/* Of an error that another key has seen no more is known than that. */
static void status__key_has_changed(struct kunit *test)
{
	struct signature s;

	signature_with_bad_blocks(test, &s);
	ib_update_fast_reg_key(s.mr, ib_inc_rkey(s.mr->rkey));
	expect_bad(test, s.mr, IB_SIG_BAD_GUARD, 0);
	signature_exit(&s);
}

static void status__bad_calls(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_mr *plain = ib_alloc_mr(pair->b.pd, IB_MR_TYPE_MEM_REG, 4);
	struct ib_mr_status status;
	struct signature s;

	KUNIT_ASSERT_FALSE(test, IS_ERR(plain));
	signature_init(test, &s, &pair->b);
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(s.mr, 2, &status), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(plain, IB_MR_CHECK_SIG_STATUS, &status),
			-EINVAL);
	expect_clean(test, s.mr);
	ib_dereg_mr(plain);
	signature_exit(&s);
}

static void expect_refused(struct kunit *test, struct ib_qp *qp, struct ib_reg_wr wr)
{
	const struct ib_send_wr *bad = NULL;

	KUNIT_EXPECT_EQ(test, ib_post_send(qp, &wr.wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr.wr);
}

static void reg_mr_integrity__refused_at_once(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_t10_dif_domain *wire;
	struct rc_end plain;
	struct signature s;
	struct ib_reg_wr wr;

	signature_init(test, &s, &pair->b);
	wire = &s.mr->sig_attrs->wire.sig.dif;
	fill_attrs(s.mr->sig_attrs, pass);
	wr = integrity_wr_of(s.mr, 1);
	expect_refused(test, pair->b.qp, wr); /* nothing is mapped */

	KUNIT_EXPECT_EQ(test, signature_map(&s), 0);
	fill_attrs(s.mr->sig_attrs, pass);
	wr.wr.num_sge = 1;
	expect_refused(test, pair->b.qp, wr);
	wr.wr.num_sge = 0;
	wr.access |= IB_ACCESS_REMOTE_ATOMIC;
	expect_refused(test, pair->b.qp, wr);
	wr.access = IB_ACCESS_LOCAL_WRITE;
	wr.key += 0x100;
	expect_refused(test, pair->b.qp, wr);
	wr.key -= 0x100;
	wire->pi_interval = 0;
	expect_refused(test, pair->b.qp, wr);
	wire->pi_interval = INTERVAL + 4;
	expect_refused(test, pair->b.qp, wr);
	wire->pi_interval = INTERVAL + 8; /* no divisor of the data */
	expect_refused(test, pair->b.qp, wr);
	wire->pi_interval = INTERVAL;
	s.mr->sig_attrs->mem.sig_type = 7;
	expect_refused(test, pair->b.qp, wr);
	s.mr->sig_attrs->mem.sig_type = IB_SIG_TYPE_T10_DIF;

	KUNIT_ASSERT_EQ(test, rc_end_open(&plain, PAIR_LINK_B), 0);
	expect_refused(test, plain.qp, wr);
	rc_end_close(&plain);

	signature_register(test, &pair->b, &s);
	signature_exit(&s);
}

static void alloc_mr_integrity__bad_arguments(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	u32 max = pair->b.dev->attrs.max_pi_fast_reg_page_list_len;
	struct signature s;

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pair->b.pd, 0, 1)), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pair->b.pd, max + 1, 1)),
			(long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pair->b.pd, 1, max + 1)),
			(long)-EINVAL);
	signature_init(test, &s, &pair->b);
	signature_exit(&s);
	s.mr = ib_alloc_mr_integrity(pair->b.pd, DATA_SGS, TUPLE_SGS - 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s.mr));
	KUNIT_EXPECT_EQ(test, signature_map(&s), -EINVAL);
	signature_exit(&s);
}

/* The verbs as they were in 2014: one MR each holds data and tuples. */
static void reg_sig_mr__by_its_old_name(struct kunit *test)
{
	struct ib_mr_init_attr init = { .max_reg_descriptors = 2, .flags = IB_MR_SIGNATURE_EN };
	u8 *expected = kunit_kzalloc(test, WIRE, GFP_KERNEL);
	struct rc_pair *pair = test->priv;
	u8 *data = pair->b.buffer + AT_DATA;
	struct ib_sge data_sge = local_sge(&pair->b, AT_DATA, DATA);
	struct ib_sge prot = local_sge(&pair->b, AT_TUPLES, TUPLES);
	struct ib_sig_attrs attrs;
	struct ib_sig_handover_wr wr = {
		.wr = { .wr_id = 5, .opcode = IB_WR_REG_SIG_MR, .sg_list = &data_sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED },
		.sig_attrs = &attrs,
		.sig_mr = ib_create_mr(pair->b.pd, &init),
		.access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
				IB_ACCESS_REMOTE_WRITE,
		.prot = &prot,
	};

	KUNIT_ASSERT_FALSE(test, IS_ERR(wr.sig_mr));
	fill_attrs(&attrs, pass);
	fill_pattern(data, DATA, 5);
	make_tuples(pair->b.buffer + AT_TUPLES, data, IB_T10DIF_CRC);
	make_wire(expected, data, pass);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 5, IB_WC_SUCCESS);
	remote_read(test, pair, 0, wr.sig_mr->rkey, WIRE, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(pair->a.buffer, expected, WIRE), 0);
	expect_clean(test, wr.sig_mr);

	expected[3 * STRIDE + 519] ^= 1;
	memcpy(pair->a.buffer, expected, WIRE);
	remote_write(test, pair, 0, wr.sig_mr->rkey, WIRE, IB_WC_SUCCESS);
	expect_bad(test, wr.sig_mr, IB_SIG_BAD_REFTAG, 3);

	/* Without memory for tuples they are made on the way. */
	invalidate(test, &pair->b, wr.sig_mr->rkey);
	fill_attrs(&attrs, &protections[0]);
	wr.prot = NULL;
	make_wire(expected, data, pass);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 5, IB_WC_SUCCESS);
	remote_read(test, pair, 0, wr.sig_mr->rkey, WIRE, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(pair->a.buffer, expected, WIRE), 0);
	ib_dereg_mr(wr.sig_mr);
}

#define IDLE_MRS 1000
/* The object of 512 bytes at most, the attributes, the number and what sanitizers add. */
#define IDLE_BYTES 4096

/* Pools hold thousands: what they may map some day costs nothing now. */
static void alloc_mr_integrity__idle_memory(struct kunit *test)
{
	struct ib_mr **mrs = kunit_kcalloc(test, IDLE_MRS, sizeof(*mrs), GFP_KERNEL);
	struct rc_pair *pair = test->priv;
	long before, bytes;
	int i;

	before = global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
	for (i = 0; i < IDLE_MRS; i++) {
		mrs[i] = ib_alloc_mr_integrity(pair->b.pd, 2048, 2048);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mrs[i]));
	}
	bytes = (global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B) - before) * PAGE_SIZE /
		IDLE_MRS;
	while (i)
		ib_dereg_mr(mrs[--i]);
	kunit_info(test, "an idle signature MR takes %ld bytes of slabs", bytes);
	KUNIT_EXPECT_LT(test, bytes, (long)IDLE_BYTES);
}

static struct kunit_case signature_cases[] = {
	KUNIT_CASE(rdma_rw__writes_every_protection),
	KUNIT_CASE(rdma_rw__reads_every_protection),
	KUNIT_CASE(rdma_rw__bad_blocks),
	KUNIT_CASE(rdma_rw__after_a_refused_post),
	KUNIT_CASE(map__attributes_follow),
	KUNIT_CASE(status__survives_invalidations),
	KUNIT_CASE(status__registration_forgets_it),
	KUNIT_CASE(status__key_has_changed),
	KUNIT_CASE(status__bad_calls),
	KUNIT_CASE(reg_mr_integrity__refused_at_once),
	KUNIT_CASE(alloc_mr_integrity__bad_arguments),
	KUNIT_CASE(reg_sig_mr__by_its_old_name),
	KUNIT_CASE(alloc_mr_integrity__idle_memory),
	{}
};

static struct kunit_suite signature_suite = {
	.name = "siro_signature",
	.init = rc_pair_init_integrity,
	.exit = rc_pair_exit,
	.test_cases = signature_cases,
};

kunit_test_suite(signature_suite);
