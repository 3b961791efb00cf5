// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The eight steps of an indirect registration. What is to be seen elsewhere, such
 * as how a queue pair is connected, is left to the caller.
 */
#include <linux/delay.h>

#include "indirect_ulp.h"

#define ULP_SECONDS 10

/* What one transfer needs. */
struct ulp_transfer {
	struct ib_qp *qp;
	struct ib_cq *cq;
	struct ib_mr *mr;
	struct ib_indir_reg_list *list;
	unsigned int count;
	u64 length;
};

/* Step 0: the device has the feature and takes lists of that length. */
static int ulp_check_device(struct ib_device *device, unsigned int count)
{
	struct siro_caps caps;
	int err;

	err = siro_query_caps(device, &caps);
	if (err)
		return err;
	if (!(caps.device_cap_flags & IB_DEVICE_INDIR_REGISTRATION))
		return -EOPNOTSUPP;
	return count <= caps.max_indir_reg_mr_list_len ? 0 : -E2BIG;
}

/* Steps 1 and 2: a region and a list. A real user keeps a pool of both. */
static int ulp_allocate(struct ulp_transfer *t)
{
	struct ib_mr_init_attr attr = {
		.max_reg_descriptors = t->count,
		.flags = IB_MR_INDIRECT_REG,
	};

	t->mr = ib_create_mr(t->qp->pd, &attr);
	if (IS_ERR(t->mr))
		return PTR_ERR(t->mr);

	t->list = ib_alloc_indir_reg_list(t->qp->device, t->count);
	if (IS_ERR(t->list)) {
		ib_dereg_mr(t->mr);
		return PTR_ERR(t->list);
	}
	return 0;
}

static void ulp_unmap(struct ulp_transfer *t, unsigned int mapped)
{
	struct ib_sge *entry = t->list->sg_list;

	for (; mapped; mapped--, entry++)
		ib_dma_unmap_single(t->qp->device, entry->addr, entry->length, DMA_TO_DEVICE);
}

/* Step 3: each entry has an address, a length and the key that they belong to. */
static int ulp_fill_list(struct ulp_transfer *t, const struct ulp_buffer *buffers)
{
	struct ib_device *device = t->qp->device;
	struct ib_sge *entry = t->list->sg_list;
	unsigned int i;

	for (i = 0; i < t->count; i++, entry++) {
		entry->addr = ib_dma_map_single(device, buffers[i].data, buffers[i].length,
						DMA_TO_DEVICE);
		if (ib_dma_mapping_error(device, entry->addr)) {
			ulp_unmap(t, i);
			return -ENOMEM;
		}
		entry->length = buffers[i].length;
		entry->lkey = t->qp->pd->local_dma_lkey;
		t->length += entry->length;
	}
	return 0;
}

/*
 * Steps 4 and 5: the registration, the transfer that uses it and the end of the
 * registration in one call. Each waits for the one before it.
 */
static int ulp_post(struct ulp_transfer *t, const struct ulp_target *target)
{
	u32 key = ib_inc_rkey(t->mr->rkey);
	u64 iova = t->list->sg_list[0].addr;
	struct ib_sge sge = { .addr = iova, .length = t->length, .lkey = key };
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};
	struct ib_rdma_wr write = {
		.wr = {
			.next = &inv,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = target->addr,
		.rkey = target->rkey,
	};
	struct ib_indir_reg_wr reg = {
		.wr = {
			.next = &write.wr,
			.opcode = IB_WR_REG_INDIR_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.iova_start = iova,
		.indir_list = t->list,
		.indir_list_len = t->count,
		.length = t->length,
		.access_flags = 0, /* the device only reads */
		.mkey = key,
	};

	ib_update_fast_reg_key(t->mr, key);
	return ib_post_send(t->qp, &reg.wr, NULL);
}

static int ulp_await(struct ulp_transfer *t, enum ib_wc_opcode opcode)
{
	unsigned long limit = jiffies + ULP_SECONDS * HZ;
	struct ib_wc wc;
	int got;

	do {
		got = ib_poll_cq(t->cq, 1, &wc);
		if (!got)
			usleep_range(50, 200);
	} while (!got && time_before(jiffies, limit));
	if (got != 1)
		return -ETIMEDOUT;
	return wc.status == IB_WC_SUCCESS && wc.opcode == opcode ? 0 : -EIO;
}

/* Step 6: the completions, in the order of the requests. */
static int ulp_complete(struct ulp_transfer *t)
{
	int err;

	err = ulp_await(t, IB_WC_REG_INDIR_MR);
	if (!err)
		err = ulp_await(t, IB_WC_RDMA_WRITE);
	if (!err)
		err = ulp_await(t, IB_WC_LOCAL_INV);
	return err;
}

/* Step 7. A region may be freed in any state. */
static void ulp_free(struct ulp_transfer *t)
{
	ib_dereg_mr(t->mr);
	ib_free_indir_reg_list(t->list);
}

int indirect_ulp_write(struct ib_qp *qp, struct ib_cq *cq, const struct ulp_buffer *buffers,
		       unsigned int count, const struct ulp_target *target)
{
	struct ulp_transfer t = { .qp = qp, .cq = cq, .count = count };
	int err;

	err = ulp_check_device(qp->device, count);
	if (err)
		return err;
	err = ulp_allocate(&t);
	if (err)
		return err;
	err = ulp_fill_list(&t, buffers);
	if (!err) {
		err = ulp_post(&t, target);
		if (!err)
			err = ulp_complete(&t);
		ulp_unmap(&t, count);
	}
	ulp_free(&t);
	return err;
}
