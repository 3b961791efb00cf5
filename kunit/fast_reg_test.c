// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The life of a fast-registration region (rules L1 to L9, H36, H37). */
#include "region.h"

/* A region of one page, whose bytes are @fill, is registered with the b end. */
static void registered_page(struct kunit *test, struct region *region, u8 fill)
{
	struct rc_pair *pair = test->priv;

	region_init(test, region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, fill);
	KUNIT_EXPECT_EQ(test, region_map(region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, region->mr);
}

static void reg_mr__scattered_pages_and_offsets(struct kunit *test)
{
	static const u32 offsets[] = { 0, 1, 512, PAGE_SIZE - 1 };
	const u32 length = 3 * PAGE_SIZE - 5;
	struct rc_pair *pair = test->priv;
	struct region region;
	u32 i, byte, pages;

	fill_pattern(pair->a.buffer, length, 3);
	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, MR_PAGES, 0xcc);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		pages = DIV_ROUND_UP(offsets[i] + length, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, region_map(&region, 4 * i, pages, offsets[i], length), pages);
		KUNIT_EXPECT_EQ(test, region.mr->length, length);
		register_mr(test, &pair->b, region.mr);
		remote_write(test, pair, region.mr->iova, region.mr->rkey, length, IB_WC_SUCCESS);
		for (byte = 0; byte < length; byte++)
			if (*byte_of(&region, 4 * i, offsets[i] + byte) != pair->a.buffer[byte])
				break;
		KUNIT_EXPECT_EQ_MSG(test, byte, length, "offset %u", offsets[i]);
		if (offsets[i])
			KUNIT_EXPECT_EQ(test, *byte_of(&region, 4 * i, offsets[i] - 1), 0xcc);
		KUNIT_EXPECT_EQ(test, *byte_of(&region, 4 * i, offsets[i] + length), 0xcc);
		invalidate(test, &pair->b, region.mr->rkey);
	}
	region_exit(&region);
}

static void reg_mr__bounds_are_kept(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 2, 0xcc);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 2, 100, PAGE_SIZE), 2);
	register_mr(test, &pair->b, region.mr);
	memset(pair->a.buffer, 0x55, PAGE_SIZE);
	remote_write(test, pair, region.mr->iova + 1, region.mr->rkey, PAGE_SIZE, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 100 + PAGE_SIZE), 0xcc);
	region_exit(&region);
}

/* L1, H37: an old key is refused, the new one works. */
static void reg_mr__rotated_key(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	u32 old;

	registered_page(test, &region, 0);
	old = region.mr->rkey;
	KUNIT_EXPECT_EQ(test, region.mr->lkey, region.mr->rkey);
	invalidate(test, &pair->b, old);
	ib_update_fast_reg_key(region.mr, ib_inc_rkey(old));
	KUNIT_EXPECT_NE(test, region.mr->rkey, old);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, region.mr);
	memset(pair->a.buffer, 0x5a, 64);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 64, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 63), 0x5a);
	remote_write(test, pair, region.mr->iova + 64, old, 64, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 64), 0);
	region_exit(&region);
}

static void local_inv__access_is_over(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;

	registered_page(test, &region, 0);
	invalidate(test, &pair->b, region.mr->rkey);
	memset(pair->a.buffer, 0x5a, 64);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 64, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 0), 0);
	region_exit(&region);
}

/* As after a REG that the post refused: the new key was announced, the region is free. */
static void local_inv__key_that_was_never_registered(struct kunit *test)
{
	static const enum ib_mr_type types[] = { IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS };
	struct rc_pair *pair = test->priv;
	struct region region;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		region_init(test, &region, pair->b.pd, types[i], 1, 0xcc);
		ib_update_fast_reg_key(region.mr, ib_inc_rkey(region.mr->rkey));
		invalidate(test, &pair->b, region.mr->rkey);
		KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
		ib_update_fast_reg_key(region.mr, ib_inc_rkey(region.mr->rkey));
		register_mr(test, &pair->b, region.mr);
		remote_write(test, pair, region.mr->iova, region.mr->rkey, 8, IB_WC_SUCCESS);
		invalidate(test, &pair->b, region.mr->rkey);
		region_exit(&region);
	}
}

static void local_inv__another_key_of_a_registered_region(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;

	registered_page(test, &region, 0xcc);
	KUNIT_EXPECT_EQ(test, post_local_inv(&pair->b, 1, ib_inc_rkey(region.mr->rkey)), 0);
	expect_wc(test, pair->b.cq, 1, IB_WC_MW_BIND_ERR);
	region_exit(&region);
}

