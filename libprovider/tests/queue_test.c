// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the provider leaves in rings and says to the kernel. */
#include <fcntl.h>

#include "bench.h"

/* ---- siro_post_send() ---- */

static void post_send__list_is_one_doorbell(void)
{
	struct ibv_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ibv_send_wr wr[3] = {}, *bad;
	struct siro_sge *stored;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[0].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr[0].wr_id = 0x1122334455667788;
	wr[0].send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	wr[0].imm_data = htobe32(0xabcd);
	wr[0].wr.rdma.remote_addr = 0x7f0000001000;
	wr[0].wr.rdma.rkey = 0x99;
	wr[0].sg_list = sge;
	wr[0].num_sge = 2;
	wr[1].opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr[1].wr.atomic.remote_addr = 0x4000;
	wr[1].wr.atomic.compare_add = 5;
	wr[1].wr.atomic.swap = 6;
	wr[1].wr.atomic.rkey = 7;
	wr[1].sg_list = sge;
	wr[1].num_sge = 1;
	wr[2].opcode = IBV_WR_SEND_WITH_INV;
	wr[2].invalidate_rkey = 0x55;

	CHECK(!siro_post_send(&b.qp.vqp.qp, wr, &bad));
	CHECK(produced(&b.qp.sq.ring) == 3);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 1);

	CHECK(sent(&b, 0)->wr_id == 0x1122334455667788);
	CHECK(sent(&b, 0)->opcode == SIRO_WR_RDMA_WRITE_WITH_IMM);
	CHECK(sent(&b, 0)->flags == (SIRO_SEND_SIGNALED | SIRO_SEND_FENCE));
	CHECK(sent(&b, 0)->imm == htobe32(0xabcd));
	CHECK(sent(&b, 0)->rkey == 0x99);
	CHECK(sent(&b, 0)->rdma.remote_addr == 0x7f0000001000);
	CHECK(sent(&b, 0)->num_sge == 2 && !sent(&b, 0)->inline_length);
	stored = (struct siro_sge *)(sent(&b, 0) + 1);
	CHECK(stored[1].addr == 0x2000 && stored[1].length == 20 &&
	      stored[1].lkey == 2);
	CHECK(sent(&b, 1)->atomic.remote_addr == 0x4000);
	CHECK(sent(&b, 1)->atomic.compare_add == 5);
	CHECK(sent(&b, 1)->atomic.swap == 6 && sent(&b, 1)->rkey == 7);
	CHECK(sent(&b, 2)->imm == 0x55 && !sent(&b, 2)->num_sge);
	teardown(&b);
}

static void post_send__inline_is_gathered(void)
{
	char data[] = "abcdefgh";
	struct ibv_sge sge[2] = {
		{ (uintptr_t)data, 3, 0 },
		{ (uintptr_t)(data + 5), 2, 0 },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.sg_list = sge,
		.num_sge = 2,
	}, *bad;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	CHECK(!siro_post_send(&b.qp.vqp.qp, &wr, &bad));
	CHECK(sent(&b, 0)->flags == SIRO_SEND_INLINE);
	CHECK(sent(&b, 0)->inline_length == 5 && !sent(&b, 0)->num_sge);
	CHECK(!memcmp(sent(&b, 0) + 1, "abcfg", 5));

	wr.num_sge = 0;
	CHECK(!siro_post_send(&b.qp.vqp.qp, &wr, &bad));
	CHECK(sent(&b, 1)->flags == SIRO_SEND_INLINE);
	CHECK(sent(&b, 1)->inline_length == 0);
	teardown(&b);
}

static void post_send__full_queue(void)
{
	struct ibv_send_wr wr[SLOTS + 1] = {}, *bad = NULL;
	struct bench b;
	int i;

	setup(&b, IBV_QPT_RC);
	b.qp.sq.limit = SLOTS - 2;
	for (i = 0; i <= SLOTS; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < SLOTS ? &wr[i + 1] : NULL;
	}
	CHECK(siro_post_send(&b.qp.vqp.qp, wr, &bad) == ENOMEM);
	CHECK(bad == &wr[SLOTS - 2]);
	CHECK(produced(&b.qp.sq.ring) == SLOTS - 2);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 1);

	CHECK(siro_post_send(&b.qp.vqp.qp, bad, &bad) == ENOMEM);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 0);

	b.qp.sq.ring.header->consumer += 3;
	CHECK(!siro_post_send(&b.qp.vqp.qp, bad, &bad));
	CHECK(produced(&b.qp.sq.ring) == SLOTS + 1);
	teardown(&b);
}

