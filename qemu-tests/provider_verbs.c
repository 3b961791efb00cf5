// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * usage: provider_verbs DEVICE GID-INDEX DEVICE GID-INDEX CHECK
 *
 * Verbs that no stock client uses: ibv_wr_*(), ibv_cq_ex, resizing, and what
 * the provider itself must do when queue pairs are reset or destroyed. Both
 * ends are in this process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define BUFFER 65536
#define DEPTH 16
#define QKEY 0x11111111

#define OPS_RC                                                             \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |              \
	 IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |  \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |    \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

#define CHECK(condition)                                                  \
	do {                                                              \
		if (!(condition)) {                                       \
			printf("line %d: not true: %s (errno %d)\n",      \
			       __LINE__, #condition, errno);              \
			exit(1);                                          \
		}                                                         \
	} while (0)

struct end {
	struct ibv_context *context;
	int gid_index;
	union ibv_gid gid;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *buffer;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex;
};

static struct end a, b;

/* ---- set-up ---- */

static void open_end(struct end *e, const char *name, const char *gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	CHECK(list);
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			e->context = ibv_open_device(list[i]);
	CHECK(e->context);
	ibv_free_device_list(list);
	e->gid_index = atoi(gid_index);
	CHECK(!ibv_query_gid(e->context, 1, e->gid_index, &e->gid));
	e->pd = ibv_alloc_pd(e->context);
	CHECK(e->pd);
	e->buffer = aligned_alloc(4096, BUFFER);
	CHECK(e->buffer);
	memset(e->buffer, 0, BUFFER);
	e->mr = ibv_reg_mr(e->pd, e->buffer, BUFFER,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(e->mr);
	e->channel = ibv_create_comp_channel(e->context);
	CHECK(e->channel);
}

static void make_cq(struct end *e, int cqe, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = e->channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};

	e->cq = ibv_create_cq_ex(e->context, &attr);
	CHECK(e->cq);
}

static struct ibv_cq *plain_cq(const struct end *e)
{
	return ibv_cq_ex_to_cq(e->cq);
}

static void make_qp(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = plain_cq(e),
		.recv_cq = plain_cq(e),
		.srq = e->srq,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = e->srq ? 0 : DEPTH,
			 .max_send_sge = 4,
			 .max_recv_sge = e->srq ? 0 : 4,
			 .max_inline_data = 128 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = type == IBV_QPT_UD ? OPS_UD : OPS_RC,
	};

	e->qp = ibv_create_qp_ex(e->context, &attr);
	CHECK(e->qp);
	CHECK(attr.cap.max_inline_data >= 128 && attr.cap.max_send_wr >= DEPTH);
	e->qp_ex = ibv_qp_to_qp_ex(e->qp);
	CHECK(e->qp_ex);
}

static struct ibv_ah_attr path_to(const struct end *from, const struct end *to)
{
	return (struct ibv_ah_attr){
		.grh = { .dgid = to->gid, .sgid_index = from->gid_index,
			 .hop_limit = 64 },
		.is_global = 1,
		.port_num = 1,
	};
}

static void to_init(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	const int last = e->qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY :
							IBV_QP_ACCESS_FLAGS;

	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
						   IBV_QP_PORT | last));
}

static void to_rts(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = path_to(e, peer),
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = 100,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};
	const int rc = e->qp->qp_type == IBV_QPT_RC;

	CHECK(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE |
				     (rc ? IBV_QP_AV | IBV_QP_PATH_MTU |
						     IBV_QP_DEST_QPN |
						     IBV_QP_RQ_PSN |
						     IBV_QP_MAX_DEST_RD_ATOMIC |
						     IBV_QP_MIN_RNR_TIMER :
					   0)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 100,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	CHECK(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN |
				     (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						     IBV_QP_RNR_RETRY |
						     IBV_QP_MAX_QP_RD_ATOMIC :
					   0)));
}

static void connect_ends(enum ibv_qp_type type)
{
	make_qp(&a, type);
	make_qp(&b, type);
	to_init(&a);
	to_init(&b);
	to_rts(&a, &b);
	to_rts(&b, &a);
}

