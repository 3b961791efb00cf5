// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Makes illegal verbs calls on one device and checks how each is refused: by
 * errno, or by the status of its completion. Good work before an illegal
 * request must still be done, and the device must work afterwards.
 *
 * usage: badverbs DEVICE GID-INDEX
 * Prints "ok NAME" or "FAIL NAME: reason" for each call.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BUF 65536
#define QKEY 0x1234
#define ALL_ACCESS                                                             \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |                     \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define ANY_ERROR -1

static struct ibv_context *ctx;
static struct ibv_device_attr dev;
static struct ibv_port_attr port;
static union ibv_gid gid;
static int gid_index;
static int failures;
static int rnr_retries; /* 7 is for ever */
static uint32_t peer_qpn; /* of the QP whose state is tampered with */

/* Two QPs of one device, connected to each other; a sends to b. */
struct duo {
	struct ibv_pd *pd;
	struct ibv_cq *cq_a, *cq_b;
	struct ibv_qp *a, *b;
	struct ibv_mr *mr_a, *mr_b;
	unsigned char *buf_a, *buf_b;
};

static void verdict(bool good, const char *name, const char *fmt, ...)
{
	va_list ap;

	if (good) {
		printf("ok %s\n", name);
	} else {
		failures++;
		printf("FAIL %s: ", name);
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		putchar('\n');
	}
	fflush(stdout);
}

static void die(const char *what)
{
	printf("FAIL setup: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A call that returns an object or NULL with errno. */
#define REFUSES_PTR(name, destroy, call, e1, e2)                               \
	do {                                                                   \
		errno = 0;                                                     \
		void *obj_ = (call);                                           \
		verdict(!obj_ && (errno == (e1) || errno == (e2)), name,       \
			"%s, errno %d", obj_ ? "accepted" : "refused", errno); \
		if (obj_)                                                      \
			destroy(obj_);                                         \
	} while (0)

/* A call that returns 0, an errno, or -1 with errno. */
static void refuses(const char *name, int rc, int e1, int e2)
{
	if (rc < 0)
		rc = errno;
	verdict(rc && (e1 == ANY_ERROR || rc == e1 || rc == e2), name,
		"returned %d, wanted %d or %d", rc, e1, e2);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* The next completion, or false after ms. */
static bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	uint64_t end = now_ms() + ms;

	do {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		usleep(1000);
	} while (now_ms() < end);
	return false;
}

/* ---- set-up ---- */

static struct ibv_qp *make_qp(struct duo *d, struct ibv_cq *cq,
			      enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 4,
			 .max_recv_sge = 4,
			 .max_inline_data = 64 },
	};

	return ibv_create_qp(d->pd, &init);
}

static struct ibv_qp_attr init_attr(int access)
{
	return (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT,
				     .port_num = 1,
				     .qkey = QKEY,
				     .qp_access_flags = access };
}
#define INIT_RC (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define INIT_UD (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)

static struct ibv_qp_attr rtr_attr(uint32_t dest)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = { .is_global = 1,
			     .port_num = 1,
			     .grh = { .dgid = gid,
				      .sgid_index = gid_index,
				      .hop_limit = 64 } },
	};
}
#define RTR_RC                                                                 \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |        \
	 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)

static struct ibv_qp_attr rts_attr(void)
{
	return (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .timeout = 15,
				     .retry_cnt = 3,
				     .rnr_retry = rnr_retries,
				     .max_rd_atomic = 4 };
}
#define RTS_RC                                                                 \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
	 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static int to_init(struct ibv_qp *qp, int access)
{
	struct ibv_qp_attr attr = init_attr(access);

	return ibv_modify_qp(qp, &attr,
			     qp->qp_type == IBV_QPT_UD ? INIT_UD : INIT_RC);
}

static int to_rtr(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = rtr_attr(dest);

	return ibv_modify_qp(qp, &attr,
			     qp->qp_type == IBV_QPT_UD ? IBV_QP_STATE : RTR_RC);
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = rts_attr();

	return ibv_modify_qp(qp, &attr,
			     qp->qp_type == IBV_QPT_UD ?
				     IBV_QP_STATE | IBV_QP_SQ_PSN :
				     RTS_RC);
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}

static void duo_objects(struct duo *d, enum ibv_qp_type type)
{
	int i;

	memset(d, 0, sizeof(*d));
	d->pd = ibv_alloc_pd(ctx);
	d->cq_a = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	d->cq_b = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	d->buf_a = aligned_alloc(4096, BUF);
	d->buf_b = aligned_alloc(4096, BUF);
	if (!d->pd || !d->cq_a || !d->cq_b || !d->buf_a || !d->buf_b)
		die("objects");
	for (i = 0; i < BUF; i++)
		d->buf_a[i] = i * 7 + 1;
	memset(d->buf_b, 0xEE, BUF);
	d->mr_a = ibv_reg_mr(d->pd, d->buf_a, BUF, ALL_ACCESS);
	d->mr_b = ibv_reg_mr(d->pd, d->buf_b, BUF, ALL_ACCESS);
	d->a = make_qp(d, d->cq_a, type, NULL);
	d->b = make_qp(d, d->cq_b, type, NULL);
	if (!d->mr_a || !d->mr_b || !d->a || !d->b)
		die("objects");
}

