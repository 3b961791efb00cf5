// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Every RC operation between two links, posted by a kernel client. */
#include <linux/delay.h>

#include "rc_pair.h"

static const u32 lengths[] = {
	0, 1, 3, 4, 64, PAIR_MTU_BYTES - 1, PAIR_MTU_BYTES, PAIR_MTU_BYTES + 1,
	2 * PAIR_MTU_BYTES, 2 * PAIR_MTU_BYTES + 3, 65535, 65536, PAIR_BUFFER,
};

static void send__every_length(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_wc wc;
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fill_pattern(pair->a.buffer, lengths[i], i);
		memset(pair->b.buffer, 0, PAIR_BUFFER);
		KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 100 + i, 0, PAIR_BUFFER), 0);
		KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, 200 + i, 0, lengths[i]), 0);
		await(test, pair->b.cq, &wc);
		KUNIT_EXPECT_EQ(test, wc.wr_id, 100 + i);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
		KUNIT_EXPECT_EQ(test, wc.byte_len, lengths[i]);
		KUNIT_EXPECT_PTR_EQ(test, wc.qp, pair->b.qp);
		KUNIT_EXPECT_EQ(test, wc.wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE), 0);
		KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, lengths[i], i));
		expect_wc(test, pair->a.cq, 200 + i, IB_WC_SUCCESS);
	}
}

static void send__gathered_and_scattered(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_sge from[] = { local_sge(&pair->a, 0, 1), local_sge(&pair->a, 1, 1500),
				 local_sge(&pair->a, 1501, 3), local_sge(&pair->a, 1504, 4096) };
	struct ib_sge to[] = { local_sge(&pair->b, 0, 1023), local_sge(&pair->b, 1023, 2),
			       local_sge(&pair->b, 1025, 8000) };
	struct ib_recv_wr recv = { .wr_id = 1, .sg_list = to, .num_sge = ARRAY_SIZE(to) };
	struct ib_send_wr send = {
		.wr_id = 2,
		.sg_list = from,
		.num_sge = ARRAY_SIZE(from),
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	fill_pattern(pair->a.buffer, 5600, 9);
	KUNIT_ASSERT_EQ(test, ib_post_recv(pair->b.qp, &recv, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(pair->a.qp, &send, NULL), 0);
	expect_wc(test, pair->b.cq, 1, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, 5600, 9));
}

static void send_with_imm__value_arrives(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 1, 0, 64), 0);
	KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND_WITH_IMM, 2, 0, 64), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x12345678);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
}

static void send__without_receive_waits_for_one(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	fill_pattern(pair->a.buffer, 3000, 5);
	KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, 2, 0, 3000), 0);
	expect_no_wc(test, pair->a.cq);
	KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 1, 0, 3000), 0);
	expect_wc(test, pair->b.cq, 1, IB_WC_SUCCESS);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, 3000, 5));
}

static void send__longer_than_the_receive(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 1, 0, 64), 0);
	KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, 2, 0, 65), 0);
	expect_wc(test, pair->a.cq, 2, IB_WC_REM_INV_REQ_ERR);
	expect_wc(test, pair->b.cq, 1, IB_WC_LOC_LEN_ERR);
}

static void rdma_write__every_length(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fill_pattern(pair->a.buffer, lengths[i], i);
		memset(pair->b.buffer, 0xee, PAIR_BUFFER);
		KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE, i, 0, lengths[i],
						pair->b.addr, pair->b.pd->unsafe_global_rkey), 0);
		expect_wc(test, pair->a.cq, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, lengths[i], i));
		if (lengths[i] < PAIR_BUFFER)
			KUNIT_EXPECT_EQ(test, pair->b.buffer[lengths[i]], 0xee);
	}
	expect_no_wc(test, pair->b.cq);
}

