/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two ends of an RC connection in one process. */
#ifndef OOO_ENDS_H
#define OOO_ENDS_H

#include <infiniband/siroccodv.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define CHECK_IS(value, want)                                                  \
	do {                                                                   \
		long is_ = (long)(value), want_ = (long)(want);                \
		if (is_ != want_) {                                            \
			printf("%s:%d: %s is %ld, not %ld\n", __FILE__,        \
			       __LINE__, #value, is_, want_);                  \
			exit(1);                                               \
		}                                                              \
	} while (0)

struct end {
	const char *device;
	int gid_index;
	bool consents;
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
double now(void);

/* attributes.c */
int check_attributes(struct end *a, struct end *b);
/* transfer.c */
int transfer(struct end *a, struct end *b, int argc, char **argv);

#endif
