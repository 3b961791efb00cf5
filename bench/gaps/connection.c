// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "connection.h"

#define DEPTH 16
#define WAIT_SECONDS 20
#define FIRST_PSN 0x1000

static int end_find_gid(struct end *end)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	int i, found = -ENOENT;

	for (i = 0; i < end->dev->port_data[1].immutable.gid_tbl_len && found < 0; i++) {
		attr = rdma_get_gid_attr(end->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		rcu_read_lock();
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP && !IS_ERR(ndev) &&
		    ipv6_addr_v4mapped((struct in6_addr *)&attr->gid)) {
			end->gid = attr->gid;
			end->gid_index = i;
			ether_addr_copy(end->mac, ndev->dev_addr);
			found = 0;
		}
		rcu_read_unlock();
		rdma_put_gid_attr(attr);
	}
	return found;
}

static int end_create_qp(struct end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	if (end->dev->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER)
		init.create_flags = IB_QP_CREATE_INTEGRITY_EN;
	end->qp = ib_create_qp(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->qp);
}

static int end_open(struct end *end, const char *name)
{
	int err;

	end->dev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!end->dev)
		return -ENODEV;
	err = end_find_gid(end);
	if (err)
		return err;
	end->pd = ib_alloc_pd(end->dev, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq(end->dev, NULL, 2 * DEPTH, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	return end_create_qp(end);
}

static void end_close(struct end *end)
{
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	if (end->dev)
		ib_device_put(end->dev);
}

static int end_to_init(struct end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};

	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

static int end_to_rtr(struct end *end, const struct end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
	};
	union ib_gid gid = peer->gid;

	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, end->gid_index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, peer->mac);
	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

static int end_to_rts(struct end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = FIRST_PSN,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};

	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				    IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int end_connect(struct end *end, const struct end *peer)
{
	return end_to_init(end) ?: end_to_rtr(end, peer) ?: end_to_rts(end);
}

int connection_open(struct connection *connection)
{
	struct end *near = &connection->near, *far = &connection->far;

	return end_open(near, "rdma_a") ?: end_open(far, "rdma_b") ?:
	       end_connect(near, far) ?: end_connect(far, near);
}

void connection_close(struct connection *connection)
{
	end_close(&connection->near);
	end_close(&connection->far);
}

struct waiter {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void waiter_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct waiter *waiter = container_of(wc->wr_cqe, struct waiter, cqe);

	waiter->status = wc->status;
	complete(&waiter->done);
}

int end_run(struct end *end, struct ib_send_wr *wr)
{
	struct waiter waiter = { .cqe.done = waiter_done };
	int err;

	init_completion(&waiter.done);
	wr->wr_cqe = &waiter.cqe;
	err = ib_post_send(end->qp, wr, NULL);
	if (err)
		return err;
	if (!wait_for_completion_timeout(&waiter.done, WAIT_SECONDS * HZ)) {
		pr_err("opcode %d: no completion\n", wr->opcode);
		ib_drain_sq(end->qp);
		return -ETIMEDOUT;
	}
	if (waiter.status != IB_WC_SUCCESS) {
		pr_err("opcode %d: %s\n", wr->opcode, ib_wc_status_msg(waiter.status));
		return -EIO;
	}
	return 0;
}
