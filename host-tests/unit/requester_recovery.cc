// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Loss, timeouts, RNR: what the requester repeats, and when it gives up. */
#include "lone_qp.h"

#include <algorithm>

using namespace host;

namespace {

constexpr uint64_t remote_va = 0x10000;
constexpr uint32_t remote_key = 0xabcdef01;
constexpr uint8_t forever = 7;

send_wr send(uint64_t wr_id, const std::vector<siro_sge> &sges = {})
{
	return make_send(wr_id, sges);
}

send_wr read(uint64_t wr_id, const siro_sge &sge)
{
	return make_rdma(SIRO_WR_RDMA_READ, wr_id, {sge}, remote_va, remote_key);
}

uint8_t rnr(uint8_t code)
{
	return static_cast<uint8_t>(RNR_NAK | code);
}

/* The message of the READ that the tests use: packet @i of @n. */
packet part(uint32_t i, uint32_t n, uint32_t begin = 0)
{
	uint8_t opcode = i == n - 1 ? (i == begin ? READ_RESPONSE_ONLY : READ_RESPONSE_LAST)
				    : (i == begin ? READ_RESPONSE_FIRST : READ_RESPONSE_MIDDLE);

	return read_response(lone_qp::psn(i), opcode, some_bytes(lone_qp::mtu, 100 + i));
}

bytes parts(uint32_t n)
{
	bytes out;

	for (uint32_t i = 0; i < n; i++) {
		bytes p = some_bytes(lone_qp::mtu, 100 + i);

		out.insert(out.end(), p.begin(), p.end());
	}
	return out;
}

uint64_t patience_of(const lone_qp &q)
{
	return (uint64_t{4096} << q.req_attr.timeout) * (q.req_attr.retry_count + 1u);
}

} // namespace

TEST(requester_loss, sequence_nak__repeats_from_there_with_the_same_bytes)
{
	lone_qp q;

	q.post({send(1, {q.piece(0, 3 * lone_qp::mtu)}), send(2, {q.piece(99, 7)})});

	auto before = q.take_sent();

	q.hand(acknowledge(lone_qp::psn(1), NAK_SEQUENCE));

	auto again = q.take_sent();

	ASSERT_EQ(again.size(), 3u);
	for (size_t i = 0; i < 3; i++) {
		EXPECT_EQ(again[i].psn, before[i + 1].psn);
		EXPECT_EQ(again[i].opcode, before[i + 1].opcode);
		EXPECT_EQ(again[i].payload, before[i + 1].payload);
	}
	EXPECT_EQ(q.count(SIRO_CNT_RCVD_SEQ_ERR), 1u);
	q.hand(acknowledge(lone_qp::psn(3)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}}));
}

/* H17: only the first sign of a loss starts a recovery. */
TEST(requester_loss, bursts_of_equal_naks__one_recovery)
{
	for (uint32_t burst : {2u, 8u, 64u}) {
		lone_qp q;

		q.post({send(1, {q.piece(0, 5 * lone_qp::mtu)})});
		q.take_sent();
		q.hand(std::vector<packet>(burst, acknowledge(lone_qp::psn(2), NAK_SEQUENCE)));
		for (uint32_t i = 0; i < burst; i++)
			q.hand(acknowledge(lone_qp::psn(2), NAK_SEQUENCE));
		EXPECT_EQ(q.take_sent().size(), 3u) << burst;
		EXPECT_EQ(q.count(SIRO_CNT_COMPLETER_RETRY_ERR), 1u);
	}
}

/* H17: so for what is missing before a response. */
TEST(requester_loss, bursts_of_responses_behind_a_gap__one_recovery)
{
	lone_qp q;

	q.post({read(1, q.piece(0, 8 * lone_qp::mtu)), send(2)});
	q.take_sent();
	q.hand(part(0, 8));
	for (uint32_t i = 2; i < 8; i++)
		q.hand(part(i, 8));
	q.hand(acknowledge(lone_qp::psn(8)));

	auto again = q.take_sent();

	ASSERT_EQ(again.size(), 2u);
	EXPECT_EQ(again[0].psn, lone_qp::psn(1));
	EXPECT_EQ(q.count(SIRO_CNT_COMPLETER_RETRY_ERR), 1u);
	EXPECT_TRUE(q.send_completions().empty());
}

/* H17: later repetitions are the timer's. */
TEST(requester_loss, repetition_lost_too__is_the_timers)
{
	lone_qp q;

	q.post({send(1)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(0), NAK_SEQUENCE));
	EXPECT_EQ(q.take_sent().size(), 1u);
	q.hand(acknowledge(lone_qp::psn(0), NAK_SEQUENCE));
	EXPECT_TRUE(q.sent.empty());
	ASSERT_NE(q.deadline, 0u);
	q.at(q.deadline);
	EXPECT_EQ(q.take_sent().size(), 1u);
}

