// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that come before their turn, at a queue pair that keeps them. */
#include "lone_qp.h"
#include "reorder_window.h"

using namespace host;
using sirocco::ReorderWindow;

namespace {

endpoint::options keeping()
{
	endpoint::options o = lone_qp::rc_user();

	o.hold = true;
	return o;
}

packet send_only(uint32_t n, bool ackreq = true)
{
	return request(lone_qp::psn(n), SEND_ONLY, some_bytes(4, n), ackreq);
}

void give_receives(lone_qp &q, int count)
{
	for (int i = 0; i < count; i++)
		q.post_recv(100 + i, {q.piece(4096 * i, 4096)});
}

/* Runs the responder when it wanted to be run. */
void let_delay_pass(lone_qp &q)
{
	ASSERT_NE(q.last_responder.deadline, 0u);
	q.dev.now = q.last_responder.deadline;
	q.run_responder();
}

ends received(lone_qp &q)
{
	return ends_of(q.recv_completions());
}

} // namespace

TEST(held_packets, early_sends__complete_in_order_without_a_nak)
{
	lone_qp q(keeping());

	give_receives(q, 4);
	q.hand(send_only(2));
	q.hand(send_only(1));
	EXPECT_TRUE(q.sent.empty());
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_EQ(q.holding, 2);

	q.hand(send_only(0));
	EXPECT_EQ(received(q), (ends{{100, 0}, {101, 0}, {102, 0}}));
	expect_reply(q, ACK | 1, lone_qp::psn(2));
	EXPECT_EQ(q.memory.read(4096, 4), some_bytes(4, 1));
	EXPECT_EQ(q.memory.read(8192, 4), some_bytes(4, 2));
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(q.last_responder.deadline, 0u);
	EXPECT_EQ(q.count(SIRO_CNT_OOO_HELD), 2u);
	EXPECT_EQ(q.count(SIRO_CNT_SENT_NAKS), 0u);
}

TEST(held_packets, missing_after_the_delay__one_nak)
{
	lone_qp q(keeping());

	give_receives(q, 4);
	q.hand(send_only(1));
	let_delay_pass(q);
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(0));
	EXPECT_GT(q.last_responder.deadline, q.dev.now + 100 * millisecond); /* their age */
	q.hand(send_only(2));
	EXPECT_TRUE(q.sent.empty());
	q.hand(send_only(0));
	EXPECT_EQ(received(q).size(), 3u);
}

TEST(held_packets, second_gap__gets_its_own_delay)
{
	lone_qp q(keeping());

	give_receives(q, 4);
	q.hand({send_only(1), send_only(3)});
	q.hand(send_only(0));
	EXPECT_EQ(received(q).size(), 2u);
	q.take_sent();
	let_delay_pass(q);
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(2));
}

TEST(held_packets, same_psn_again__only_the_first_counts)
{
	lone_qp q(keeping());

	give_receives(q, 2);
	q.hand(send_only(1));
	q.hand(request(lone_qp::psn(1), SEND_ONLY, some_bytes(4, 77)));
	EXPECT_EQ(q.holding, 1);
	q.hand(send_only(0));
	EXPECT_EQ(q.memory.read(4096, 4), some_bytes(4, 1));
}

TEST(held_packets, beyond_the_window__dropped_and_asked_for_at_once)
{
	lone_qp q(keeping());

	q.hand(send_only(SIRO_RX_WINDOW));
	EXPECT_EQ(q.holding, 0);
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(0));
	EXPECT_EQ(q.count(SIRO_CNT_OOO_DROPPED), 1u);
	q.hand(send_only(SIRO_RX_WINDOW - 1));
	EXPECT_EQ(q.holding, 1);
}

TEST(held_packets, psns_of_a_read__what_is_held_for_them_is_dropped)
{
	lone_qp q(keeping());

	give_receives(q, 4);
	q.hand({send_only(1), send_only(2), send_only(3)});
	q.hand(rdma(lone_qp::psn(0), READ_REQUEST, q.memory.mr.iova, q.memory.key(),
		    3 * lone_qp::mtu));
	EXPECT_EQ(received(q), (ends{{100, 0}}));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(4));
	EXPECT_EQ(q.holding, 0);
}

TEST(held_packets, no_receive_for_one__rnr_nak_and_it_comes_again)
{
	lone_qp q(keeping());

	give_receives(q, 1);
	q.hand({send_only(1), send_only(2)});
	q.hand(send_only(0));
	EXPECT_EQ(received(q), (ends{{100, 0}}));
	expect_reply(q, RNR_NAK | 1, lone_qp::psn(1));
	give_receives(q, 2);
	q.hand(send_only(1));
	EXPECT_EQ(received(q).size(), 2u);
}