static void duo_up(struct duo *d, enum ibv_qp_type type, int access_b)
{
	duo_objects(d, type);
	if (to_init(d->a, ALL_ACCESS) || to_init(d->b, access_b) ||
	    to_rtr(d->a, d->b->qp_num) || to_rtr(d->b, d->a->qp_num) ||
	    to_rts(d->a) || to_rts(d->b))
		die("connect");
}

static void duo_down(struct duo *d)
{
	int rc = 0;

	rc |= d->a ? ibv_destroy_qp(d->a) : 0;
	rc |= d->b ? ibv_destroy_qp(d->b) : 0;
	rc |= ibv_destroy_cq(d->cq_a) | ibv_destroy_cq(d->cq_b);
	rc |= ibv_dereg_mr(d->mr_a) | ibv_dereg_mr(d->mr_b);
	rc |= ibv_dealloc_pd(d->pd);
	if (rc)
		verdict(false, "tear-down", "%d", rc);
	free(d->buf_a);
	free(d->buf_b);
}

static struct ibv_send_wr *wr_of(struct duo *d, enum ibv_wr_opcode op,
				 uint32_t length)
{
	static struct ibv_send_wr wr;
	static struct ibv_sge sge;

	memset(&wr, 0, sizeof(wr));
	sge = (struct ibv_sge){ (uintptr_t)d->buf_a, length, d->mr_a->lkey };
	wr.wr_id = 1;
	wr.opcode = op;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)d->buf_b;
		wr.wr.atomic.rkey = d->mr_b->rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)d->buf_b;
		wr.wr.rdma.rkey = d->mr_b->rkey;
	}
	return &wr;
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int rc = ibv_post_send(qp, wr, &bad);

	if (rc && !bad) {
		printf("FAIL bad-wr: not set after %d\n", rc);
		failures++;
	}
	return rc;
}

static int post_recv(struct duo *d, struct ibv_qp *qp, uint32_t length,
		     uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)d->buf_b, length, lkey };
	struct ibv_recv_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

/* ---- creation ---- */

static void bad_create(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr good = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { 8, 8, 1, 1, 0 },
	};
	struct ibv_qp_init_attr q;
	struct ibv_srq_init_attr srq = { .attr = { 8, 1, 0 } };
	struct ibv_ah_attr ah = rtr_attr(1).ah_attr;
	char page[4096];
	void *ro;

	if (!pd || !cq)
		die("create");
	REFUSES_PTR("create_cq__too_large", ibv_destroy_cq,
		    ibv_create_cq(ctx, dev.max_cqe + 1, NULL, NULL, 0), EINVAL, 0);
	REFUSES_PTR("create_cq__no_entries", ibv_destroy_cq,
		    ibv_create_cq(ctx, 0, NULL, NULL, 0), EINVAL, 0);
	REFUSES_PTR("create_cq__negative", ibv_destroy_cq,
		    ibv_create_cq(ctx, -5, NULL, NULL, 0), EINVAL, 0);
	REFUSES_PTR("create_cq__bad_vector", ibv_destroy_cq,
		    ibv_create_cq(ctx, 16, NULL, NULL, 100000), EINVAL, 0);

#define BAD_QP(name, field, value, e1, e2)                                     \
	q = good;                                                              \
	q.field = value;                                                       \
	REFUSES_PTR("create_qp__" name, ibv_destroy_qp,                        \
		    ibv_create_qp(pd, &q), e1, e2)
	BAD_QP("too_many_send_wr", cap.max_send_wr, dev.max_qp_wr + 1, EINVAL, ENOMEM);
	BAD_QP("too_many_recv_wr", cap.max_recv_wr, dev.max_qp_wr + 1, EINVAL, ENOMEM);
	BAD_QP("huge_send_wr", cap.max_send_wr, 0xffffffff, EINVAL, ENOMEM);
	BAD_QP("too_many_send_sge", cap.max_send_sge, dev.max_sge + 1, EINVAL, 0);
	BAD_QP("too_many_recv_sge", cap.max_recv_sge, dev.max_sge + 1, EINVAL, 0);
	BAD_QP("huge_recv_sge", cap.max_recv_sge, 0x80000001, EINVAL, 0);
	BAD_QP("too_much_inline", cap.max_inline_data, 1 << 20, EINVAL, 0);
	BAD_QP("raw_packet", qp_type, IBV_QPT_RAW_PACKET, EOPNOTSUPP, EINVAL);
	BAD_QP("unknown_type", qp_type, 77, EINVAL, EOPNOTSUPP);

	srq.attr.max_wr = dev.max_srq_wr + 1;
	REFUSES_PTR("create_srq__too_large", ibv_destroy_srq,
		    ibv_create_srq(pd, &srq), EINVAL, 0);
	srq.attr.max_wr = 8;
	srq.attr.max_sge = dev.max_srq_sge + 1;
	REFUSES_PTR("create_srq__too_many_sge", ibv_destroy_srq,
		    ibv_create_srq(pd, &srq), EINVAL, 0);

	REFUSES_PTR("reg_mr__unmapped", ibv_dereg_mr,
		    ibv_reg_mr(pd, (void *)0x10000, 4096, ALL_ACCESS), EFAULT, ENOMEM);
	REFUSES_PTR("reg_mr__remote_without_local_write", ibv_dereg_mr,
		    ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_REMOTE_WRITE),
		    EINVAL, 0);
	REFUSES_PTR("reg_mr__atomic_without_local_write", ibv_dereg_mr,
		    ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_REMOTE_ATOMIC),
		    EINVAL, 0);
	REFUSES_PTR("reg_mr__wraps", ibv_dereg_mr,
		    ibv_reg_mr(pd, page, SIZE_MAX - 4096, ALL_ACCESS), EINVAL, EFAULT);
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REFUSES_PTR("reg_mr__read_only_memory", ibv_dereg_mr,
		    ibv_reg_mr(pd, ro, 4096, ALL_ACCESS), EFAULT, EINVAL);
	munmap(ro, 4096);

	ah.grh.sgid_index = 255;
	REFUSES_PTR("create_ah__bad_sgid", ibv_destroy_ah, ibv_create_ah(pd, &ah),
		    EINVAL, ENODATA);
	ah.grh.sgid_index = gid_index;
	ah.is_global = 0;
	REFUSES_PTR("create_ah__no_grh", ibv_destroy_ah, ibv_create_ah(pd, &ah),
		    EINVAL, 0);
	ah.is_global = 1;
	ah.port_num = 2;
	REFUSES_PTR("create_ah__bad_port", ibv_destroy_ah, ibv_create_ah(pd, &ah),
		    EINVAL, 0);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
}

