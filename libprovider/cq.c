// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: life cycle, ibv_poll_cq() and the ibv_cq_ex functions. */
#include <stdlib.h>
#include <string.h>

#include "sirocco.h"

struct siro_create_cq_cmd_resp {
	struct ib_uverbs_ex_create_cq_resp core;
	struct siro_create_cq_resp drv;
};

struct siro_resize_cq_cmd_resp {
	struct ib_uverbs_resize_cq_resp core;
	struct siro_resize_cq_resp drv;
};

static_assert(offsetof(struct siro_create_cq_cmd_resp, drv) ==
		      sizeof(struct ib_uverbs_ex_create_cq_resp),
	      "driver data must follow the core's");
static_assert(offsetof(struct siro_resize_cq_cmd_resp, drv) ==
		      sizeof(struct ib_uverbs_resize_cq_resp),
	      "driver data must follow the core's");

static void siro_cq_lock(struct siro_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_lock(&cq->lock);
}

static void siro_cq_unlock(struct siro_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_unlock(&cq->lock);
}

/* ---- life cycle ---- */

static int siro_cq_map(struct siro_cq *cq, const struct siro_ring_info *info)
{
	int ret;

	ret = siro_ring_map(&cq->ring, cq->vcq.cq.context->cmd_fd, info,
			    sizeof(struct siro_cqe));
	if (ret)
		return ret;
	cq->ring.index = siro_ring_consumer(&cq->ring);
	cq->limit = cq->ring.index;
	return 0;
}

static struct siro_cq *siro_new_cq(struct ibv_context *context,
				   const struct ibv_cq_init_attr_ex *attr)
{
	struct siro_create_cq_cmd_resp resp = {};
	struct ibv_create_cq_ex cmd = {};
	struct siro_cq *cq;
	int ret;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	ret = ibv_cmd_create_cq_ex(context, attr, &cq->vcq, &cmd, sizeof(cmd),
				   &resp.core, sizeof(resp), 0);
	if (ret)
		goto err_free;
	ret = siro_cq_map(cq, &resp.drv.ring);
	if (ret)
		goto err_destroy;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *siro_create_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct siro_cq *cq;

	/* a negative count would be a huge one */
	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = siro_new_cq(context, &attr);
	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *siro_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr)
{
	struct siro_cq *cq;

	if (attr->comp_mask & ~IBV_CQ_INIT_ATTR_MASK_FLAGS ||
	    attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = siro_new_cq(context, attr);
	if (!cq)
		return NULL;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		cq->single_threaded = attr->flags &
				      IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	siro_cq_set_poll_functions(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int siro_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	struct siro_resize_cq_cmd_resp resp = {};
	struct ibv_resize_cq cmd;
	struct siro_ring old;
	int ret;

	if (cqe <= 0)
		return EINVAL;

	siro_cq_lock(cq);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.core,
				sizeof(resp));
	if (!ret) {
		old = cq->ring;
		ret = siro_cq_map(cq, &resp.drv.ring);
		if (!ret)
			siro_ring_unmap(&old);
	}
	siro_cq_unlock(cq);
	return ret;
}

int siro_destroy_cq(struct ibv_cq *ibcq)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	siro_ring_unmap(&cq->ring);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}

void siro_cq_purge(struct siro_cq *cq, uint32_t qp_num)
{
	struct siro_ring *ring = &cq->ring;
	uint32_t from, to, producer;
	struct siro_cqe *cqe;

	siro_cq_lock(cq);
	/* Keepers move towards the producer, so that the gap is at our end. */
	producer = siro_ring_producer(ring);
	to = producer;
	for (from = producer; from != ring->index; ) {
		cqe = siro_ring_entry(ring, --from);
		if (cqe->qp_num == qp_num)
			continue;
		if (--to != from)
			memcpy(siro_ring_entry(ring, to), cqe, sizeof(*cqe));
	}
	cq->limit = producer;
	if (to != ring->index) {
		ring->index = to;
		siro_ring_consume(ring);
	}
	siro_cq_unlock(cq);
}

/* ---- completions ---- */

