// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory in which user space reads whether its mkeys have signature errors. */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "verbs.h"

#define SIRO_STATUS_SLOTS (PAGE_SIZE / sizeof(struct siro_mkey_status))

/**
 * struct siro_status_page - slots of a user context; lives as long as it
 * @link: of status_pages
 * @mem: the slots
 * @mmap: read-only
 * @used: slots that belong to an mkey; under status_lock
 */
struct siro_status_page {
	struct list_head link;
	struct siro_ring_mem *mem;
	struct siro_mmap_entry *mmap;
	DECLARE_BITMAP(used, SIRO_STATUS_SLOTS);
};

void siro_status_init(struct siro_ucontext *uc)
{
	BUILD_BUG_ON(sizeof(struct siro_mkey_status) != 64);
	mutex_init(&uc->status_lock);
	INIT_LIST_HEAD(&uc->status_pages);
}

static void siro_status_page_free(struct siro_status_page *page)
{
	siro_mmap_hide(page->mmap);
	siro_ring_mem_put(page->mem);
	kfree(page);
}

/* Its mkeys are gone. */
void siro_status_exit(struct siro_ucontext *uc)
{
	struct siro_status_page *page, *next;

	list_for_each_entry_safe(page, next, &uc->status_pages, link)
		siro_status_page_free(page);
	mutex_destroy(&uc->status_lock);
}

static struct siro_status_page *siro_status_page_create(struct siro_ucontext *uc)
{
	struct siro_status_page *page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	int err;

	if (!page)
		return ERR_PTR(-ENOMEM);
	page->mem = siro_ring_mem_alloc(SIRO_STATUS_SLOTS * sizeof(struct siro_mkey_status), true);
	if (!page->mem) {
		kfree(page);
		return ERR_PTR(-ENOMEM);
	}
	err = siro_mmap_expose(uc, page->mem, true, &page->mmap);
	if (err) {
		siro_status_page_free(page);
		return ERR_PTR(err);
	}
	list_add(&page->link, &uc->status_pages);
	return page;
}

static struct siro_status_page *siro_status_page_with_room(struct siro_ucontext *uc)
{
	struct siro_status_page *page;

	list_for_each_entry(page, &uc->status_pages, link)
		if (!bitmap_full(page->used, SIRO_STATUS_SLOTS))
			return page;
	return siro_status_page_create(uc);
}

int siro_status_add(struct siro_ucontext *uc, struct siro_status_slot *slot)
{
	struct siro_status_page *page;

	mutex_lock(&uc->status_lock);
	page = siro_status_page_with_room(uc);
	if (!IS_ERR(page)) {
		spin_lock_init(&slot->lock);
		slot->uc = uc;
		slot->page = page;
		slot->index = find_first_zero_bit(page->used, SIRO_STATUS_SLOTS);
		slot->status = (struct siro_mkey_status *)page->mem->addr + slot->index;
		__set_bit(slot->index, page->used);
	}
	mutex_unlock(&uc->status_lock);
	return PTR_ERR_OR_ZERO(page);
}

void siro_status_remove(struct siro_status_slot *slot)
{
	if (!slot->status)
		return;
	siro_status_write(slot, NULL);
	mutex_lock(&slot->uc->status_lock);
	__clear_bit(slot->index, slot->page->used);
	mutex_unlock(&slot->uc->status_lock);
}

void siro_status_describe(const struct siro_status_slot *slot, struct siro_mkey_create_resp *resp)
{
	resp->status_offset = rdma_user_mmap_get_offset(&slot->page->mmap->rdma);
	resp->status_size = slot->page->mem->size;
	resp->status_index = slot->index;
}

/* The sequence number is odd meanwhile. */
void siro_status_write(struct siro_status_slot *slot, const struct siro_sig_error *error)
{
	static const struct siro_sig_error none;
	struct siro_mkey_status *status = slot->status;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	WRITE_ONCE(status->seq, status->seq + 1);
	smp_wmb(); /* what follows is seen with it */
	WRITE_ONCE(status->type, error ? error->type + 1 : 0);
	if (!error)
		error = &none;
	WRITE_ONCE(status->domain, error->domain);
	WRITE_ONCE(status->expected, error->expected);
	WRITE_ONCE(status->actual, error->actual);
	WRITE_ONCE(status->offset, error->offset);
	WRITE_ONCE(status->key, error->key);
	smp_store_release(&status->seq, status->seq + 1); /* what came before is seen first */
	spin_unlock_irqrestore(&slot->lock, flags);
}