/* ---- state changes ---- */

/* Back to where it was before a call that should have been refused. */
static void restore(struct ibv_qp *qp, enum ibv_qp_state state)
{
	to_state(qp, IBV_QPS_RESET);
	if (state >= IBV_QPS_INIT)
		to_init(qp, ALL_ACCESS);
	if (state >= IBV_QPS_RTR)
		to_rtr(qp, peer_qpn);
	if (state >= IBV_QPS_RTS)
		to_rts(qp);
}

/* ENODATA is the RDMA core's own answer to an empty GID table entry. */
static void modify_fails(struct ibv_qp *qp, const char *name,
			 struct ibv_qp_attr attr, int mask)
{
	enum ibv_qp_state before = state_of(qp), after;
	int rc = ibv_modify_qp(qp, &attr, mask);

	if (rc < 0)
		rc = errno;
	after = state_of(qp);
	verdict((rc == EINVAL || rc == ENODATA) && after == before, name,
		"returned %d, state %d then %d", rc, before, after);
	if (after != before)
		restore(qp, before);
}

/* Leaves every mandatory attribute out in turn. */
static void each_missing(struct ibv_qp *qp, const char *step,
			 struct ibv_qp_attr attr, int mask)
{
	char name[64];
	int bit;

	for (bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
		if (!(mask & bit) || bit == IBV_QP_STATE)
			continue;
		snprintf(name, sizeof(name), "modify_%s__without_0x%x", step, bit);
		modify_fails(qp, name, attr, mask & ~bit);
	}
}