static void rdma_write_with_imm__takes_a_receive(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_wc wc;

	fill_pattern(pair->a.buffer, 5000, 77);
	KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 1, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE_WITH_IMM, 2, 0, 5000,
					pair->b.addr, pair->b.pd->unsafe_global_rkey), 0);
	await(test, pair->b.cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 5000);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x12345678);
	KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer, 5000, 77));
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
}

static void rdma_read__every_length(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_wc wc;
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fill_pattern(pair->b.buffer, lengths[i], i);
		memset(pair->a.buffer, 0xee, PAIR_BUFFER);
		KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_READ, i, 0, lengths[i],
						pair->b.addr, pair->b.pd->unsafe_global_rkey), 0);
		await(test, pair->a.cq, &wc);
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RDMA_READ);
		KUNIT_EXPECT_TRUE(test, has_pattern(pair->a.buffer, lengths[i], i));
		if (lengths[i] < PAIR_BUFFER)
			KUNIT_EXPECT_EQ(test, pair->a.buffer[lengths[i]], 0xee);
	}
}

/* H35: no key is looked at when nothing is accessed. */
static void rdma__zero_length_needs_no_key(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE, 1, 0, 0, 0, 0xdead), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_READ, 2, 0, 0, 0, 0xdead), 0);
	expect_wc(test, pair->a.cq, 2, IB_WC_SUCCESS);
}

static void rdma__unknown_key_is_refused(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	memset(pair->b.buffer, 0x11, 64);
	memset(pair->a.buffer, 0x22, 64);
	KUNIT_ASSERT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE, 1, 0, 64, pair->b.addr,
					~pair->b.pd->unsafe_global_rkey), 0);
	KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, 2, 0, 64), 0);
	expect_wc(test, pair->a.cq, 1, IB_WC_REM_ACCESS_ERR);
	expect_wc(test, pair->a.cq, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, pair->b.buffer[0], 0x11);
}

/* H13: the good ones before a bad one run, and bad_wr names it. */
static void post_send__bad_one_in_a_list(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	const struct ib_send_wr *bad_wr;
	struct ib_rdma_wr wr[5];
	struct ib_sge sge = local_sge(&pair->a, 0, 64);
	int bad, i;

	for (bad = 0; bad < ARRAY_SIZE(wr); bad++) {
		memset(wr, 0, sizeof(wr));
		for (i = 0; i < ARRAY_SIZE(wr); i++) {
			wr[i].wr.wr_id = i;
			wr[i].wr.opcode = IB_WR_RDMA_WRITE;
			wr[i].wr.send_flags = IB_SEND_SIGNALED;
			wr[i].wr.sg_list = &sge;
			wr[i].wr.num_sge = i == bad ? PAIR_SGES + 1000 : 1;
			wr[i].wr.next = i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1].wr : NULL;
			wr[i].remote_addr = pair->b.addr;
			wr[i].rkey = pair->b.pd->unsafe_global_rkey;
		}
		bad_wr = NULL;
		KUNIT_EXPECT_NE(test, ib_post_send(pair->a.qp, &wr[0].wr, &bad_wr), 0);
		KUNIT_EXPECT_PTR_EQ(test, bad_wr, (const struct ib_send_wr *)&wr[bad].wr);
		for (i = 0; i < bad; i++)
			expect_wc(test, pair->a.cq, i, IB_WC_SUCCESS);
		expect_no_wc(test, pair->a.cq);
	}
}

static void post_send__full_queue(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	int posted = 0, err;

	/* Without receives at the other end nothing completes. */
	do {
		err = post_send(&pair->a, IB_WR_SEND, posted, 0, 16);
		posted += !err;
	} while (!err && posted < 100 * PAIR_DEPTH);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_GE(test, posted, PAIR_DEPTH);
}

