// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Indirect registration by the verbs of rdma/sirocco.h. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/sirocco.h>

#include "indirect_ulp.h"
#include "region.h"

#define LIST_ENTRIES 3
#define LIST_LENGTH (7 + 511 + 1500)
#define LIST_IOVA 0x1234567890abcdefull
#define ALL_RIGHTS                                                                         \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |          \
	 IB_ACCESS_REMOTE_ATOMIC)

/* Where the entries lie in the buffer of an end. */
static const struct {
	u32 offset, length;
} layout[LIST_ENTRIES] = { { 5003, 7 }, { 1, 511 }, { 70000, 1500 } };

struct indirect {
	struct ib_mr *mr;
	struct ib_indir_reg_list *list;
};

static void indirect_exit(struct indirect *in)
{
	if (!IS_ERR_OR_NULL(in->mr))
		ib_dereg_mr(in->mr);
	if (!IS_ERR_OR_NULL(in->list))
		ib_free_indir_reg_list(in->list);
}

/* Three entries of the buffer of @end, not in order. */
static void indirect_init(struct kunit *test, struct indirect *in, struct rc_end *end)
{
	struct ib_mr_init_attr attr = { .max_reg_descriptors = 4, .flags = IB_MR_INDIRECT_REG };
	int i;

	in->mr = ib_create_mr(end->pd, &attr);
	in->list = ib_alloc_indir_reg_list(end->dev, 8);
	if (IS_ERR(in->mr) || IS_ERR(in->list)) {
		indirect_exit(in);
		KUNIT_ASSERT_TRUE_MSG(test, false, "no indirect region");
	}
	for (i = 0; i < LIST_ENTRIES; i++)
		in->list->sg_list[i] = local_sge(end, layout[i].offset, layout[i].length);
}

static struct ib_indir_reg_wr indir_wr_of(struct indirect *in, u64 wr_id)
{
	return (struct ib_indir_reg_wr){
		.wr = { .wr_id = wr_id, .opcode = IB_WR_REG_INDIR_MR,
			.send_flags = IB_SEND_SIGNALED },
		.iova_start = LIST_IOVA,
		.indir_list = in->list,
		.indir_list_len = LIST_ENTRIES,
		.length = LIST_LENGTH,
		.access_flags = ALL_RIGHTS,
		.mkey = in->mr->rkey,
	};
}

static void register_list(struct kunit *test, struct rc_end *end, struct indirect *in)
{
	struct ib_indir_reg_wr wr = indir_wr_of(in, 1000);

	KUNIT_EXPECT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
	expect_wc(test, end->cq, 1000, IB_WC_SUCCESS);
}

/* The entries, one after the other, hold what is at @data. */
static bool list_holds(struct rc_end *end, const u8 *data)
{
	int i;

	for (i = 0; i < LIST_ENTRIES; i++) {
		if (memcmp(end->buffer + layout[i].offset, data, layout[i].length))
			return false;
		data += layout[i].length;
	}
	return true;
}

static void expect_written(struct kunit *test, struct rc_pair *pair, u64 iova, u32 key, u8 seed)
{
	fill_pattern(pair->a.buffer, LIST_LENGTH, seed);
	remote_write(test, pair, iova, key, LIST_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, list_holds(&pair->b, pair->a.buffer));
}

/* B's responder falls with it: the last access of a test. */
static void expect_no_access(struct kunit *test, struct rc_pair *pair, u32 key)
{
	memset(pair->b.buffer, 0xcc, PAIR_BUFFER);
	remote_write(test, pair, LIST_IOVA, key, LIST_LENGTH, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(pair->b.buffer, 0xcc, PAIR_BUFFER));
}

/* ---- The flow of eight steps ---- */

static void eight_steps__example_ulp(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ulp_target target = { pair->b.addr, pair->b.pd->unsafe_global_rkey };
	struct ulp_buffer buffers[LIST_ENTRIES];
	int i, round;

	for (i = 0; i < LIST_ENTRIES; i++)
		buffers[i] = (struct ulp_buffer){ pair->a.buffer + layout[i].offset,
						  layout[i].length };
	for (round = 0; round < 3; round++) {
		fill_pattern(pair->a.buffer, PAIR_BUFFER, round);
		memset(pair->b.buffer, 0, PAIR_BUFFER);
		KUNIT_EXPECT_EQ(test, indirect_ulp_write(pair->a.qp, pair->a.cq, buffers,
							 LIST_ENTRIES, &target), 0);
		KUNIT_EXPECT_TRUE(test, list_holds(&pair->a, pair->b.buffer));
		KUNIT_EXPECT_EQ(test, pair->b.buffer[LIST_LENGTH], 0);
	}
}