static void set_up(enum ibv_qp_type type)
{
	make_cq(&a, 64, 0);
	make_cq(&b, 64, 0);
	connect_ends(type);
}

static void set_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
}

/* ---- helpers ---- */

static void fill(uint8_t *p, size_t length, uint8_t first)
{
	size_t i;

	for (i = 0; i < length; i++)
		p[i] = first + i * 7;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Takes exactly @count completions off a CQ, however long it may take. */
static void take(struct end *e, struct ibv_wc *wc, int count)
{
	const double end = now() + 20;
	int got, n;

	for (got = 0; got < count && now() < end; got += n) {
		n = ibv_poll_cq(plain_cq(e), count - got, wc + got);
		CHECK(n >= 0);
	}
	CHECK(got == count);
}

static void take_good(struct end *e, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	take(e, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS);
	CHECK(wc.wr_id == wr_id && wc.opcode == opcode);
	CHECK(wc.qp_num == e->qp->qp_num);
}

static int none_left(struct end *e)
{
	struct ibv_wc wc;

	return ibv_poll_cq(plain_cq(e), 1, &wc) == 0;
}

static int start_poll(struct end *e)
{
	struct ibv_poll_cq_attr attr = {};
	const double end = now() + 20;
	int ret;

	do {
		ret = ibv_start_poll(e->cq, &attr);
	} while (ret == ENOENT && now() < end);
	return ret;
}

static struct ibv_sge sge_of(struct end *e, size_t offset, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)e->buffer + offset, length,
				 e->mr->lkey };
}

static int post_recv(struct end *e, uint64_t wr_id, size_t offset,
		     uint32_t length)
{
	struct ibv_sge sge = sge_of(e, offset, length);
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (e->srq)
		return ibv_post_srq_recv(e->srq, &wr, &bad);
	return ibv_post_recv(e->qp, &wr, &bad);
}

static int post_send(struct end *e, uint64_t wr_id, size_t offset,
		     uint32_t length)
{
	struct ibv_sge sge = sge_of(e, offset, length);
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	return ibv_post_send(e->qp, &wr, &bad);
}

static uint64_t remote(const struct end *e, size_t offset)
{
	return (uintptr_t)e->buffer + offset;
}

static void wr_begin(struct end *e, uint64_t wr_id, unsigned int flags)
{
	e->qp_ex->wr_id = wr_id;
	e->qp_ex->wr_flags = flags;
}

/* ---- checks ---- */

static void wr_write(void)
{
	struct ibv_data_buf part[2];
	struct ibv_sge list[2];

	set_up(IBV_QPT_RC);
	fill(a.buffer, 20000, 3);
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 1, 0);
	ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, remote(&b, 0));
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 0), 10000);
	wr_begin(&a, 2, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, remote(&b, 10000));
	list[0] = sge_of(&a, 10000, 1);
	list[1] = sge_of(&a, 10001, 9999);
	ibv_wr_set_sge_list(a.qp_ex, 2, list);
	wr_begin(&a, 3, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, remote(&b, 30000));
	part[0] = (struct ibv_data_buf){ "inl", 3 };
	part[1] = (struct ibv_data_buf){ "ine", 3 };
	ibv_wr_set_inline_data_list(a.qp_ex, 2, part);
	CHECK(!ibv_wr_complete(a.qp_ex));
	take_good(&a, 2, IBV_WC_RDMA_WRITE);
	take_good(&a, 3, IBV_WC_RDMA_WRITE);
	CHECK(!memcmp(a.buffer, b.buffer, 20000));
	CHECK(!memcmp(b.buffer + 30000, "inline", 7));
	CHECK(none_left(&a));
}