/* L2: what is mapped for the next registration does not show under the present one. */
static void map__while_registered_is_staged(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	u64 old_iova;
	u32 old;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 2, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->b, region.mr);
	old = region.mr->rkey;
	old_iova = region.mr->iova;
	KUNIT_EXPECT_EQ(test, region_map(&region, 1, 1, 0, PAGE_SIZE), 1);
	memset(pair->a.buffer, 0x77, 64);
	remote_write(test, pair, old_iova, old, 64, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 0), 0x77);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 1, 0), 0);

	invalidate(test, &pair->b, old);
	ib_update_fast_reg_key(region.mr, ib_inc_rkey(old));
	register_mr(test, &pair->b, region.mr);
	memset(pair->a.buffer, 0x88, 64);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 64, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 0), 0x77);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 1, 0), 0x88);
	region_exit(&region);
}

/* L3: the consumer may choose the iova after mapping. */
static void reg_mr__iova_rewritten_before_the_post(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 2, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 2, 512, PAGE_SIZE), 2);
	region.mr->iova = 0x1234567800000000ull | (u32)region.mr->iova;
	register_mr(test, &pair->b, region.mr);
	memset(pair->a.buffer, 0x99, PAGE_SIZE);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, PAGE_SIZE, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 511), 0);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 512), 0x99);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 511 + PAGE_SIZE), 0x99);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 512 + PAGE_SIZE), 0);
	region_exit(&region);
}

/* L3, L5: all of the WR counts as of the post, even if it executes later. */
static void reg_mr__fields_changed_after_the_post(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	struct ib_reg_wr wr;
	u64 iova;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	iova = region.mr->iova;
	wr = reg_wr_of(region.mr, 1000);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	memset(&wr, 0xff, sizeof(wr));
	region.mr->iova = 0xbad000;
	region.mr->length = 1;
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);
	memset(pair->a.buffer, 0x31, 64);
	remote_write(test, pair, iova, region.mr->rkey, 64, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 63), 0x31);
	region_exit(&region);
}

/* L2, L5: mapped while still registered; LOCAL_INV, REG, SEND in one list, two unsignaled. */
static void reg_mr__chained_to_its_use(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	struct ib_reg_wr reg;
	struct ib_sge sge;
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_send_wr send = {
		.wr_id = 5,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	region_init(test, &region, pair->a.pd, IB_MR_TYPE_MEM_REG, 2, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->a, region.mr);
	inv.ex.invalidate_rkey = region.mr->rkey;
	fill_pattern(page_address(region.pages[1]), PAGE_SIZE, 21);
	KUNIT_EXPECT_EQ(test, region_map(&region, 1, 1, 0, PAGE_SIZE), 1);
	ib_update_fast_reg_key(region.mr, ib_inc_rkey(region.mr->rkey));
	reg = reg_wr_of(region.mr, 0);
	reg.wr.send_flags = 0;
	sge = (struct ib_sge){ region.mr->iova, PAGE_SIZE, region.mr->lkey };
	inv.next = &reg.wr;
	reg.wr.next = &send;
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 6, 0, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &inv, NULL), 0);
	expect_wc(test, pair->b.cq, 6, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 5, IB_WC_SUCCESS);
	expect_no_wc(test, pair->a.cq);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, PAGE_SIZE, 21));
	region_exit(&region);
}

static void send_with_inv__invalidates_at_the_receiver(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	struct ib_sge sge = local_sge(&pair->a, 0, 64);
	struct ib_send_wr wr = {
		.wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_wc wc;

	registered_page(test, &region, 0);
	wr.ex.invalidate_rkey = region.mr->rkey;
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 4, 0, 64), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &wr, NULL), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, region.mr->rkey);
	expect_wc(test, pair->a.cq, 3, IB_WC_SUCCESS);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 64, IB_WC_REM_ACCESS_ERR);
	region_exit(&region);
}

static void read_with_inv__invalidates_the_local_region(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 3, .num_sge = 1, .opcode = IB_WR_RDMA_READ_WITH_INV,
			.send_flags = IB_SEND_SIGNALED },
	};

	region_init(test, &region, pair->a.pd, IB_MR_TYPE_MEM_REG, 1, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	register_mr(test, &pair->a, region.mr);
	sge = (struct ib_sge){ region.mr->iova, 3000, region.mr->lkey };
	fill_pattern(pair->b.buffer, 3000, 8);
	wr.wr.sg_list = &sge;
	wr.wr.ex.invalidate_rkey = region.mr->lkey;
	wr.remote_addr = pair->b.addr;
	wr.rkey = pair->b.pd->unsafe_global_rkey;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->a.cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(page_address(region.pages[0]), 3000, 8));
	/* The key is gone: a SEND from it fails at this end. */
	wr.wr.wr_id = 4;
	wr.wr.opcode = IB_WR_SEND;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->a.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->a.cq, 4, IB_WC_LOC_PROT_ERR);
	region_exit(&region);
}

