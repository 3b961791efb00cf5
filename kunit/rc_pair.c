// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/delay.h>
#include <linux/module.h>

#include "rc_pair.h"

#define AWAIT_SECONDS 20

struct ib_qp *rc_end_create_qp(struct rc_end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = PAIR_DEPTH,
			.max_recv_wr = PAIR_DEPTH,
			.max_send_sge = PAIR_SGES,
			.max_recv_sge = PAIR_SGES,
		},
	};

	if (end->integrity) {
		init.create_flags = IB_QP_CREATE_INTEGRITY_EN;
		init.cap.max_rdma_ctxs = PAIR_RDMA_CTXS;
		init.port_num = 1;
	}
	return ib_create_qp(end->pd, &init);
}

static int open_objects(struct rc_end *end)
{
	end->pd = ib_alloc_pd(end->dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq(end->dev, NULL, 4 * PAIR_DEPTH, 0, IB_POLL_DIRECT);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	end->qp = rc_end_create_qp(end);
	if (IS_ERR(end->qp))
		return PTR_ERR(end->qp);
	end->buffer = kzalloc(PAIR_BUFFER, GFP_KERNEL);
	if (!end->buffer)
		return -ENOMEM;
	end->addr = ib_dma_map_single(end->dev, end->buffer, PAIR_BUFFER, DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(end->dev, end->addr);
}

static int end_open(struct rc_end *end, const char *name, bool integrity)
{
	int err;

	memset(end, 0, sizeof(*end));
	end->integrity = integrity;
	end->mtu = PAIR_MTU;
	end->dev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!end->dev)
		return -ENODEV;
	err = rc_end_find_gid(end);
	if (!err)
		err = open_objects(end);
	if (err)
		rc_end_close(end);
	return err;
}

int rc_end_open(struct rc_end *end, const char *name)
{
	return end_open(end, name, false);
}

void rc_end_close(struct rc_end *end)
{
	if (end->buffer)
		ib_dma_unmap_single(end->dev, end->addr, PAIR_BUFFER, DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	kfree(end->buffer);
	if (end->dev)
		ib_device_put(end->dev);
	memset(end, 0, sizeof(*end));
}

static int pair_init(struct kunit *test, bool integrity)
{
	struct rc_pair *pair;
	int err;

	pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return -ENOMEM;
	err = end_open(&pair->a, PAIR_LINK_A, integrity);
	if (err)
		return err;
	err = end_open(&pair->b, PAIR_LINK_B, integrity);
	if (!err)
		err = rc_connect(&pair->a, &pair->b);
	if (!err)
		err = rc_connect(&pair->b, &pair->a);
	if (err) {
		rc_end_close(&pair->b);
		rc_end_close(&pair->a);
		return err;
	}
	test->priv = pair;
	return 0;
}

int rc_pair_init(struct kunit *test)
{
	return pair_init(test, false);
}

int rc_pair_init_integrity(struct kunit *test)
{
	return pair_init(test, true);
}

void rc_pair_exit(struct kunit *test)
{
	struct rc_pair *pair = test->priv;

	if (!pair)
		return;
	rc_end_close(&pair->a);
	rc_end_close(&pair->b);
}

void await(struct kunit *test, struct ib_cq *cq, struct ib_wc *wc)
{
	unsigned long limit = jiffies + AWAIT_SECONDS * HZ;
	int got;

	do {
		got = ib_poll_cq(cq, 1, wc);
		if (got > 0)
			return;
		usleep_range(50, 200);
	} while (!got && time_before(jiffies, limit));
	KUNIT_ASSERT_EQ_MSG(test, got, 1, "no completion in %d s", AWAIT_SECONDS);
}

void expect_wc(struct kunit *test, struct ib_cq *cq, u64 wr_id, enum ib_wc_status status)
{
	struct ib_wc wc;

	await(test, cq, &wc);
	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_STREQ(test, ib_wc_status_msg(wc.status), ib_wc_status_msg(status));
}

void expect_no_wc(struct kunit *test, struct ib_cq *cq)
{
	struct ib_wc wc;

	msleep(20);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 1, &wc), 0);
}

struct ib_sge local_sge(struct rc_end *end, u32 offset, u32 length)
{
	return (struct ib_sge){
		.addr = end->addr + offset,
		.length = length,
		.lkey = end->pd->local_dma_lkey,
	};
}

int post_recv(struct rc_end *end, u64 wr_id, u32 offset, u32 length)
{
	struct ib_sge sge = local_sge(end, offset, length);
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = length ? 1 : 0 };

	return ib_post_recv(end->qp, &wr, NULL);
}

int post_send(struct rc_end *end, enum ib_wr_opcode opcode, u64 wr_id, u32 offset, u32 length)
{
	struct ib_sge sge = local_sge(end, offset, length);
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = length ? 1 : 0,
		.opcode = opcode,
		.send_flags = IB_SEND_SIGNALED,
		.ex.imm_data = cpu_to_be32(0x12345678),
	};

	return ib_post_send(end->qp, &wr, NULL);
}

int post_rdma(struct rc_end *end, enum ib_wr_opcode opcode, u64 wr_id, u32 offset, u32 length,
	      u64 remote_addr, u32 rkey)
{
	struct ib_sge sge = local_sge(end, offset, length);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.sg_list = &sge,
			.num_sge = length ? 1 : 0,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(0x12345678),
		},
		.remote_addr = remote_addr,
		.rkey = rkey,
	};

	return ib_post_send(end->qp, &wr.wr, NULL);
}

static u8 pattern_at(u32 i, u8 seed)
{
	return seed + i * 7 + (i >> 8) * 3;
}

void fill_pattern(u8 *buffer, u32 length, u8 seed)
{
	u32 i;

	for (i = 0; i < length; i++)
		buffer[i] = pattern_at(i, seed);
}

bool has_pattern(const u8 *buffer, u32 length, u8 seed)
{
	u32 i;

	for (i = 0; i < length; i++)
		if (buffer[i] != pattern_at(i, seed))
			return false;
	return true;
}

MODULE_DESCRIPTION("KUnit suites that use an RDMA device as kernel clients do");
MODULE_LICENSE("Dual BSD/GPL");
