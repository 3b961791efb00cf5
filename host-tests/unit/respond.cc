// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the responder sends: ACKs, READ and atomic responses. */
#include "lone_qp.h"

using namespace host;

namespace {

packet send_only(uint32_t n, bool ackreq)
{
	return request(lone_qp::psn(n), SEND_ONLY, bytes(4), ackreq);
}

packet read_request(lone_qp &q, uint32_t n, uint64_t offset, uint32_t length)
{
	return rdma(lone_qp::psn(n), READ_REQUEST, q.memory.mr.iova + offset, q.memory.key(),
		    length);
}

packet fetch_add(lone_qp &q, uint32_t n)
{
	return atomic(lone_qp::psn(n), FETCH_ADD, q.memory.mr.iova, q.memory.key(), 1);
}

void give_receives(lone_qp &q, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ASSERT_TRUE(q.post_recv(i, {q.piece(i * 16, 16)}));
}

using opcodes = std::vector<unsigned>;
using psns = std::vector<uint32_t>;

} // namespace

TEST(respond_ack, nobody_asked__none)
{
	lone_qp q;

	give_receives(q, 4);
	q.hand({send_only(0, false), send_only(1, false)});
	EXPECT_TRUE(q.sent.empty());
}

TEST(respond_ack, anybody_asked__one_for_the_batch_up_to_its_end)
{
	lone_qp q;

	give_receives(q, 4);
	q.hand({send_only(0, true), send_only(1, true), send_only(2, false)});
	expect_reply(q, ACK | 1, lone_qp::psn(2));
}

TEST(respond_ack, credits__are_the_receives_that_are_posted_rounded_down)
{
	struct {
		uint32_t posted;
		uint8_t code;
	} const table[] = {{1, 0}, {2, 1}, {5, 4}, {6, 4}, {7, 5}, {9, 6}, {33, 10}, {49, 11}};

	for (auto &t : table) {
		lone_qp q;

		SCOPED_TRACE(t.posted);
		give_receives(q, t.posted);
		q.hand(send_only(0, true));
		expect_reply(q, ACK | t.code, lone_qp::psn(0));
	}
}

TEST(respond_ack, msn__counts_messages_of_all_kinds)
{
	lone_qp q;
	uint64_t va = q.memory.mr.iova;

	give_receives(q, 4);
	q.hand({rdma(lone_qp::psn(0), WRITE_FIRST, va, q.memory.key(), 260, bytes(256), true)});
	EXPECT_EQ(q.take_sent().at(0).msn, 0u);
	q.hand({request(lone_qp::psn(1), WRITE_LAST, bytes(4)), send_only(2, false),
		read_request(q, 3, 0, 300), fetch_add(q, 5), send_only(6, true)});

	auto sent = q.take_sent();

	ASSERT_EQ(opcodes_of(sent), (opcodes{READ_RESPONSE_FIRST, READ_RESPONSE_LAST,
					     ATOMIC_ACKNOWLEDGE, ACKNOWLEDGE}));
	EXPECT_EQ(sent[0].msn, 3u);
	EXPECT_EQ(sent[1].msn, 3u);
	EXPECT_EQ(sent[2].msn, 4u);
	EXPECT_EQ(sent[3].msn, 5u);
}

TEST(respond_ack, msn__of_a_nak_counts_what_was_executed)
{
	lone_qp q;

	give_receives(q, 4);
	q.hand({send_only(0, false), send_only(1, false), send_only(3, false)});
	EXPECT_EQ(q.take_sent().at(0).msn, 2u);
}

/* Neither congestion notifications nor echoes are sent. */
TEST(respond_ack, congestion_marks__are_not_returned)
{
	lone_qp q;
	packet p = send_only(0, true);

	give_receives(q, 1);
	p.reserved8a = 0xc0;
	q.hand(p);

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 1u);
	EXPECT_EQ(sent[0].reserved8a, 0);
	EXPECT_TRUE(sent[0].migreq);
	EXPECT_EQ(sent[0].pkey, 0xffff);
	EXPECT_FALSE(sent[0].ackreq);
}

/* H21: one that had to wait covers what came meanwhile and never goes back. */
TEST(respond_ack, no_transmit_memory__is_sent_later_for_all)
{
	lone_qp q;

	give_receives(q, 4);
	q.refuse_bursts = 2;
	q.hand(send_only(0, true));
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_BLOCKED));
	q.hand({send_only(1, false), send_only(0, true)});
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.recv_completions().size(), 2u);
	q.run_responder();
	expect_reply(q, ACK | 2, lone_qp::psn(1));
	q.run_responder();
	EXPECT_TRUE(q.sent.empty());
}

TEST(respond_nak, that_had_to_wait__is_void_if_the_packet_comes)
{
	lone_qp q;

	give_receives(q, 4);
	q.refuse_bursts = 1;
	q.hand(send_only(1, true));
	q.hand({send_only(0, false), send_only(1, false)});
	q.run_responder();
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.recv_completions().size(), 2u);
}

TEST(respond_nak, that_had_to_wait__is_sent_by_the_next_call)
{
	lone_qp q;

	q.refuse_bursts = 1;
	q.hand(request(lone_qp::psn(0), WRITE_MIDDLE, bytes(256)));
	EXPECT_TRUE(q.sent.empty());
	q.run_responder();
	expect_reply(q, NAK_INVALID_REQUEST, lone_qp::psn(0));
	EXPECT_EQ(q.count(SIRO_CNT_SENT_NAKS), 1u);
}

