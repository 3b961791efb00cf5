/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two ends of an RC connection in one process. */
#ifndef OOO_ENDS_H
#define OOO_ENDS_H

#include <infiniband/siroccodv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

struct end {
	const char *device;
	int gid_index;
	bool consents;
	uint32_t flow_label;
	uint8_t timeout;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	union ibv_gid gid;
	enum ibv_mtu mtu;
	uint8_t *memory;
};

void open_end(struct end *e, size_t bytes);
void make_qp(struct end *e, enum ibv_qp_type type, uint32_t depth);
/* Attributes and mask of the transitions. */
int to_init(struct end *e, int more_mask);
int to_rtr(struct end *e, const struct end *peer, int more_mask);
int to_rts(struct end *e, int more_mask);
void connect_ends(struct end *a, struct end *b, uint32_t depth);
void set_state(struct end *e, enum ibv_qp_state state);
/* The next completion, which must be a success. */
struct ibv_wc completion(struct end *e);

/* attributes.c */
int check_attributes(struct end *a, struct end *b);
/* transfer.c */
int transfer(struct end *a, struct end *b, int argc, char **argv);

#endif
