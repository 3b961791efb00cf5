/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two connected queue pairs of this process, and what is done with them. */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/siroccodv.h>

#include "check.h"

#define LAYOUT_AREA (1u << 20) /* where layouts have their pieces */
#define PLAIN_AREA (1u << 20) /* used as it is */
#define MEMORY (LAYOUT_AREA + PLAIN_AREA)
#define DEPTH 16
#define MTU 1024
#define INLINE 512

#define ALL_RIGHTS                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |      \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* @image: what @memory should hold */
struct end {
	const char *device;
	int gid_index;
	union ibv_gid gid;
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint8_t *memory;
	uint8_t *image;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex;
	struct siroccodv_qp_ex *dv_qp;
};

extern struct end a, b; /* a requests, b responds */

void set_up(void);
/* The same with queue pairs of these enum siroccodv_qp_create_flags. */
void set_up_with(uint64_t create_flags);
/* New queue pairs after an error. */
void reconnect(void);
void set_state(struct end *e, enum ibv_qp_state state);
/* The smallest there is, at a; NULL and errno if it is refused. @send_ops: 0 for none. */
struct ibv_qp *smallest_qp(enum ibv_qp_type type, uint64_t send_ops,
			   struct siroccodv_qp_init_attr dv);

uint32_t random_number(void);
/* From @low to @high, both included. */
uint32_t random_between(uint32_t low, uint32_t high);

/* Whether memory of both ends is as it should be. */
bool as_expected(void);

struct ibv_wc completion(struct end *e);
/* Nothing has completed. */
bool is_idle(struct end *e);
void post_recv(struct end *e, struct ibv_sge sge);
int post(struct end *e, struct ibv_send_wr *wr);
/* Posts one request at a; the status of its completion. */
enum ibv_wc_status execute(struct ibv_send_wr *wr);
enum ibv_wc_status transfer(enum ibv_wr_opcode opcode, struct ibv_sge local,
			    uint32_t rkey, uint64_t va);
enum ibv_wc_status local_inv(struct end *e, uint32_t key);
struct ibv_sge plain_sge(const struct end *e, uint32_t length);
uint64_t plain_va(const struct end *e);

struct siroccodv_mkey *make_mkey(struct end *e, uint32_t entries, uint32_t flags);

#endif /* LAB_H */
