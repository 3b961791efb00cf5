// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory of rings. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "verbs.h"

struct siro_ring_mem *siro_ring_mem_alloc(size_t size, bool user)
{
	struct siro_ring_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return NULL;

	kref_init(&mem->ref);
	mem->user = user;
	mem->size = user ? PAGE_ALIGN(size) : size;
	mem->addr = user ? vmalloc_user(mem->size) : kvzalloc(mem->size, GFP_KERNEL);
	if (!mem->addr) {
		kfree(mem);
		return NULL;
	}
	return mem;
}

static void siro_ring_mem_free(struct kref *ref)
{
	struct siro_ring_mem *mem = container_of(ref, struct siro_ring_mem, ref);

	kvfree(mem->addr);
	kfree(mem);
}

void siro_ring_mem_get(struct siro_ring_mem *mem)
{
	kref_get(&mem->ref);
}

void siro_ring_mem_put(struct siro_ring_mem *mem)
{
	if (mem)
		kref_put(&mem->ref, siro_ring_mem_free);
}

int siro_ring_create(struct siro_ring *ring, struct siro_ring_mem **mem, u32 limit, u32 stride,
		     bool user, bool entries)
{
	u32 slots = roundup_pow_of_two(max(limit, 1u));
	size_t size = sizeof(*ring->header);

	if (entries)
		size += (size_t)slots * stride;
	*mem = siro_ring_mem_alloc(size, user);
	if (!*mem)
		return -ENOMEM;

	*ring = (struct siro_ring){
		.header = (*mem)->addr,
		.entries = entries ? (*mem)->addr + sizeof(*ring->header) : NULL,
		.slots = slots,
		.stride = stride,
		.limit = limit,
	};
	return 0;
}
