/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ways to give a peer access to a list of buffers. */
#ifndef VARIANT_H
#define VARIANT_H

#include <linux/scatterlist.h>
#include <rdma/sirocco.h>

#include "connection.h"
#include "layout.h"

struct variant {
	const char *name;
	struct layout layout;
	enum ib_mr_type type;
	bool bounces; /* through aligned memory, which is what is registered */

	u8 *memory;
	u8 *bounce;
	const struct layout *registered;
	struct scatterlist *sg;
	struct ib_mr *mr;
	struct ib_indir_reg_list *list;
	u8 *tuples; /* of a signature region: one per block of 512 bytes */
	struct scatterlist tuple_sg;
	u64 iova;
};

/* To be closed even if it fails. */
int variant_open(struct variant *variant, struct rc_end *end);
void variant_close(struct variant *variant);

/* Maps the list, registers it under a new key and waits for that. */
int variant_register(struct variant *variant, struct rc_end *end);
int variant_invalidate(struct variant *variant, struct rc_end *end);

#endif /* VARIANT_H */