static void wr_write_imm(void)
{
	set_up(IBV_QPT_RC);
	CHECK(!post_recv(&b, 70, 0, 16));
	fill(a.buffer, 5000, 9);
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 4, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write_imm(a.qp_ex, b.mr->rkey, remote(&b, 100),
			      htobe32(0xfeedbeef));
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 0), 5000);
	CHECK(!ibv_wr_complete(a.qp_ex));
	CHECK(!start_poll(&b));
	CHECK(b.cq->wr_id == 70 && b.cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_opcode(b.cq) == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(ibv_wc_read_wc_flags(b.cq) == IBV_WC_WITH_IMM);
	CHECK(ibv_wc_read_imm_data(b.cq) == htobe32(0xfeedbeef));
	CHECK(ibv_wc_read_byte_len(b.cq) == 5000);
	CHECK(ibv_wc_read_qp_num(b.cq) == b.qp->qp_num);
	CHECK(ibv_next_poll(b.cq) == ENOENT);
	ibv_end_poll(b.cq);
	CHECK(!memcmp(a.buffer, b.buffer + 100, 5000));
	take_good(&a, 4, IBV_WC_RDMA_WRITE);
}

static void wr_send(void)
{
	struct ibv_wc wc[3];
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 3; i++)
		CHECK(!post_recv(&b, i, i * 4000, 4000));
	fill(a.buffer, 3000, 1);
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 1, 0);
	ibv_wr_send(a.qp_ex);
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 0), 3000);
	ibv_wr_send_imm(a.qp_ex, htobe32(5));
	ibv_wr_set_inline_data(a.qp_ex, "text", 4);
	wr_begin(&a, 3, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	ibv_wr_send(a.qp_ex);
	CHECK(!ibv_wr_complete(a.qp_ex));
	take_good(&a, 3, IBV_WC_SEND);
	take(&b, wc, 3);
	for (i = 0; i < 3; i++)
		CHECK(wc[i].wr_id == (uint64_t)i && !wc[i].status &&
		      wc[i].opcode == IBV_WC_RECV);
	CHECK(wc[0].byte_len == 3000 && wc[1].byte_len == 4);
	CHECK(wc[2].byte_len == 0);
	CHECK(wc[1].wc_flags == IBV_WC_WITH_IMM);
	CHECK(wc[1].imm_data == htobe32(5));
	CHECK(!memcmp(a.buffer, b.buffer, 3000));
	CHECK(!memcmp(b.buffer + 4000, "text", 5));
}

static void wr_read_and_atomics(void)
{
	uint64_t *counter = (uint64_t *)(b.buffer + 40000);
	uint64_t *before = (uint64_t *)(a.buffer + 40000);

	set_up(IBV_QPT_RC);
	fill(b.buffer, 9000, 77);
	*counter = 1000;
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(a.qp_ex, b.mr->rkey, remote(&b, 0));
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 0), 9000);
	wr_begin(&a, 2, IBV_SEND_SIGNALED);
	ibv_wr_atomic_fetch_add(a.qp_ex, b.mr->rkey, remote(&b, 40000), 11);
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 40000), 8);
	wr_begin(&a, 3, IBV_SEND_SIGNALED);
	ibv_wr_atomic_cmp_swp(a.qp_ex, b.mr->rkey, remote(&b, 40000), 1011, 5);
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 40008), 8);
	CHECK(!ibv_wr_complete(a.qp_ex));
	take_good(&a, 1, IBV_WC_RDMA_READ);
	take_good(&a, 2, IBV_WC_FETCH_ADD);
	take_good(&a, 3, IBV_WC_COMP_SWAP);
	CHECK(!memcmp(a.buffer, b.buffer, 9000));
	CHECK(before[0] == 1000 && before[1] == 1011 && *counter == 5);
}

static void wr_abort_and_errors(void)
{
	static char big[1024];

	set_up(IBV_QPT_RC);
	CHECK(!post_recv(&b, 1, 0, 100));
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 1, IBV_SEND_SIGNALED);
	ibv_wr_send(a.qp_ex);
	ibv_wr_abort(a.qp_ex);

	ibv_wr_start(a.qp_ex);
	ibv_wr_send(a.qp_ex);
	ibv_wr_set_inline_data(a.qp_ex, big, sizeof(big));
	CHECK(ibv_wr_complete(a.qp_ex) == EINVAL);

	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 2, IBV_SEND_SIGNALED);
	ibv_wr_send(a.qp_ex);
	CHECK(!ibv_wr_complete(a.qp_ex));
	take_good(&a, 2, IBV_WC_SEND);
	take_good(&b, 1, IBV_WC_RECV);
	CHECK(none_left(&a) && none_left(&b));
}

