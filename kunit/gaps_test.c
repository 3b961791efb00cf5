// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Regions of type SG_GAPS: entries of any address and length (rules L1 to L9). */
#include <linux/slab.h>

#include "region.h"

#define MANY 4096
#define ODD_LENGTH 13
#define ODD_STRIDE 29

/* A buffer, entries in it and a region for them. */
struct gaps {
	struct ib_mr *mr;
	struct scatterlist *sg;
	u8 *memory;
	int capacity;
};

static void gaps_exit(struct gaps *gaps)
{
	if (!IS_ERR_OR_NULL(gaps->mr))
		ib_dereg_mr(gaps->mr);
	kfree(gaps->memory);
	kfree(gaps->sg);
}

static void gaps_init(struct kunit *test, struct gaps *gaps, struct ib_pd *pd, int capacity)
{
	gaps->capacity = capacity;
	gaps->memory = kmalloc(MANY * ODD_STRIDE, GFP_KERNEL);
	gaps->sg = kcalloc(MANY, sizeof(*gaps->sg), GFP_KERNEL);
	gaps->mr = ib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, capacity);
	if (!gaps->memory || !gaps->sg || IS_ERR(gaps->mr)) {
		gaps_exit(gaps);
		KUNIT_ASSERT_TRUE_MSG(test, false, "no region");
	}
	memset(gaps->memory, 0xcc, MANY * ODD_STRIDE);
}

/* Where entry @i of a list of odd entries begins. */
static u8 *odd_entry(struct gaps *gaps, int i)
{
	return gaps->memory + i * ODD_STRIDE + i % 8;
}

/* The entries from @first on, ready to be mapped. */
static void gaps_list(struct gaps *gaps, int first, int count)
{
	int i;

	sg_init_table(gaps->sg, count);
	for (i = 0; i < count; i++)
		sg_set_buf(&gaps->sg[i], odd_entry(gaps, first + i), ODD_LENGTH);
	ib_dma_map_sg(gaps->mr->device, gaps->sg, count, DMA_BIDIRECTIONAL);
}

static int gaps_map(struct gaps *gaps, int first, int count)
{
	gaps_list(gaps, first, count);
	return ib_map_mr_sg(gaps->mr, gaps->sg, count, NULL, PAGE_SIZE);
}

static bool entries_match(struct gaps *gaps, int first, int count, const u8 *data)
{
	int i;

	for (i = 0; i < count; i++)
		if (memcmp(odd_entry(gaps, first + i), data + i * ODD_LENGTH, ODD_LENGTH))
			return false;
	return true;
}

/* Every byte between the entries is as it was. */
static bool space_is_untouched(struct gaps *gaps, int count)
{
	u8 *from = gaps->memory, *to;
	int i;

	for (i = 0; i < count; i++) {
		to = odd_entry(gaps, i);
		if (memchr_inv(from, 0xcc, to - from))
			return false;
		from = to + ODD_LENGTH;
	}
	return true;
}

static void map__odd_entries_by_every_operation(struct kunit *test)
{
	const u32 length = MANY * ODD_LENGTH;
	struct rc_pair *pair = test->priv;
	struct gaps gaps;
	struct ib_sge sge;
	struct ib_send_wr send = {
		.wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	gaps_init(test, &gaps, pair->b.pd, MANY);
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 0, MANY), MANY);
	KUNIT_EXPECT_EQ(test, gaps.mr->length, length);
	KUNIT_EXPECT_EQ(test, gaps.mr->iova, sg_dma_address(gaps.sg));
	register_mr(test, &pair->b, gaps.mr);

	fill_pattern(pair->a.buffer, length, 7);
	remote_write(test, pair, gaps.mr->iova, gaps.mr->rkey, length, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 0, MANY, pair->a.buffer));
	KUNIT_EXPECT_TRUE(test, space_is_untouched(&gaps, MANY));

	memset(pair->a.buffer, 0, length);
	remote_read(test, pair, gaps.mr->iova, gaps.mr->rkey, length, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->a.buffer, length, 7));

	memset(pair->a.buffer, 0, length);
	sge = (struct ib_sge){ gaps.mr->iova, length, gaps.mr->lkey };
	KUNIT_EXPECT_EQ(test, post_recv(&pair->a, 4, 0, length), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &send, NULL), 0);
	expect_wc(test, pair->b.cq, 3, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 4, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->a.buffer, length, 7));
	gaps_exit(&gaps);
}