static void bad_modify(void)
{
	struct ibv_qp_attr attr;
	struct duo d;

	duo_objects(&d, IBV_QPT_RC);
	peer_qpn = d.b->qp_num;
	modify_fails(d.a, "modify__reset_to_rtr", rtr_attr(d.b->qp_num), RTR_RC);
	modify_fails(d.a, "modify__reset_to_rts", rts_attr(), RTS_RC);
	each_missing(d.a, "init", init_attr(ALL_ACCESS), INIT_RC);
	modify_fails(d.a, "modify_init__path_mtu_not_allowed",
		     init_attr(ALL_ACCESS), INIT_RC | IBV_QP_PATH_MTU);
	attr = init_attr(ALL_ACCESS);
	attr.port_num = 2;
	modify_fails(d.a, "modify_init__bad_port", attr, INIT_RC);
	attr = init_attr(ALL_ACCESS);
	attr.pkey_index = 77;
	modify_fails(d.a, "modify_init__bad_pkey_index", attr, INIT_RC);
	if (to_init(d.a, ALL_ACCESS) || to_init(d.b, ALL_ACCESS))
		die("init");

	modify_fails(d.a, "modify__init_to_rts", rts_attr(), RTS_RC);
	each_missing(d.a, "rtr", rtr_attr(d.b->qp_num), RTR_RC);
#define BAD_RTR(name, field, value)                                            \
	attr = rtr_attr(d.b->qp_num);                                          \
	attr.field = value;                                                    \
	modify_fails(d.a, "modify_rtr__" name, attr, RTR_RC)
	BAD_RTR("mtu_0", path_mtu, 0);
	BAD_RTR("mtu_6", path_mtu, 6);
	BAD_RTR("too_many_reads", max_dest_rd_atomic, 255);
	BAD_RTR("rnr_timer_32", min_rnr_timer, 32);
	BAD_RTR("no_grh", ah_attr.is_global, 0);
	BAD_RTR("bad_sgid", ah_attr.grh.sgid_index, 255);
	BAD_RTR("bad_ah_port", ah_attr.port_num, 3);
	modify_fails(d.a, "modify_rtr__qkey_not_allowed", rtr_attr(d.b->qp_num),
		     RTR_RC | IBV_QP_QKEY);
	if (to_rtr(d.a, d.b->qp_num) || to_rtr(d.b, d.a->qp_num))
		die("rtr");

	each_missing(d.a, "rts", rts_attr(), RTS_RC);
#define BAD_RTS(name, field, value)                                            \
	attr = rts_attr();                                                     \
	attr.field = value;                                                    \
	modify_fails(d.a, "modify_rts__" name, attr, RTS_RC)
	BAD_RTS("timeout_32", timeout, 32);
	BAD_RTS("retry_8", retry_cnt, 8);
	BAD_RTS("rnr_retry_8", rnr_retry, 8);
	BAD_RTS("too_many_reads", max_rd_atomic, 255);
	attr = rts_attr();
	attr.cur_qp_state = IBV_QPS_INIT;
	modify_fails(d.a, "modify_rts__wrong_current_state", attr,
		     RTS_RC | IBV_QP_CUR_STATE);
	if (to_rts(d.a) || to_rts(d.b))
		die("rts");
	modify_fails(d.a, "modify__rts_to_rtr", rtr_attr(d.b->qp_num), RTR_RC);
	modify_fails(d.a, "modify__rts_to_init", init_attr(0), INIT_RC);
	verdict(!to_state(d.a, IBV_QPS_ERR), "modify__rts_to_err", "refused");
	modify_fails(d.a, "modify__err_to_rts", rts_attr(), RTS_RC);
	verdict(!to_state(d.a, IBV_QPS_RESET), "modify__err_to_reset", "refused");
	duo_down(&d);

	duo_objects(&d, IBV_QPT_UD);
	each_missing(d.a, "ud_init", init_attr(0), INIT_UD);
	modify_fails(d.a, "modify_ud_init__access_not_allowed", init_attr(0),
		     INIT_UD | IBV_QP_ACCESS_FLAGS);
	if (to_init(d.a, 0))
		die("ud init");
	modify_fails(d.a, "modify_ud_rtr__av_not_allowed", rtr_attr(1),
		     IBV_QP_STATE | IBV_QP_AV);
	duo_down(&d);
}

/* ---- posting ---- */

static void bad_post_state(void)
{
	struct duo d;

	duo_objects(&d, IBV_QPT_RC);
	refuses("post_send__reset", post(d.a, wr_of(&d, IBV_WR_SEND, 8)), EINVAL, 0);
	refuses("post_recv__reset", post_recv(&d, d.b, 8, d.mr_b->lkey), EINVAL, 0);
	to_init(d.a, ALL_ACCESS);
	refuses("post_send__init", post(d.a, wr_of(&d, IBV_WR_SEND, 8)), EINVAL, 0);
	verdict(!post_recv(&d, d.a, 8, d.mr_b->lkey), "post_recv__init_allowed",
		"refused");
	to_rtr(d.a, d.b->qp_num);
	refuses("post_send__rtr", post(d.a, wr_of(&d, IBV_WR_SEND, 8)), EINVAL, 0);
	duo_down(&d);
}

static void post_to_error_flushes(void)
{
	struct ibv_wc wc;
	struct duo d;
	bool got;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	to_state(d.a, IBV_QPS_ERR);
	post(d.a, wr_of(&d, IBV_WR_SEND, 8));
	got = next_wc(d.cq_a, &wc, 3000);
	verdict(got && wc.status == IBV_WC_WR_FLUSH_ERR, "post_send__error_flushes",
		"status %d", got ? (int)wc.status : -1);
	post_recv(&d, d.a, 8, d.mr_b->lkey);
	got = next_wc(d.cq_a, &wc, 3000);
	verdict(got && wc.status == IBV_WC_WR_FLUSH_ERR, "post_recv__error_flushes",
		"status %d", got ? (int)wc.status : -1);
	duo_down(&d);
}

/*
 * Three requests, the middle one bad: it is named, the first is executed and
 * the third is not.
 */
static void bad_in_list(const char *name, struct ibv_send_wr *middle)
{
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_sge sge[3];
	struct ibv_wc wc;
	struct duo d;
	bool got;
	int rc, i;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	memset(wr, 0, sizeof(wr));
	for (i = 0; i < 3; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)d.buf_a + 64 * i, 64,
					   d.mr_a->lkey };
		wr[i] = *wr_of(&d, IBV_WR_RDMA_WRITE, 64);
		wr[i].wr_id = i;
		wr[i].sg_list = &sge[i];
		wr[i].wr.rdma.remote_addr += 64 * i;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	wr[1].opcode = middle->opcode;
	wr[1].send_flags = middle->send_flags;
	wr[1].num_sge = middle->num_sge;
	if (middle->sg_list)
		wr[1].sg_list = middle->sg_list;
	rc = ibv_post_send(d.a, wr, &bad);
	got = next_wc(d.cq_a, &wc, 3000);
	verdict(rc && bad == &wr[1] && got && wc.wr_id == 0 &&
			wc.status == IBV_WC_SUCCESS &&
			!memcmp(d.buf_a, d.buf_b, 64) && d.buf_b[128] == 0xEE &&
			!next_wc(d.cq_a, &wc, 200),
		name, "rc %d, bad_wr %td, %s, status %d", rc, bad - wr,
		got ? "completed" : "no completion", (int)wc.status);
	duo_down(&d);
}