static void atomic__result_and_memory(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	u64 *result = (u64 *)pair->a.buffer, *remote;
	struct region region;
	u32 key;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 8, 64), 1);
	register_mr(test, &pair->b, region.mr);
	key = region.mr->rkey;
	remote = (u64 *)byte_of(&region, 0, 16);
	*remote = 40;
	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_FETCH_AND_ADD, 1, region.mr->iova + 8,
					  key, 2, 0), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *remote, 42);
	KUNIT_EXPECT_EQ(test, *result, 40);

	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_CMP_AND_SWP, 2, region.mr->iova + 8,
					  key, 42, 7), 0);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *remote, 7);
	KUNIT_EXPECT_EQ(test, *result, 42);

	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_CMP_AND_SWP, 3, region.mr->iova + 8,
					  key, 42, 9), 0);
	expect_wc(test, pair->a.cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *remote, 7);
	KUNIT_EXPECT_EQ(test, *result, 7);
	region_exit(&region);
}

/* H3 */
static void atomic__misaligned_is_refused(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, 64), 1);
	register_mr(test, &pair->b, region.mr);
	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_FETCH_AND_ADD, 1, region.mr->iova + 4,
					  region.mr->rkey, ~0ull, 0), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, *(u64 *)byte_of(&region, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, *(u64 *)byte_of(&region, 0, 8), 0);
	region_exit(&region);
}

/* H34: the key of all memory that the core makes grants reads and writes only. */
static void atomic__without_the_right(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	memset(pair->b.buffer, 0, 8);
	KUNIT_EXPECT_EQ(test, post_atomic(pair, IB_WR_ATOMIC_FETCH_AND_ADD, 1, pair->b.addr,
					  pair->b.pd->unsafe_global_rkey, 1, 0), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, pair->b.buffer[0], 0);
}

/* H34: the rights of the registration bound what a peer may do. */
static void reg_mr__rights_are_kept(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	struct ib_reg_wr wr;

	region_init(test, &region, pair->b.pd, IB_MR_TYPE_MEM_REG, 1, 0x42);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	wr = reg_wr_of(region.mr, 1000);
	wr.access = IB_ACCESS_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_READ, 7, 0, 64, region.mr->iova,
					region.mr->rkey), 0);
	expect_wc(test, pair->a.cq, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, pair->a.buffer[63], 0x42);
	memset(pair->a.buffer, 0, 64);
	remote_write(test, pair, region.mr->iova, region.mr->rkey, 64, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *byte_of(&region, 0, 0), 0x42);
	region_exit(&region);
}

/* H34: a key of another protection domain opens nothing. */
static void reg_mr__foreign_protection_domain(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_pd *other = ib_alloc_pd(pair->b.dev, 0);
	struct region region;
	struct ib_reg_wr wr;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	region_init(test, &region, other, IB_MR_TYPE_MEM_REG, 1, 0x42);
	KUNIT_EXPECT_EQ(test, region_map(&region, 0, 1, 0, PAGE_SIZE), 1);
	wr = reg_wr_of(region.mr, 1000);
	KUNIT_EXPECT_EQ(test, ib_post_send(pair->b.qp, &wr.wr, NULL), 0);
	expect_wc(test, pair->b.cq, 1000, IB_WC_MW_BIND_ERR);
	region_exit(&region);
	ib_dealloc_pd(other);
}

/* L9 */
static void dereg_mr__while_registered(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct region region;
	u64 iova;
	u32 key;

	registered_page(test, &region, 0);
	key = region.mr->rkey;
	iova = region.mr->iova;
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(region.mr), 0);
	region.mr = NULL;
	remote_write(test, pair, iova, key, 64, IB_WC_REM_ACCESS_ERR);
	region_exit(&region);
}

static struct kunit_case fast_reg_cases[] = {
	KUNIT_CASE(reg_mr__scattered_pages_and_offsets),
	KUNIT_CASE(reg_mr__bounds_are_kept),
	KUNIT_CASE(reg_mr__rotated_key),
	KUNIT_CASE(local_inv__access_is_over),
	KUNIT_CASE(local_inv__key_that_was_never_registered),
	KUNIT_CASE(local_inv__another_key_of_a_registered_region),
	KUNIT_CASE(map__while_registered_is_staged),
	KUNIT_CASE(reg_mr__iova_rewritten_before_the_post),
	KUNIT_CASE(reg_mr__fields_changed_after_the_post),
	KUNIT_CASE(reg_mr__chained_to_its_use),
	KUNIT_CASE(send_with_inv__invalidates_at_the_receiver),
	KUNIT_CASE(read_with_inv__invalidates_the_local_region),
	KUNIT_CASE(atomic__result_and_memory),
	KUNIT_CASE(atomic__misaligned_is_refused),
	KUNIT_CASE(atomic__without_the_right),
	KUNIT_CASE(reg_mr__rights_are_kept),
	KUNIT_CASE(reg_mr__foreign_protection_domain),
	KUNIT_CASE(dereg_mr__while_registered),
	{}
};

static struct kunit_suite fast_reg_suite = {
	.name = "siro_fast_reg",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = fast_reg_cases,
};

kunit_test_suite(fast_reg_suite);