static void map__entries_longer_than_a_page(struct kunit *test)
{
	const u32 length = 2 * PAGE_SIZE + 77;
	struct rc_pair *pair = test->priv;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->b.pd, 2);
	sg_init_table(gaps.sg, 2);
	sg_set_buf(&gaps.sg[0], gaps.memory + 20001, length - 5);
	sg_set_buf(&gaps.sg[1], gaps.memory + 3, 5);
	ib_dma_map_sg(gaps.mr->device, gaps.sg, 2, DMA_BIDIRECTIONAL);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 2, NULL, PAGE_SIZE), 2);
	register_mr(test, &pair->b, gaps.mr);
	fill_pattern(pair->a.buffer, length, 1);
	remote_write(test, pair, gaps.mr->iova, gaps.mr->rkey, length, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(gaps.memory + 20001, length - 5, 1));
	KUNIT_EXPECT_EQ(test, memcmp(gaps.memory + 3, pair->a.buffer + length - 5, 5), 0);
	gaps_exit(&gaps);
}

static void map__bounds_are_kept(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->b.pd, 4);
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 0, 4), 4);
	register_mr(test, &pair->b, gaps.mr);
	remote_write(test, pair, gaps.mr->iova + 1, gaps.mr->rkey, 4 * ODD_LENGTH,
		     IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(gaps.memory, 0xcc, MANY * ODD_STRIDE));
	gaps_exit(&gaps);
}

/* As ib_srp maps a long list: what did not fit goes on with the next region. */
static void map__more_than_fits_goes_on_behind_it(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	unsigned int offset = 5;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->b.pd, 4);
	gaps_list(&gaps, 0, 6);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 6, &offset, PAGE_SIZE), 4);
	KUNIT_EXPECT_EQ(test, offset, 0);
	KUNIT_EXPECT_EQ(test, gaps.mr->length, 4 * ODD_LENGTH - 5);
	KUNIT_EXPECT_EQ(test, gaps.mr->iova, sg_dma_address(gaps.sg) + 5);
	register_mr(test, &pair->b, gaps.mr);
	fill_pattern(pair->a.buffer, 4 * ODD_LENGTH, 9);
	KUNIT_EXPECT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE, 7, 5, 4 * ODD_LENGTH - 5,
					gaps.mr->iova, gaps.mr->rkey), 0);
	expect_wc(test, pair->a.cq, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_NULL(test, memchr_inv(odd_entry(&gaps, 0), 0xcc, 5));
	KUNIT_EXPECT_EQ(test, memcmp(odd_entry(&gaps, 0) + 5, pair->a.buffer + 5, 8), 0);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 1, 3, pair->a.buffer + ODD_LENGTH));
	invalidate(test, &pair->b, gaps.mr->rkey);

	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg + 4, 2, &offset, PAGE_SIZE), 2);
	KUNIT_EXPECT_EQ(test, gaps.mr->length, 2 * ODD_LENGTH);
	register_mr(test, &pair->b, gaps.mr);
	remote_write(test, pair, gaps.mr->iova, gaps.mr->rkey, 2 * ODD_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 4, 2, pair->a.buffer));
	gaps_exit(&gaps);
}

static void map__bad_arguments(struct kunit *test)
{
	unsigned int whole = ODD_LENGTH, beyond = ODD_LENGTH + 1;
	struct rc_pair *pair = test->priv;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->b.pd, 4);
	gaps_list(&gaps, 0, 2);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 0, NULL, PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 2, &beyond, PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 1, &whole, PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(gaps.mr, gaps.sg, 2, &whole, PAGE_SIZE), 2);
	KUNIT_EXPECT_EQ(test, gaps.mr->length, ODD_LENGTH);
	gaps_exit(&gaps);
}