/* H16: each single response lost in turn, with another READ behind. */
TEST(requester_loss, one_read_response_lost__the_rest_is_asked_for_again)
{
	constexpr uint32_t n = 4;

	for (uint32_t lost = 0; lost < n; lost++) {
		lone_qp q;
		packet behind = read_response(lone_qp::psn(n), READ_RESPONSE_ONLY, bytes(8, 0x77));

		SCOPED_TRACE(lost);
		q.post({read(1, q.piece(0, n * lone_qp::mtu)), read(2, q.piece(8192, 8))});
		q.take_sent();
		for (uint32_t i = 0; i < n; i++)
			if (i != lost)
				q.hand(part(i, n));
		q.hand(behind);
		EXPECT_TRUE(q.send_completions().empty());

		auto again = q.take_sent();

		ASSERT_EQ(again.size(), 2u);
		EXPECT_EQ(again[0].psn, lone_qp::psn(lost));
		EXPECT_EQ(again[0].va, remote_va + lost * lone_qp::mtu);
		EXPECT_EQ(again[0].dma_length, (n - lost) * lone_qp::mtu);
		EXPECT_EQ(again[1].psn, lone_qp::psn(n));
		for (uint32_t i = lost; i < n; i++)
			q.hand(part(i, n, lost));
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
		EXPECT_EQ(q.memory.read(0, n * lone_qp::mtu), parts(n));
		q.hand(behind);
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{2, 0}}));
		EXPECT_EQ(siro_requester_psn(&q.requester), lone_qp::psn(n + 1));
	}
}

/* An ACK of what came after a READ says that the response was lost. */
TEST(requester_loss, ack_past_an_unanswered_read__asks_again)
{
	lone_qp q;

	q.post({send(1), read(2, q.piece(0, 8)), send(3)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(2)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
	EXPECT_EQ(psns_of(q.take_sent()),
		  (std::vector<uint32_t>{lone_qp::psn(1), lone_qp::psn(2)}));
	q.hand({read_response(lone_qp::psn(1), READ_RESPONSE_ONLY, bytes(8)),
		acknowledge(lone_qp::psn(2))});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{2, 0}, {3, 0}}));
}

TEST(requester_loss, answer_during_the_repetition__stops_it)
{
	lone_qp q;

	q.post({send(1, {q.piece(0, 6 * lone_qp::mtu)})});
	q.take_sent();
	q.budget = 2;
	q.hand(acknowledge(lone_qp::psn(0), NAK_SEQUENCE));
	EXPECT_EQ(q.take_sent().size(), 2u);
	q.hand(acknowledge(lone_qp::psn(5)));
	q.settle();
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
	EXPECT_EQ(q.deadline, 0u);
}

TEST(requester_timeout, early_call__does_nothing)
{
	lone_qp q;

	q.post({send(1)});
	q.take_sent();
	ASSERT_GT(q.deadline, q.dev.now);
	q.at(q.deadline - 1);
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.count(SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR), 0u);
}

TEST(requester_timeout, deadline__repeats_all_that_is_unacknowledged)
{
	lone_qp q;

	q.post({send(1), read(2, q.piece(0, 8)), send(3)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(0)));
	q.at(q.deadline);
	EXPECT_EQ(psns_of(q.take_sent()),
		  (std::vector<uint32_t>{lone_qp::psn(1), lone_qp::psn(2)}));
	EXPECT_EQ(q.count(SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR), 1u);
}

TEST(requester_timeout, without_an_answer__ends_after_all_retries)
{
	for (uint8_t retries : {0, 1, 7}) {
		lone_qp q([&](auto &e) {
			e.req_attr.timeout = 12;
			e.req_attr.retry_count = retries;
		});
		uint64_t start = q.dev.now;

		SCOPED_TRACE(+retries);
		q.post({send(1), read(2, q.piece(0, 8)), make_send(3, {}, 0)});
		while (siro_requester_state(&q.requester) == SIRO_QPS_RTS) {
			ASSERT_TRUE(q.send_completions().empty());
			ASSERT_GT(q.deadline, q.dev.now);
			q.at(q.deadline);
		}
		EXPECT_EQ(q.dev.now, start + patience_of(q));
		EXPECT_TRUE(q.last_requester.has(SIRO_OUT_QP_ERROR));
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_RETRY_EXC_ERR},
							       {2, SIRO_WC_WR_FLUSH_ERR},
							       {3, SIRO_WC_WR_FLUSH_ERR}}));
		EXPECT_EQ(q.deadline, 0u);
		EXPECT_EQ(q.count(SIRO_CNT_RETRY_EXCEEDED_ERR), 1u);
	}
}

TEST(requester_timeout, zero__repeats_for_ever)
{
	lone_qp q([](auto &e) {
		e.req_attr.timeout = 0;
		e.req_attr.retry_count = 0;
	});

	q.post({send(1)});
	for (int i = 0; i < 200; i++) {
		q.take_sent();
		ASSERT_NE(q.deadline, 0u);
		q.at(q.deadline);
		ASSERT_EQ(q.take_sent().size(), 1u);
	}
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
}

TEST(requester_timeout, progress__gives_all_retries_again)
{
	lone_qp q([](auto &e) {
		e.req_attr.timeout = 12;
		e.req_attr.retry_count = 0;
	});

	q.post({send(1), send(2)});
	q.dev.now += patience_of(q) - 1;
	q.hand(acknowledge(lone_qp::psn(0)));

	uint64_t progress = q.dev.now;

	while (siro_requester_state(&q.requester) == SIRO_QPS_RTS)
		q.at(q.deadline);
	EXPECT_EQ(q.dev.now, progress + patience_of(q));
}