static void bad_posts(void)
{
	static struct ibv_sge many[64];
	struct ibv_sge large = { 0, 4096, 0 };
	static char blob[4096];
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_recv_wr rwr = { .num_sge = 5, .sg_list = many }, *bad;
	struct duo d;
	int i, rc;

	large.addr = (uintptr_t)blob;
	wr.num_sge = 60;
	wr.sg_list = many;
	bad_in_list("post_send__too_many_sge", &wr);
	wr.num_sge = -1;
	bad_in_list("post_send__negative_sge", &wr);
	wr = (struct ibv_send_wr){ .opcode = 99, .num_sge = 1 };
	bad_in_list("post_send__unknown_opcode", &wr);
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_TSO, .num_sge = 1 };
	bad_in_list("post_send__tso", &wr);
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_RDMA_WRITE,
				   .send_flags = IBV_SEND_INLINE,
				   .sg_list = &large,
				   .num_sge = 1 };
	bad_in_list("post_send__inline_too_large", &wr);
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_RDMA_READ,
				   .send_flags = IBV_SEND_INLINE,
				   .num_sge = 1 };
	bad_in_list("post_send__inline_read", &wr);

	duo_up(&d, IBV_QPT_UD, 0);
	refuses("post_send__write_on_ud", post(d.a, wr_of(&d, IBV_WR_RDMA_WRITE, 8)),
		EINVAL, EOPNOTSUPP);
	refuses("post_send__read_on_ud", post(d.a, wr_of(&d, IBV_WR_RDMA_READ, 8)),
		EINVAL, EOPNOTSUPP);
	duo_down(&d);

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	rc = ibv_post_recv(d.b, &rwr, &bad);
	refuses("post_recv__too_many_sge", rc, EINVAL, 0);
	for (i = 0, rc = 0; i < 100000 && !rc; i++)
		rc = post_recv(&d, d.b, 8, d.mr_b->lkey);
	refuses("post_recv__queue_full", rc, ENOMEM, 0);
	verdict(i > 16, "post_recv__holds_what_was_asked", "only %d", i - 1);
	duo_down(&d);
}

/* Without a receive nothing retires. */
static void send_queue_full(void)
{
	struct duo d;
	int i, rc = 0;

	rnr_retries = 7;
	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	rnr_retries = 0;
	for (i = 0; i < 100000 && !rc; i++)
		rc = post(d.a, wr_of(&d, IBV_WR_SEND, 8));
	refuses("post_send__queue_full", rc, ENOMEM, 0);
	verdict(i > 16, "post_send__holds_what_was_asked", "only %d", i - 1);
	duo_down(&d);
}

/* ---- completions ---- */

/*
 * Posts a good WRITE, the WR, another good WRITE: success, one of the two
 * statuses, flush; and the QP is in error.
 */
static void completes_with(struct duo *d, const char *name,
			   struct ibv_send_wr *wr, int s1, int s2)
{
	struct ibv_send_wr bad = *wr;
	struct ibv_sge sge = *wr->sg_list, good_sge;
	struct ibv_send_wr good = *wr_of(d, IBV_WR_RDMA_WRITE, 16);
	struct ibv_wc wc[3];
	int i, rc;

	memset(wc, 0xff, sizeof(wc));
	good_sge = *good.sg_list;
	good.sg_list = &good_sge;
	good.wr.rdma.remote_addr = (uintptr_t)d->buf_b + BUF - 16;
	bad.sg_list = &sge;
	bad.wr_id = 5;
	rc = post(d->a, &good);
	if (!rc)
		rc = post(d->a, &bad);
	if (!rc)
		rc = post(d->a, &good);
	for (i = 0; !rc && i < 3; i++)
		if (!next_wc(d->cq_a, &wc[i], 10000))
			break;
	verdict(!rc && i == 3 && wc[0].status == IBV_WC_SUCCESS &&
			wc[1].wr_id == 5 &&
			((int)wc[1].status == s1 || (int)wc[1].status == s2) &&
			wc[2].status == IBV_WC_WR_FLUSH_ERR &&
			state_of(d->a) == IBV_QPS_ERR,
		name, "post %d, %d completions: %d %d %d (wanted %d), QP state %d",
		rc, i, (int)wc[0].status, (int)wc[1].status, (int)wc[2].status, s1,
		state_of(d->a));
}

static bool untouched(struct duo *d, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (d->buf_b[i] != 0xEE)
			return false;
	return true;
}

struct key_case {
	const char *name;
	enum ibv_wr_opcode op;
	int access; /* of the MR that is used */
	bool foreign_pd;
	bool dead;
	long offset; /* added to the address */
	uint32_t length;
};

