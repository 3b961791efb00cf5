// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Send queues that stop for signature errors, and cancelling of what is posted. */
#include "mkey_signer.h"

#include <algorithm>

using namespace host;

namespace {

constexpr uint64_t data_id = 7, answer_id = 8;

/* CRC-32 in memory: the mkey's two blocks are good or bad. */
struct pipeline : mkey_signer {
	explicit pipeline(bool good, bool pipelining = true) : mkey_signer(wide(pipelining))
	{
		siro_sig_domain domain = {};
		siro_mkey_sig sig = in_memory(SIRO_SIG_CRC32);

		domain.format = SIRO_SIG_CRC32;
		domain.interval = interval;

		bytes data = q.memory.read(9000, interval * blocks);
		bytes stream =
			signature_model::join(domain, signature_model::make_content(domain, data));

		q.memory.write(0, stream);
		q.memory.at(3) ^= !good;
		execute(configuration(&sig, {q.piece(0, static_cast<uint32_t>(stream.size()))}));
	}

	send_wr data(uint8_t opcode = SIRO_WR_RDMA_WRITE)
	{
		return make_rdma(opcode, data_id, {all()}, 0x1000, 0x99, 0);
	}

	send_wr answer(uint64_t wr_id = answer_id, uint8_t flags = SIRO_SEND_FENCE)
	{
		return make_send(wr_id, {q.piece(500, 10)}, flags | SIRO_SEND_SIGNALED);
	}

	unsigned state() const
	{
		return siro_requester_state(&q.requester);
	}

	bool drained() const
	{
		return q.sticky_events & SIRO_EVENT_SQ_DRAINED;
	}

	int cancel(uint64_t wr_id, uint32_t &count)
	{
		return siro_requester_cancel(&q.requester, wr_id, &count);
	}
};

} // namespace

TEST(signature_pipelining, good_data__flows_on)
{
	pipeline p(true);

	p.q.post({p.data(), p.answer()});
	EXPECT_EQ(opcodes_of(p.q.take_sent()), (std::vector<unsigned>{WRITE_ONLY, SEND_ONLY}));
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_RTS});
	EXPECT_FALSE(p.drained());
}

TEST(signature_pipelining, bad_data__stops_before_the_fence)
{
	pipeline p(false);

	p.q.post({p.data(), p.answer()});

	auto sent = p.q.take_sent();

	/* The ACK that ends the wait is asked for. */
	ASSERT_EQ(opcodes_of(sent), (std::vector<unsigned>{WRITE_ONLY}));
	EXPECT_TRUE(sent[0].ackreq);
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_SQD});
	EXPECT_FALSE(p.drained());
	p.q.hand(acknowledge(sent[0].psn));
	EXPECT_TRUE(p.drained());
	EXPECT_TRUE(p.q.take_sent().empty());
	EXPECT_TRUE(p.q.send_completions().empty());
	EXPECT_TRUE(p.has_error());

	p.q.sticky_events = 0;
	p.q.modify_requester(SIRO_QPS_RTS);
	sent = p.q.take_sent();
	ASSERT_EQ(opcodes_of(sent), (std::vector<unsigned>{SEND_ONLY}));
	p.q.hand(acknowledge(sent[0].psn));
	EXPECT_EQ(ends_of(p.q.send_completions()), (ends{{answer_id, SIRO_WC_SUCCESS}}));

	/* Once: what comes next is judged by itself. */
	p.q.memory.at(3) ^= 1;
	p.q.post({p.data(), p.answer()});
	EXPECT_EQ(p.q.take_sent().size(), 2u);
	EXPECT_FALSE(p.drained());
}

TEST(signature_pipelining, bad_response__stops_before_the_fence)
{
	mkey_signer s(mkey_signer::wide(true));
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC32);

	s.execute(s.configuration(&sig, {s.q.piece(0, 128)}));
	s.q.post(
		{make_rdma(SIRO_WR_RDMA_READ, data_id, {s.all()}, 0x1000, 0x99, 0),
		 make_send(answer_id, {s.q.piece(500, 10)}, SIRO_SEND_FENCE | SIRO_SEND_SIGNALED)});

	auto sent = s.q.take_sent();

	ASSERT_EQ(opcodes_of(sent), (std::vector<unsigned>{READ_REQUEST}));
	s.q.hand(read_response(sent[0].psn, READ_RESPONSE_ONLY, some_bytes(136)));
	EXPECT_EQ(siro_requester_state(&s.q.requester), unsigned{SIRO_QPS_SQD});
	EXPECT_TRUE(s.q.sticky_events & SIRO_EVENT_SQ_DRAINED);
	EXPECT_TRUE(s.q.take_sent().empty());
}

