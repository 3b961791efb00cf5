// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings and other memory in user space. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "siro_compat_mm.h"
#include "verbs.h"

/* Offset 0 means that there is no ring. */
#define SIRO_MMAP_FIRST_PAGE 1

static struct siro_mmap_entry *to_siro_mmap_entry(struct rdma_user_mmap_entry *rdma)
{
	return container_of(rdma, struct siro_mmap_entry, rdma);
}

int siro_mmap_expose(struct siro_ucontext *uc, struct siro_ring_mem *mem, bool read_only,
		     struct siro_mmap_entry **entry)
{
	struct siro_mmap_entry *new = kzalloc(sizeof(*new), GFP_KERNEL);
	int err;

	if (!new)
		return -ENOMEM;

	new->mem = mem;
	new->read_only = read_only;
	siro_ring_mem_get(mem);
	err = rdma_user_mmap_entry_insert_range(&uc->ibuc, &new->rdma, mem->size,
						SIRO_MMAP_FIRST_PAGE, U32_MAX);
	if (err) {
		siro_ring_mem_put(mem);
		kfree(new);
		return err;
	}
	*entry = new;
	return 0;
}

int siro_ring_expose(struct ib_udata *udata, struct siro_ring_mem *mem,
		     const struct siro_ring *ring, struct siro_mmap_entry **entry,
		     struct siro_ring_info *info)
{
	struct siro_ucontext *uc = rdma_udata_to_drv_context(udata, struct siro_ucontext, ibuc);
	int err;

	memset(info, 0, sizeof(*info));
	*entry = NULL;
	if (!mem)
		return 0;

	err = siro_mmap_expose(uc, mem, false, entry);
	if (err)
		return err;

	info->mmap_offset = rdma_user_mmap_get_offset(&(*entry)->rdma);
	info->mmap_size = mem->size;
	info->slots = ring->slots;
	info->stride = ring->stride;
	return 0;
}

void siro_mmap_hide(struct siro_mmap_entry *entry)
{
	if (entry)
		rdma_user_mmap_entry_remove(&entry->rdma);
}

void siro_mmap_free(struct rdma_user_mmap_entry *rdma)
{
	struct siro_mmap_entry *entry = to_siro_mmap_entry(rdma);

	siro_ring_mem_put(entry->mem);
	kfree(entry);
}

/* Read-only memory can't be made writable later either. */
static int siro_mmap_entry(struct siro_mmap_entry *entry, struct vm_area_struct *vma)
{
	if (entry->read_only) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		siro_vm_flags_clear(vma, VM_MAYWRITE);
	}
	/* The mapping holds the pages, not the entry. */
	return remap_vmalloc_range(vma, entry->mem->addr, 0);
}

int siro_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;

	rdma = rdma_user_mmap_entry_get(ibuc, vma);
	if (!rdma)
		return -EINVAL;

	err = siro_mmap_entry(to_siro_mmap_entry(rdma), vma);
	rdma_user_mmap_entry_put(rdma);
	return err;
}