/* An MR made to the recipe, over buf. */
static struct ibv_mr *mr_for(struct duo *d, const struct key_case *c, void *buf,
			     struct ibv_pd **pd)
{
	*pd = c->foreign_pd ? ibv_alloc_pd(ctx) : d->pd;
	return ibv_reg_mr(*pd, buf, 4096, c->access);
}

static void bad_local_keys(void)
{
	static const struct key_case cases[] = {
		{ "send__lkey_dead", IBV_WR_SEND, ALL_ACCESS, false, true, 0, 64 },
		{ "send__lkey_foreign_pd", IBV_WR_SEND, ALL_ACCESS, true, false, 0, 64 },
		{ "send__lkey_before_start", IBV_WR_SEND, ALL_ACCESS, false, false, -8, 64 },
		{ "send__lkey_past_end", IBV_WR_SEND, ALL_ACCESS, false, false, 4090, 64 },
		{ "write__lkey_dead", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, true, 0, 64 },
		{ "write__lkey_too_long", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, false, 0, 4097 },
		{ "read__lkey_not_writable", IBV_WR_RDMA_READ, 0, false, false, 0, 64 },
		{ "read__lkey_foreign_pd", IBV_WR_RDMA_READ, ALL_ACCESS, true, false, 0, 64 },
		{ "read__lkey_past_end", IBV_WR_RDMA_READ, ALL_ACCESS, false, false, 4000, 200 },
		{ "atomic__lkey_not_writable", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, false, false, 0, 8 },
	};
	struct ibv_send_wr *wr;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct duo d;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct key_case *c = &cases[i];

		duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
		post_recv(&d, d.b, 4096, d.mr_b->lkey);
		mr = mr_for(&d, c, d.buf_a + 8192, &pd);
		if (!mr)
			die("mr");
		wr = wr_of(&d, c->op, c->length);
		wr->sg_list->addr = (uintptr_t)d.buf_a + 8192 + c->offset;
		wr->sg_list->lkey = mr->lkey;
		if (c->dead)
			ibv_dereg_mr(mr);
		completes_with(&d, c->name, wr, IBV_WC_LOC_PROT_ERR, -1);
		/* What is remote may be done before what is local fails. */
		if (c->op == IBV_WR_RDMA_WRITE && c->length <= 1024)
			verdict(untouched(&d, 256), "nothing_written", c->name);
		if (!c->dead)
			ibv_dereg_mr(mr);
		if (c->foreign_pd)
			ibv_dealloc_pd(pd);
		duo_down(&d);
	}
}

static void bad_remote_keys(void)
{
	const int lw = IBV_ACCESS_LOCAL_WRITE;
	const struct key_case cases[] = {
		{ "write__rkey_dead", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, true, 0, 64 },
		{ "write__rkey_foreign_pd", IBV_WR_RDMA_WRITE, ALL_ACCESS, true, false, 0, 64 },
		{ "write__rkey_no_right", IBV_WR_RDMA_WRITE, lw | IBV_ACCESS_REMOTE_READ, false, false, 0, 64 },
		{ "write__rkey_before_start", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, false, -1, 64 },
		{ "write__rkey_past_end", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, false, 4095, 2 },
		{ "write__rkey_wraps", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, false, -(1l << 62), 64 },
		{ "write__rkey_many_packets_past_end", IBV_WR_RDMA_WRITE, ALL_ACCESS, false, false, 0, 4097 },
		{ "read__rkey_dead", IBV_WR_RDMA_READ, ALL_ACCESS, false, true, 0, 64 },
		{ "read__rkey_foreign_pd", IBV_WR_RDMA_READ, ALL_ACCESS, true, false, 0, 64 },
		{ "read__rkey_no_right", IBV_WR_RDMA_READ, lw | IBV_ACCESS_REMOTE_WRITE, false, false, 0, 64 },
		{ "read__rkey_past_end", IBV_WR_RDMA_READ, ALL_ACCESS, false, false, 4000, 4000 },
		{ "atomic__rkey_dead", IBV_WR_ATOMIC_CMP_AND_SWP, ALL_ACCESS, false, true, 0, 8 },
		{ "atomic__rkey_no_right", IBV_WR_ATOMIC_FETCH_AND_ADD, lw | IBV_ACCESS_REMOTE_WRITE, false, false, 0, 8 },
		{ "atomic__rkey_past_end", IBV_WR_ATOMIC_FETCH_AND_ADD, ALL_ACCESS, false, false, 4096, 8 },
	};
	struct ibv_send_wr *wr;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct duo d;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct key_case *c = &cases[i];
		uint64_t addr;

		duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
		mr = mr_for(&d, c, d.buf_b, &pd);
		if (!mr)
			die("mr");
		wr = wr_of(&d, c->op, c->length);
		addr = (uintptr_t)d.buf_b + c->offset;
		if (c->op == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    c->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr->wr.atomic.remote_addr = addr;
			wr->wr.atomic.rkey = mr->rkey;
		} else {
			wr->wr.rdma.remote_addr = addr;
			wr->wr.rdma.rkey = mr->rkey;
		}
		if (c->dead)
			ibv_dereg_mr(mr);
		completes_with(&d, c->name, wr, IBV_WC_REM_ACCESS_ERR, -1);
		if (c->length < 4097)
			verdict(untouched(&d, 8192), "nothing_written", c->name);
		if (!c->dead)
			ibv_dereg_mr(mr);
		if (c->foreign_pd)
			ibv_dealloc_pd(pd);
		duo_down(&d);
	}
}

