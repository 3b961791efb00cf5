// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Out-of-order placement: when it may be asked for, and of whom. */
#include <rdma/sirocco.h>

#include "rc_pair.h"

#define OOO IB_QP_OOO_RW_DATA_PLACEMENT
#define LENGTH (40 * PAIR_MTU_BYTES)

static void query_caps__placement_of_rc_only(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct siro_caps caps;

	KUNIT_ASSERT_EQ(test, siro_query_caps(pair->a.dev, &caps), 0);
	KUNIT_EXPECT_EQ(test, caps.ooo_caps.rc_caps, (u32)IB_OOO_RW_DATA_PLACEMENT);
	KUNIT_EXPECT_EQ(test, caps.ooo_caps.xrc_caps, 0u);
	KUNIT_EXPECT_EQ(test, caps.ooo_caps.ud_caps, 0u);
	KUNIT_EXPECT_EQ(test, caps.ooo_caps.uc_caps, 0u);
}

static void modify_qp__bit_from_init_to_rtr_only(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct rc_end *a = &pair->a;
	struct ib_qp_attr none = {};

	KUNIT_EXPECT_EQ(test, ib_modify_qp(a->qp, &none, OOO), -EINVAL);
	KUNIT_ASSERT_EQ(test, rc_to_reset(a), 0);
	KUNIT_EXPECT_EQ(test, rc_to_init(a, OOO), -EINVAL);
	KUNIT_ASSERT_EQ(test, rc_to_init(a, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(a->qp, &none, OOO), -EINVAL);
	KUNIT_EXPECT_EQ(test, rc_to_rtr(a, &pair->b, OOO), 0);
	KUNIT_EXPECT_EQ(test, rc_to_rts(a, OOO), -EINVAL);
	KUNIT_EXPECT_EQ(test, rc_to_rts(a, 0), 0);
}

static void modify_qp__bit_of_a_datagram_queue_pair(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_qp_init_attr init = {
		.send_cq = pair->a.cq,
		.recv_cq = pair->a.cq,
		.qp_type = IB_QPT_UD,
		.cap = { 1, 1, 1, 1 },
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp *qp = ib_create_qp(pair->a.pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, siro_qp_set_ooo(qp, true), -EINVAL);
	KUNIT_EXPECT_EQ(test,
			ib_modify_qp(qp, &attr,
				     IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
			0);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE | OOO), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
	ib_destroy_qp(qp);
}

static void set_ooo__until_rtr(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct rc_end *a = &pair->a;

	KUNIT_EXPECT_EQ(test, siro_qp_set_ooo(a->qp, false), -EINVAL);
	KUNIT_ASSERT_EQ(test, rc_to_reset(a), 0);
	KUNIT_EXPECT_EQ(test, siro_qp_set_ooo(a->qp, false), 0);
	KUNIT_ASSERT_EQ(test, rc_to_init(a, 0), 0);
	KUNIT_EXPECT_EQ(test, siro_qp_set_ooo(a->qp, true), 0);
	KUNIT_ASSERT_EQ(test, rc_to_rtr(a, &pair->b, 0), 0);
	KUNIT_EXPECT_EQ(test, siro_qp_set_ooo(a->qp, true), -EINVAL);
}

static void set_paths__bad_numbers(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct rc_end *a = &pair->a;

	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, 2), -EINVAL);
	KUNIT_ASSERT_EQ(test, rc_to_reset(a), 0);
	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, 17), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, ~0u), -EINVAL);
	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, 16), 0);
	KUNIT_EXPECT_EQ(test, siro_qp_set_paths(a->qp, 1), 0);
}

static void expect_transfers(struct kunit *test, struct rc_pair *pair)
{
	struct rc_end *a = &pair->a, *b = &pair->b;
	int i;

	for (i = 0; i < 3; i++) {
		fill_pattern(a->buffer, LENGTH, i);
		KUNIT_ASSERT_EQ(test,
				post_rdma(a, IB_WR_RDMA_WRITE, i, 0, LENGTH, b->addr,
					  b->pd->unsafe_global_rkey),
				0);
		expect_wc(test, a->cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, has_pattern(b->buffer, LENGTH, i));
		fill_pattern(b->buffer, LENGTH, i + 100);
		KUNIT_ASSERT_EQ(test,
				post_rdma(a, IB_WR_RDMA_READ, i, 0, LENGTH, b->addr,
					  b->pd->unsafe_global_rkey),
				0);
		expect_wc(test, a->cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, has_pattern(a->buffer, LENGTH, i + 100));
	}
}

/* Agreement takes both; without it the same transfers work. */
static void transfers__of_all_mixes_of_consent(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	int mix;

	for (mix = 0; mix < 4; mix++) {
		KUNIT_ASSERT_EQ(test, rc_to_reset(&pair->a), 0);
		KUNIT_ASSERT_EQ(test, rc_to_reset(&pair->b), 0);
		KUNIT_ASSERT_EQ(test, siro_qp_set_ooo(pair->a.qp, mix & 1), 0);
		KUNIT_ASSERT_EQ(test, siro_qp_set_ooo(pair->b.qp, mix & 2), 0);
		KUNIT_ASSERT_EQ(test, siro_qp_set_paths(pair->a.qp, 1 + mix), 0);
		KUNIT_ASSERT_EQ(test, rc_connect(&pair->a, &pair->b), 0);
		KUNIT_ASSERT_EQ(test, rc_connect(&pair->b, &pair->a), 0);
		expect_transfers(test, pair);
	}
}

static struct kunit_case ooo_cases[] = {
	KUNIT_CASE(query_caps__placement_of_rc_only),
	KUNIT_CASE(modify_qp__bit_from_init_to_rtr_only),
	KUNIT_CASE(modify_qp__bit_of_a_datagram_queue_pair),
	KUNIT_CASE(set_ooo__until_rtr),
	KUNIT_CASE(set_paths__bad_numbers),
	KUNIT_CASE(transfers__of_all_mixes_of_consent),
	{}
};

static struct kunit_suite ooo_suite = {
	.name = "siro_ooo",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = ooo_cases,
};

kunit_test_suite(ooo_suite);