/* H15 */
TEST(requester_rnr, delay__no_request_before_it_ends)
{
	struct {
		uint8_t code;
		uint64_t delay;
	} const codes[] = {
		{0, 655360 * microsecond}, {1, 10 * microsecond},     {5, 60 * microsecond},
		{14, 1280 * microsecond},  {20, 10240 * microsecond}, {31, 491520 * microsecond},
	};

	for (auto &c : codes) {
		lone_qp q([](auto &e) { e.req_attr.timeout = 1; }); /* 8 us */
		uint64_t until = q.dev.now + c.delay;

		SCOPED_TRACE(+c.code);
		q.post({send(1), send(2)});
		q.take_sent();
		q.hand(acknowledge(lone_qp::psn(0), rnr(c.code)));
		EXPECT_EQ(q.deadline, until);
		q.post({send(3)});
		q.hand(acknowledge(lone_qp::psn(0), NAK_SEQUENCE));
		q.at(until - 1);
		q.run_requester();
		EXPECT_TRUE(q.sent.empty());
		EXPECT_EQ(q.deadline, until);
		q.at(until);
		EXPECT_EQ(
			psns_of(q.take_sent()),
			(std::vector<uint32_t>{lone_qp::psn(0), lone_qp::psn(1), lone_qp::psn(2)}));
		q.hand(acknowledge(lone_qp::psn(2)));
		EXPECT_EQ(q.send_completions().size(), 3u);
	}
}

TEST(requester_rnr, in_the_middle__completes_what_was_before)
{
	lone_qp q;

	q.post({send(1), send(2), send(3)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(1), rnr(1)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
	q.at(q.deadline);
	EXPECT_EQ(psns_of(q.take_sent()),
		  (std::vector<uint32_t>{lone_qp::psn(1), lone_qp::psn(2)}));
}

TEST(requester_rnr, repeated_during_the_delay__counts_once)
{
	lone_qp q([](auto &e) { e.req_attr.rnr_retry = 1; });

	q.post({send(1)});
	q.hand(std::vector<packet>(5, acknowledge(lone_qp::psn(0), rnr(1))));
	EXPECT_EQ(q.count(SIRO_CNT_RCVD_RNR_ERR), 1u);
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
}

TEST(requester_rnr, retries__end_with_rnr_retry_exceeded)
{
	for (uint8_t retries = 0; retries < forever; retries++) {
		lone_qp q([&](auto &e) { e.req_attr.rnr_retry = retries; });

		SCOPED_TRACE(+retries);
		q.post({send(1), send(2)});
		for (int i = 0; i < retries; i++) {
			q.hand(acknowledge(lone_qp::psn(0), rnr(1)));
			ASSERT_TRUE(q.send_completions().empty());
			q.at(q.deadline);
		}
		q.hand(acknowledge(lone_qp::psn(0), rnr(1)));
		EXPECT_EQ(ends_of(q.send_completions()),
			  (ends{{1, SIRO_WC_RNR_RETRY_EXC_ERR}, {2, SIRO_WC_WR_FLUSH_ERR}}));
		EXPECT_TRUE(q.last_requester.has(SIRO_OUT_QP_ERROR));
		EXPECT_EQ(q.count(SIRO_CNT_RETRY_RNR_EXCEEDED_ERR), 1u);
	}
}

TEST(requester_rnr, seven_retries__are_without_end)
{
	lone_qp q([](auto &e) { e.req_attr.rnr_retry = forever; });

	q.post({send(1)});
	for (int i = 0; i < 200; i++) {
		q.take_sent();
		q.hand(acknowledge(lone_qp::psn(0), rnr(1)));
		q.at(q.deadline);
		ASSERT_EQ(q.take_sent().size(), 1u);
	}
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
}

TEST(requester_rnr, progress__gives_all_retries_again)
{
	lone_qp q([](auto &e) { e.req_attr.rnr_retry = 1; });

	q.post({send(1), send(2), send(3)});
	for (uint32_t i = 0; i < 3; i++) {
		q.hand(acknowledge(lone_qp::psn(i), rnr(1)));
		ASSERT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
		q.at(q.deadline);
	}
	q.hand(acknowledge(lone_qp::psn(2)));
	EXPECT_EQ(q.send_completions().size(), 3u);
}

/* H15: waiting for a receive is no sign of a dead peer. */
TEST(requester_rnr, longer_than_all_timeouts__does_not_exhaust_them)
{
	lone_qp q([](auto &e) {
		e.req_attr.timeout = 10;
		e.req_attr.retry_count = 0;
	});

	q.post({send(1)});
	q.hand(acknowledge(lone_qp::psn(0), rnr(0)));
	ASSERT_GT(q.deadline - q.dev.now, patience_of(q));
	q.take_sent();
	q.at(q.deadline);
	EXPECT_EQ(q.take_sent().size(), 1u);
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
}