static void reg_indir__signaled(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct indirect in;
	struct ib_wc wc;

	indirect_init(test, &in, &pair->b);
	wr = indir_wr_of(&in, 77);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 77);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_REG_INDIR_MR);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, pair->b.qp);
	expect_written(test, pair, LIST_IOVA, in.mr->rkey, 3);

	memset(pair->a.buffer, 0, LIST_LENGTH);
	remote_read(test, pair, LIST_IOVA, in.mr->rkey, LIST_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->a.buffer, LIST_LENGTH, 3));
	indirect_exit(&in);
}

/* Registration and use in one list; only the use completes. */
static void reg_indir__unsignaled_and_chained(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct ib_sge sge;
	struct ib_send_wr send = {
		.wr_id = 5,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct indirect in;

	indirect_init(test, &in, &pair->a);
	fill_pattern(pair->a.buffer, PAIR_BUFFER, 9);
	wr = indir_wr_of(&in, 0);
	wr.wr.send_flags = 0;
	wr.wr.next = &send;
	wr.mkey = ib_inc_rkey(in.mr->rkey);
	sge = (struct ib_sge){ LIST_IOVA, LIST_LENGTH, wr.mkey };
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 6, 0, LIST_LENGTH), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 6, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 5, IB_WC_SUCCESS);
	expect_no_wc(test, pair->a.cq);
	KUNIT_EXPECT_TRUE(test, list_holds(&pair->a, pair->b.buffer));
	indirect_exit(&in);
}

/* Posting copies the list. */
static void reg_indir__list_freed_after_the_post(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	wr = indir_wr_of(&in, 1000);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	memset(in.list->sg_list, 0xff, LIST_ENTRIES * sizeof(*in.list->sg_list));
	ib_free_indir_reg_list(in.list);
	in.list = NULL;
	memset(&wr, 0xff, sizeof(wr));
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);
	expect_written(test, pair, LIST_IOVA, in.mr->rkey, 4);
	indirect_exit(&in);
}

static void reg_indir__length_below_the_sum_hides_the_rest(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	wr = indir_wr_of(&in, 1000);
	wr.length = LIST_LENGTH - 1;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, LIST_LENGTH - 1, IB_WC_SUCCESS);
	memset(pair->b.buffer, 0xcc, PAIR_BUFFER);
	remote_write(test, pair, LIST_IOVA + LIST_LENGTH - 1, in.mr->rkey, 1, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(pair->b.buffer, 0xcc, PAIR_BUFFER));
	indirect_exit(&in);
}

static void reg_indir__while_registered(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	register_list(test, &pair->b, &in);
	wr = indir_wr_of(&in, 1001);
	wr.mkey = ib_inc_rkey(in.mr->rkey);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1001, IB_WC_MW_BIND_ERR);
	indirect_exit(&in);
}

/* ---- What an entry names ---- */

/* A list of which entry 1 is the first page of a fast-registration region. */
static void list_region(struct kunit *test, struct rc_pair *pair, struct indirect *in,
			struct region *below)
{
	indirect_init(test, in, &pair->b);
	region_init(test, below, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0x42);
	KUNIT_EXPECT_EQ(test, region_map(below, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, below->mr);
	in->list->sg_list[1].addr = below->mr->iova + 3;
	in->list->sg_list[1].lkey = below->mr->lkey;
	register_list(test, &pair->b, in);
	fill_pattern(pair->a.buffer, LIST_LENGTH, 6);
	remote_write(test, pair, LIST_IOVA, in->mr->rkey, LIST_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(byte_of(below, 0, 3), pair->a.buffer + 7, 511), 0);
	KUNIT_EXPECT_EQ(test, *byte_of(below, 0, 2), 0x42);
	KUNIT_EXPECT_EQ(test, *byte_of(below, 0, 514), 0x42);
}

static void access__below_deregistered(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region below;
	struct indirect in;

	list_region(test, pair, &in, &below);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(below.mr), 0);
	below.mr = NULL;
	region_exit(&below);
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, LIST_LENGTH, IB_WC_REM_ACCESS_ERR);
	indirect_exit(&in);
}

