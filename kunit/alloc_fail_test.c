// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Every object, with each of the allocations that its creation makes failing in
 * turn (H29): an error and no trace, and the next attempt works. KASAN and the
 * kmemleak scan at the end of the run see what was freed twice or not at all.
 */
#include <linux/etherdevice.h>
#include <rdma/sirocco.h>

#include "rc_pair.h"

#define MANY_ALLOCATIONS 200

/* Creates and destroys one object; returns an errno. */
typedef int (*attempt)(struct rc_pair *pair);

/*
 * Fails allocation 1, 2, ... of an attempt until one attempt makes fewer. An
 * attempt may survive a failure that it can do without.
 */
static void fail_each_allocation(struct kunit *test, attempt attempt)
{
	struct rc_pair *pair = test->priv;
	int nth, err, failures = 0;
	bool injected = true;

	for (nth = 1; injected && nth <= MANY_ALLOCATIONS; nth++) {
		current->fail_nth = nth;
		err = attempt(pair);
		injected = !current->fail_nth;
		current->fail_nth = 0;
		if (err) {
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %d", nth);
			KUNIT_EXPECT_TRUE_MSG(test, injected, "allocation %d", nth);
			failures++;
		}
		KUNIT_EXPECT_EQ_MSG(test, attempt(pair), 0, "after failing allocation %d", nth);
	}
	KUNIT_EXPECT_FALSE(test, injected);
	KUNIT_EXPECT_GT(test, failures, 0);
}

static int attempt_pd(struct rc_pair *pair)
{
	struct ib_pd *pd = ib_alloc_pd(pair->a.dev, 0);

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ib_dealloc_pd(pd);
	return 0;
}

static int attempt_cq(struct rc_pair *pair)
{
	struct ib_cq *cq = ib_alloc_cq(pair->a.dev, NULL, 1000, 0, IB_POLL_SOFTIRQ);

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ib_free_cq(cq);
	return 0;
}

static int attempt_qp(struct rc_pair *pair)
{
	struct ib_qp *qp = rc_end_create_qp(&pair->a);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	return ib_destroy_qp(qp);
}

static int attempt_ud_qp(struct rc_pair *pair)
{
	struct ib_qp_init_attr init = {
		.send_cq = pair->a.cq,
		.recv_cq = pair->a.cq,
		.qp_type = IB_QPT_UD,
		.cap = { .max_send_wr = 100, .max_recv_wr = 100, .max_send_sge = 2, .max_recv_sge = 2 },
	};
	struct ib_qp *qp = ib_create_qp(pair->a.pd, &init);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	return ib_destroy_qp(qp);
}

static int attempt_srq(struct rc_pair *pair)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 100, .max_sge = 2 } };
	struct ib_srq *srq = ib_create_srq(pair->a.pd, &init);

	if (IS_ERR(srq))
		return PTR_ERR(srq);
	ib_destroy_srq(srq);
	return 0;
}

static int attempt_mr(struct rc_pair *pair)
{
	struct ib_mr *mr = ib_alloc_mr(pair->a.pd, IB_MR_TYPE_MEM_REG, 256);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	return ib_dereg_mr(mr);
}

static int attempt_map_of(struct rc_pair *pair, enum ib_mr_type type)
{
	struct ib_mr *mr = ib_alloc_mr(pair->a.pd, type, 16);
	struct scatterlist sg;
	int mapped;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	sg_init_one(&sg, pair->a.buffer, 8 * PAGE_SIZE);
	ib_dma_map_sg(pair->a.dev, &sg, 1, DMA_BIDIRECTIONAL);
	mapped = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	ib_dereg_mr(mr);
	return min(mapped, 0);
}

static int attempt_map(struct rc_pair *pair)
{
	return attempt_map_of(pair, IB_MR_TYPE_MEM_REG);
}

static int attempt_map_gaps(struct rc_pair *pair)
{
	return attempt_map_of(pair, IB_MR_TYPE_SG_GAPS);
}

/* Twice: the second list is not the first one's memory. */
static int register_twice(struct rc_pair *pair, struct ib_mr *mr, struct ib_indir_reg_list *list)
{
	struct ib_indir_reg_wr reg = {
		.indir_list = list,
		.indir_list_len = 4,
		.length = 32,
		.mkey = mr->rkey,
	};
	int i, err;

	for (i = 0; i < 4; i++)
		list->sg_list[i] = local_sge(&pair->a, 64 * i, 8);
	err = siro_register_indir_mr(mr, &reg);
	if (err)
		return err;
	siro_invalidate_mr(mr);
	return siro_register_indir_mr(mr, &reg);
}

