// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ends.h"

#include "completion.h"

#define RIGHTS                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |                    \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

void open_end(struct end *e, size_t bytes)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	size_t i;

	CHECK(list);
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), e->device))
			e->context = ibv_open_device(list[i]);
	CHECK(e->context);
	ibv_free_device_list(list);
	CHECK(!ibv_query_gid(e->context, 1, e->gid_index, &e->gid));
	CHECK(!ibv_query_port(e->context, 1, &port));
	e->mtu = port.active_mtu;
	e->pd = ibv_alloc_pd(e->context);
	e->cq = ibv_create_cq(e->context, 4096, NULL, NULL, 0);
	e->memory = aligned_alloc(4096, bytes);
	CHECK(e->pd && e->cq && e->memory);
	for (i = 0; i < bytes; i++)
		e->memory[i] = (uint8_t)(i * 2654435761u >> 13);
	e->mr = ibv_reg_mr(e->pd, e->memory, bytes, RIGHTS);
	CHECK(e->mr);
}

void make_qp(struct end *e, enum ibv_qp_type type, uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
	};

	e->qp = ibv_create_qp(e->pd, &attr);
	CHECK(e->qp);
}

int to_init(struct end *e, int more_mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = RIGHTS,
	};
	int rc = e->qp->qp_type == IBV_QPT_RC ? IBV_QP_ACCESS_FLAGS :
						IBV_QP_QKEY;

	return ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     rc | more_mask);
}

int to_rtr(struct end *e, const struct end *peer, int more_mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = { .grh = { .dgid = peer->gid,
				      .sgid_index = e->gid_index,
				      .flow_label = e->flow_label,
				      .hop_limit = 64 },
			     .is_global = 1,
			     .port_num = 1 },
		.path_mtu = e->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 64,
		.min_rnr_timer = 1,
	};
	int rc = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER;

	return ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | more_mask |
				     (e->qp->qp_type == IBV_QPT_RC ? rc : 0));
}

int to_rts(struct end *e, int more_mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = e->timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 64,
	};

	return ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC | more_mask);
}

static int consent(const struct end *e)
{
	return e->consents ? IBV_QP_OOO_RW_DATA_PLACEMENT : 0;
}

void connect_ends(struct end *a, struct end *b, uint32_t depth)
{
	make_qp(a, IBV_QPT_RC, depth);
	make_qp(b, IBV_QPT_RC, depth);
	CHECK_IS(to_init(a, 0), 0);
	CHECK_IS(to_init(b, 0), 0);
	CHECK_IS(to_rtr(a, b, consent(a)), 0);
	CHECK_IS(to_rtr(b, a, consent(b)), 0);
	CHECK_IS(to_rts(a, 0), 0);
	CHECK_IS(to_rts(b, 0), 0);
}

void set_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK_IS(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
}

struct ibv_wc completion(struct end *e)
{
	struct ibv_wc wc = next_completion(e->cq, 60);

	if (wc.status)
		printf("%s: %s\n", e->device, ibv_wc_status_str(wc.status));
	CHECK_IS(wc.status, IBV_WC_SUCCESS);
	return wc;
}