static void access__below_invalidated(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region below;
	struct indirect in;

	list_region(test, pair, &in, &below);
	invalidate(test, &pair->b, below.mr->lkey);
	/* What lies before the entry can be reached. */
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, 7, IB_WC_SUCCESS);
	memset(byte_of(&below, 0, 0), 0x42, PAGE_SIZE);
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, 8, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&below, 0, 3), 0x42);
	indirect_exit(&in);
	region_exit(&below);
}

static void access__below_registered_under_another_key(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region below;
	struct indirect in;

	list_region(test, pair, &in, &below);
	invalidate(test, &pair->b, below.mr->lkey);
	ib_update_fast_reg_key(below.mr, ib_inc_rkey(below.mr->rkey));
	KUNIT_EXPECT_EQ(test, region_map(&below, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, below.mr);
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, LIST_LENGTH, IB_WC_REM_ACCESS_ERR);
	indirect_exit(&in);
	region_exit(&below);
}

/* At this end it is a protection error. */
static void access__below_gone_and_used_locally(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region below;
	struct indirect in;
	struct ib_sge sge;
	struct ib_send_wr send = {
		.wr_id = 5,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	list_region(test, pair, &in, &below);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(below.mr), 0);
	below.mr = NULL;
	sge = (struct ib_sge){ LIST_IOVA, LIST_LENGTH, in.mr->lkey };
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &send, NULL), 0);
	expect_wc(test, pair->b.cq, 5, IB_WC_LOC_PROT_ERR);
	indirect_exit(&in);
	region_exit(&below);
}

/* A key that nobody has may be listed; it is looked up when it is used. */
static void access__below_unknown(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	in.list->sg_list[0].lkey = 0xffffff00;
	register_list(test, &pair->b, &in);
	expect_no_access(test, pair, in.mr->rkey);
	indirect_exit(&in);
}

static void access__below_grants_no_local_write(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region below;
	struct indirect in;
	struct ib_reg_wr wr;

	indirect_init(test, &in, &pair->b);
	region_init(test, &below, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0x42);
	KUNIT_EXPECT_EQ(test, region_map(&below, 0, 1, 0, PAGE_SIZE), 1);
	wr = reg_wr_of(below.mr, 1000);
	wr.access = 0;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);
	in.list->sg_list[0] = (struct ib_sge){ below.mr->iova, 7, below.mr->lkey };
	register_list(test, &pair->b, &in);
	/* A remote read needs a right of the indirect region only. */
	remote_read(test, pair, LIST_IOVA, in.mr->rkey, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, pair->a.buffer[6], 0x42);
	memset(pair->a.buffer, 0, 7);
	remote_write(test, pair, LIST_IOVA, in.mr->rkey, 7, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&below, 0, 0), 0x42);
	indirect_exit(&in);
	region_exit(&below);
}

/* ---- Atomics ---- */

static void atomic__in_one_entry_and_across_two(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	u64 *word = (u64 *)(pair->b.buffer + 8), *result = (u64 *)pair->a.buffer;
	struct ib_indir_reg_wr wr;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	in.list->sg_list[0] = local_sge(&pair->b, 0, 16);
	in.list->sg_list[1] = local_sge(&pair->b, 100, 4);
	in.list->sg_list[2] = local_sge(&pair->b, 200, 4);
	wr = indir_wr_of(&in, 1000);
	wr.iova_start = 0x1000;
	wr.length = 24;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);

	/* The region of all memory does not grant atomics, the list does. */
	*word = 40;
	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_FETCH_AND_ADD, 1, 0x1008, in.mr->rkey,
					  2, 0), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *word, 42);
	KUNIT_EXPECT_EQ(test, *result, 40);

	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_FETCH_AND_ADD, 2, 0x1010, in.mr->rkey,
					  2, 0), 0);
	expect_wc(test, pair->a.cq, 2, IB_WC_REM_INV_REQ_ERR);
	indirect_exit(&in);
}