static int attempt_indirect(struct rc_pair *pair)
{
	struct ib_mr_init_attr attr = { .max_reg_descriptors = 4, .flags = IB_MR_INDIRECT_REG };
	struct ib_mr *mr = ib_create_mr(pair->a.pd, &attr);
	struct ib_indir_reg_list *list;
	int err;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	list = ib_alloc_indir_reg_list(pair->a.dev, 4);
	if (IS_ERR(list)) {
		ib_dereg_mr(mr);
		return PTR_ERR(list);
	}
	err = register_twice(pair, mr, list);
	ib_free_indir_reg_list(list);
	ib_dereg_mr(mr);
	return err;
}

static int attempt_ah(struct rc_pair *pair)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct ib_ah *ah;

	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_grh(&attr, &pair->b.gid, 0, pair->a.gid_index, 64, 0);
	ether_addr_copy(attr.roce.dmac, pair->b.mac);
	ah = rdma_create_ah(pair->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return 0;
}

/* From creation to RTS, so that state changes meet failures too. */
static int attempt_connect(struct rc_pair *pair)
{
	struct rc_end end = pair->a;
	int err;

	end.qp = rc_end_create_qp(&end);
	if (IS_ERR(end.qp))
		return PTR_ERR(end.qp);
	err = rc_connect(&end, &pair->b);
	ib_destroy_qp(end.qp);
	return err;
}

static void alloc_pd__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_pd);
}

static void create_cq__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_cq);
}

static void create_qp__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_qp);
}

static void create_ud_qp__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_ud_qp);
}

static void create_srq__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_srq);
}

static void alloc_mr__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_mr);
}

static void map_mr_sg__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_map);
}

static void map_mr_sg_gaps__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_map_gaps);
}

static void register_indir_mr__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_indirect);
}

static void create_ah__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_ah);
}

static void modify_qp__each_allocation_fails(struct kunit *test)
{
	fail_each_allocation(test, attempt_connect);
}

/* H27: a packet that could not be built or sent is a lost packet, no lost reference. */
static void transmit__each_allocation_fails(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	bool injected = true;
	int nth, err;

	for (nth = 1; injected && nth <= MANY_ALLOCATIONS; nth++) {
		fill_pattern(pair->a.buffer, 5000, nth);
		memset(pair->b.buffer, 0, 5000);
		current->fail_nth = nth;
		err = post_rdma(&pair->a, IB_WR_RDMA_WRITE, nth, 0, 5000, pair->b.addr,
				pair->b.pd->unsafe_global_rkey);
		injected = !current->fail_nth;
		current->fail_nth = 0;
		KUNIT_ASSERT_EQ(test, err, 0);
		expect_wc(test, pair->a.cq, nth, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, 5000, nth));
	}
	KUNIT_EXPECT_FALSE(test, injected);
	KUNIT_EXPECT_GT(test, nth, 2);
}

static struct kunit_case alloc_fail_cases[] = {
	KUNIT_CASE(alloc_pd__each_allocation_fails),
	KUNIT_CASE(create_cq__each_allocation_fails),
	KUNIT_CASE(create_qp__each_allocation_fails),
	KUNIT_CASE(create_ud_qp__each_allocation_fails),
	KUNIT_CASE(create_srq__each_allocation_fails),
	KUNIT_CASE(alloc_mr__each_allocation_fails),
	KUNIT_CASE(map_mr_sg__each_allocation_fails),
	KUNIT_CASE(map_mr_sg_gaps__each_allocation_fails),
	KUNIT_CASE(register_indir_mr__each_allocation_fails),
	KUNIT_CASE(create_ah__each_allocation_fails),
	KUNIT_CASE(modify_qp__each_allocation_fails),
	KUNIT_CASE(transmit__each_allocation_fails),
	{}
};

static struct kunit_suite alloc_fail_suite = {
	.name = "siro_alloc_fail",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = alloc_fail_cases,
};

kunit_test_suite(alloc_fail_suite);
