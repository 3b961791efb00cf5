/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two connected RC queue pairs on the two links that the guest script made. */
#ifndef RC_PAIR_H
#define RC_PAIR_H

#include <kunit/test.h>

#include "rc_end.h"

#define PAIR_LINK_A "rdma_a"
#define PAIR_LINK_B "rdma_b"
#define PAIR_DEPTH 64
#define PAIR_SGES 4
#define PAIR_RDMA_CTXS 4
#define PAIR_BUFFER (256 * 1024)
#define PAIR_MTU IB_MTU_1024
#define PAIR_MTU_BYTES 1024

struct rc_pair {
	struct rc_end a, b;
};

/* KUnit init and exit functions; test->priv is the pair. */
int rc_pair_init(struct kunit *test);
int rc_pair_init_integrity(struct kunit *test);
void rc_pair_exit(struct kunit *test);

int rc_end_open(struct rc_end *end, const char *name);
void rc_end_close(struct rc_end *end);
struct ib_qp *rc_end_create_qp(struct rc_end *end);

/* Waits for the next completion of a CQ; fails the test after some seconds. */
void await(struct kunit *test, struct ib_cq *cq, struct ib_wc *wc);
/* The next completion has this id and status. */
void expect_wc(struct kunit *test, struct ib_cq *cq, u64 wr_id, enum ib_wc_status status);
void expect_no_wc(struct kunit *test, struct ib_cq *cq);

struct ib_sge local_sge(struct rc_end *end, u32 offset, u32 length);
/* Posts a WR whose list is one entry of the buffer; the wr_id is the caller's. */
int post_recv(struct rc_end *end, u64 wr_id, u32 offset, u32 length);
int post_send(struct rc_end *end, enum ib_wr_opcode opcode, u64 wr_id, u32 offset, u32 length);
int post_rdma(struct rc_end *end, enum ib_wr_opcode opcode, u64 wr_id, u32 offset, u32 length,
	      u64 remote_addr, u32 rkey);

void fill_pattern(u8 *buffer, u32 length, u8 seed);
bool has_pattern(const u8 *buffer, u32 length, u8 seed);

#endif /* RC_PAIR_H */
