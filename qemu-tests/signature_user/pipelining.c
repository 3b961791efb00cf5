// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A transfer and the answer to it are posted together; a bad one stops in between. */
#include <poll.h>

#include "scenarios.h"
#include "signer.h"

#define ANSWER_BYTES 16
#define DATA_ID 7
#define ANSWER_ID 8

/* Blocks at a that are checked where they come from: in memory, or on the wire. */
static struct signer checked_at_a(enum ibv_wr_opcode opcode)
{
	const struct side side = side_of(CRC32, 512);
	const bool read = opcode == IBV_WR_RDMA_READ;

	return new_signer(&a, read ? no_fields : side, read ? side : no_fields,
			  8, 3, BY_REQUEST);
}

static void fill(struct signer *s, enum ibv_wr_opcode opcode, bool good)
{
	if (opcode == IBV_WR_RDMA_READ) {
		fill_wire(s);
		expect_in_memory(s);
		spoil_wire(s, 512, good ? 0 : 1);
	} else {
		fill_memory(s);
		expect_on_wire(s);
		spoil_memory(s, 512, good ? 0 : 1);
	}
}

static struct ibv_sge answer_of(struct end *e)
{
	return (struct ibv_sge){ (uintptr_t)e->memory + MEMORY - ANSWER_BYTES,
				 ANSWER_BYTES, e->mr->lkey };
}

static void expect_answer(void)
{
	memcpy(b.image + MEMORY - ANSWER_BYTES, a.image + MEMORY - ANSWER_BYTES,
	       ANSWER_BYTES);
}

/* One batch: data without a completion, then the answer behind a fence. */
static void post_both(struct signer *s, enum ibv_wr_opcode opcode)
{
	const struct ibv_sge answer = answer_of(&a);

	post_recv(&b, answer_of(&b));
	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = 0;
	a.qp_ex->wr_id = DATA_ID;
	if (opcode == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(a.qp_ex, b.mr->rkey, plain_va(&b));
	else
		ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, plain_va(&b));
	ibv_wr_set_sge(a.qp_ex, s->mkey->lkey, 0, wire_length(s));
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	a.qp_ex->wr_id = ANSWER_ID;
	ibv_wr_send(a.qp_ex);
	ibv_wr_set_sge(a.qp_ex, answer.lkey, answer.addr, answer.length);
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
}

static struct ibv_wc answered(void)
{
	struct ibv_wc wc = completion(&a);

	expect_answer();
	CHECK_IS(wc.status, IBV_WC_SUCCESS);
	CHECK_IS(wc.wr_id, ANSWER_ID);
	CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
	CHECK(as_expected());
	return wc;
}

static bool has_event(int milliseconds)
{
	struct pollfd fd = { .fd = a.context->async_fd, .events = POLLIN };

	return poll(&fd, 1, milliseconds) == 1;
}

static void expect_drained(void)
{
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(has_event(30000));
	CHECK(!ibv_get_async_event(a.context, &event));
	CHECK_IS(event.event_type, IBV_EVENT_SQ_DRAINED);
	CHECK(event.element.qp == a.qp);
	ibv_ack_async_event(&event);
	CHECK(!ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init));
	CHECK_IS(attr.qp_state, IBV_QPS_SQD);
	CHECK(is_idle(&a) && is_idle(&b));
}

static void resume(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_SQD,
	};

	CHECK(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
}

static void expect_bad_guard(const struct signer *s)
{
	struct siroccodv_mkey_err err;

	CHECK_IS(siroccodv_mkey_check(s->mkey, &err), 0);
	CHECK_IS(err.err_type, SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD);
}

static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE,
					      IBV_WR_RDMA_READ };

static void pipelining__good(void)
{
	struct signer s;
	int i;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	for (i = 0; i < 20; i++) {
		s = checked_at_a(opcodes[i % 2]);
		fill(&s, opcodes[i % 2], true);
		post_both(&s, opcodes[i % 2]);
		answered();
		expect_no_error(&s);
	}
	CHECK(!has_event(0));
}

static void pipelining__bad_then_resumed(void)
{
	struct signer s;
	int i;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	for (i = 0; i < 10; i++) {
		s = checked_at_a(opcodes[i % 2]);
		fill(&s, opcodes[i % 2], false);
		post_both(&s, opcodes[i % 2]);
		expect_drained();
		CHECK(as_expected());
		expect_bad_guard(&s);
		resume(); /* the answer is what it was */
		answered();
	}
	/* The next transfer starts anew. */
	fill(&s, opcodes[1], true);
	post_both(&s, opcodes[1]);
	answered();
	CHECK(!has_event(0));
}

static void pipelining__bad_then_cancelled(void)
{
	struct ibv_sge answer;
	struct ibv_wc wc;
	struct signer s;
	int i;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	answer = answer_of(&a);
	for (i = 0; i < 10; i++) {
		s = checked_at_a(opcodes[i % 2]);
		fill(&s, opcodes[i % 2], false);
		post_both(&s, opcodes[i % 2]);
		expect_drained();
		CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 4711), 0);
		CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, ANSWER_ID),
			 1);
		CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, ANSWER_ID),
			 0);
		expect_bad_guard(&s);

		/* Another answer goes in its place. */
		ibv_wr_start(a.qp_ex);
		a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
		a.qp_ex->wr_id = ANSWER_ID;
		ibv_wr_send(a.qp_ex);
		ibv_wr_set_sge(a.qp_ex, answer.lkey, answer.addr, answer.length);
		CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
		CHECK(is_idle(&a));
		resume();
		wc = completion(&a);
		CHECK_IS(wc.status, IBV_WC_SUCCESS);
		CHECK_IS(wc.wr_id, ANSWER_ID);
		CHECK_IS(wc.opcode, IBV_WC_DRIVER2);
		CHECK_IS(answered().opcode, IBV_WC_SEND);
	}
}