/* L2: the old key sees the old entries, then nothing; the new key the new ones. */
static void map__while_registered_is_staged(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct gaps gaps;
	u64 iova;
	u32 old;

	gaps_init(test, &gaps, pair->b.pd, 4);
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 0, 4), 4);
	register_mr(test, &pair->b, gaps.mr);
	old = gaps.mr->rkey;
	iova = gaps.mr->iova;
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 10, 4), 4);
	fill_pattern(pair->a.buffer, 4 * ODD_LENGTH, 1);
	remote_write(test, pair, iova, old, 4 * ODD_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 0, 4, pair->a.buffer));
	KUNIT_EXPECT_EQ(test, *odd_entry(&gaps, 10), 0xcc);

	invalidate(test, &pair->b, old);
	ib_update_fast_reg_key(gaps.mr, ib_inc_rkey(old));
	register_mr(test, &pair->b, gaps.mr);
	fill_pattern(pair->a.buffer, 4 * ODD_LENGTH, 2);
	remote_write(test, pair, gaps.mr->iova, gaps.mr->rkey, 4 * ODD_LENGTH, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 10, 4, pair->a.buffer));
	remote_write(test, pair, iova, old, 8, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_TRUE(test, has_pattern(odd_entry(&gaps, 0), 1, 1));
	gaps_exit(&gaps);
}

/* L3: the consumer may choose the iova after mapping, all of it. */
static void reg_mr__iova_rewritten_before_the_post(struct kunit *test)
{
	static const u64 iovas[] = { 0, 1, 0x1234567800000fffull, 0xffffffff00000000ull };
	struct rc_pair *pair = test->priv;
	struct gaps gaps;
	int i;

	gaps_init(test, &gaps, pair->b.pd, 4);
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 0, 4), 4);
		gaps.mr->iova = iovas[i];
		register_mr(test, &pair->b, gaps.mr);
		fill_pattern(pair->a.buffer, 4 * ODD_LENGTH, 40 + i);
		remote_write(test, pair, iovas[i], gaps.mr->rkey, 4 * ODD_LENGTH, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 0, 4, pair->a.buffer));
		invalidate(test, &pair->b, gaps.mr->rkey);
	}
	gaps_exit(&gaps);
}

/* L5: invalidation, registration and use in one list, the first two unsignaled. */
static void reg_mr__chained_to_its_use(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_sge sge;
	struct ib_send_wr send = {
		.wr_id = 5,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_reg_wr reg;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->a.pd, 4);
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 0, 4), 4);
	register_mr(test, &pair->a, gaps.mr);
	inv.ex.invalidate_rkey = gaps.mr->rkey;
	fill_pattern(odd_entry(&gaps, 20), ODD_LENGTH, 21);
	KUNIT_EXPECT_EQ(test, gaps_map(&gaps, 20, 4), 4);
	ib_update_fast_reg_key(gaps.mr, ib_inc_rkey(gaps.mr->rkey));
	reg = reg_wr_of(gaps.mr, 0);
	reg.wr.send_flags = 0;
	sge = (struct ib_sge){ gaps.mr->iova, 4 * ODD_LENGTH, gaps.mr->lkey };
	inv.next = &reg.wr;
	reg.wr.next = &send;
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 6, 0, 4 * ODD_LENGTH), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &inv, NULL), 0);
	expect_wc(test, pair->b.cq, 6, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 5, IB_WC_SUCCESS);
	expect_no_wc(test, pair->a.cq);
	KUNIT_EXPECT_TRUE(test, entries_match(&gaps, 20, 4, pair->b.buffer));
	gaps_exit(&gaps);
}

static void reg_mr__nothing_mapped(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_reg_wr wr;
	struct gaps gaps;

	gaps_init(test, &gaps, pair->b.pd, 4);
	wr = reg_wr_of(gaps.mr, 1000);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_MW_BIND_ERR);
	gaps_exit(&gaps);
}

static struct kunit_case gaps_cases[] = {
	KUNIT_CASE(map__odd_entries_by_every_operation),
	KUNIT_CASE(map__entries_longer_than_a_page),
	KUNIT_CASE(map__bounds_are_kept),
	KUNIT_CASE(map__more_than_fits_goes_on_behind_it),
	KUNIT_CASE(map__bad_arguments),
	KUNIT_CASE(map__while_registered_is_staged),
	KUNIT_CASE(reg_mr__iova_rewritten_before_the_post),
	KUNIT_CASE(reg_mr__chained_to_its_use),
	KUNIT_CASE(reg_mr__nothing_mapped),
	{}
};

static struct kunit_suite gaps_suite = {
	.name = "siro_gaps",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = gaps_cases,
};

kunit_test_suite(gaps_suite);
