/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How software protection lays a disk out on one without: chunks of data, each with
 * the tuples of its sectors behind it.
 */
#ifndef SIRO_BENCH_CHUNK_H
#define SIRO_BENCH_CHUNK_H

#include <linux/t10-pi.h>
#include <linux/types.h>

#define CHUNK_SECTORS 256u
#define CHUNK_DATA_BYTES (CHUNK_SECTORS << SECTOR_SHIFT)
#define CHUNK_TUPLE_BYTES (CHUNK_SECTORS * (u32)sizeof(struct t10_pi_tuple))
#define CHUNK_WHOLE_SECTORS (CHUNK_SECTORS + (CHUNK_TUPLE_BYTES >> SECTOR_SHIFT))

#endif /* SIRO_BENCH_CHUNK_H */