/* What is not fenced does not wait, what is unsignaled completes unseen. */
static void pipelining__stops_at_the_fence(void)
{
	struct signer s;
	int i;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	s = checked_at_a(IBV_WR_RDMA_WRITE);
	fill(&s, IBV_WR_RDMA_WRITE, false);
	ibv_wr_start(a.qp_ex);
	for (i = 0; i < 6; i++) {
		a.qp_ex->wr_id = i;
		a.qp_ex->wr_flags = (i == 4 ? IBV_SEND_FENCE : 0) |
				    (i == 2 || i == 5 ? IBV_SEND_SIGNALED : 0);
		ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, plain_va(&b));
		ibv_wr_set_sge(a.qp_ex, s.mkey->lkey, 0, wire_length(&s));
	}
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(completion(&a).wr_id, 2);
	expect_drained();
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 3), 0); /* done */
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 4), 1);
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 5), 1);
	resume();
	CHECK_IS(completion(&a).wr_id, 5); /* 4 is not signaled */
	expect_bad_guard(&s);
	expect_no_error(&s);
}

static void pipelining__cancelled_are_flushed(void)
{
	struct ibv_wc wc;
	struct signer s;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	s = checked_at_a(IBV_WR_RDMA_READ);
	fill(&s, IBV_WR_RDMA_READ, false);
	post_both(&s, IBV_WR_RDMA_READ);
	expect_drained();
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, ANSWER_ID), 1);
	set_state(&a, IBV_QPS_ERR);
	wc = completion(&a);
	CHECK_IS(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_IS(wc.wr_id, ANSWER_ID);
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, ANSWER_ID),
		 -EINVAL);
	reconnect();
	fill(&s, IBV_WR_RDMA_READ, true);
	post_both(&s, IBV_WR_RDMA_READ);
	answered();
}

/* A queue pair of the usual kind does not care. */
static void pipelining__not_asked_for(void)
{
	struct signer s;

	set_up();
	s = checked_at_a(IBV_WR_RDMA_READ);
	fill(&s, IBV_WR_RDMA_READ, false);
	post_both(&s, IBV_WR_RDMA_READ);
	answered();
	expect_bad_guard(&s);
	CHECK(!has_event(100));
}

static void cancel__in_a_state_of_ones_own(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_sge answer;
	int i;

	set_up();
	answer = answer_of(&a);
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 1), -EINVAL);
	CHECK(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	ibv_wr_start(a.qp_ex);
	for (i = 0; i < DEPTH; i++) {
		a.qp_ex->wr_id = i % 3;
		a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, plain_va(&b) + i);
		ibv_wr_set_sge(a.qp_ex, answer.lkey, answer.addr, 1);
		if (i % 3 != 1)
			b.image[LAYOUT_AREA + i] =
				a.image[MEMORY - ANSWER_BYTES];
	}
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 1), 5);
	CHECK(is_idle(&a));
	resume();
	for (i = 0; i < DEPTH; i++) {
		struct ibv_wc wc = completion(&a);

		CHECK_IS(wc.status, IBV_WC_SUCCESS);
		CHECK_IS(wc.wr_id, i % 3);
		CHECK_IS(wc.opcode, i % 3 == 1 ? IBV_WC_DRIVER2 :
						 IBV_WC_RDMA_WRITE);
	}
	CHECK(as_expected());
}

static void create_qp__pipelining_flags(void)
{
	struct siroccodv_qp_init_attr dv = {
		.comp_mask = SIROCCODV_QP_INIT_ATTR_MASK_CREATE_FLAGS,
		.create_flags = SIROCCODV_QP_CREATE_SIG_PIPELINING,
	};
	struct ibv_qp *qp;

	set_up();
	CHECK(!smallest_qp(IBV_QPT_UD, 0, dv));
	CHECK_IS(errno, EOPNOTSUPP);
	qp = smallest_qp(IBV_QPT_RC, 0, dv);
	CHECK(qp);
	CHECK(!ibv_destroy_qp(qp));
	dv.create_flags = 2;
	CHECK(!smallest_qp(IBV_QPT_RC, 0, dv));
	CHECK_IS(errno, EOPNOTSUPP);
	dv.comp_mask = 0; /* the flags are not there */
	qp = smallest_qp(IBV_QPT_RC, 0, dv);
	CHECK(qp);
	CHECK(!ibv_destroy_qp(qp));
}

const struct scenario pipelining_scenarios[] = {
	SCENARIO(pipelining__good),
	SCENARIO(pipelining__bad_then_resumed),
	SCENARIO(pipelining__bad_then_cancelled),
	SCENARIO(pipelining__stops_at_the_fence),
	SCENARIO(pipelining__cancelled_are_flushed),
	SCENARIO(pipelining__not_asked_for),
	SCENARIO(cancel__in_a_state_of_ones_own),
	SCENARIO(create_qp__pipelining_flags),
	{},
};