static void wr_ud(void)
{
	struct ibv_ah_attr attr = path_to(&a, &b);
	struct ibv_ah *ah;

	set_up(IBV_QPT_UD);
	ah = ibv_create_ah(a.pd, &attr);
	CHECK(ah);
	CHECK(!post_recv(&b, 6, 0, 1040));
	fill(a.buffer, 1000, 5);
	ibv_wr_start(a.qp_ex);
	wr_begin(&a, 5, IBV_SEND_SIGNALED);
	ibv_wr_send_imm(a.qp_ex, htobe32(8));
	ibv_wr_set_ud_addr(a.qp_ex, ah, b.qp->qp_num, QKEY);
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, remote(&a, 0), 1000);
	CHECK(!ibv_wr_complete(a.qp_ex));
	take_good(&a, 5, IBV_WC_SEND);
	CHECK(!start_poll(&b));
	CHECK(b.cq->wr_id == 6 && b.cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_wc_flags(b.cq) == (IBV_WC_GRH | IBV_WC_WITH_IMM));
	CHECK(ibv_wc_read_src_qp(b.cq) == a.qp->qp_num);
	CHECK(ibv_wc_read_byte_len(b.cq) == 1040);
	CHECK(ibv_wc_read_slid(b.cq) == 0 && ibv_wc_read_sl(b.cq) == 0);
	ibv_end_poll(b.cq);
	CHECK(!memcmp(a.buffer, b.buffer + 40, 1000));
	CHECK(!ibv_destroy_ah(ah));
}

static void cq_ex_single_threaded(void)
{
	int i;

	make_cq(&a, 64, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	make_cq(&b, 64, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	connect_ends(IBV_QPT_RC);
	for (i = 0; i < DEPTH; i++)
		CHECK(!post_recv(&b, i, 0, 16));
	for (i = 0; i < DEPTH; i++)
		CHECK(!post_send(&a, i, 0, 16));
	CHECK(!start_poll(&b));
	for (i = 0;; i++) {
		CHECK(b.cq->wr_id == (uint64_t)i && !b.cq->status);
		if (i == DEPTH - 1)
			break;
		while (ibv_next_poll(b.cq) == ENOENT)
			;
	}
	ibv_end_poll(b.cq);
	CHECK(none_left(&b));
}

static void cq_ex_unsupported(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 10,
		.wc_flags = IBV_WC_EX_WITH_CVLAN,
	};

	CHECK(!ibv_create_cq_ex(a.context, &attr) && errno == EOPNOTSUPP);
	attr.wc_flags = 0;
	CHECK((a.cq = ibv_create_cq_ex(a.context, &attr)));
}

static void cq_resize(void)
{
	struct ibv_wc wc[DEPTH];
	int i;

	make_cq(&a, 64, 0);
	make_cq(&b, 4 * DEPTH, 0);
	connect_ends(IBV_QPT_RC);
	for (i = 0; i < DEPTH; i++)
		CHECK(!post_recv(&b, i, 0, 16));
	for (i = 0; i < DEPTH; i++)
		CHECK(!post_send(&a, i, 0, 16));
	take(&a, wc, DEPTH); /* all are acknowledged, so b has completed them */
	take(&b, wc, 3);
	CHECK(ibv_resize_cq(plain_cq(&b), DEPTH - 4) == EINVAL);
	CHECK(!ibv_resize_cq(plain_cq(&b), 300));
	CHECK(b.cq->cqe >= 300);
	CHECK(!ibv_resize_cq(plain_cq(&b), DEPTH));
	take(&b, wc, DEPTH - 3);
	for (i = 0; i < DEPTH - 3; i++)
		CHECK(wc[i].wr_id == (uint64_t)i + 3 && !wc[i].status);
	CHECK(none_left(&b));
	CHECK(!post_recv(&b, 99, 0, 16));
	CHECK(!post_send(&a, 98, 0, 16));
	take_good(&b, 99, IBV_WC_RECV);
}

static void cq_events(void)
{
	struct ibv_cq *cq;
	void *context;

	set_up(IBV_QPT_RC);
	CHECK(!ibv_req_notify_cq(plain_cq(&b), 0));
	CHECK(!post_recv(&b, 1, 0, 16));
	CHECK(!post_send(&a, 1, 0, 16));
	CHECK(!ibv_get_cq_event(b.channel, &cq, &context));
	CHECK(cq == plain_cq(&b));
	ibv_ack_cq_events(cq, 1);
	take_good(&b, 1, IBV_WC_RECV);
}

static void make_srq(struct end *e, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr,
						    .max_sge = 2 } };

	e->srq = ibv_create_srq(e->pd, &attr);
	CHECK(e->srq);
}