/* A good request is before the bad one and must have been posted. */
static void refused(enum ibv_qp_type type, const struct ibv_send_wr *second)
{
	struct ibv_send_wr wr[2] = {}, *bad = NULL;
	struct siro_ah ah = { .number = 9 };
	struct bench b;

	setup(&b, type);
	wr[0].opcode = IBV_WR_SEND;
	wr[0].wr.ud.ah = &ah.ibah;
	wr[0].next = &wr[1];
	wr[1] = *second;
	CHECK(siro_post_send(&b.qp.vqp.qp, wr, &bad) == EINVAL);
	CHECK(bad == &wr[1]);
	CHECK(produced(&b.qp.sq.ring) == 1);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 1);
	teardown(&b);
}

static void post_send__bad_request(void)
{
	static char data[MAX_INLINE + 1];
	struct ibv_sge big[2] = {
		{ (uintptr_t)data, MAX_INLINE, 0 },
		{ (uintptr_t)data, 1, 0 },
	};
	struct ibv_sge huge[2] = {
		{ (uintptr_t)data, 2, 0 },
		{ (uintptr_t)data, -1u, 0 },
	};

	refused(IBV_QPT_RC, &(struct ibv_send_wr){ .opcode = IBV_WR_TSO });
	refused(IBV_QPT_RC, &(struct ibv_send_wr){ .opcode = 33 });
	refused(IBV_QPT_RC, &(struct ibv_send_wr){ .opcode = IBV_WR_BIND_MW });
	refused(IBV_QPT_RC, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND,
						   .num_sge = MAX_SGE + 1 });
	refused(IBV_QPT_RC, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND,
						   .num_sge = -1 });
	refused(IBV_QPT_RC,
		&(struct ibv_send_wr){ .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_IP_CSUM });
	refused(IBV_QPT_RC,
		&(struct ibv_send_wr){ .opcode = IBV_WR_RDMA_READ,
				       .send_flags = IBV_SEND_INLINE });
	refused(IBV_QPT_RC,
		&(struct ibv_send_wr){ .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_INLINE,
				       .sg_list = big,
				       .num_sge = 2 });
	refused(IBV_QPT_RC,
		&(struct ibv_send_wr){ .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_INLINE,
				       .sg_list = huge,
				       .num_sge = 2 });
	refused(IBV_QPT_UD,
		&(struct ibv_send_wr){ .opcode = IBV_WR_RDMA_WRITE });
	refused(IBV_QPT_UD,
		&(struct ibv_send_wr){ .opcode = IBV_WR_SEND_WITH_INV });
	refused(IBV_QPT_UD, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND });
}

static void post_send__state(void)
{
	static const enum ibv_qp_state no[] = { IBV_QPS_RESET, IBV_QPS_INIT,
						IBV_QPS_RTR };
	static const enum ibv_qp_state yes[] = { IBV_QPS_RTS, IBV_QPS_SQD,
						 IBV_QPS_SQE, IBV_QPS_ERR };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct bench b;
	size_t i;

	setup(&b, IBV_QPT_RC);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		b.qp.vqp.qp.state = no[i];
		bad = NULL;
		CHECK(siro_post_send(&b.qp.vqp.qp, &wr, &bad) == EINVAL);
		CHECK(bad == &wr);
	}
	CHECK(produced(&b.qp.sq.ring) == 0);
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		b.qp.vqp.qp.state = yes[i];
		CHECK(!siro_post_send(&b.qp.vqp.qp, &wr, &bad));
	}
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 4);
	teardown(&b);
}

static void post_send__ud_address(void)
{
	struct siro_ah ah = { .number = 0x31 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htobe32(3),
		.wr.ud = { &ah.ibah, 0x456, 0x11111111 },
	}, *bad;
	struct bench b;

	setup(&b, IBV_QPT_UD);
	CHECK(!siro_post_send(&b.qp.vqp.qp, &wr, &bad));
	CHECK(sent(&b, 0)->ud.ah == 0x31 && sent(&b, 0)->imm == htobe32(3));
	CHECK(sent(&b, 0)->ud.remote_qpn == 0x456);
	CHECK(sent(&b, 0)->ud.remote_qkey == 0x11111111);
	teardown(&b);
}

static void post_send__device_gone(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
	struct bench b;
	int closed;

	setup(&b, IBV_QPT_RC);
	closed = open("/dev/null", O_RDONLY);
	dup2(closed, b.context.cmd_fd); /* writing fails with EBADF */
	close(closed);
	CHECK(siro_post_send(&b.qp.vqp.qp, &wr, &bad) == EBADF);
	CHECK(bad == &wr);
	teardown(&b);
}

