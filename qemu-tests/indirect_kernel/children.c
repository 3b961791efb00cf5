// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "children.h"
#include "require.h"

/* No child has an address that is good in the other. */
static u64 child_iova(unsigned int child)
{
	return 0x700000000000ull + child * 2ull * LAYOUT_BYTES;
}

static int child_open(struct children *children, unsigned int child)
{
	struct scatterlist *sg = &children->child[child].sg;
	struct ib_mr *mr = ib_alloc_mr(children->end->pd, IB_MR_TYPE_MEM_REG,
				       LAYOUT_BYTES / PAGE_SIZE);

	children->child[child].mr = mr;
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	sg_init_one(sg, children->parent.memory, LAYOUT_BYTES);
	if (ib_dma_map_sg(children->end->dev, sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -EIO;
	return children_register_one(children, child);
}

static void fill_list(struct children *children)
{
	const struct layout *layout = &children->parent.layout;
	u32 i;

	for (i = 0; i < layout_entries(layout); i++)
		children->parent.list->sg_list[i] = (struct ib_sge){
			.addr = child_iova(i % CHILDREN) + layout_start(layout, i),
			.length = layout_length(layout, i),
			.lkey = children->child[i % CHILDREN].mr->lkey,
		};
}

int children_open(struct children *children, struct rc_end *end)
{
	unsigned int child;
	int err;

	*children = (struct children){
		.parent = { .layout = CHILDREN_LAYOUT, .type = SIRO_MR_TYPE_INDIRECT },
		.end = end,
	};
	err = variant_open(&children->parent, end);
	for (child = 0; child < CHILDREN && !err; child++)
		err = child_open(children, child);
	if (!err)
		fill_list(children);
	return err;
}

void children_close(struct children *children)
{
	unsigned int child;

	for (child = 0; child < CHILDREN; child++)
		if (!IS_ERR_OR_NULL(children->child[child].mr))
			ib_dereg_mr(children->child[child].mr);
	variant_close(&children->parent);
}

struct ib_indir_reg_wr children_request(struct children *children, u64 iova)
{
	struct variant *parent = &children->parent;

	return (struct ib_indir_reg_wr){
		.wr.opcode = IB_WR_REG_INDIR_MR,
		.iova_start = iova,
		.indir_list = parent->list,
		.indir_list_len = layout_entries(&parent->layout),
		.length = TRANSFER_BYTES,
		.access_flags = CHILDREN_RIGHTS,
		.mkey = ib_inc_rkey(parent->mr->rkey),
	};
}

int children_register(struct children *children, struct ib_indir_reg_wr *request)
{
	enum ib_wc_opcode opcode;
	int status = end_status(children->end, &request->wr, &opcode);

	if (status)
		return status;
	REQUIRE(opcode == IB_WC_REG_INDIR_MR);
	ib_update_fast_reg_key(children->parent.mr, request->mkey);
	return 0;
}

int children_register_one(struct children *children, unsigned int child)
{
	struct ib_mr *mr = children->child[child].mr;
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE,
	};

	REQUIRE(ib_map_mr_sg(mr, &children->child[child].sg, 1, NULL, PAGE_SIZE) == 1);
	mr->iova = child_iova(child);
	return end_status(children->end, &wr.wr, NULL);
}

int children_invalidate_one(struct children *children, unsigned int child)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = children->child[child].mr->rkey,
	};

	return end_status(children->end, &wr, NULL);
}

struct span request_span(const struct ib_indir_reg_wr *request, u32 offset, u32 length)
{
	return (struct span){ request->iova_start + offset, request->mkey, length };
}

static int carry(struct children *children, struct peers *peers, const struct span *span,
		 u8 *expected, u32 offset)
{
	memset(expected, CHILDREN_FILLER, TRANSFER_BYTES);
	get_random_bytes(expected + offset, span->length);
	memcpy(peers->local, expected + offset, span->length);
	memset(children->parent.memory, CHILDREN_FILLER, LAYOUT_BYTES);
	REQUIRE(peers_write(peers, span) == IB_WC_SUCCESS);
	REQUIRE(layout_holds(&children->parent.layout, children->parent.memory, expected,
			     CHILDREN_FILLER));

	memset(peers->local, 0, TRANSFER_BYTES);
	REQUIRE(peers_read(peers, span) == IB_WC_SUCCESS);
	REQUIRE(!memcmp(peers->local, expected + offset, span->length));
	return 0;
}

int children_carry(struct children *children, struct peers *peers,
		   const struct ib_indir_reg_wr *request, u32 offset)
{
	struct span span = request_span(request, offset, request->length - offset);
	u8 *expected = vmalloc(TRANSFER_BYTES);
	int err;

	if (!expected)
		return -ENOMEM;
	err = carry(children, peers, &span, expected, offset);
	vfree(expected);
	return err;
}