/* ---- Invalidation ---- */

static void local_inv__access_is_over(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct indirect in;
	u32 old;

	indirect_init(test, &in, &pair->b);
	register_list(test, &pair->b, &in);
	old = in.mr->rkey;
	invalidate(test, &pair->b, old);
	ib_update_fast_reg_key(in.mr, ib_inc_rkey(old));
	register_list(test, &pair->b, &in);
	expect_written(test, pair, LIST_IOVA, in.mr->rkey, 5);
	expect_no_access(test, pair, old);
	indirect_exit(&in);
}

static void send_with_inv__access_is_over(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_sge sge = local_sge(&pair->a, 0, 64);
	struct ib_send_wr wr = {
		.wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct indirect in;
	struct ib_wc wc;

	indirect_init(test, &in, &pair->b);
	register_list(test, &pair->b, &in);
	wr.ex.invalidate_rkey = in.mr->rkey;
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 4, 0, 64), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &wr, NULL), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, in.mr->rkey);
	expect_wc(test, pair->a.cq, 3, IB_WC_SUCCESS);
	expect_no_access(test, pair, in.mr->rkey);
	indirect_exit(&in);
}

static void dereg_mr__while_registered(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct indirect in;
	u32 key;

	indirect_init(test, &in, &pair->b);
	register_list(test, &pair->b, &in);
	key = in.mr->rkey;
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(in.mr), 0);
	in.mr = NULL;
	expect_no_access(test, pair, key);
	indirect_exit(&in);
}

/* ---- What ib_post_send() refuses ---- */

struct post_error {
	const char *what;
	void (*spoil)(struct ib_indir_reg_wr *wr, struct rc_pair *pair);
};

static void spoil_no_list(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list = NULL;
}

static void spoil_no_entries(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list_len = 0;
}

/* The region takes four, the list has room for eight. */
static void spoil_above_capacity(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list_len = 5;
}

static void spoil_above_list_length(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list->max_indir_list_len = 2;
}

static void spoil_no_length(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->length = 0;
}

static void spoil_length_above_sum(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->length = LIST_LENGTH + 1;
}

static void spoil_empty_list(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	int i;

	for (i = 0; i < LIST_ENTRIES; i++)
		wr->indir_list->sg_list[i].length = 0;
}

static void spoil_iova_wraps(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->iova_start = 0ull - LIST_LENGTH + 1;
}

static void spoil_entry_wraps(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list->sg_list[1].addr = 0ull - 100;
}

static void spoil_inline(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->wr.send_flags |= IB_SEND_INLINE;
}

static void spoil_write_without_local(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->access_flags = IB_ACCESS_REMOTE_WRITE;
}

static void spoil_atomic_without_local(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->access_flags = IB_ACCESS_REMOTE_ATOMIC;
}

static void spoil_unknown_right(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->access_flags |= IB_ACCESS_MW_BIND;
}

static void spoil_unknown_mkey(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->mkey = 0xffffff00;
}

static void spoil_direct_mkey(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->mkey = pair->b.pd->local_dma_lkey;
}

static void spoil_nested(struct ib_indir_reg_wr *wr, struct rc_pair *pair)
{
	wr->indir_list->sg_list[2].lkey = wr->mkey;
}

static const struct post_error post_errors[] = {
	{ "no list", spoil_no_list },
	{ "no entries", spoil_no_entries },
	{ "more than the region takes", spoil_above_capacity },
	{ "more than the list holds", spoil_above_list_length },
	{ "length 0", spoil_no_length },
	{ "length above the sum", spoil_length_above_sum },
	{ "entries without a byte", spoil_empty_list },
	{ "iova that wraps", spoil_iova_wraps },
	{ "entry that wraps", spoil_entry_wraps },
	{ "inline", spoil_inline },
	{ "remote write without local write", spoil_write_without_local },
	{ "remote atomic without local write", spoil_atomic_without_local },
	{ "unknown right", spoil_unknown_right },
	{ "unknown mkey", spoil_unknown_mkey },
	{ "mkey that is not indirect", spoil_direct_mkey },
	{ "indirect in indirect", spoil_nested },
};

