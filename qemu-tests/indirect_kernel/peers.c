// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/slab.h>

#include "peers.h"

#define WAIT_SECONDS 30
#define POLL_DEPTH 8

static int local_open(struct peers *peers)
{
	struct ib_device *device = peers->connection.near.dev;

	peers->local = kzalloc(TRANSFER_BYTES, GFP_KERNEL);
	if (!peers->local)
		return -ENOMEM;
	peers->local_addr = ib_dma_map_single(device, peers->local, TRANSFER_BYTES,
					      DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(device, peers->local_addr);
}

int peers_open(struct peers *peers)
{
	return connection_open(&peers->connection) ?: local_open(peers);
}

void peers_close(struct peers *peers)
{
	if (peers->local_addr)
		ib_dma_unmap_single(peers->connection.near.dev, peers->local_addr, TRANSFER_BYTES,
				    DMA_BIDIRECTIONAL);
	connection_close(&peers->connection);
	kfree(peers->local);
}

int peers_reconnect(struct peers *peers)
{
	struct rc_end *near = &peers->connection.near, *far = &peers->connection.far;

	return rc_to_reset(near) ?: rc_to_reset(far) ?: rc_connect(near, far) ?:
	       rc_connect(far, near);
}

static int end_create_polled_qp(struct rc_end *end)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = POLL_DEPTH, .max_send_sge = 1 },
	};

	end->cq = ib_alloc_cq(end->dev, NULL, POLL_DEPTH, 0, IB_POLL_DIRECT);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ib_create_qp(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->qp);
}

int peers_poll_near(struct peers *peers)
{
	struct rc_end *near = &peers->connection.near;

	ib_destroy_qp(near->qp);
	near->qp = NULL;
	ib_free_cq(near->cq);
	return end_create_polled_qp(near) ?: peers_reconnect(peers);
}

struct waiter {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

static void waiter_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct waiter *waiter = container_of(wc->wr_cqe, struct waiter, cqe);

	waiter->wc = *wc;
	complete(&waiter->done);
}

static void waiter_init(struct waiter *waiter)
{
	waiter->cqe.done = waiter_done;
	init_completion(&waiter->done);
}

/* The waiter must not be forgotten while the queue pair knows it. */
static int waiter_status(struct waiter *waiter, struct rc_end *end)
{
	if (wait_for_completion_timeout(&waiter->done, WAIT_SECONDS * HZ))
		return waiter->wc.status;
	pr_err("no completion in %d s\n", WAIT_SECONDS);
	end_to_error(end);
	wait_for_completion(&waiter->done);
	return -ETIMEDOUT;
}

int end_status(struct rc_end *end, struct ib_send_wr *wr, enum ib_wc_opcode *opcode)
{
	struct waiter waiter;
	int err;

	waiter_init(&waiter);
	wr->wr_cqe = &waiter.cqe;
	err = ib_post_send(end->qp, wr, NULL);
	if (err)
		return err;
	err = waiter_status(&waiter, end);
	if (opcode)
		*opcode = waiter.wc.opcode;
	return err;
}

static int transfer(struct peers *peers, enum ib_wr_opcode opcode, const struct span *span)
{
	struct rc_end *near = &peers->connection.near;
	struct ib_sge sge = { peers->local_addr, span->length, near->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = span->addr,
		.rkey = span->rkey,
	};

	return end_status(near, &wr.wr, NULL);
}

int peers_write(struct peers *peers, const struct span *span)
{
	return transfer(peers, IB_WR_RDMA_WRITE, span);
}

int peers_read(struct peers *peers, const struct span *span)
{
	return transfer(peers, IB_WR_RDMA_READ, span);
}

int send_between(struct rc_end *from, struct ib_sge *source, struct rc_end *to, struct ib_sge *sink)
{
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .sg_list = source, .num_sge = 1 };
	struct waiter waiter;
	struct ib_recv_wr recv = { .wr_cqe = &waiter.cqe, .sg_list = sink, .num_sge = 1 };
	int err, sent;

	waiter_init(&waiter);
	err = ib_post_recv(to->qp, &recv, NULL);
	if (err)
		return err;
	sent = end_status(from, &send, NULL);
	if (sent)
		end_to_error(to);
	return waiter_status(&waiter, to) ?: sent;
}

int end_to_error(struct rc_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
}
