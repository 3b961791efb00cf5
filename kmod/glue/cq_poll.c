// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The kernel takes completions. */
#include <linux/if_vlan.h>

#include "verbs.h"

static const enum ib_wc_opcode siro_wc_opcodes[] = {
	[SIRO_WC_SEND] = IB_WC_SEND,
	[SIRO_WC_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[SIRO_WC_RDMA_READ] = IB_WC_RDMA_READ,
	[SIRO_WC_COMP_SWAP] = IB_WC_COMP_SWAP,
	[SIRO_WC_FETCH_ADD] = IB_WC_FETCH_ADD,
	[SIRO_WC_LOCAL_INV] = IB_WC_LOCAL_INV,
	[SIRO_WC_REG_MR] = IB_WC_REG_MR,
	[SIRO_WC_REG_INDIR_MR] = IB_WC_REG_INDIR_MR,
	[SIRO_WC_RECV] = IB_WC_RECV,
	[SIRO_WC_RECV_RDMA_WITH_IMM] = IB_WC_RECV_RDMA_WITH_IMM,
};

static void siro_wc_set_network(struct siro_cq *cq, struct ib_wc *wc, u8 network_type)
{
	u16 vlan = siro_dev_vlan(to_siro_dev(cq->ibcq.device));

	wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = network_type == SIRO_NETWORK_IPV4 ? RDMA_NETWORK_IPV4 :
								   RDMA_NETWORK_IPV6;
	if (vlan < VLAN_N_VID) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = vlan;
	}
}

static void siro_wc_set_extra(struct ib_wc *wc, const struct siro_cqe *cqe)
{
	if (cqe->flags & SIRO_WC_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (cqe->flags & SIRO_WC_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm;
	} else if (cqe->flags & SIRO_WC_WITH_INVALIDATE) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->imm;
	}
}

static void siro_wc_fill(struct siro_cq *cq, struct ib_wc *wc, const struct siro_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = siro_wc_opcodes[cqe->opcode];
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = (struct ib_qp *)(uintptr_t)cqe->cookie;
	wc->src_qp = cqe->src_qp;
	wc->port_num = 1;
	siro_wc_set_extra(wc, cqe);
	if (cqe->network_type)
		siro_wc_set_network(cq, wc, cqe->network_type);
}

int siro_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc)
{
	struct siro_cq *cq = to_siro_cq(ibcq);
	struct siro_ring *ring = &cq->ring;
	unsigned long flags;
	u32 consumer;
	int i;

	if (cq->user)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&cq->lock, flags);
	consumer = ring->header->consumer;
	for (i = 0; i < count && consumer != ring->index; i++, consumer++)
		siro_wc_fill(cq, &wc[i], (struct siro_cqe *)siro_ring_entry(ring, consumer));
	ring->header->consumer = consumer;
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}
