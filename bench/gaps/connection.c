// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>

#include "connection.h"

#define DEPTH 16
#define WAIT_SECONDS 20

static int end_create_qp(struct rc_end *end)
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

static int end_open(struct rc_end *end, const char *name)
{
	int err;

	end->mtu = IB_MTU_4096;
	end->dev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!end->dev)
		return -ENODEV;
	err = rc_end_find_gid(end);
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

static void end_close(struct rc_end *end)
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

int connection_open(struct connection *connection)
{
	struct rc_end *near = &connection->near, *far = &connection->far;

	return end_open(near, "rdma_a") ?: end_open(far, "rdma_b") ?:
	       rc_connect(near, far) ?: rc_connect(far, near);
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

int end_run(struct rc_end *end, struct ib_send_wr *wr)
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