/* ---- siro_post_recv() ---- */

static void post_recv__needs_no_doorbell(void)
{
	struct ibv_sge sge = { 0x1000, 10, 1 };
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 1, .next = &wr[1], .sg_list = &sge, .num_sge = 1 },
		{ .wr_id = 2 },
	}, *bad;
	struct siro_recv_wqe *wqe;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	CHECK(!siro_post_recv(&b.qp.vqp.qp, wr, &bad));
	CHECK(produced(&b.qp.rq.ring) == 2);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_RECV) == 0);
	wqe = siro_ring_entry(&b.qp.rq.ring, -2u);
	CHECK(wqe->wr_id == 1 && wqe->num_sge == 1);
	CHECK(((struct siro_sge *)(wqe + 1))->addr == 0x1000);
	wqe = siro_ring_entry(&b.qp.rq.ring, -1u);
	CHECK(wqe->wr_id == 2 && wqe->num_sge == 0);
	teardown(&b);
}

static void post_recv__kick(void)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	b.qp.rq.ring.header->flags = SIRO_RING_KICK;
	CHECK(!siro_post_recv(&b.qp.vqp.qp, &wr, &bad));
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_RECV) == 1);
	teardown(&b);
}

static void post_recv__bad_request(void)
{
	struct ibv_recv_wr wr[2] = { { .next = &wr[1] },
				     { .num_sge = MAX_SGE + 1 } };
	struct ibv_recv_wr full[SLOTS] = {}, *bad = NULL;
	struct bench b;
	int i;

	setup(&b, IBV_QPT_RC);
	CHECK(siro_post_recv(&b.qp.vqp.qp, wr, &bad) == EINVAL);
	CHECK(bad == &wr[1] && produced(&b.qp.rq.ring) == 1);

	for (i = 0; i < SLOTS - 1; i++)
		full[i].next = &full[i + 1];
	CHECK(siro_post_recv(&b.qp.vqp.qp, full, &bad) == ENOMEM);
	CHECK(bad == &full[SLOTS - 1]);
	CHECK(produced(&b.qp.rq.ring) == SLOTS);

	b.qp.vqp.qp.state = IBV_QPS_RESET;
	CHECK(siro_post_recv(&b.qp.vqp.qp, full, &bad) == EINVAL);
	CHECK(bad == full);
	teardown(&b);
}

/* ---- ibv_wr_*() ---- */

static void wr_complete__publishes_all(void)
{
	struct ibv_data_buf buf[2] = { { "abc", 3 }, { "de", 2 } };
	struct ibv_qp_ex *qp;
	struct siro_sge *stored;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	qp = &b.qp.vqp.qp_ex;
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qp, 0x77, 0x8000);
	ibv_wr_set_inline_data_list(qp, 2, buf);
	qp->wr_id = 2;
	qp->wr_flags = 0;
	ibv_wr_atomic_cmp_swp(qp, 0x78, 0x9000, 11, 12);
	ibv_wr_set_sge(qp, 5, 0xa000, 8);
	ibv_wr_send_imm(qp, htobe32(4));
	CHECK(produced(&b.qp.sq.ring) == 0);
	CHECK(!ibv_wr_complete(qp));
	CHECK(produced(&b.qp.sq.ring) == 3);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 1);

	CHECK(sent(&b, 0)->wr_id == 1 && sent(&b, 0)->rkey == 0x77);
	CHECK(sent(&b, 0)->flags == (SIRO_SEND_SIGNALED | SIRO_SEND_INLINE));
	CHECK(sent(&b, 0)->inline_length == 5);
	CHECK(!memcmp(sent(&b, 0) + 1, "abcde", 5));
	CHECK(sent(&b, 1)->wr_id == 2 && sent(&b, 1)->flags == 0);
	CHECK(sent(&b, 1)->atomic.compare_add == 11);
	CHECK(sent(&b, 1)->atomic.swap == 12);
	stored = (struct siro_sge *)(sent(&b, 1) + 1);
	CHECK(sent(&b, 1)->num_sge == 1 && stored->addr == 0xa000 &&
	      stored->length == 8 && stored->lkey == 5);
	CHECK(sent(&b, 2)->imm == htobe32(4) && !sent(&b, 2)->num_sge);
	teardown(&b);
}

