// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "lab.h"

#include "completion.h"

struct end a, b;

static const uint64_t send_ops =
	IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
	IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV |
	IBV_QP_EX_WITH_SEND_WITH_INV;

/* ---- set-up ---- */

static uint64_t qp_create_flags;

static void open_end(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint32_t i;

	CHECK(list);
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), e->device))
			e->context = ibv_open_device(list[i]);
	CHECK(e->context);
	ibv_free_device_list(list);
	CHECK(!ibv_query_gid(e->context, 1, e->gid_index, &e->gid));
	e->pd = ibv_alloc_pd(e->context);
	e->cq = ibv_create_cq(e->context, 4 * DEPTH, NULL, NULL, 0);
	e->memory = aligned_alloc(4096, MEMORY);
	e->image = malloc(MEMORY);
	CHECK(e->pd && e->cq && e->memory && e->image);
	for (i = 0; i < MEMORY; i++)
		e->memory[i] = e->image[i] = random_number();
	e->mr = ibv_reg_mr(e->pd, e->memory, MEMORY, ALL_RIGHTS);
	CHECK(e->mr);
}

static void make_qp(struct end *e)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = INLINE },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = send_ops,
	};
	struct siroccodv_qp_init_attr dv = {
		.comp_mask = SIROCCODV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS |
			     SIROCCODV_QP_INIT_ATTR_MASK_CREATE_FLAGS,
		.send_ops_flags = SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE,
		.create_flags = qp_create_flags,
	};

	e->qp = siroccodv_create_qp(e->context, &attr, &dv);
	CHECK(e->qp);
	e->qp_ex = ibv_qp_to_qp_ex(e->qp);
	CHECK(e->qp_ex);
	e->dv_qp = siroccodv_qp_ex_from_ibv_qp_ex(e->qp_ex);
	CHECK(e->dv_qp);
}

static void to_init(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ALL_RIGHTS,
	};

	CHECK(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS));
}

static void to_rts(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = { .grh = { .dgid = peer->gid,
				      .sgid_index = e->gid_index,
				      .hop_limit = 64 },
			     .is_global = 1,
			     .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};

	CHECK(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	CHECK(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC));
}

static void connect_ends(void)
{
	make_qp(&a);
	make_qp(&b);
	to_init(&a);
	to_init(&b);
	to_rts(&a, &b);
	to_rts(&b, &a);
}

void set_up_with(uint64_t create_flags)
{
	qp_create_flags = create_flags;
	open_end(&a);
	open_end(&b);
	connect_ends();
}

void set_up(void)
{
	set_up_with(0);
}

void reconnect(void)
{
	CHECK(!ibv_destroy_qp(a.qp) && !ibv_destroy_qp(b.qp));
	connect_ends();
}

void set_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
}

struct ibv_qp *smallest_qp(enum ibv_qp_type type, uint64_t send_ops,
			   struct siroccodv_qp_init_attr dv)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = a.pd,
		.send_ops_flags = send_ops,
	};

	return siroccodv_create_qp(a.context, &attr, &dv);
}

/* ---- helpers ---- */

/* The same sequence in each run. */
uint32_t random_number(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

uint32_t random_between(uint32_t low, uint32_t high)
{
	return low + random_number() % (high - low + 1);
}

static bool end_as_expected(const struct end *e)
{
	uint32_t i;

	if (!memcmp(e->memory, e->image, MEMORY))
		return true;
	for (i = 0; e->memory[i] == e->image[i]; i++)
		;
	printf("%s: byte %u is 0x%x, not 0x%x\n", e == &a ? "a" : "b", i,
	       e->memory[i], e->image[i]);
	return false;
}

bool as_expected(void)
{
	return end_as_expected(&a) && end_as_expected(&b);
}

struct ibv_wc completion(struct end *e)
{
	return next_completion(e->cq, 30);
}

bool is_idle(struct end *e)
{
	struct ibv_wc wc;

	return !ibv_poll_cq(e->cq, 1, &wc);
}

void post_recv(struct end *e, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!ibv_post_recv(e->qp, &wr, &bad));
}

int post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags |= IBV_SEND_SIGNALED;
	return ibv_post_send(e->qp, wr, &bad);
}

enum ibv_wc_status execute(struct ibv_send_wr *wr)
{
	CHECK(!post(&a, wr));
	return completion(&a).status;
}

enum ibv_wc_status transfer(enum ibv_wr_opcode opcode, struct ibv_sge local,
			    uint32_t rkey, uint64_t va)
{
	struct ibv_send_wr wr = {
		.sg_list = &local,
		.num_sge = 1,
		.opcode = opcode,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = va;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = va;
		wr.wr.rdma.rkey = rkey;
	}
	return execute(&wr);
}

enum ibv_wc_status local_inv(struct end *e, uint32_t key)
{
	struct ibv_wc wc;

	ibv_wr_start(e->qp_ex);
	e->qp_ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(e->qp_ex, key);
	CHECK(!ibv_wr_complete(e->qp_ex));
	wc = completion(e);
	CHECK(wc.status || wc.opcode == IBV_WC_LOCAL_INV);
	return wc.status;
}

uint64_t plain_va(const struct end *e)
{
	return (uintptr_t)e->memory + LAYOUT_AREA;
}

struct ibv_sge plain_sge(const struct end *e, uint32_t length)
{
	return (struct ibv_sge){ plain_va(e), length, e->mr->lkey };
}

struct siroccodv_mkey *make_mkey(struct end *e, uint32_t entries, uint32_t flags)
{
	struct siroccodv_mkey_init_attr attr = {
		.pd = e->pd,
		.create_flags = SIROCCODV_MKEY_INDIRECT | flags,
		.max_entries = entries,
	};
	struct siroccodv_mkey *mkey = siroccodv_create_mkey(&attr);

	CHECK(mkey);
	CHECK(mkey->lkey == mkey->rkey && attr.max_entries >= entries);
	return mkey;
}
