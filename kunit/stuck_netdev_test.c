// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* H26: a queue pair ends although its packets are stuck in a device. */
#include "hold_netdev.h"
#include "rc_pair.h"

#define STUCK_LINK "rdma_hold"

/* Enough for the send memory of a link. */
#define STUCK_QPS 512

/* Connects to the host next door, which the device could reach. */
static int connect_nobody(struct rc_end *end)
{
	struct rc_end nobody = *end;

	nobody.gid.raw[15]++;
	return rc_connect(end, &nobody);
}

static void destroy_qp__while_packets_are_stuck(struct kunit *test)
{
	struct rc_end end;
	int i;

	KUNIT_ASSERT_EQ(test, rc_end_open(&end, STUCK_LINK), 0);
	KUNIT_EXPECT_EQ(test, connect_nobody(&end), 0);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, post_send(&end, IB_WR_SEND, i, 0, 4096), 0);
	KUNIT_EXPECT_GT(test, hold_netdev_held(), 0);
	rc_end_close(&end);
	KUNIT_EXPECT_GT(test, hold_netdev_held(), 0);
}

/* Return: whether another queue pair added packets to those that are stuck. */
static bool stick_more(struct kunit *test, struct rc_end *end)
{
	u32 before = hold_netdev_held();

	end->qp = rc_end_create_qp(end);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->qp));
	KUNIT_EXPECT_EQ(test, connect_nobody(end), 0);
	KUNIT_EXPECT_EQ(test, post_send(end, IB_WR_SEND, 0, 0, PAIR_BUFFER), 0);
	return hold_netdev_held() > before;
}

static void transmit__another_link_is_full(struct kunit *test)
{
	struct ib_qp **qps = kunit_kcalloc(test, STUCK_QPS, sizeof(*qps), GFP_KERNEL);
	struct rc_pair *pair;
	struct rc_end end;
	bool full = false;
	int count;

	KUNIT_ASSERT_NOT_NULL(test, qps);
	KUNIT_ASSERT_EQ(test, rc_end_open(&end, STUCK_LINK), 0);
	for (count = 0; count < STUCK_QPS && !full; count++) {
		qps[count] = end.qp;
		full = !stick_more(test, &end);
	}
	KUNIT_EXPECT_TRUE(test, full);

	KUNIT_ASSERT_EQ(test, rc_pair_init(test), 0);
	pair = test->priv;
	KUNIT_EXPECT_EQ(test, post_recv(&pair->b, 1, 0, 4096), 0);
	KUNIT_EXPECT_EQ(test, post_send(&pair->a, IB_WR_SEND, 2, 0, 4096), 0);
	expect_wc(test, pair->b.cq, 1, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
	rc_pair_exit(test);

	while (count--)
		ib_destroy_qp(qps[count]);
	rc_end_close(&end);
}

static struct kunit_case stuck_netdev_cases[] = {
	KUNIT_CASE(destroy_qp__while_packets_are_stuck),
	KUNIT_CASE(transmit__another_link_is_full),
	{}
};

static struct kunit_suite stuck_netdev_suite = {
	.name = "siro_stuck_netdev",
	.test_cases = stuck_netdev_cases,
};

kunit_test_suite(stuck_netdev_suite);
