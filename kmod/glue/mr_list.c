// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Lists of extents and their memory: SG_GAPS regions, lists of entries with keys. */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "verbs.h"

struct siro_mr_list *siro_mr_list_alloc(u32 capacity)
{
	struct siro_mr_list *list;

	list = kmalloc(struct_size(list, storage, capacity), GFP_ATOMIC | __GFP_NOWARN);
	if (!list)
		return NULL;

	list->extents = (struct siro_extents){
		.extents = list->storage,
		.capacity = capacity,
	};
	list->room = capacity;
	return list;
}

/* A list of at least @capacity: the spare one if it is large enough. */
struct siro_mr_list *siro_mr_list_take(struct siro_mr_list **spare, u32 capacity)
{
	struct siro_mr_list *list = xchg(spare, NULL);

	if (list && list->room >= capacity) {
		list->extents.capacity = capacity;
		return list;
	}
	kfree(list);
	return siro_mr_list_alloc(capacity);
}

/* The list, if any, is not needed now; one is kept for the next registration. */
void siro_mr_list_give(struct siro_mr_list **spare, struct siro_mr_list *list)
{
	if (list)
		kfree(xchg(spare, list));
}

/* Entries that fit; the caller holds the lock. */
static int siro_fill_gaps(struct siro_extents *extents, struct scatterlist *sg, int nents,
			  unsigned int offset)
{
	struct scatterlist *entry;
	unsigned int skip;
	int i, err;

	siro_extents_reset(extents, 1);
	for_each_sg(sg, entry, nents, i) {
		skip = i ? 0 : offset;
		err = siro_extents_add(extents, sg_dma_address(entry) + skip,
				       sg_dma_len(entry) - skip, 0, 0);
		if (err == -ENOSPC)
			break;
		if (err)
			return err;
	}
	return siro_extents_finish(extents, 1) ?: i;
}

struct siro_mr_list *siro_mr_list_map(struct siro_mr_list **spare, struct scatterlist *sg,
				      int nents, unsigned int offset)
{
	struct siro_mr_list *list = siro_mr_list_take(spare, nents);
	int ret;

	if (!list)
		return ERR_PTR(-ENOMEM);
	ret = siro_fill_gaps(&list->extents, sg, nents, offset);
	if (ret < 0) {
		siro_mr_list_give(spare, list);
		return ERR_PTR(ret);
	}
	return list;
}

/* map_mr_sg() of SG_GAPS: entries of any address and length. */
int siro_map_gaps(struct siro_mr_obj *obj, struct scatterlist *sg, int nents, unsigned int *offset)
{
	int count = min_t(u32, nents, obj->max_entries);
	unsigned int skip = offset ? *offset : 0;
	struct siro_mr_list *list;
	unsigned long flags;

	list = siro_mr_list_map(&obj->spare, sg, count, skip);
	if (IS_ERR(list))
		return PTR_ERR(list);
	obj->ibmr.iova = sg_dma_address(sg) + skip;
	obj->ibmr.length = list->extents.row_length;
	if (offset)
		*offset = 0;

	/* REG_MR of a confused consumer may run at the same time. */
	spin_lock_irqsave(&obj->lock, flags);
	swap(obj->staged_list, list);
	spin_unlock_irqrestore(&obj->lock, flags);
	siro_mr_list_give(&obj->spare, list);
	return count;
}

/* Takes over @list if the request fits it. The caller holds the lock. */
bool siro_mr_list_go_live(struct siro_mr_obj *obj, struct siro_mr_list *list,
			  const struct siro_send_wqe *wqe)
{
	struct siro_mr *mr = &obj->mr;
	u64 end;

	if (!list || !wqe->reg.length || wqe->reg.length > list->extents.row_length ||
	    check_add_overflow(wqe->reg.iova, wqe->reg.length, &end))
		return false;

	swap(obj->live_list, list);
	siro_mr_list_give(&obj->spare, list);
	mr->extents = obj->live_list->extents;
	mr->iova = wqe->reg.iova;
	mr->length = wqe->reg.length;
	mr->access = wqe->reg.access;
	mr->key = wqe->reg.key;
	siro_mr_set_state(mr, SIRO_MR_VALID);
	return true;
}