/* The WR before it is posted, it is not, nor the one behind it. */
static void expect_post_error(struct kunit *test, struct rc_pair *pair,
			      const struct post_error *error)
{
	struct ib_sge sge = local_sge(&pair->b, 0, 8);
	struct ib_rdma_wr first = {
		.wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = pair->a.addr,
		.rkey = pair->a.pd->unsafe_global_rkey,
	};
	struct ib_rdma_wr last = first;
	const struct ib_send_wr *bad = NULL;
	struct ib_indir_reg_wr wr;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	wr = indir_wr_of(&in, 2);
	error->spoil(&wr, pair);
	first.wr.next = &wr.wr;
	wr.wr.next = &last.wr;
	last.wr.wr_id = 3;
	KUNIT_EXPECT_EQ_MSG(test, ib_post_send(pair->b.qp, &first.wr, &bad), -EINVAL, "%s",
			    error->what);
	KUNIT_EXPECT_PTR_EQ_MSG(test, bad, (const struct ib_send_wr *)&wr.wr, "%s", error->what);
	expect_wc(test, pair->b.cq, 1, IB_WC_SUCCESS);
	expect_no_wc(test, pair->b.cq);

	/* The queue pair and the region are as good as before. */
	wr = indir_wr_of(&in, 4);
	in.list->max_indir_list_len = 8;
	in.list->sg_list[0] = local_sge(&pair->b, 0, LIST_LENGTH);
	wr.indir_list_len = 1;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 4, IB_WC_SUCCESS);
	indirect_exit(&in);
}

static void post_send__each_error(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(post_errors); i++)
		expect_post_error(test, test->priv, &post_errors[i]);
}

/* A region of another PD, and an entry that names one. */
static void post_send__another_protection_domain(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_pd *other = ib_alloc_pd(pair->b.dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	const struct ib_send_wr *bad = NULL;
	struct ib_indir_reg_wr wr;
	struct indirect in;
	struct ib_mr *mr;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	mr = ib_alloc_mr(other, SIRO_MR_TYPE_INDIRECT, 4);
	KUNIT_EXPECT_FALSE(test, IS_ERR(mr));
	indirect_init(test, &in, &pair->b);
	wr = indir_wr_of(&in, 2);
	wr.mkey = mr->rkey;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr.wr);

	wr = indir_wr_of(&in, 3);
	in.list->sg_list[1].lkey = other->local_dma_lkey;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, &bad), -EINVAL);
	expect_no_wc(test, pair->b.cq);
	indirect_exit(&in);
	ib_dereg_mr(mr);
	ib_dealloc_pd(other);
}

/* ---- Registrations that never run ---- */

static int to_error(struct rc_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
}

static void reg_indir__flushed(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr wr;
	struct indirect in;
	int i;

	indirect_init(test, &in, &pair->b);
	KUNIT_EXPECT_EQ(test, to_error(&pair->b), 0);
	for (i = 0; i < 8; i++) {
		wr = indir_wr_of(&in, i);
		KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
		expect_wc(test, pair->b.cq, i, IB_WC_WR_FLUSH_ERR);
	}
	indirect_exit(&in);
}

/* An end with a READ that is never answered: it holds back what has a fence. */
static void open_end_that_waits(struct kunit *test, struct rc_end *end)
{
	struct rc_pair *pair = test->priv;
	struct rc_end nobody = pair->a;
	struct ib_qp gone = { .qp_num = 0xfffff0 };

	nobody.qp = &gone;
	KUNIT_ASSERT_EQ(test, rc_end_open(end, PAIR_LINK_B), 0);
	KUNIT_EXPECT_EQ(test, rc_connect(end, &nobody), 0);
	KUNIT_EXPECT_EQ(test, post_rdma(end, IB_WR_RDMA_READ, 1, 0, 8, pair->a.addr,
					pair->a.pd->unsafe_global_rkey), 0);
}

static void post_behind_the_fence(struct kunit *test, struct rc_end *end, struct indirect *in)
{
	struct ib_indir_reg_wr wr = indir_wr_of(in, 2);

	wr.wr.send_flags |= IB_SEND_FENCE;
	KUNIT_EXPECT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
}

