// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* H26: a queue pair ends although its packets are stuck in a device. */
#include "hold_netdev.h"
#include "rc_pair.h"

#define STUCK_LINK "rdma_hold"

static void destroy_qp__while_packets_are_stuck(struct kunit *test)
{
	struct rc_end end, nobody;
	int i;

	KUNIT_ASSERT_EQ(test, rc_end_open(&end, STUCK_LINK), 0);
	nobody = end;
	/* The host next door, which the device could reach. */
	nobody.gid.raw[15]++;
	KUNIT_EXPECT_EQ(test, rc_connect(&end, &nobody), 0);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, post_send(&end, IB_WR_SEND, i, 0, 4096), 0);
	KUNIT_EXPECT_GT(test, hold_netdev_held(), 0);
	rc_end_close(&end);
	KUNIT_EXPECT_GT(test, hold_netdev_held(), 0);
}

static struct kunit_case stuck_netdev_cases[] = {
	KUNIT_CASE(destroy_qp__while_packets_are_stuck),
	{}
};

static struct kunit_suite stuck_netdev_suite = {
	.name = "siro_stuck_netdev",
	.test_cases = stuck_netdev_cases,
};

kunit_test_suite(stuck_netdev_suite);
