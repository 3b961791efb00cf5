// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <sys/mman.h>

#include "ring.h"

int siro_ring_map(struct siro_ring *ring, int cmd_fd,
		  const struct siro_ring_info *info, size_t entry_size)
{
	void *map;

	if (!info->slots || (info->slots & (info->slots - 1)) ||
	    info->stride < entry_size ||
	    info->mmap_size < sizeof(struct siro_ring_header) +
				      (uint64_t)info->slots * info->stride)
		return EPROTO;

	map = mmap(NULL, info->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   cmd_fd, info->mmap_offset);
	if (map == MAP_FAILED)
		return errno;

	ring->header = map;
	ring->entries = (uint8_t *)map + sizeof(struct siro_ring_header);
	ring->mapped = info->mmap_size;
	ring->slots = info->slots;
	ring->stride = info->stride;
	ring->index = 0;
	return 0;
}

void siro_ring_unmap(struct siro_ring *ring)
{
	if (ring->header)
		munmap(ring->header, ring->mapped);
	ring->header = NULL;
}