static void destroy_qp__with_registrations_that_wait(struct kunit *test)
{
	struct indirect in;
	struct rc_end end;
	int i;

	open_end_that_waits(test, &end);
	indirect_init(test, &in, &end);
	for (i = 0; i < 8; i++)
		post_behind_the_fence(test, &end, &in);
	indirect_exit(&in);
	rc_end_close(&end);
}

/* The consumer frees the region before its registration runs. */
static void reg_indir__flushed_after_its_region_is_gone(struct kunit *test)
{
	struct indirect in;
	struct rc_end end;

	open_end_that_waits(test, &end);
	indirect_init(test, &in, &end);
	post_behind_the_fence(test, &end, &in);
	indirect_exit(&in);
	KUNIT_EXPECT_EQ(test, to_error(&end), 0);
	expect_wc(test, end.cq, 1, IB_WC_WR_FLUSH_ERR);
	expect_wc(test, end.cq, 2, IB_WC_WR_FLUSH_ERR);
	rc_end_close(&end);
}

/* ---- Without a queue pair ---- */

static void register_indir_mr__without_a_queue_pair(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr reg;
	struct indirect in;
	u32 old;

	indirect_init(test, &in, &pair->b);
	reg = indir_wr_of(&in, 0);
	old = in.mr->rkey;
	reg.mkey = ib_inc_rkey(old);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), 0);
	KUNIT_EXPECT_EQ(test, in.mr->rkey, reg.mkey);
	KUNIT_EXPECT_EQ(test, in.mr->lkey, reg.mkey);
	expect_written(test, pair, LIST_IOVA, in.mr->rkey, 6);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(in.mr), 0);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(in.mr), 0);

	reg.mkey += 0x100;
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), -EINVAL);
	reg.mkey = in.mr->rkey;
	reg.length = LIST_LENGTH + 1;
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), -EINVAL);
	expect_no_access(test, pair, in.mr->rkey);
	indirect_exit(&in);
}

/* After a disconnect: the flushed LOCAL_INV left the region registered. */
static void register_indir_mr__queue_pair_in_error(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr reg;
	struct indirect in;

	indirect_init(test, &in, &pair->b);
	register_list(test, &pair->b, &in);
	KUNIT_EXPECT_EQ(test, to_error(&pair->b), 0);
	KUNIT_EXPECT_EQ(test, post_local_inv(&pair->b, 9, in.mr->rkey), 0);
	expect_wc(test, pair->b.cq, 9, IB_WC_WR_FLUSH_ERR);
	reg = indir_wr_of(&in, 0);
	reg.mkey = ib_inc_rkey(in.mr->rkey);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(in.mr), 0);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(in.mr, &reg), 0);
	KUNIT_EXPECT_EQ(test, in.mr->rkey, reg.mkey);
	indirect_exit(&in);
}

static void invalidate_mr__other_kinds(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_indir_reg_wr reg = {};
	struct region region;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0x42);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, region.mr);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(region.mr, &reg), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(region.mr), 0);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(pair->b.pd->__internal_mr), -EINVAL);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 8, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 0), 0x42);
	region_exit(&region);
}

/* ---- Capabilities, creation ---- */

static void query_caps__list_length(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct siro_caps caps = {};

	KUNIT_EXPECT_EQ(test, siro_query_caps(pair->a.dev, &caps), 0);
	KUNIT_EXPECT_TRUE(test, caps.device_cap_flags & IB_DEVICE_INDIR_REGISTRATION);
	KUNIT_EXPECT_GE(test, caps.max_indir_reg_mr_list_len, 4096);
}

static void create__bad_arguments(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_mr_init_attr attr = { .max_reg_descriptors = 4 };
	struct siro_caps caps;
	u32 flags;

	KUNIT_ASSERT_EQ(test, siro_query_caps(pair->a.dev, &caps), 0);
	for (flags = 0; flags < 8; flags++) {
		if (flags == IB_MR_INDIRECT_REG || flags == IB_MR_SIGNATURE_EN)
			continue;
		attr.flags = flags;
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(ib_create_mr(pair->a.pd, &attr)), -EINVAL,
				    "flags %u", flags);
	}
	attr.flags = IB_MR_INDIRECT_REG;
	attr.max_reg_descriptors = 0;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mr(pair->a.pd, &attr)), -EINVAL);
	attr.max_reg_descriptors = -1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mr(pair->a.pd, &attr)), -EINVAL);
	attr.max_reg_descriptors = caps.max_indir_reg_mr_list_len + 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mr(pair->a.pd, &attr)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_indir_reg_list(pair->a.dev, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_indir_reg_list(pair->a.dev,
							      caps.max_indir_reg_mr_list_len + 1)),
			-EINVAL);
}

