/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory of the far end behind two regions of pages, and an indirect region whose
 * entries name them in turn. Only the indirect region has remote rights.
 */
#ifndef CHILDREN_H
#define CHILDREN_H

#include "peers.h"
#include "variant.h"

#define CHILDREN 2
#define CHILDREN_LAYOUT { .entry_bytes = 4096, .gap = LAYOUT_GAP }
#define CHILDREN_FILLER 0xcc
#define CHILDREN_RIGHTS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

struct children {
	struct variant parent; /* has the memory, the list and the indirect region */
	struct rc_end *end;
	struct {
		struct scatterlist sg;
		struct ib_mr *mr;
	} child[CHILDREN];
};

/* Fills the list; the indirect region is not registered yet. To be closed even if it fails. */
int children_open(struct children *children, struct rc_end *end);
void children_close(struct children *children);

/* A registration of the whole list under the region's next key. */
struct ib_indir_reg_wr children_request(struct children *children, u64 iova);

/* Posts it and waits: a status of enum ib_wc_status, or an errno. */
int children_register(struct children *children, struct ib_indir_reg_wr *request);

int children_register_one(struct children *children, unsigned int child);
int children_invalidate_one(struct children *children, unsigned int child);

/*
 * Writes new bytes from the near end at @offset of what the region has registered,
 * reads them back and looks at all of the memory.
 */
int children_carry(struct children *children, struct peers *peers,
		   const struct ib_indir_reg_wr *request, u32 offset);

/* The region's bytes @offset to @offset + @length as the peer addresses them. */
struct span request_span(const struct ib_indir_reg_wr *request, u32 offset, u32 length);

#endif /* CHILDREN_H */