static void srq_resize(void)
{
	struct ibv_srq_attr attr;
	struct ibv_wc wc[DEPTH];
	uint64_t i;

	make_srq(&b, DEPTH);
	set_up(IBV_QPT_RC);
	for (i = 0; i < DEPTH; i++)
		CHECK(!post_recv(&b, i, 0, 16));
	CHECK(post_recv(&b, i, 0, 16) == ENOMEM);
	attr.max_wr = 3 * DEPTH;
	CHECK(!ibv_modify_srq(b.srq, &attr, IBV_SRQ_MAX_WR));
	for (; i < 3 * DEPTH; i++)
		CHECK(!post_recv(&b, i, 0, 16));
	CHECK(post_recv(&b, i, 0, 16) == ENOMEM);
	CHECK(!ibv_query_srq(b.srq, &attr));
	CHECK(attr.max_wr == 3 * DEPTH);
	for (i = 0; i < 3 * DEPTH; i++) {
		CHECK(!post_send(&a, i, 0, 16));
		take(&b, wc, 1);
		CHECK(wc[0].wr_id == i && !wc[0].status);
		take(&a, wc, 1);
	}
}

static void srq_limit(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_async_event event;
	struct ibv_wc wc[4];
	int i;

	make_srq(&b, DEPTH);
	set_up(IBV_QPT_RC);
	for (i = 0; i < 4; i++)
		CHECK(!post_recv(&b, i, 0, 16));
	CHECK(!ibv_modify_srq(b.srq, &attr, IBV_SRQ_LIMIT));
	for (i = 0; i < 2; i++)
		CHECK(!post_send(&a, i, 0, 16));
	take(&b, wc, 2);
	do {
		CHECK(!ibv_get_async_event(b.context, &event));
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(event.element.srq == b.srq);
	CHECK(!ibv_query_srq(b.srq, &attr));
	CHECK(attr.srq_limit == 0);
}

static void destroy_purges(void)
{
	struct ibv_qp *first;
	struct ibv_wc wc[2];

	set_up(IBV_QPT_RC);
	first = b.qp;
	CHECK(!post_recv(&b, 1, 0, 16));
	CHECK(!post_send(&a, 1, 0, 16));
	take(&a, wc, 1);
	CHECK(!ibv_destroy_qp(a.qp));

	connect_ends(IBV_QPT_RC);
	CHECK(!post_recv(&b, 2, 0, 16));
	CHECK(!post_send(&a, 2, 0, 16));
	take_good(&a, 2, IBV_WC_SEND);
	CHECK(!ibv_destroy_qp(first));
	take_good(&b, 2, IBV_WC_RECV);
	CHECK(none_left(&b));
}

static void reset_and_again(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
	int round;

	set_up(IBV_QPT_RC);
	for (round = 0; round < 3; round++) {
		CHECK(!post_recv(&b, 1, 0, 16));
		CHECK(!post_recv(&b, 2, 0, 16));
		CHECK(!post_send(&a, 3, 0, 16));
		take_good(&b, 1, IBV_WC_RECV);
		set_state(&a, IBV_QPS_RESET);
		set_state(&b, IBV_QPS_RESET);
		CHECK(none_left(&a) && none_left(&b));
		CHECK(ibv_post_send(a.qp, &wr, &bad) == EINVAL && bad == &wr);
		CHECK(post_recv(&b, 1, 0, 16) == EINVAL);
		to_init(&a);
		to_init(&b);
		to_rts(&a, &b);
		to_rts(&b, &a);
	}
}

static void error_flushes(void)
{
	struct ibv_wc wc[2];
	uint64_t i;

	set_up(IBV_QPT_RC);
	CHECK(!post_recv(&b, 1, 0, 16));
	set_state(&b, IBV_QPS_ERR);
	take(&b, wc, 1);
	CHECK(wc[0].wr_id == 1 && wc[0].status == IBV_WC_WR_FLUSH_ERR);
	for (i = 2; i < 40; i++) {
		CHECK(!post_recv(&b, i, 0, 16));
		CHECK(!post_send(&b, i + 100, 0, 16));
		take(&b, wc, 2);
		CHECK(wc[0].status == IBV_WC_WR_FLUSH_ERR);
		CHECK(wc[1].status == IBV_WC_WR_FLUSH_ERR);
		CHECK(wc[0].wr_id + wc[1].wr_id == 2 * i + 100);
	}
}

/* Good requests before a bad one are executed. */
static void bad_request(void)
{
	struct ibv_send_wr wr[3] = {}, *bad = NULL;
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		wr[i].wr.rdma.remote_addr = remote(&b, 0);
		wr[i].wr.rdma.rkey = b.mr->rkey;
	}
	wr[1].num_sge = 33;
	CHECK(ibv_post_send(a.qp, wr, &bad) == EINVAL && bad == &wr[1]);
	take_good(&a, 0, IBV_WC_RDMA_WRITE);
	CHECK(!ibv_post_send(a.qp, &wr[2], &bad));
	take_good(&a, 2, IBV_WC_RDMA_WRITE);
	CHECK(none_left(&a));
}

