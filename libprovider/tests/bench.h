/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A queue pair and a completion queue without a device: the rings are plain
 * memory, the command descriptor is one end of a socket.
 */
#ifndef SIROCCO_TESTS_BENCH_H
#define SIROCCO_TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sirocco.h"

#define SLOTS 8
#define MAX_SGE 4
#define MAX_INLINE 128
#define SEND_STRIDE (sizeof(struct siro_send_wqe) + MAX_INLINE)
#define RECV_STRIDE \
	(sizeof(struct siro_recv_wqe) + MAX_SGE * sizeof(struct siro_sge))
#define QP_HANDLE 77
#define QPN 0x123

#define CHECK(condition)                                                 \
	do {                                                             \
		if (!(condition)) {                                      \
			fprintf(stderr, "%s:%d: %s: not true: %s\n",     \
				__FILE__, __LINE__, __func__, #condition); \
			exit(1);                                         \
		}                                                        \
	} while (0)

struct bench {
	struct ibv_context context;
	struct siro_qp qp;
	struct siro_cq cq;
	int kernel; /* the other end of the command descriptor */
};

static void ring_alloc(struct siro_ring *ring, uint32_t slots, size_t stride)
{
	ring->header = aligned_alloc(64, sizeof(*ring->header));
	ring->entries = aligned_alloc(64, (slots * stride + 63) & ~63ul);
	CHECK(ring->header && ring->entries);
	memset(ring->header, 0, sizeof(*ring->header));
	memset(ring->entries, 0xee, slots * stride);
	ring->slots = slots;
	ring->stride = stride;
}

static void ring_free(struct siro_ring *ring)
{
	free(ring->header);
	free(ring->entries);
}

/* Indices start short of the wrap, so that each test may cross it. */
static void ring_start(struct siro_ring *ring, uint32_t index)
{
	ring->index = index;
	ring->header->producer = index;
	ring->header->consumer = index;
}

static void setup(struct bench *b, enum ibv_qp_type type)
{
	int fds[2];

	memset(b, 0, sizeof(*b));
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds));
	b->context.cmd_fd = fds[0];
	b->kernel = fds[1];

	b->qp.vqp.qp.context = &b->context;
	b->qp.vqp.qp.handle = QP_HANDLE;
	b->qp.vqp.qp.qp_num = QPN;
	b->qp.vqp.qp.qp_type = type;
	b->qp.vqp.qp.state = IBV_QPS_RTS;
	b->qp.max_inline = MAX_INLINE;
	ring_alloc(&b->qp.sq.ring, SLOTS, SEND_STRIDE);
	ring_alloc(&b->qp.rq.ring, SLOTS, RECV_STRIDE);
	b->qp.sq.limit = SLOTS;
	b->qp.rq.limit = SLOTS;
	b->qp.sq.max_sge = MAX_SGE;
	b->qp.rq.max_sge = MAX_SGE;
	ring_start(&b->qp.sq.ring, -2u);
	ring_start(&b->qp.rq.ring, -2u);
	pthread_spin_init(&b->qp.sq.lock, 0);
	pthread_spin_init(&b->qp.rq.lock, 0);
	siro_doorbells_init(&b->qp);
	CHECK(!siro_set_send_ops(&b->qp, type,
				 type == IBV_QPT_UD ? IBV_QP_EX_WITH_SEND :
				 IBV_QP_EX_WITH_SEND_WITH_IMM |
				 IBV_QP_EX_WITH_RDMA_WRITE |
				 IBV_QP_EX_WITH_RDMA_READ |
				 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP));

	ring_alloc(&b->cq.ring, SLOTS, sizeof(struct siro_cqe));
	ring_start(&b->cq.ring, -2u);
	b->cq.limit = -2u;
	pthread_spin_init(&b->cq.lock, 0);
	siro_cq_set_poll_functions(&b->cq, IBV_WC_STANDARD_FLAGS);
}

static void teardown(struct bench *b)
{
	ring_free(&b->qp.sq.ring);
	ring_free(&b->qp.rq.ring);
	ring_free(&b->cq.ring);
	close(b->context.cmd_fd);
	close(b->kernel);
}

/* How many doorbells of that command the kernel got; no other may be there. */
static int doorbells(struct bench *b, uint32_t command)
{
	struct ibv_post_send cmd;
	int n = 0;

	while (recv(b->kernel, &cmd, sizeof(cmd), 0) == (ssize_t)sizeof(cmd)) {
		CHECK(cmd.hdr.command == command);
		CHECK(cmd.hdr.in_words * 4 == sizeof(cmd));
		CHECK(cmd.qp_handle == QP_HANDLE);
		CHECK(cmd.wr_count == 0 && cmd.sge_count == 0);
		n++;
	}
	return n;
}

static struct siro_send_wqe *sent(struct bench *b, uint32_t n)
{
	return siro_ring_entry(&b->qp.sq.ring, -2u + n);
}

static uint32_t produced(const struct siro_ring *ring)
{
	return ring->header->producer - -2u;
}

#define TEST(name) { #name, name }

struct test {
	const char *name;
	void (*run)(void);
};

static void run_tests(const struct test *tests, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		tests[i].run();
		printf("ok %s\n", tests[i].name);
	}
}

#endif /* SIROCCO_TESTS_BENCH_H */