static void wr_complete__error_posts_nothing(void)
{
	static char data[MAX_INLINE + 1];
	struct ibv_qp_ex *qp;
	struct bench b;
	int i;

	setup(&b, IBV_QPT_RC);
	qp = &b.qp.vqp.qp_ex;
	ibv_wr_start(qp);
	ibv_wr_send_imm(qp, 0);
	ibv_wr_set_inline_data(qp, data, sizeof(data));
	ibv_wr_send_imm(qp, 0);
	CHECK(ibv_wr_complete(qp) == EINVAL);

	ibv_wr_start(qp);
	ibv_wr_rdma_read(qp, 1, 2);
	ibv_wr_set_inline_data(qp, data, 1);
	CHECK(ibv_wr_complete(qp) == EINVAL);

	ibv_wr_start(qp);
	for (i = 0; i <= SLOTS; i++)
		ibv_wr_send_imm(qp, 0);
	CHECK(ibv_wr_complete(qp) == ENOMEM);

	b.qp.vqp.qp.state = IBV_QPS_RTR;
	ibv_wr_start(qp);
	ibv_wr_send_imm(qp, 0);
	CHECK(ibv_wr_complete(qp) == EINVAL);

	CHECK(produced(&b.qp.sq.ring) == 0);
	CHECK(doorbells(&b, IB_USER_VERBS_CMD_POST_SEND) == 0);
	teardown(&b);
}

static void wr_abort__posts_nothing(void)
{
	struct ibv_qp_ex *qp;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	qp = &b.qp.vqp.qp_ex;
	ibv_wr_start(qp);
	ibv_wr_send_imm(qp, 0);
	ibv_wr_abort(qp);
	CHECK(produced(&b.qp.sq.ring) == 0);

	qp->wr_id = 8;
	ibv_wr_start(qp);
	ibv_wr_send_imm(qp, 0);
	CHECK(!ibv_wr_complete(qp));
	CHECK(produced(&b.qp.sq.ring) == 1 && sent(&b, 0)->wr_id == 8);
	teardown(&b);
}

static void set_send_ops__unsupported(void)
{
	struct siro_qp qp = {};

	CHECK(siro_set_send_ops(&qp, IBV_QPT_RC, IBV_QP_EX_WITH_TSO) ==
	      EOPNOTSUPP);
	CHECK(siro_set_send_ops(&qp, IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ) ==
	      EOPNOTSUPP);
}

/* ---- completions ---- */

static void complete(struct bench *b, const struct siro_cqe *cqe)
{
	struct siro_ring *ring = &b->cq.ring;

	*(struct siro_cqe *)siro_ring_entry(ring, ring->header->producer) = *cqe;
	ring->header->producer++;
}

static uint32_t consumed(struct bench *b)
{
	return b->cq.ring.header->consumer - -2u;
}