/* H8: the port sees to it that pads are zero. */
TEST(respond_read, lengths_around_the_mtu__opcodes_pads_and_payload)
{
	for (uint32_t length : {0u, 1u, 2u, 3u, 255u, 256u, 257u, 512u, 1023u}) {
		lone_qp q;
		uint32_t n = length ? (length + lone_qp::mtu - 1) / lone_qp::mtu : 1;
		bytes payload;

		SCOPED_TRACE(length);
		q.hand(read_request(q, 0, 11, length));

		auto sent = q.take_sent();

		ASSERT_EQ(sent.size(), n);
		for (uint32_t i = 0; i < n; i++) {
			const packet &p = sent[i];
			unsigned want = n == 1       ? READ_RESPONSE_ONLY
					: i == 0     ? READ_RESPONSE_FIRST
					: i == n - 1 ? READ_RESPONSE_LAST
						     : READ_RESPONSE_MIDDLE;

			EXPECT_EQ(p.opcode, want);
			EXPECT_EQ(p.psn, lone_qp::psn(i));
			EXPECT_EQ(p.qpn, lone_qp::peer_qpn);
			EXPECT_EQ(p.pad, -p.payload.size() & 3);
			if (want != READ_RESPONSE_MIDDLE) {
				EXPECT_TRUE(is_ack(p.syndrome));
			}
			payload.insert(payload.end(), p.payload.begin(), p.payload.end());
		}
		EXPECT_EQ(payload, q.memory.read(11, length));
		EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(n));
	}
}

TEST(respond_read, several_answers__in_the_order_of_requests_then_the_ack)
{
	lone_qp q;

	give_receives(q, 2);
	q.hand({read_request(q, 0, 0, 300), send_only(2, true), fetch_add(q, 3),
		read_request(q, 4, 0, 4)});

	auto sent = q.take_sent();

	EXPECT_EQ(opcodes_of(sent), (opcodes{READ_RESPONSE_FIRST, READ_RESPONSE_LAST,
					     ATOMIC_ACKNOWLEDGE, READ_RESPONSE_ONLY, ACKNOWLEDGE}));
	EXPECT_EQ(psns_of(sent), (psns{lone_qp::psn(0), lone_qp::psn(1), lone_qp::psn(3),
				       lone_qp::psn(4), lone_qp::psn(4)}));
}

TEST(respond_read, budget__goes_on_where_it_stopped)
{
	lone_qp q;

	q.budget = 2;
	q.hand(read_request(q, 0, 0, 5 * lone_qp::mtu));
	EXPECT_EQ(psns_of(q.take_sent()), (psns{lone_qp::psn(0), lone_qp::psn(1)}));
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_MORE));
	q.settle();

	auto sent = q.take_sent();

	EXPECT_EQ(psns_of(sent), (psns{lone_qp::psn(2), lone_qp::psn(3), lone_qp::psn(4)}));
	EXPECT_EQ(opcodes_of(sent),
		  (opcodes{READ_RESPONSE_MIDDLE, READ_RESPONSE_MIDDLE, READ_RESPONSE_LAST}));
}

TEST(respond_read, no_transmit_memory__goes_on_where_it_stopped)
{
	lone_qp q;

	q.refuse_bursts = 1;
	q.hand(read_request(q, 0, 0, 300));
	EXPECT_TRUE(q.sent.empty());
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_BLOCKED));
	q.run_responder();
	EXPECT_EQ(opcodes_of(q.take_sent()), (opcodes{READ_RESPONSE_FIRST, READ_RESPONSE_LAST}));
}

/* H18: the peer learns in the middle of the answer that there is no more. */
TEST(respond_read, region_invalid_in_the_middle__is_a_nak_of_the_next_packet)
{
	lone_qp q;

	q.budget = 2;
	q.hand({read_request(q, 0, 0, 5 * lone_qp::mtu), read_request(q, 5, 0, 4)});
	q.take_sent();
	q.memory.mr.state = SIRO_MR_INVALID;
	q.settle();
	q.run_responder();
	expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(2));
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_ERR});
	EXPECT_TRUE(q.sticky_outcome[1] & SIRO_OUT_QP_ERROR);
	EXPECT_EQ(q.memory.mr.users, 0u);
}

/* H20: once answered the key may be gone by right; a late duplicate is no error. */
TEST(respond_read, duplicate_after_the_region_is_gone__is_dropped)
{
	lone_qp q;

	q.hand(read_request(q, 0, 0, 300));
	q.take_sent();
	q.memory.mr.state = SIRO_MR_INVALID;
	q.hand(read_request(q, 0, 0, 300));
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
}

TEST(respond_read, error_of_the_queue_pair__gives_no_more_answers)
{
	lone_qp q;

	q.budget = 1;
	q.hand(read_request(q, 0, 0, 5 * lone_qp::mtu));
	q.take_sent();
	q.modify_responder(SIRO_QPS_ERR);
	q.settle();
	EXPECT_TRUE(q.sent.empty());
}

TEST(respond_burst, responses_of_equal_size__share_a_burst_with_consecutive_ids)
{
	lone_qp q;

	q.hand(read_request(q, 0, 0, 5 * lone_qp::mtu));

	/* FIRST and LAST have four bytes more than MIDDLE. */
	uint16_t id = q.opt.flow.next_id;
	size_t packets = 0;

	for (auto &burst : q.sent) {
		EXPECT_TRUE(burst.from_responder);
		EXPECT_EQ(burst.first_id, id);
		id = static_cast<uint16_t>(id + burst.packets.size());
		packets += burst.packets.size();
	}
	EXPECT_EQ(packets, 5u);
	EXPECT_LE(q.sent.size(), 3u);
	EXPECT_EQ(q.responder_flow.next_id, id);
	EXPECT_EQ(q.requester_flow.next_id, q.opt.flow.next_id);
}