static void drain__flushes_everything_posted(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	u64 next_send = 0, next_recv = 100;
	struct ib_wc wc;
	int i;

	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, i, 0, 16), 0);
		KUNIT_ASSERT_EQ(test, post_recv(&pair->a, 100 + i, 0, 16), 0);
	}
	KUNIT_ASSERT_EQ(test, ib_modify_qp(pair->a.qp, &attr, IB_QP_STATE), 0);
	KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, 8, 0, 16), 0);
	KUNIT_ASSERT_EQ(test, post_recv(&pair->a, 108, 0, 16), 0);
	for (i = 0; i < 18; i++) {
		await(test, pair->a.cq, &wc);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
		if (wc.wr_id < 100)
			KUNIT_EXPECT_EQ(test, wc.wr_id, next_send++);
		else
			KUNIT_EXPECT_EQ(test, wc.wr_id, next_recv++);
	}
	expect_no_wc(test, pair->a.cq);
}

static void traffic__both_directions_at_once(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	int round, i, done;
	struct ib_wc wc;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < 8; i++) {
			KUNIT_ASSERT_EQ(test, post_recv(&pair->a, 10 + i, 0x20000 + i * 8192, 8192), 0);
			KUNIT_ASSERT_EQ(test, post_recv(&pair->b, 10 + i, 0x20000 + i * 8192, 8192), 0);
			fill_pattern(pair->a.buffer + i * 8192, 8192, round + i);
			fill_pattern(pair->b.buffer + i * 8192, 8192, round + i + 100);
		}
		for (i = 0; i < 8; i++) {
			KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, i, i * 8192, 8192 - i), 0);
			KUNIT_ASSERT_EQ(test, post_send(&pair->b, IB_WR_SEND, i, i * 8192, 8192 - i), 0);
		}
		for (done = 0; done < 16; done++) {
			await(test, pair->a.cq, &wc);
			KUNIT_ASSERT_EQ(test, wc.status, IB_WC_SUCCESS);
			await(test, pair->b.cq, &wc);
			KUNIT_ASSERT_EQ(test, wc.status, IB_WC_SUCCESS);
		}
		for (i = 0; i < 8; i++) {
			KUNIT_EXPECT_TRUE(test, has_pattern(pair->b.buffer + 0x20000 + i * 8192,
							    8192 - i, round + i));
			KUNIT_EXPECT_TRUE(test, has_pattern(pair->a.buffer + 0x20000 + i * 8192,
							    8192 - i, round + i + 100));
		}
	}
}

static void destroy_qp__with_work_outstanding(struct kunit *test)
{
	struct rc_pair *pair = test->priv;
	int i;

	for (i = 0; i < PAIR_DEPTH / 2; i++)
		KUNIT_ASSERT_EQ(test, post_send(&pair->a, IB_WR_SEND, i, 0, 4096), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(pair->b.qp), 0);
	pair->b.qp = NULL;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(pair->a.qp), 0);
	pair->a.qp = NULL;
}

static struct kunit_case rc_cases[] = {
	KUNIT_CASE(send__every_length),
	KUNIT_CASE(send__gathered_and_scattered),
	KUNIT_CASE(send_with_imm__value_arrives),
	KUNIT_CASE(send__without_receive_waits_for_one),
	KUNIT_CASE(send__longer_than_the_receive),
	KUNIT_CASE(rdma_write__every_length),
	KUNIT_CASE(rdma_write_with_imm__takes_a_receive),
	KUNIT_CASE(rdma_read__every_length),
	KUNIT_CASE(rdma__zero_length_needs_no_key),
	KUNIT_CASE(rdma__unknown_key_is_refused),
	KUNIT_CASE(post_send__bad_one_in_a_list),
	KUNIT_CASE(post_send__full_queue),
	KUNIT_CASE(drain__flushes_everything_posted),
	KUNIT_CASE(traffic__both_directions_at_once),
	KUNIT_CASE(destroy_qp__with_work_outstanding),
	{}
};

static struct kunit_suite rc_suite = {
	.name = "siro_rc",
	.init = rc_pair_init,
	.exit = rc_pair_exit,
	.test_cases = rc_cases,
};

kunit_test_suite(rc_suite);
