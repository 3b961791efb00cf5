// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues. */
#include <stdlib.h>

#include "sirocco.h"

struct siro_create_srq_cmd_resp {
	struct ib_uverbs_create_srq_resp core;
	struct siro_create_srq_resp drv;
};

struct siro_modify_srq_cmd {
	struct ibv_modify_srq core;
	struct siro_modify_srq_req drv;
};

static_assert(offsetof(struct siro_create_srq_cmd_resp, drv) ==
		      sizeof(struct ib_uverbs_create_srq_resp),
	      "driver data must follow the core's");
static_assert(offsetof(struct siro_modify_srq_cmd, drv) ==
		      sizeof(struct ibv_modify_srq),
	      "driver data must follow the core's");

static int siro_srq_map(struct siro_srq *srq, const struct siro_ring_info *info,
			uint32_t max_wr)
{
	struct siro_queue *queue = &srq->queue;
	int ret;

	ret = siro_ring_map(&queue->ring, srq->vsrq.srq.context->cmd_fd, info,
			    sizeof(struct siro_recv_wqe));
	if (ret)
		return ret;
	queue->ring.index = siro_ring_producer(&queue->ring);
	queue->limit = max_wr < info->slots ? max_wr : info->slots;
	return 0;
}

static void siro_srq_set_max_sge(struct siro_srq *srq, uint32_t max_sge)
{
	const uint32_t room =
		(srq->queue.ring.stride - sizeof(struct siro_recv_wqe)) /
		sizeof(struct siro_sge);

	srq->queue.max_sge = max_sge < room ? max_sge : room;
}

struct ibv_srq *siro_create_srq(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr)
{
	struct siro_create_srq_cmd_resp resp = {};
	struct ibv_create_srq cmd;
	struct siro_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	ret = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	ret = siro_srq_map(srq, &resp.drv.ring, attr->attr.max_wr);
	if (ret)
		goto err_destroy;
	siro_srq_set_max_sge(srq, attr->attr.max_sge);
	srq->number = resp.drv.srqn;
	pthread_spin_init(&srq->queue.lock, PTHREAD_PROCESS_PRIVATE);
	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	free(srq);
	errno = ret;
	return NULL;
}

/*
 * libibverbs sends basic SRQs to siro_create_srq(): what comes here is another
 * type, or asks for more than a basic one has.
 */
struct ibv_srq *siro_create_srq_ex(struct ibv_context *context,
				   struct ibv_srq_init_attr_ex *attr)
{
	errno = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? EOPNOTSUPP : EINVAL;
	return NULL;
}

int siro_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	*srq_num = to_siro_srq(ibsrq)->number;
	return 0;
}

static int siro_resize_srq(struct siro_srq *srq, struct ibv_srq_attr *attr,
			   int mask)
{
	struct siro_queue *queue = &srq->queue;
	struct siro_modify_srq_cmd cmd = {};
	struct siro_ring_info info = {};
	struct siro_ring old;
	int ret;

	cmd.drv.resp_addr = (uintptr_t)&info;
	/* no post between the kernel's copy and our switch to the new ring */
	pthread_spin_lock(&queue->lock);
	ret = ibv_cmd_modify_srq(&srq->vsrq.srq, attr, mask, &cmd.core,
				 sizeof(cmd));
	if (!ret) {
		old = queue->ring;
		ret = siro_srq_map(srq, &info, attr->max_wr);
		if (!ret)
			siro_ring_unmap(&old);
	}
	pthread_spin_unlock(&queue->lock);
	return ret;
}

int siro_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct siro_modify_srq_cmd cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return siro_resize_srq(to_siro_srq(ibsrq), attr, mask);
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.core, sizeof(cmd));
}

int siro_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int siro_destroy_srq(struct ibv_srq *ibsrq)
{
	struct siro_srq *srq = to_siro_srq(ibsrq);
	int ret;

	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;
	siro_ring_unmap(&srq->queue.ring);
	pthread_spin_destroy(&srq->queue.lock);
	free(srq);
	return 0;
}

int siro_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr)
{
	struct siro_queue *queue = &to_siro_srq(ibsrq)->queue;
	int ret;

	pthread_spin_lock(&queue->lock);
	ret = siro_queue_recvs(queue, wr, bad_wr);
	pthread_spin_unlock(&queue->lock);
	return ret;
}