static void bad_requests(void)
{
	struct ibv_send_wr *wr;
	struct ibv_wc wc;
	struct duo d;
	bool got;

	/* The QP itself grants only WRITE, which the good requests use. */
	duo_up(&d, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	completes_with(&d, "read__qp_grants_none", wr_of(&d, IBV_WR_RDMA_READ, 64),
		       IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
	duo_down(&d);
	duo_up(&d, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	completes_with(&d, "atomic__qp_grants_none",
		       wr_of(&d, IBV_WR_ATOMIC_FETCH_AND_ADD, 8),
		       IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
	duo_down(&d);

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	wr = wr_of(&d, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	wr->wr.atomic.remote_addr += 4;
	completes_with(&d, "atomic__misaligned", wr, IBV_WC_REM_INV_REQ_ERR,
		       IBV_WC_REM_ACCESS_ERR);
	duo_down(&d);

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	completes_with(&d, "send__no_receive_posted", wr_of(&d, IBV_WR_SEND, 64),
		       IBV_WC_RNR_RETRY_EXC_ERR, -1);
	duo_down(&d);

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	post_recv(&d, d.b, 32, d.mr_b->lkey);
	completes_with(&d, "send__receive_too_small", wr_of(&d, IBV_WR_SEND, 64),
		       IBV_WC_REM_INV_REQ_ERR, -1);
	got = next_wc(d.cq_b, &wc, 3000);
	verdict(got && wc.status == IBV_WC_LOC_LEN_ERR, "recv__too_small",
		"status %d", got ? (int)wc.status : -1);
	duo_down(&d);

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	post_recv(&d, d.b, 64, d.mr_b->lkey + 0x100000);
	completes_with(&d, "send__receive_bad_lkey", wr_of(&d, IBV_WR_SEND, 64),
		       IBV_WC_REM_OP_ERR, -1);
	got = next_wc(d.cq_b, &wc, 3000);
	verdict(got && wc.status == IBV_WC_LOC_PROT_ERR, "recv__bad_lkey",
		"status %d", got ? (int)wc.status : -1);
	duo_down(&d);
}

/* An atomic of a length other than 8: refused at once or by its completion. */
static void bad_atomic_length(void)
{
	static const uint32_t lengths[] = { 0, 4, 7, 9, 16 };
	char name[40];
	struct ibv_wc wc;
	struct duo d;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
		rc = post(d.a, wr_of(&d, IBV_WR_ATOMIC_FETCH_AND_ADD, lengths[i]));
		if (!rc && next_wc(d.cq_a, &wc, 5000))
			rc = wc.status;
		snprintf(name, sizeof(name), "atomic__length_%u", lengths[i]);
		refuses(name, rc, ANY_ERROR, 0);
		verdict(untouched(&d, 8), "nothing_written", name);
		duo_down(&d);
	}
}

/* Length 0 needs no valid key (H35). */
static void zero_length_needs_no_key(void)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE,
						  IBV_WR_RDMA_READ };
	static const char *const names[] = { "write__zero_length_any_rkey",
					     "read__zero_length_any_rkey" };
	struct ibv_send_wr *wr;
	struct ibv_wc wc;
	struct duo d;
	bool got;
	int i;

	for (i = 0; i < 2; i++) {
		duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
		wr = wr_of(&d, ops[i], 0);
		wr->num_sge = 0;
		wr->wr.rdma.rkey = 0xdead00;
		wr->wr.rdma.remote_addr = 5;
		post(d.a, wr);
		got = next_wc(d.cq_a, &wc, 3000);
		verdict(got && wc.status == IBV_WC_SUCCESS, names[i], "status %d",
			got ? (int)wc.status : -1);
		duo_down(&d);
	}
}

static void peer_missing(void)
{
	struct duo d;
	struct ibv_wc wc;
	bool got;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	ibv_destroy_qp(d.b);
	d.b = NULL;
	post(d.a, wr_of(&d, IBV_WR_RDMA_WRITE, 64));
	got = next_wc(d.cq_a, &wc, 20000);
	verdict(got && wc.status == IBV_WC_RETRY_EXC_ERR, "write__peer_gone",
		"status %d", got ? (int)wc.status : -1);
	duo_down(&d);
}

/* ---- UD ---- */

static bool ud_send(struct duo *d, struct ibv_ah *ah, uint32_t qkey,
		    uint32_t length, int *status)
{
	struct ibv_send_wr *wr = wr_of(d, IBV_WR_SEND, length);
	struct ibv_wc wc;

	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = d->b->qp_num;
	wr->wr.ud.remote_qkey = qkey;
	if (post(d->a, wr)) {
		*status = -1;
		return false;
	}
	if (!next_wc(d->cq_a, &wc, 3000)) {
		*status = -2;
		return false;
	}
	*status = wc.status;
	return wc.status == IBV_WC_SUCCESS;
}

static void bad_datagrams(void)
{
	struct ibv_ah_attr attr = rtr_attr(1).ah_attr;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct duo d;
	int status, mtu = 128 << port.active_mtu;

	duo_up(&d, IBV_QPT_UD, 0);
	ah = ibv_create_ah(d.pd, &attr);
	if (!ah)
		die("ah");
	post_recv(&d, d.b, 4096, d.mr_b->lkey);
	ud_send(&d, ah, QKEY + 1, 64, &status);
	verdict(!next_wc(d.cq_b, &wc, 500), "ud__wrong_qkey_dropped", "received");
	verdict(ud_send(&d, ah, QKEY, 64, &status) && next_wc(d.cq_b, &wc, 3000) &&
			wc.status == IBV_WC_SUCCESS && wc.byte_len == 104 &&
			!memcmp(d.buf_b + 40, d.buf_a, 64),
		"ud__usable_after_wrong_qkey", "status %d", status);
	post_recv(&d, d.b, 50, d.mr_b->lkey);
	ud_send(&d, ah, QKEY, 64, &status);
	verdict(!next_wc(d.cq_b, &wc, 500) || wc.status == IBV_WC_LOC_LEN_ERR,
		"ud__receive_too_small", "status %d", (int)wc.status);
	verdict(state_of(d.b) == IBV_QPS_RTS, "ud__still_rts", "state %d",
		state_of(d.b));
	verdict(!ud_send(&d, ah, QKEY, mtu + 1, &status) && status != -2,
		"ud__longer_than_mtu", "status %d", status);
	ibv_destroy_ah(ah);
	duo_down(&d);
}

/* ---- objects in use, queries ---- */

static void busy_objects(void)
{
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 << 20 };
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct duo d;
	union ibv_gid g;
	__be16 pkey;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	refuses("destroy_cq__used_by_qp", ibv_destroy_cq(d.cq_a), EBUSY, 0);
	refuses("dealloc_pd__used", ibv_dealloc_pd(d.pd), EBUSY, 0);
	srq = ibv_create_srq(d.pd, &init);
	qp = srq ? make_qp(&d, d.cq_a, IBV_QPT_RC, srq) : NULL;
	if (!qp)
		die("srq");
	refuses("destroy_srq__used_by_qp", ibv_destroy_srq(srq), EBUSY, 0);
	refuses("modify_srq__limit_too_large",
		ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), EINVAL, 0);
	limit.max_wr = dev.max_srq_wr + 1;
	refuses("modify_srq__too_large", ibv_modify_srq(srq, &limit, IBV_SRQ_MAX_WR),
		EINVAL, 0);
	refuses("post_recv__qp_with_srq", post_recv(&d, qp, 8, d.mr_b->lkey), EINVAL,
		0);
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
	refuses("resize_cq__too_large", ibv_resize_cq(d.cq_a, dev.max_cqe + 1),
		EINVAL, 0);
	refuses("resize_cq__zero", ibv_resize_cq(d.cq_a, 0), EINVAL, 0);
	refuses("attach_mcast__rc", ibv_attach_mcast(d.a, &gid, 0), EINVAL,
		EOPNOTSUPP);
	refuses("query_gid__out_of_range", ibv_query_gid(ctx, 1, 100000, &g),
		ANY_ERROR, 0);
	refuses("query_pkey__out_of_range", ibv_query_pkey(ctx, 1, 5000, &pkey),
		ANY_ERROR, 0);
	duo_down(&d);
}