static enum ibv_wc_opcode siro_wc_opcode(const struct siro_cqe *cqe)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[SIRO_WC_SEND] = IBV_WC_SEND,
		[SIRO_WC_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[SIRO_WC_RDMA_READ] = IBV_WC_RDMA_READ,
		[SIRO_WC_COMP_SWAP] = IBV_WC_COMP_SWAP,
		[SIRO_WC_FETCH_ADD] = IBV_WC_FETCH_ADD,
		[SIRO_WC_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[SIRO_WC_MKEY_CONF] = IBV_WC_DRIVER1,
		[SIRO_WC_NOP] = IBV_WC_DRIVER2,
		[SIRO_WC_RECV] = IBV_WC_RECV,
		[SIRO_WC_RECV_RDMA_WITH_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	};

	if (cqe->opcode >= sizeof(opcodes) / sizeof(opcodes[0]))
		return IBV_WC_SEND;
	return opcodes[cqe->opcode];
}

static unsigned int siro_wc_flags(const struct siro_cqe *cqe)
{
	unsigned int flags = 0;

	if (cqe->flags & SIRO_WC_GRH)
		flags |= IBV_WC_GRH;
	if (cqe->flags & SIRO_WC_WITH_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (cqe->flags & SIRO_WC_WITH_INVALIDATE)
		flags |= IBV_WC_WITH_INV;
	return flags;
}

static void siro_fill_wc(struct ibv_wc *wc, const struct siro_cqe *cqe)
{
	*wc = (struct ibv_wc){
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = siro_wc_opcode(cqe),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.imm_data = (__be32)cqe->imm,
		.qp_num = cqe->qp_num,
		.src_qp = cqe->src_qp,
		.wc_flags = siro_wc_flags(cqe),
	};
}

int siro_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	struct siro_ring *ring = &cq->ring;
	uint32_t first, end;

	if (count <= 0)
		return 0;

	siro_cq_lock(cq);
	first = ring->index;
	end = siro_ring_producer(ring);
	if (end - first > (uint32_t)count)
		end = first + count;
	while (ring->index != end)
		siro_fill_wc(wc++, siro_ring_entry(ring, ring->index++));
	if (end != first)
		siro_ring_consume(ring);
	siro_cq_unlock(cq);
	return end - first;
}

/* ---- ibv_cq_ex ---- */

static struct siro_cq *from_cq_ex(struct ibv_cq_ex *cq_ex)
{
	return container_of(cq_ex, struct siro_cq, vcq.cq_ex);
}

/* The completion before this one is dead: its slot may go back. */
static int siro_next_poll(struct ibv_cq_ex *cq_ex)
{
	struct siro_cq *cq = from_cq_ex(cq_ex);
	struct siro_ring *ring = &cq->ring;

	if (ring->index == cq->limit) {
		siro_ring_consume(ring);
		cq->limit = siro_ring_producer(ring);
		if (ring->index == cq->limit)
			return ENOENT;
	}
	cq->cqe = siro_ring_entry(ring, ring->index++);
	cq_ex->wr_id = cq->cqe->wr_id;
	cq_ex->status = cq->cqe->status;
	return 0;
}

static int siro_start_poll(struct ibv_cq_ex *cq_ex,
			   struct ibv_poll_cq_attr *attr)
{
	struct siro_cq *cq = from_cq_ex(cq_ex);
	int ret;

	if (attr->comp_mask)
		return EINVAL;

	siro_cq_lock(cq);
	/* ibv_poll_cq() may have gone past the old limit */
	cq->limit = cq->ring.index;
	ret = siro_next_poll(cq_ex);
	if (ret)
		siro_cq_unlock(cq);
	return ret;
}

static void siro_end_poll(struct ibv_cq_ex *cq_ex)
{
	struct siro_cq *cq = from_cq_ex(cq_ex);

	siro_ring_consume(&cq->ring);
	siro_cq_unlock(cq);
}

static enum ibv_wc_opcode siro_read_opcode(struct ibv_cq_ex *cq_ex)
{
	return siro_wc_opcode(from_cq_ex(cq_ex)->cqe);
}

static uint32_t siro_read_vendor_err(struct ibv_cq_ex *cq_ex)
{
	return from_cq_ex(cq_ex)->cqe->vendor_err;
}

static unsigned int siro_read_wc_flags(struct ibv_cq_ex *cq_ex)
{
	return siro_wc_flags(from_cq_ex(cq_ex)->cqe);
}

static uint32_t siro_read_byte_len(struct ibv_cq_ex *cq_ex)
{
	return from_cq_ex(cq_ex)->cqe->byte_len;
}

static __be32 siro_read_imm_data(struct ibv_cq_ex *cq_ex)
{
	return (__be32)from_cq_ex(cq_ex)->cqe->imm;
}

static uint32_t siro_read_qp_num(struct ibv_cq_ex *cq_ex)
{
	return from_cq_ex(cq_ex)->cqe->qp_num;
}

static uint32_t siro_read_src_qp(struct ibv_cq_ex *cq_ex)
{
	return from_cq_ex(cq_ex)->cqe->src_qp;
}

/* RoCE has neither LIDs nor a service level in a completion. */
static uint32_t siro_read_slid(struct ibv_cq_ex *cq_ex)
{
	return 0;
}

static uint8_t siro_read_zero(struct ibv_cq_ex *cq_ex)
{
	return 0;
}

void siro_cq_set_poll_functions(struct siro_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cq_ex = &cq->vcq.cq_ex;

	cq_ex->start_poll = siro_start_poll;
	cq_ex->next_poll = siro_next_poll;
	cq_ex->end_poll = siro_end_poll;
	cq_ex->read_opcode = siro_read_opcode;
	cq_ex->read_vendor_err = siro_read_vendor_err;
	cq_ex->read_wc_flags = siro_read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq_ex->read_byte_len = siro_read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq_ex->read_imm_data = siro_read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq_ex->read_qp_num = siro_read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq_ex->read_src_qp = siro_read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq_ex->read_slid = siro_read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq_ex->read_sl = siro_read_zero;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq_ex->read_dlid_path_bits = siro_read_zero;
}
