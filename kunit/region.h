/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A region for fast registration with its pages, and the work requests it takes. */
#ifndef REGION_H
#define REGION_H

#include <linux/scatterlist.h>

#include "rc_pair.h"

#define MR_PAGES 16

struct region {
	struct ib_mr *mr;
	struct scatterlist sg[MR_PAGES];
	struct page *pages[MR_PAGES];
	int count;
};

/* Pages that lie apart, each filled with the same byte. */
void region_init(struct kunit *test, struct region *region, struct ib_pd *pd, enum ib_mr_type type,
		 int pages, u8 fill);
void region_exit(struct region *region);
int region_map(struct region *region, int first, int pages, u32 offset, u32 length);
u8 *byte_of(struct region *region, int first, u32 offset);

/* A signaled REG_MR with all rights. */
struct ib_reg_wr reg_wr_of(struct ib_mr *mr, u64 wr_id);
void register_mr(struct kunit *test, struct rc_end *end, struct ib_mr *mr);
int post_local_inv(struct rc_end *end, u64 wr_id, u32 key);
void invalidate(struct kunit *test, struct rc_end *end, u32 key);

/* A use LENGTH bytes of its buffer; the result is checked. */
void remote_write(struct kunit *test, struct rc_pair *pair, u64 addr, u32 rkey, u32 length,
		  enum ib_wc_status status);
void remote_read(struct kunit *test, struct rc_pair *pair, u64 addr, u32 rkey, u32 length,
		 enum ib_wc_status status);
int post_atomic(struct rc_pair *pair, enum ib_wr_opcode opcode, u64 wr_id, u64 remote_addr,
		u32 rkey, u64 compare_add, u64 swap);

#endif /* REGION_H */
