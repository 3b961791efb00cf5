/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Layouts of mkeys, and the model that says which byte is where. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "lab.h"

#define MAX_ENTRIES 4096

/**
 * struct layout - a layout in the memory of one end
 * @repeat: rows of @piece; 0 for a list, which is in @sge
 * @offset: for each byte of the layout its place in the memory
 */
struct layout {
	struct end *end;
	uint32_t count;
	uint32_t repeat;
	struct ibv_sge sge[MAX_ENTRIES];
	struct siroccodv_mr_interleaved piece[MAX_ENTRIES];
	uint32_t length;
	uint32_t *offset;
};

struct layout *new_list(struct end *e);
struct layout *new_interleaved(struct end *e, uint32_t repeat);
void add_piece(struct layout *l, uint32_t offset, uint32_t length);
void add_interleaved(struct layout *l, uint32_t offset, uint32_t count,
		     uint32_t skip);
/* Pieces of random lengths in that range that do not overlap, in no order. */
struct layout *random_list(struct end *e, uint32_t count, uint32_t shortest,
			   uint32_t longest);

/* The ways to configure an mkey. */
enum way { BY_REQUEST, BY_TABLE, BY_CALL, WAYS };

/**
 * struct key - an mkey and what it should stand for
 */
struct key {
	struct siroccodv_mkey *mkey;
	struct layout *layout;
	uint64_t iova;
};

void configure(struct key *key, struct layout *layout, uint32_t access,
	       enum way way);
void configure_at(struct key *key, struct layout *layout, uint32_t access,
		  enum way way, uint64_t iova);
struct key new_key(struct layout *layout, uint32_t access, enum way way);
/* Puts the layout's entries into plain memory, for a table. */
struct siroccodv_mkey_table store_table(const struct layout *l);

/* Every operation between plain memory and keys, compared with the model. */
void exercise(const struct key *ka, const struct key *kb);

#endif /* LAYOUT_H */