static void full_queue(void)
{
	struct ibv_sge sge = sge_of(&a, 0, 16);
	struct ibv_send_wr wr[100] = {}, *bad = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc[100];
	int i, count;

	set_up(IBV_QPT_RC);
	CHECK(!ibv_query_qp(a.qp, &attr, IBV_QP_CAP, &init));
	count = init.cap.max_send_wr;
	CHECK(count >= DEPTH && count < 50);
	for (i = 0; i < 100; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND; /* no receive: nothing completes */
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < 99 ? &wr[i + 1] : NULL;
	}
	CHECK(ibv_post_send(a.qp, wr, &bad) == ENOMEM && bad == &wr[count]);
	for (i = 0; i < count; i++) {
		CHECK(!post_recv(&b, i, 0, 16));
		take(&a, &wc[i], 1);
		CHECK(wc[i].wr_id == (uint64_t)i && !wc[i].status);
	}
	bad->next = NULL;
	CHECK(!ibv_post_send(a.qp, bad, &bad));
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{ "wr_write", wr_write },
	{ "wr_write_imm", wr_write_imm },
	{ "wr_send", wr_send },
	{ "wr_read_and_atomics", wr_read_and_atomics },
	{ "wr_abort_and_errors", wr_abort_and_errors },
	{ "wr_ud", wr_ud },
	{ "cq_ex_single_threaded", cq_ex_single_threaded },
	{ "cq_ex_unsupported", cq_ex_unsupported },
	{ "cq_resize", cq_resize },
	{ "cq_events", cq_events },
	{ "srq_resize", srq_resize },
	{ "srq_limit", srq_limit },
	{ "destroy_purges", destroy_purges },
	{ "reset_and_again", reset_and_again },
	{ "error_flushes", error_flushes },
	{ "bad_request", bad_request },
	{ "full_queue", full_queue },
};

int main(int argc, char **argv)
{
	const size_t count = sizeof(checks) / sizeof(checks[0]);
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (i = 0; i < count; i++)
			puts(checks[i].name);
		return 0;
	}
	CHECK(argc == 6);
	open_end(&a, argv[1], argv[2]);
	open_end(&b, argv[3], argv[4]);
	for (i = 0; i < count && strcmp(checks[i].name, argv[5]); i++)
		;
	CHECK(i < count);
	checks[i].run();
	return 0;
}