static void all__device_of_another_driver(struct kunit *test)
{
	struct ib_mr_init_attr attr = { .max_reg_descriptors = 4, .flags = IB_MR_INDIRECT_REG };
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	struct ib_indir_reg_wr reg = {};
	struct ib_pd pd = { .device = device };
	struct ib_mr mr = { .device = device };
	struct siro_caps caps;

	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_EXPECT_EQ(test, siro_query_caps(device, &caps), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mr(&pd, &attr)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_indir_reg_list(device, 4)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, siro_register_indir_mr(&mr, &reg), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, siro_invalidate_mr(&mr), -EOPNOTSUPP);
}

#define IDLE_MRS 1000
#define IDLE_MR_BYTES 8192

static unsigned long free_pages_now(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return info.freeram;
}

/* An idle region costs no list: 96 KiB each would be 96 MiB. */
static void alloc_mr__idle_regions_are_small(struct kunit *test)
{
	static const enum ib_mr_type types[] = { SIRO_MR_TYPE_INDIRECT, IB_MR_TYPE_SG_GAPS };
	struct rc_pair *pair = test->priv;
	struct ib_mr **mrs = kunit_kcalloc(test, IDLE_MRS, sizeof(*mrs), GFP_KERNEL);
	unsigned long before = free_pages_now(), after;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, mrs);
	for (i = 0; i < IDLE_MRS; i++) {
		mrs[i] = ib_alloc_mr(pair->a.pd, types[i % 2], 4096);
		KUNIT_EXPECT_FALSE(test, IS_ERR(mrs[i]));
	}
	after = free_pages_now();
	if (after < before)
		KUNIT_EXPECT_LE(test, (before - after) * PAGE_SIZE, IDLE_MRS * IDLE_MR_BYTES);
	for (i = 0; i < IDLE_MRS; i++)
		if (!IS_ERR(mrs[i]))
			ib_dereg_mr(mrs[i]);
}

static struct kunit_case indirect_cases[] = {
	KUNIT_CASE(eight_steps__example_ulp),
	KUNIT_CASE(reg_indir__signaled),
	KUNIT_CASE(reg_indir__unsignaled_and_chained),
	KUNIT_CASE(reg_indir__list_freed_after_the_post),
	KUNIT_CASE(reg_indir__length_below_the_sum_hides_the_rest),
	KUNIT_CASE(reg_indir__while_registered),
	KUNIT_CASE(access__below_deregistered),
	KUNIT_CASE(access__below_invalidated),
	KUNIT_CASE(access__below_registered_under_another_key),
	KUNIT_CASE(access__below_gone_and_used_locally),
	KUNIT_CASE(access__below_unknown),
	KUNIT_CASE(access__below_grants_no_local_write),
	KUNIT_CASE(atomic__in_one_entry_and_across_two),
	KUNIT_CASE(local_inv__access_is_over),
	KUNIT_CASE(send_with_inv__access_is_over),
	KUNIT_CASE(dereg_mr__while_registered),
	KUNIT_CASE(post_send__each_error),
	KUNIT_CASE(post_send__another_protection_domain),
	KUNIT_CASE(reg_indir__flushed),
	KUNIT_CASE(destroy_qp__with_registrations_that_wait),
	KUNIT_CASE(reg_indir__flushed_after_its_region_is_gone),
	KUNIT_CASE(register_indir_mr__without_a_queue_pair),
	KUNIT_CASE(register_indir_mr__queue_pair_in_error),
	KUNIT_CASE(invalidate_mr__other_kinds),
	KUNIT_CASE(query_caps__list_length),
	KUNIT_CASE(create__bad_arguments),
	KUNIT_CASE(all__device_of_another_driver),
	KUNIT_CASE(alloc_mr__idle_regions_are_small),
	{}
};

static struct kunit_suite indirect_suite = {
	.name = "siro_indirect",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = indirect_cases,
};

kunit_test_suite(indirect_suite);