/* A CQ smaller than what is in it. */
static void resize_below_content(void)
{
	struct duo d;
	int i;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	for (i = 0; i < 12; i++)
		post(d.a, wr_of(&d, IBV_WR_RDMA_WRITE, 8));
	usleep(500000);
	refuses("resize_cq__below_content", ibv_resize_cq(d.cq_a, 4), EINVAL, EBUSY);
	duo_down(&d);
}

static void still_works(void)
{
	struct ibv_wc wc;
	struct duo d;

	duo_up(&d, IBV_QPT_RC, ALL_ACCESS);
	post(d.a, wr_of(&d, IBV_WR_RDMA_WRITE, 32768));
	verdict(next_wc(d.cq_a, &wc, 5000) && wc.status == IBV_WC_SUCCESS &&
			!memcmp(d.buf_a, d.buf_b, 32768),
		"device__works_afterwards", "status %d", (int)wc.status);
	duo_down(&d);
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx || ibv_query_device(ctx, &dev) || ibv_query_port(ctx, 1, &port) ||
	    ibv_query_gid(ctx, 1, gid_index, &gid))
		die(name);
	ibv_free_device_list(list);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: badverbs DEVICE GID-INDEX\n");
		return 2;
	}
	gid_index = atoi(argv[2]);
	open_device(argv[1]);
	bad_create();
	bad_modify();
	bad_post_state();
	post_to_error_flushes();
	bad_posts();
	send_queue_full();
	bad_local_keys();
	bad_remote_keys();
	bad_requests();
	bad_atomic_length();
	zero_length_needs_no_key();
	peer_missing();
	bad_datagrams();
	busy_objects();
	resize_below_content();
	still_works();
	ibv_close_device(ctx);
	return failures != 0;
}