TEST(signature_pipelining, what_is_not_fenced__goes_on)
{
	pipeline p(false);

	p.q.post({p.data(), p.answer(1, 0), p.answer(2, 0), p.answer(3)});
	EXPECT_EQ(opcodes_of(p.q.take_sent()),
		  (std::vector<unsigned>{WRITE_ONLY, SEND_ONLY, SEND_ONLY}));
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_SQD});
}

/* The error was in an earlier call. */
TEST(signature_pipelining, fence_that_is_posted_later__stops)
{
	pipeline p(false);

	p.q.post({p.data()});
	p.q.hand(acknowledge(p.q.take_sent()[0].psn));
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_RTS});
	p.q.post({p.answer()});
	EXPECT_TRUE(p.q.take_sent().empty());
	EXPECT_TRUE(p.drained());
}

TEST(signature_pipelining, queue_of_the_usual_kind__does_not_stop)
{
	pipeline p(false, false);

	p.q.post({p.data(), p.answer()});
	EXPECT_EQ(p.q.take_sent().size(), 2u);
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_RTS});
}

/* Nobody was told of the error when the owner resumes a queue that it stopped itself. */
TEST(signature_pipelining, error_in_a_queue_stopped_by_its_owner__is_not_forgotten)
{
	pipeline p(false);

	p.q.post({p.data()});
	p.q.modify_requester(SIRO_QPS_SQD);
	p.q.hand(acknowledge(p.q.take_sent()[0].psn));
	p.q.modify_requester(SIRO_QPS_RTS);
	p.q.post({p.answer()});
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_SQD});
	EXPECT_TRUE(p.drained());
}

TEST(signature_pipelining, reset__forgets_the_error)
{
	pipeline p(false);

	p.q.post({p.data(), p.answer()});
	p.q.take_sent();
	p.q.modify(SIRO_QPS_RESET);
	p.q.to_rts();
	p.q.post({p.answer()});
	EXPECT_EQ(p.q.take_sent().size(), 1u);
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_RTS});
}