static void poll_cq__batch(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc[4];
	struct bench b;

	setup(&b, IBV_QPT_RC);
	cq = &b.cq.vcq.cq;
	CHECK(siro_poll_cq(cq, 4, wc) == 0);
	complete(&b, &(struct siro_cqe){ .wr_id = 1, .opcode = SIRO_WC_LOCAL_INV,
					 .qp_num = QPN });
	complete(&b, &(struct siro_cqe){ .wr_id = 2,
					 .status = IBV_WC_WR_FLUSH_ERR,
					 .vendor_err = 5 });
	complete(&b, &(struct siro_cqe){
		.wr_id = 3, .opcode = SIRO_WC_RECV_RDMA_WITH_IMM,
		.flags = SIRO_WC_WITH_IMM | SIRO_WC_GRH | SIRO_WC_SOLICITED,
		.imm = htobe32(9), .byte_len = 100, .src_qp = 0x456 });
	CHECK(siro_poll_cq(cq, 2, wc) == 2);
	CHECK(consumed(&b) == 2);
	CHECK(wc[0].wr_id == 1 && wc[0].opcode == IBV_WC_LOCAL_INV);
	CHECK(wc[0].qp_num == QPN && wc[0].status == IBV_WC_SUCCESS);
	CHECK(wc[1].status == IBV_WC_WR_FLUSH_ERR && wc[1].vendor_err == 5);
	CHECK(siro_poll_cq(cq, 4, wc) == 1);
	CHECK(wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(wc[0].wc_flags == (IBV_WC_WITH_IMM | IBV_WC_GRH));
	CHECK(wc[0].imm_data == htobe32(9) && wc[0].byte_len == 100);
	CHECK(wc[0].src_qp == 0x456);
	CHECK(siro_poll_cq(cq, 4, wc) == 0 && consumed(&b) == 3);
	teardown(&b);
}

static void cq_ex__walks_all(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cq;
	struct bench b;

	setup(&b, IBV_QPT_RC);
	cq = &b.cq.vcq.cq_ex;
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	complete(&b, &(struct siro_cqe){ .wr_id = 1, .opcode = SIRO_WC_RDMA_READ,
					 .byte_len = 4 });
	complete(&b, &(struct siro_cqe){ .wr_id = 2, .opcode = SIRO_WC_RECV,
					 .status = IBV_WC_LOC_LEN_ERR,
					 .qp_num = QPN });
	CHECK(!ibv_start_poll(cq, &attr));
	CHECK(cq->wr_id == 1 && cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RDMA_READ);
	CHECK(ibv_wc_read_byte_len(cq) == 4);
	CHECK(consumed(&b) == 0);
	CHECK(!ibv_next_poll(cq));
	CHECK(cq->wr_id == 2 && cq->status == IBV_WC_LOC_LEN_ERR);
	CHECK(ibv_wc_read_qp_num(cq) == QPN);
	complete(&b, &(struct siro_cqe){ .wr_id = 3 });
	CHECK(!ibv_next_poll(cq));
	CHECK(cq->wr_id == 3 && consumed(&b) == 2);
	CHECK(ibv_next_poll(cq) == ENOENT);
	ibv_end_poll(cq);
	CHECK(consumed(&b) == 3);
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	attr.comp_mask = 1;
	CHECK(ibv_start_poll(cq, &attr) == EINVAL);
	teardown(&b);
}

static void cq_purge__keeps_order_of_others(void)
{
	struct ibv_wc wc[SLOTS];
	struct bench b;
	uint32_t i;

	setup(&b, IBV_QPT_RC);
	for (i = 0; i < 6; i++)
		complete(&b, &(struct siro_cqe){ .wr_id = i,
						 .qp_num = i % 2 ? QPN : 1 });
	siro_cq_purge(&b.cq, 1);
	CHECK(consumed(&b) == 3);
	CHECK(siro_poll_cq(&b.cq.vcq.cq, SLOTS, wc) == 3);
	for (i = 0; i < 3; i++)
		CHECK(wc[i].wr_id == 2 * i + 1 && wc[i].qp_num == QPN);

	complete(&b, &(struct siro_cqe){ .qp_num = QPN });
	siro_cq_purge(&b.cq, QPN);
	CHECK(siro_poll_cq(&b.cq.vcq.cq, SLOTS, wc) == 0);
	CHECK(consumed(&b) == 7);
	teardown(&b);
}

/* ---- siro_ring_map() ---- */

static void ring_map__bad_description(void)
{
	const struct siro_ring_info good = { .mmap_size = 4096, .slots = 32,
					     .stride = 64 };
	struct siro_ring ring = {};
	struct siro_ring_info info;
	FILE *file = tmpfile();

	CHECK(file && !ftruncate(fileno(file), 4096));
	CHECK(!siro_ring_map(&ring, fileno(file), &good, 64));
	CHECK((uint8_t *)ring.header + 128 == ring.entries);
	siro_ring_unmap(&ring);

	info = good;
	info.slots = 33;
	CHECK(siro_ring_map(&ring, fileno(file), &info, 64) == EPROTO);
	info.slots = 0;
	CHECK(siro_ring_map(&ring, fileno(file), &info, 64) == EPROTO);
	info.slots = 64; /* header and entries are more than a page */
	CHECK(siro_ring_map(&ring, fileno(file), &info, 64) == EPROTO);
	CHECK(siro_ring_map(&ring, fileno(file), &good, 80) == EPROTO);
	CHECK(siro_ring_map(&ring, -1, &good, 64) == EBADF);
	CHECK(!ring.header);
	fclose(file);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(post_send__list_is_one_doorbell),
		TEST(post_send__inline_is_gathered),
		TEST(post_send__full_queue),
		TEST(post_send__bad_request),
		TEST(post_send__state),
		TEST(post_send__ud_address),
		TEST(post_send__device_gone),
		TEST(post_recv__needs_no_doorbell),
		TEST(post_recv__kick),
		TEST(post_recv__bad_request),
		TEST(wr_complete__publishes_all),
		TEST(wr_complete__error_posts_nothing),
		TEST(wr_abort__posts_nothing),
		TEST(set_send_ops__unsupported),
		TEST(poll_cq__batch),
		TEST(cq_ex__walks_all),
		TEST(cq_purge__keeps_order_of_others),
		TEST(ring_map__bad_description),
	};

	run_tests(tests, sizeof(tests) / sizeof(tests[0]));
	return 0;
}
