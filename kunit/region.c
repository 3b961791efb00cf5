// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "region.h"

void region_exit(struct region *region)
{
	int i;

	if (!IS_ERR_OR_NULL(region->mr))
		ib_dereg_mr(region->mr);
	for (i = 0; i < region->count; i++)
		__free_page(region->pages[i]);
}

void region_init(struct kunit *test, struct region *region, struct ib_pd *pd, enum ib_mr_type type,
		 int pages, u8 fill)
{
	memset(region, 0, sizeof(*region));
	for (; region->count < pages; region->count++) {
		region->pages[region->count] = alloc_page(GFP_KERNEL);
		if (!region->pages[region->count])
			break;
		memset(page_address(region->pages[region->count]), fill, PAGE_SIZE);
	}
	region->mr = ib_alloc_mr(pd, type, MR_PAGES);
	if (IS_ERR(region->mr) || region->count < pages) {
		region_exit(region);
		KUNIT_ASSERT_TRUE_MSG(test, false, "no region");
	}
}

int region_map(struct region *region, int first, int pages, u32 offset, u32 length)
{
	u32 left = length, in_page;
	int i;

	sg_init_table(region->sg, pages);
	for (i = 0; i < pages; i++) {
		in_page = min_t(u32, left, PAGE_SIZE - offset);
		sg_set_page(&region->sg[i], region->pages[first + i], in_page, offset);
		left -= in_page;
		offset = 0;
	}
	if (ib_dma_map_sg(region->mr->device, region->sg, pages, DMA_BIDIRECTIONAL) != pages)
		return -EIO;
	return ib_map_mr_sg(region->mr, region->sg, pages, NULL, PAGE_SIZE);
}

struct ib_reg_wr reg_wr_of(struct ib_mr *mr, u64 wr_id)
{
	return (struct ib_reg_wr){
		.wr = { .wr_id = wr_id, .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED },
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_ATOMIC,
	};
}

void register_mr(struct kunit *test, struct rc_end *end, struct ib_mr *mr)
{
	struct ib_reg_wr wr = reg_wr_of(mr, 1000);

	KUNIT_EXPECT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
	expect_wc(test, end->cq, 1000, IB_WC_SUCCESS);
}

int post_local_inv(struct rc_end *end, u64 wr_id, u32 key)
{
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return ib_post_send(end->qp, &wr, NULL);
}

void invalidate(struct kunit *test, struct rc_end *end, u32 key)
{
	KUNIT_EXPECT_EQ(test, post_local_inv(end, 1001, key), 0);
	expect_wc(test, end->cq, 1001, IB_WC_SUCCESS);
}

void remote_write(struct kunit *test, struct rc_pair *pair, u64 addr, u32 rkey, u32 length,
		  enum ib_wc_status status)
{
	KUNIT_EXPECT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_WRITE, 7, 0, length, addr, rkey), 0);
	expect_wc(test, pair->a.cq, 7, status);
}

void remote_read(struct kunit *test, struct rc_pair *pair, u64 addr, u32 rkey, u32 length,
		 enum ib_wc_status status)
{
	KUNIT_EXPECT_EQ(test, post_rdma(&pair->a, IB_WR_RDMA_READ, 8, 0, length, addr, rkey), 0);
	expect_wc(test, pair->a.cq, 8, status);
}

int post_atomic(struct rc_pair *pair, enum ib_wr_opcode opcode, u64 wr_id, u64 remote_addr,
		u32 rkey, u64 compare_add, u64 swap)
{
	struct ib_sge sge = local_sge(&pair->a, 0, 8);
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = remote_addr,
		.compare_add = compare_add,
		.swap = swap,
		.rkey = rkey,
	};

	return ib_post_send(pair->a.qp, &wr.wr, NULL);
}

u8 *byte_of(struct region *region, int first, u32 offset)
{
	return (u8 *)page_address(region->pages[first + offset / PAGE_SIZE]) + offset % PAGE_SIZE;
}
