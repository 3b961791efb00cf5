// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/sizes.h>
#include <linux/slab.h>

#include "variant.h"

#define ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

#define BLOCK_BYTES 512
#define TUPLE_BYTES (TRANSFER_BYTES / BLOCK_BYTES * 8)

static const struct layout aligned = { .entry_bytes = PAGE_SIZE };

static u8 *memory_alloc(void)
{
	return (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(LAYOUT_BYTES));
}

static void memory_free(u8 *memory)
{
	free_pages((unsigned long)memory, get_order(LAYOUT_BYTES));
}

static int variant_alloc(struct variant *variant, u32 entries)
{
	variant->memory = memory_alloc();
	variant->sg = kcalloc(entries, sizeof(*variant->sg), GFP_KERNEL);
	if (variant->bounces)
		variant->bounce = memory_alloc();
	return variant->memory && variant->sg && (variant->bounce || !variant->bounces) ? 0 : -ENOMEM;
}

static int variant_map(struct variant *variant, struct rc_end *end, u32 entries)
{
	u8 *memory = variant->bounces ? variant->bounce : variant->memory;
	u32 i;

	sg_init_table(variant->sg, entries);
	for (i = 0; i < entries; i++)
		sg_set_buf(&variant->sg[i], memory + layout_start(variant->registered, i),
			   layout_length(variant->registered, i));
	return ib_dma_map_sg(end->dev, variant->sg, entries, DMA_BIDIRECTIONAL) == entries ? 0 : -EIO;
}

static int variant_create_mr(struct variant *variant, struct rc_end *end, u32 entries)
{
	const struct ib_mr_init_attr attr = {
		.max_reg_descriptors = entries,
		.flags = IB_MR_INDIRECT_REG,
	};

	if (variant->type == IB_MR_TYPE_INTEGRITY) {
		variant->mr = ib_alloc_mr_integrity(end->pd, entries, 1);
		return PTR_ERR_OR_ZERO(variant->mr);
	}
	if (variant->type != SIRO_MR_TYPE_INDIRECT) {
		variant->mr = ib_alloc_mr(end->pd, variant->type, entries);
		return PTR_ERR_OR_ZERO(variant->mr);
	}
	variant->list = ib_alloc_indir_reg_list(end->dev, entries);
	if (IS_ERR(variant->list))
		return PTR_ERR(variant->list);
	variant->mr = ib_create_mr(end->pd, &attr);
	return PTR_ERR_OR_ZERO(variant->mr);
}

static int tuples_open(struct variant *variant, struct rc_end *end)
{
	if (variant->type != IB_MR_TYPE_INTEGRITY)
		return 0;
	variant->tuples = kzalloc(TUPLE_BYTES, GFP_KERNEL);
	if (!variant->tuples)
		return -ENOMEM;
	sg_init_one(&variant->tuple_sg, variant->tuples, TUPLE_BYTES);
	return ib_dma_map_sg(end->dev, &variant->tuple_sg, 1, DMA_BIDIRECTIONAL) == 1 ? 0 : -EIO;
}

int variant_open(struct variant *variant, struct rc_end *end)
{
	u32 entries;

	variant->registered = variant->bounces ? &aligned : &variant->layout;
	entries = layout_entries(variant->registered);
	return variant_alloc(variant, entries) ?: variant_map(variant, end, entries) ?:
	       tuples_open(variant, end) ?: variant_create_mr(variant, end, entries);
}

void variant_close(struct variant *variant)
{
	if (!IS_ERR_OR_NULL(variant->mr))
		ib_dereg_mr(variant->mr);
	if (!IS_ERR_OR_NULL(variant->list))
		ib_free_indir_reg_list(variant->list);
	kfree(variant->sg);
	kfree(variant->tuples);
	memory_free(variant->bounce);
	memory_free(variant->memory);
}

static int register_list(struct variant *variant, struct rc_end *end, u32 entries)
{
	struct ib_indir_reg_wr wr = {
		.wr.opcode = IB_WR_REG_INDIR_MR,
		.indir_list = variant->list,
		.indir_list_len = entries,
		.length = TRANSFER_BYTES,
		.access_flags = ACCESS,
		.mkey = variant->mr->rkey,
	};
	struct scatterlist *sg;
	int i;

	for_each_sg(variant->sg, sg, entries, i)
		variant->list->sg_list[i] = (struct ib_sge){
			.addr = sg_dma_address(sg),
			.length = sg_dma_len(sg),
			.lkey = end->pd->local_dma_lkey,
		};
	variant->iova = variant->list->sg_list[0].addr;
	wr.iova_start = variant->iova;
	return end_run(end, &wr.wr);
}

static int register_mapping(struct variant *variant, struct rc_end *end, u32 entries)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = variant->mr,
		.key = variant->mr->rkey,
		.access = ACCESS,
	};

	if (ib_map_mr_sg(variant->mr, variant->sg, entries, NULL, PAGE_SIZE) != entries)
		return -EINVAL;
	variant->iova = variant->mr->iova;
	return end_run(end, &wr.wr);
}

/* Memory has tuples, the wire has none: they are made or checked on the way. */
static int register_signature(struct variant *variant, struct rc_end *end, u32 entries)
{
	struct ib_sig_attrs *attrs = variant->mr->sig_attrs;
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR_INTEGRITY,
		.mr = variant->mr,
		.key = variant->mr->rkey,
		.access = ACCESS,
	};
	int err;

	err = ib_map_mr_sg_pi(variant->mr, variant->sg, entries, NULL, &variant->tuple_sg, 1, NULL,
			      SZ_4K);
	if (err)
		return err;
	attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_REFTAG;
	attrs->mem.sig_type = IB_SIG_TYPE_T10_DIF;
	attrs->mem.sig.dif.bg_type = IB_T10DIF_CRC;
	attrs->mem.sig.dif.pi_interval = BLOCK_BYTES;
	attrs->mem.sig.dif.ref_remap = true;
	attrs->wire.sig_type = IB_SIG_TYPE_NONE;
	variant->iova = variant->mr->iova;
	return end_run(end, &wr.wr);
}

int variant_register(struct variant *variant, struct rc_end *end)
{
	u32 entries = layout_entries(variant->registered);

	ib_update_fast_reg_key(variant->mr, ib_inc_rkey(variant->mr->rkey));
	if (variant->type == SIRO_MR_TYPE_INDIRECT)
		return register_list(variant, end, entries);
	if (variant->type == IB_MR_TYPE_INTEGRITY)
		return register_signature(variant, end, entries);
	return register_mapping(variant, end, entries);
}

int variant_invalidate(struct variant *variant, struct rc_end *end)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = variant->mr->rkey,
	};

	return end_run(end, &wr);
}