TEST(cancel, posted_requests__complete_without_being_sent)
{
	pipeline p(true);
	uint32_t count = 0;

	p.q.modify_requester(SIRO_QPS_SQD);
	for (auto &wr : {p.answer(1), p.data(), p.answer(2), p.answer(1, 0), p.answer(3)})
		EXPECT_TRUE(p.q.post_send(wr)); /* without a doorbell */
	EXPECT_EQ(p.cancel(1, count), 1); /* it saw them for the first time */
	EXPECT_EQ(p.cancel(1, count), 0);
	EXPECT_EQ(count, 2u);
	EXPECT_EQ(p.cancel(1, count), 0);
	EXPECT_EQ(count, 2u); /* they are cancelled already */
	EXPECT_EQ(p.cancel(4, count), 0);
	EXPECT_EQ(count, 2u);
	EXPECT_TRUE(p.q.send_completions().empty());

	p.q.modify_requester(SIRO_QPS_RTS);

	auto sent = p.q.take_sent();

	EXPECT_EQ(opcodes_of(sent), (std::vector<unsigned>{WRITE_ONLY, SEND_ONLY, SEND_ONLY}));
	p.q.hand(acknowledge(sent.back().psn));

	auto completions = p.q.send_completions();

	EXPECT_EQ(ends_of(completions), (ends{{1, SIRO_WC_SUCCESS},
					      {2, SIRO_WC_SUCCESS},
					      {1, SIRO_WC_SUCCESS},
					      {3, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(completions[0].opcode, unsigned{SIRO_WC_NOP});
	EXPECT_EQ(completions[1].opcode, unsigned{SIRO_WC_SEND});
	EXPECT_EQ(completions[2].opcode, unsigned{SIRO_WC_NOP});
}

TEST(cancel, request_that_is_not_signaled__completes_unseen)
{
	pipeline p(true);
	uint32_t count = 0;

	p.q.modify_requester(SIRO_QPS_SQD);
	p.q.post({p.data(), p.answer(3)});
	EXPECT_EQ(p.cancel(data_id, count), 0);
	EXPECT_EQ(count, 1u);
	p.q.modify_requester(SIRO_QPS_RTS);

	auto sent = p.q.take_sent();

	EXPECT_EQ(opcodes_of(sent), (std::vector<unsigned>{SEND_ONLY}));
	p.q.hand(acknowledge(sent.back().psn));
	EXPECT_EQ(ends_of(p.q.send_completions()), (ends{{3, SIRO_WC_SUCCESS}}));
}

TEST(cancel, requests_that_have_started__go_on)
{
	pipeline p(true);
	uint32_t count = 0;

	p.q.post({p.answer(1)});
	p.q.modify_requester(SIRO_QPS_SQD);
	p.q.post({p.answer(1)});
	while (p.cancel(1, count))
		;
	EXPECT_EQ(count, 1u);
	p.q.hand(acknowledge(p.q.take_sent()[0].psn));

	auto completions = p.q.send_completions();

	ASSERT_EQ(completions.size(), 1u);
	EXPECT_EQ(completions[0].opcode, unsigned{SIRO_WC_SEND});
}

TEST(cancel, bad_request__is_one_no_more)
{
	pipeline p(true);
	send_wr bad = p.answer(1);
	uint32_t count = 0;

	bad.wqe.opcode = 0xee;
	p.q.modify_requester(SIRO_QPS_SQD);
	p.q.post({p.answer(2), bad, p.answer(3)});
	while (p.cancel(1, count))
		;
	p.q.modify_requester(SIRO_QPS_RTS);
	EXPECT_EQ(opcodes_of(p.q.take_sent()), (std::vector<unsigned>{SEND_ONLY, SEND_ONLY}));
	EXPECT_EQ(p.state(), unsigned{SIRO_QPS_RTS});
}

TEST(cancel, datagram__is_not_sent)
{
	lone_qp q(lone_qp::ud_user());
	send_wr wr = make_send(1, {q.piece(0, 10)}, SIRO_SEND_SIGNALED);
	uint32_t count = 0;

	wr.wqe.ud.ah = q.dev.add_flow(q.opt.flow);
	q.modify_requester(SIRO_QPS_SQD);
	q.post({wr});
	while (siro_requester_cancel(&q.requester, 1, &count))
		;
	EXPECT_EQ(count, 1u);
	q.modify_requester(SIRO_QPS_RTS);
	EXPECT_TRUE(q.take_sent().empty());

	auto completions = q.send_completions();

	ASSERT_EQ(completions.size(), 1u);
	EXPECT_EQ(completions[0].opcode, unsigned{SIRO_WC_NOP});
}

TEST(cancel, other_state__is_an_error)
{
	pipeline p(true);
	uint32_t count = 0;

	EXPECT_EQ(p.cancel(1, count), -22);
	p.q.modify(SIRO_QPS_ERR);
	EXPECT_EQ(p.cancel(1, count), -22);
	p.q.modify(SIRO_QPS_RESET);
	EXPECT_EQ(p.cancel(1, count), -22);
	EXPECT_EQ(count, 0u);
}

TEST(cancel, cancelled_requests__are_flushed)
{
	pipeline p(true);
	uint32_t count = 0;

	p.q.modify_requester(SIRO_QPS_SQD);
	p.q.post({p.answer(1), p.answer(2)});
	while (p.cancel(1, count))
		;
	p.q.modify(SIRO_QPS_ERR);
	EXPECT_EQ(ends_of(p.q.send_completions()),
		  (ends{{1, SIRO_WC_WR_FLUSH_ERR}, {2, SIRO_WC_WR_FLUSH_ERR}}));
}

TEST(cancel, nobody_posts_what_cancelled_requests_become)
{
	pipeline p(true);
	send_wr wr = make_send(1, {});

	wr.wqe.opcode = SIRO_WR_NOP;
	EXPECT_EQ(p.execute(wr), SIRO_WC_LOC_QP_OP_ERR);

	lone_qp kernel(lone_qp::rc_kernel());

	EXPECT_EQ(kernel.post_send_kernel(wr), -22);
}
