/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the disks of this benchmark have in common. */
#ifndef SIRO_BENCH_DISK_H
#define SIRO_BENCH_DISK_H

#include <linux/blk-integrity.h>

/* A disk without partitions, not yet there for others; NULL without memory. */
static inline struct gendisk *new_disk(const char *name,
				       const struct block_device_operations *operations,
				       sector_t capacity)
{
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);

	if (!disk)
		return NULL;
	strscpy(disk->disk_name, name, sizeof(disk->disk_name));
	disk->fops = operations;
	disk->flags |= GENHD_FL_NO_PART;
	set_capacity(disk, capacity);
	return disk;
}

/* Each sector of @disk has a T10-DIF tuple of type 1. */
static inline void protect(struct gendisk *disk)
{
	struct blk_integrity integrity = {
		.profile = &t10_pi_type1_crc,
		.tuple_size = sizeof(struct t10_pi_tuple),
		.tag_size = sizeof(u16),
	};

	blk_integrity_register(disk, &integrity);
}

#endif /* SIRO_BENCH_DISK_H */