TEST(held_packets, error_while_some_are_held__all_are_given_back)
{
	lone_qp q(keeping());

	q.hand({send_only(1), send_only(2)});
	q.hand(request(lone_qp::psn(0), SEND_MIDDLE, bytes(lone_qp::mtu)));
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_ERR});
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(q.last_responder.deadline, 0u);
}

TEST(held_packets, modify_to_reset__all_are_given_back)
{
	lone_qp q(keeping());

	q.hand({send_only(1), send_only(2)});
	q.modify(SIRO_QPS_RESET);
	EXPECT_EQ(q.holding, 0);
}

TEST(held_packets, read_responses_out_of_order__placed_in_order)
{
	lone_qp q(keeping());
	bytes data = some_bytes(3 * lone_qp::mtu);
	auto part = [&](uint32_t n) {
		return bytes(data.begin() + n * lone_qp::mtu,
			     data.begin() + (n + 1) * lone_qp::mtu);
	};

	q.post({make_rdma(SIRO_WR_RDMA_READ, 1, {q.piece(0, 3 * lone_qp::mtu)}, 0x1000, 7)});
	q.take_sent();
	q.hand(read_response(lone_qp::psn(2), READ_RESPONSE_LAST, part(2)));
	q.hand(read_response(lone_qp::psn(1), READ_RESPONSE_MIDDLE, part(1)));
	EXPECT_TRUE(q.sent.empty());
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_FIRST, part(0)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
	EXPECT_EQ(q.memory.read(0, 3 * lone_qp::mtu), data);
	EXPECT_EQ(q.count(SIRO_CNT_IMPLIED_NAK_SEQ_ERR), 0u);
	EXPECT_EQ(q.holding, 0);
}

TEST(held_packets, read_response_missing_after_the_delay__asked_for_again)
{
	lone_qp q(keeping());

	q.post({make_rdma(SIRO_WR_RDMA_READ, 1, {q.piece(0, 2 * lone_qp::mtu)}, 0x1000, 7)});
	q.take_sent();
	q.hand(read_response(lone_qp::psn(1), READ_RESPONSE_LAST, bytes(lone_qp::mtu)));
	q.at(q.deadline);
	EXPECT_EQ(q.count(SIRO_CNT_RETRANSMITTED_PKTS), 1u);

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 1u);
	EXPECT_EQ(sent[0].opcode, unsigned{READ_REQUEST});
	EXPECT_EQ(sent[0].psn, lone_qp::psn(0));
}

TEST(held_packets, acknowledgement_of_a_later_send__waits_for_the_read)
{
	lone_qp q(keeping());

	q.post({make_rdma(SIRO_WR_RDMA_READ, 1, {q.piece(0, 4)}, 0x1000, 7),
		make_send(2, {q.piece(0, 4)})});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_TRUE(q.send_completions().empty());
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(4)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}}));
	EXPECT_EQ(q.count(SIRO_CNT_COMPLETER_RETRY_ERR), 0u);
}

constexpr uint64_t least_window = 50 * microsecond, most_window = 4 * millisecond;

TEST(reorder_window, begins_with_two_round_trips__within_limits)
{
	ReorderWindow w;

	EXPECT_EQ(w.length(0), 2 * millisecond);
	EXPECT_EQ(w.length(millisecond * 3 / 2), 3 * millisecond);
	EXPECT_EQ(w.length(3 * millisecond), most_window);
}

TEST(reorder_window, losses__shrink_it_to_the_least)
{
	ReorderWindow w;

	for (int n = 0; n < 100; n++)
		w.lost();
	EXPECT_LE(w.length(0), 3 * least_window);
}

TEST(reorder_window, late_packet__is_the_least_from_then_on)
{
	ReorderWindow w;

	for (int n = 0; n < 100; n++)
		w.lost();
	w.late(millisecond);
	EXPECT_EQ(w.length(0), millisecond * 5 / 4);
	w.late(millisecond / 2);
	EXPECT_EQ(w.length(0), millisecond * 5 / 4);
}

TEST(reorder_window, sent_again_in_vain__doubles_it_up_to_a_limit)
{
	ReorderWindow w;

	for (int n = 0; n < 100; n++)
		w.lost();

	uint64_t before = w.length(0);

	w.in_vain(0);
	EXPECT_EQ(w.length(0), 2 * before);
	for (int n = 0; n < 30; n++)
		w.in_vain(0);
	EXPECT_EQ(w.length(0), most_window);
	for (int n = 0; n < 2; n++)
		w.in_vain(10 * millisecond); /* a long way */
	EXPECT_EQ(w.length(10 * millisecond), 10 * millisecond);
}
