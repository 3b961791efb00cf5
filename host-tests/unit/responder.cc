// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sequence, duplicates, receives and states of the responder. */
#include "lone_qp.h"

#include <cstring>
#include <functional>

using namespace host;

namespace {

constexpr uint8_t rnr_code = 9;

void not_before_a_receive(lone_qp &q)
{
	q.res_attr.min_rnr_timer = rnr_code;
}

void give_receives(lone_qp &q, uint32_t count, uint32_t length = 1024)
{
	for (uint32_t i = 0; i < count; i++)
		ASSERT_TRUE(q.post_recv(100 + i, {q.piece(i * 4096, length)}));
}

packet send_only(uint32_t n, const bytes &payload = bytes(4), bool ackreq = true)
{
	return request(lone_qp::psn(n), SEND_ONLY, payload, ackreq);
}

uint64_t word_at(lone_qp &q, uint64_t offset)
{
	bytes b = q.memory.read(offset, 8);
	uint64_t value;

	memcpy(&value, b.data(), 8);
	return value;
}

packet read_request(lone_qp &q, uint32_t n, uint64_t offset, uint32_t length)
{
	return rdma(lone_qp::psn(n), READ_REQUEST, q.memory.mr.iova + offset, q.memory.key(),
		    length);
}

packet fetch_add(lone_qp &q, uint32_t n, uint64_t offset, uint64_t add)
{
	return atomic(lone_qp::psn(n), FETCH_ADD, q.memory.mr.iova + offset, q.memory.key(), add);
}

bool is_in_error(const lone_qp &q)
{
	return siro_responder_state(&q.responder) == SIRO_QPS_ERR;
}

} // namespace

TEST(responder_send, in_sequence__completes_the_receives_in_order)
{
	lone_qp q;
	bytes first = some_bytes(10, 1), later = some_bytes(300, 2);

	give_receives(q, 2);
	q.hand({send_only(0, first, false),
		request(lone_qp::psn(1), SEND_FIRST, bytes(later.begin(), later.begin() + 256)),
		request(lone_qp::psn(2), SEND_LAST, bytes(later.begin() + 256, later.end()),
			true)});

	auto done = q.recv_completions();

	ASSERT_EQ(ends_of(done), (ends{{100, 0}, {101, 0}}));
	EXPECT_EQ(done[0].byte_len, 10u);
	EXPECT_EQ(done[1].byte_len, 300u);
	EXPECT_EQ(done[0].opcode, SIRO_WC_RECV);
	EXPECT_EQ(q.memory.read(0, 10), first);
	EXPECT_EQ(q.memory.read(4096, 300), later);
	expect_reply(q, ACK | 0, lone_qp::psn(2));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(3));
}

TEST(responder_send, scattered_in_packet_and_receive__arrives_whole)
{
	lone_qp q;
	bytes data = some_bytes(200, 3), want = data;

	q.frag_bytes = [](uint32_t left) {
		return left > 60 ? 7u : left;
	};
	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 33), q.piece(5000, 0), q.piece(4090, 300)}));
	q.hand(send_only(0, data));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, 0}}));

	bytes got = q.memory.read(0, 33), rest = q.memory.read(4090, 167);

	got.insert(got.end(), rest.begin(), rest.end());
	EXPECT_EQ(got, want);
}

TEST(responder_send, immediate_and_solicited__are_told)
{
	lone_qp q;
	packet p = request(lone_qp::psn(0), SEND_ONLY_IMM, bytes(4));

	p.imm = 0x11223344;
	p.solicited = true;
	give_receives(q, 1);
	q.hand(p);

	auto done = q.recv_completions();

	ASSERT_EQ(done.size(), 1u);
	EXPECT_EQ(done[0].imm, 0x11223344u);
	EXPECT_EQ(done[0].flags, SIRO_WC_WITH_IMM | SIRO_WC_SOLICITED);
}

TEST(responder_send, with_invalidate__invalidates_before_the_completion)
{
	lone_qp q;
	region::options o;

	o.fast = true;

	region &r = q.dev.add_region(o);
	packet p = request(lone_qp::psn(0), SEND_ONLY_INV, bytes(4));

	r.mr.state = SIRO_MR_VALID;
	p.inv_key = r.key();
	give_receives(q, 1);
	q.hand(p);

	auto done = q.recv_completions();

	ASSERT_EQ(ends_of(done), (ends{{100, 0}}));
	EXPECT_EQ(done[0].imm, r.key());
	EXPECT_EQ(done[0].flags, SIRO_WC_WITH_INVALIDATE);
	EXPECT_EQ(r.mr.state, unsigned{SIRO_MR_FREE});
}

TEST(responder_send, with_invalidate_of_a_bad_key__is_a_remote_access_error)
{
	region::options fast, foreign;

	fast.fast = foreign.fast = true;
	foreign.pd = 2;

	const std::function<uint32_t(lone_qp &)> keys[] = {
		[](auto &) { return 0x99900u; },
		[](auto &q) { return q.memory.key(); },
		[&](auto &q) { return q.dev.add_region(fast).key(); }, /* not valid */
		[&](auto &q) {
			region &r = q.dev.add_region(foreign);

			r.mr.state = SIRO_MR_VALID;
			return r.key();
		},
		[&](auto &q) {
			region &r = q.dev.add_region(fast);

			r.mr.state = SIRO_MR_VALID;
			return device::next_key(r.key());
		},
	};

	for (auto &key : keys) {
		lone_qp q;
		packet p = request(lone_qp::psn(0), SEND_ONLY_INV, bytes(4));

		p.inv_key = key(q);
		give_receives(q, 2);
		q.hand(p);
		expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(0));
		EXPECT_EQ(ends_of(q.recv_completions()),
			  (ends{{100, SIRO_WC_REM_ACCESS_ERR}, {101, SIRO_WC_WR_FLUSH_ERR}}));
		EXPECT_TRUE(is_in_error(q));
	}
}

TEST(responder_send, longer_than_the_receive__is_an_invalid_request)
{
	lone_qp q;

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 300), q.piece(4096, 10)}));
	q.memory.fill(0x11);
	q.hand({request(lone_qp::psn(0), SEND_FIRST, bytes(256)),
		request(lone_qp::psn(1), SEND_LAST, bytes(55))});
	expect_reply(q, NAK_INVALID_REQUEST, lone_qp::psn(1));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, SIRO_WC_LOC_LEN_ERR}}));
	EXPECT_TRUE(is_in_error(q));
	EXPECT_EQ(q.memory.read(256, 44), bytes(44, 0x11));
}

TEST(responder_send, exactly_as_long_as_the_receive__fits)
{
	lone_qp q;

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 300), q.piece(4096, 10)}));
	q.hand({request(lone_qp::psn(0), SEND_FIRST, bytes(256)),
		request(lone_qp::psn(1), SEND_LAST, bytes(54))});
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, 0}}));
}

TEST(responder_send, receive_with_a_bad_key__is_a_remote_operation_error)
{
	region::options read_only;

	read_only.access = SIRO_ACCESS_REMOTE_READ;

	const std::function<siro_sge(lone_qp &)> sges[] = {
		[](auto &) {
			return siro_sge{0x1000, 64, 0x99900};
		},
		[](auto &q) { return q.piece(q.memory.length() - 63, 64); },
		[&](auto &q) { return q.dev.add_region(read_only).sge(0, 64); },
	};

	for (auto &sge : sges) {
		lone_qp q;

		ASSERT_TRUE(q.post_recv(1, {sge(q)}));
		q.hand(send_only(0));
		expect_reply(q, NAK_REMOTE_OPERATIONAL, lone_qp::psn(0));
		EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, SIRO_WC_LOC_PROT_ERR}}));
		EXPECT_TRUE(is_in_error(q));
	}
}

/* H9 */
TEST(responder_send, malformed_receive__is_a_remote_operation_error)
{
	lone_qp q;
	uint32_t too_many = q.opt.max_recv_sge + 1;

	give_receives(q, 2);
	memcpy(q.rq.entry(0) + offsetof(siro_recv_wqe, num_sge), &too_many, sizeof(too_many));
	q.hand(send_only(0));
	expect_reply(q, NAK_REMOTE_OPERATIONAL, lone_qp::psn(0));
	EXPECT_EQ(ends_of(q.recv_completions()),
		  (ends{{100, SIRO_WC_LOC_QP_OP_ERR}, {101, SIRO_WC_WR_FLUSH_ERR}}));
}

TEST(responder_rnr, no_receive__asks_for_a_delay_and_then_for_the_same_packet)
{
	lone_qp q(not_before_a_receive);

	q.hand({send_only(0), send_only(1), send_only(2)});
	expect_reply(q, RNR_NAK | rnr_code, lone_qp::psn(0));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(0));
	EXPECT_EQ(q.count(SIRO_CNT_SEND_RNR_ERR), 1u);
	EXPECT_FALSE(is_in_error(q));
	q.hand(send_only(1)); /* in flight still: silence */
	EXPECT_TRUE(q.sent.empty());
	give_receives(q, 3);
	q.hand({send_only(0), send_only(1), send_only(2)});
	EXPECT_EQ(q.recv_completions().size(), 3u);
	expect_reply(q, ACK | 0, lone_qp::psn(2));
}

TEST(responder_rnr, each_repetition__is_answered)
{
	lone_qp q(not_before_a_receive);

	for (int i = 0; i < 5; i++) {
		q.hand(send_only(0));
		expect_reply(q, RNR_NAK | rnr_code, lone_qp::psn(0));
	}
	EXPECT_EQ(q.count(SIRO_CNT_SEND_RNR_ERR), 5u);
}

TEST(responder_rnr, middle_of_a_message__never_needs_another_receive)
{
	lone_qp q(not_before_a_receive);

	give_receives(q, 1);
	q.hand(request(lone_qp::psn(0), SEND_FIRST, bytes(256)));
	q.hand(request(lone_qp::psn(1), SEND_MIDDLE, bytes(256)));
	q.hand(request(lone_qp::psn(2), SEND_LAST, bytes(1)));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{100, 0}}));
	EXPECT_TRUE(q.sent.empty());
}

/* H22: a WRITE that waits for its receive holds no region and writes nothing. */
TEST(responder_rnr, write_with_immediate__is_not_executed_and_holds_nothing)
{
	lone_qp q(not_before_a_receive);
	uint64_t va = q.memory.mr.iova;
	packet first = rdma(lone_qp::psn(0), WRITE_FIRST, va, q.memory.key(), 260, bytes(256, 1));
	packet last = request(lone_qp::psn(1), WRITE_LAST_IMM, bytes(4, 2), true);

	q.memory.fill(0x11);
	q.hand({first, last});
	expect_reply(q, RNR_NAK | rnr_code, lone_qp::psn(1));
	EXPECT_EQ(q.memory.mr.users, 0u);
	EXPECT_EQ(q.memory.read(256, 4), bytes(4, 0x11));
	give_receives(q, 1);
	q.hand(last);

	auto done = q.recv_completions();

	ASSERT_EQ(ends_of(done), (ends{{100, 0}}));
	EXPECT_EQ(done[0].opcode, SIRO_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(done[0].byte_len, 260u);
	EXPECT_EQ(q.memory.read(0, 256), bytes(256, 1));
	EXPECT_EQ(q.memory.read(256, 4), bytes(4, 2));
	EXPECT_EQ(q.memory.mr.users, 0u);
}

TEST(responder_sequence, ahead__one_nak_for_each_gap)
{
	lone_qp q;

	give_receives(q, 8);
	for (uint32_t n : {1u, 2u, 7u, 0x7fffffu})
		q.hand(send_only(n));
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(0));
	EXPECT_EQ(q.count(SIRO_CNT_OUT_OF_SEQ_REQUEST), 4u);
	EXPECT_TRUE(q.recv_completions().empty());
	q.hand(send_only(0, bytes(4), false));
	EXPECT_TRUE(q.sent.empty());
	q.hand(send_only(2));
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(1));
	q.hand(send_only(3));
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.recv_completions().size(), 1u);
	EXPECT_FALSE(is_in_error(q));
}

TEST(responder_sequence, ahead_within_one_batch__nak_has_the_missing_psn)
{
	lone_qp q;

	give_receives(q, 8);
	q.hand({send_only(0), send_only(1), send_only(3), send_only(4)});
	expect_reply(q, NAK_SEQUENCE, lone_qp::psn(2));
	EXPECT_EQ(q.recv_completions().size(), 2u);
}

TEST(responder_sequence, gap_filled_in_the_same_batch__is_acknowledged)
{
	lone_qp q;

	give_receives(q, 4);
	q.hand({send_only(1), send_only(0), send_only(1)});
	expect_reply(q, ACK | 2, lone_qp::psn(1));
	EXPECT_EQ(q.recv_completions().size(), 2u);
}

/* Half of all PSNs are behind. */
TEST(responder_sequence, behind__is_a_duplicate_up_to_half_of_the_numbers)
{
	for (uint32_t behind : {1u, 2u, 1000u, 0x7fffffu, 0x800000u}) {
		lone_qp q;

		give_receives(q, 1);
		q.hand(send_only(0u - behind));
		EXPECT_EQ(q.count(SIRO_CNT_DUPLICATE_REQUEST), 1u) << behind;
		EXPECT_EQ(q.count(SIRO_CNT_OUT_OF_SEQ_REQUEST), 0u) << behind;
		EXPECT_TRUE(q.recv_completions().empty());
	}
}

/* H20 */
TEST(responder_duplicate, send_and_write__are_acknowledged_again_and_not_executed)
{
	lone_qp q;
	packet write = rdma(lone_qp::psn(1), WRITE_ONLY, q.memory.mr.iova + 8192, q.memory.key(), 4,
			    bytes(4, 1));
	packet first = rdma(lone_qp::psn(2), WRITE_FIRST, q.memory.mr.iova, q.memory.key(), 300,
			    bytes(256));

	give_receives(q, 3);
	q.hand({send_only(0), write, first, request(lone_qp::psn(3), WRITE_LAST, bytes(44), true)});
	q.take_sent();
	EXPECT_EQ(q.recv_completions().size(), 1u);
	q.memory.fill(0x11);
	for (auto &p : {send_only(0, bytes(4, 7), false), write, first}) {
		q.hand(p);
		expect_reply(q, ACK | 2, lone_qp::psn(3));
	}
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_EQ(q.memory.read(0, 12288), bytes(12288, 0x11));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(4));
}

/* H20: a READ is answered from memory as it is now. */
TEST(responder_duplicate, read__is_executed_again)
{
	lone_qp q;

	q.hand(read_request(q, 0, 40, 600));
	EXPECT_EQ(q.take_sent().size(), 3u);
	q.memory.fill(0x77);
	q.hand(read_request(q, 0, 40, 600));

	auto again = q.take_sent();

	ASSERT_EQ(opcodes_of(again),
		  (std::vector<unsigned>{READ_RESPONSE_FIRST, READ_RESPONSE_MIDDLE,
					 READ_RESPONSE_LAST}));
	EXPECT_EQ(again[0].psn, lone_qp::psn(0));
	EXPECT_EQ(again[0].payload, bytes(256, 0x77));
	EXPECT_EQ(again[2].payload, bytes(600 - 512, 0x77));
}

/* H16, H20: the requester asks for the part it lacks. */
TEST(responder_duplicate, rest_of_a_read__from_any_packet_on)
{
	for (uint32_t k = 0; k < 4; k++) {
		lone_qp q;
		uint32_t done = k * lone_qp::mtu, length = 4 * lone_qp::mtu - 3;

		q.hand(read_request(q, 0, 40, length));
		q.take_sent();
		q.hand(read_request(q, k, 40 + done, length - done));

		auto again = q.take_sent();
		bytes payload;

		ASSERT_EQ(again.size(), 4 - k);
		EXPECT_EQ(again[0].opcode,
			  unsigned{k == 3 ? READ_RESPONSE_ONLY : READ_RESPONSE_FIRST});
		for (uint32_t i = 0; i < again.size(); i++) {
			EXPECT_EQ(again[i].psn, lone_qp::psn(k + i));
			payload.insert(payload.end(), again[i].payload.begin(),
				       again[i].payload.end());
		}
		EXPECT_EQ(payload, q.memory.read(40 + done, length - done));
	}
}

/* H20 */
TEST(responder_duplicate, read_of_something_else__is_dropped)
{
	lone_qp q;
	packet other_key = read_request(q, 0, 40, 600);

	q.hand(read_request(q, 0, 40, 600));
	q.take_sent();
	other_key.rkey ^= 1;
	for (auto &p : {other_key, read_request(q, 0, 41, 600), read_request(q, 0, 40, 601),
			read_request(q, 0, 40, 599), read_request(q, 1, 40, 344),
			read_request(q, 1, 40 + 256, 600), fetch_add(q, 0, 40, 1)})
		q.hand(p);
	EXPECT_TRUE(q.sent.empty());
	EXPECT_FALSE(is_in_error(q));
}

/* H20: memory changes once, the answer is the remembered one. */
TEST(responder_duplicate, atomic__is_answered_from_what_is_remembered)
{
	lone_qp q;
	uint64_t before = word_at(q, 64);

	q.hand(fetch_add(q, 0, 64, 5));
	q.hand(fetch_add(q, 1, 64, 7));
	q.take_sent();
	for (int i = 0; i < 3; i++) {
		q.hand({fetch_add(q, 0, 64, 5), fetch_add(q, 1, 64, 7)});

		auto again = q.take_sent();

		ASSERT_EQ(again.size(), 2u);
		EXPECT_EQ(again[0].opcode, unsigned{ATOMIC_ACKNOWLEDGE});
		EXPECT_EQ(again[0].original, before);
		EXPECT_EQ(again[1].original, before + 5);
	}
	EXPECT_EQ(word_at(q, 64), before + 12);
	q.hand(read_request(q, 0, 64, 8));
	EXPECT_TRUE(q.sent.empty());
}

/* H20: at most as many as max_dest_rd_atomic are remembered. */
TEST(responder_duplicate, older_than_what_is_remembered__is_dropped)
{
	lone_qp q([](auto &e) { e.set_resources(2); });
	uint64_t before = word_at(q, 64);

	for (uint32_t n = 0; n < 3; n++)
		q.hand(fetch_add(q, n, 64, 1));
	q.take_sent();
	q.hand(fetch_add(q, 0, 64, 1));
	EXPECT_TRUE(q.sent.empty());
	q.hand(fetch_add(q, 1, 64, 1));
	EXPECT_EQ(q.take_sent().size(), 1u);
	EXPECT_EQ(word_at(q, 64), before + 3);
}

/* H20: nothing is remembered across a reset, from whatever state. */
TEST(responder_duplicate, reset__forgets)
{
	for (uint32_t state : {SIRO_QPS_RTR, SIRO_QPS_RTS, SIRO_QPS_SQD, SIRO_QPS_ERR}) {
		lone_qp q;
		packet add = fetch_add(q, 0, 64, 1);

		q.modify(SIRO_QPS_RESET);
		q.modify(SIRO_QPS_INIT);
		q.modify(SIRO_QPS_RTR);
		q.hand(add);
		q.refuse_bursts = 1;
		q.hand(read_request(q, 1, 0, 8)); /* not answered when the reset comes */
		q.take_sent();
		q.modify_responder(state);
		q.modify(SIRO_QPS_RESET);
		q.res_attr.rq_psn = lone_qp::psn(2);
		q.to_rts();
		q.hand({add, read_request(q, 1, 0, 8)});
		q.run_responder();
		EXPECT_TRUE(q.sent.empty()) << state;
		for (uint32_t i = 0; i < q.res_attr.max_dest_rd_atomic; i++)
			q.hand(fetch_add(q, 2 + i, 64, 1));
		EXPECT_EQ(q.take_sent().size(), q.res_attr.max_dest_rd_atomic);
	}
}

TEST(responder_srq, credits__are_not_counted)
{
	auto o = lone_qp::rc_user();

	o.srq = true;

	lone_qp q(o);

	give_receives(q, 3);
	q.hand(send_only(0));
	expect_reply(q, ACK | lone_qp::unlimited, lone_qp::psn(0));
}

TEST(responder_srq, error__leaves_the_receives_and_says_that_it_takes_no_more)
{
	auto o = lone_qp::rc_user();

	o.srq = true;

	lone_qp q(o);

	give_receives(q, 3);
	q.hand(request(lone_qp::psn(0), SEND_FIRST, bytes(256)));
	q.modify(SIRO_QPS_ERR);
	EXPECT_TRUE(q.sticky_events & SIRO_EVENT_LAST_WQE_REACHED);
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{100, SIRO_WC_WR_FLUSH_ERR}}));
	EXPECT_EQ(siro_ring_pending(&q.rq.ring), 2u);
	q.sticky_events = 0;
	q.run_responder();
	EXPECT_EQ(q.sticky_events, 0u);
}

TEST(responder_srq, nothing_posted__is_rnr)
{
	auto o = lone_qp::rc_user();

	o.srq = true;

	lone_qp q(o, not_before_a_receive);

	q.hand(send_only(0));
	expect_reply(q, RNR_NAK | rnr_code, lone_qp::psn(0));
}

/* H23: what follows a fatal packet in its batch is not executed. */
TEST(responder_error, rest_of_the_batch__is_dropped_and_receives_are_flushed_once)
{
	lone_qp q;

	give_receives(q, 4);
	q.memory.fill(0x11);
	q.hand({send_only(0), request(lone_qp::psn(1), SEND_LAST, bytes(4)),
		send_only(1, bytes(4, 9)), send_only(2, bytes(4, 9))});
	expect_reply(q, NAK_INVALID_REQUEST, lone_qp::psn(1));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{100, 0},
						       {101, SIRO_WC_WR_FLUSH_ERR},
						       {102, SIRO_WC_WR_FLUSH_ERR},
						       {103, SIRO_WC_WR_FLUSH_ERR}}));
	EXPECT_EQ(q.memory.read(4096, 4), bytes(4, 0x11));
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_QP_ERROR));
	EXPECT_TRUE(q.last_responder.events & SIRO_EVENT_QP_REQ_ERR);
	EXPECT_EQ(q.kick, 1u);
	q.hand(send_only(1));
	q.run_responder();
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.count(SIRO_CNT_WRONG_STATE), 1u);
}

TEST(responder_error, without_a_receive_in_use__raises_the_event_of_its_kind)
{
	lone_qp access, order;

	access.hand(rdma(lone_qp::psn(0), WRITE_ONLY, 0, 0x99900, 4, bytes(4)));
	EXPECT_EQ(access.last_responder.events, unsigned{SIRO_EVENT_QP_ACCESS_ERR});
	order.hand(request(lone_qp::psn(0), WRITE_MIDDLE, bytes(256)));
	EXPECT_EQ(order.last_responder.events, unsigned{SIRO_EVENT_QP_REQ_ERR});
}

/* H28 */
TEST(responder_error, flush__goes_on_beyond_the_budget)
{
	for (uint32_t n : {1u, 4u, 5u, 11u}) {
		lone_qp q;

		give_receives(q, n);
		q.budget = 4;
		q.modify_responder(SIRO_QPS_ERR);
		q.settle();
		EXPECT_EQ(q.recv_completions().size(), n);
	}
}

TEST(responder_error, posted_afterwards__is_flushed_by_the_doorbell)
{
	lone_qp q;

	q.modify(SIRO_QPS_ERR);
	EXPECT_EQ(q.kick, 1u);
	give_receives(q, 1);
	q.run_responder();
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{100, SIRO_WC_WR_FLUSH_ERR}}));
	q.modify(SIRO_QPS_RESET);
	EXPECT_EQ(q.kick, 0u);
}

/* H10: a producer index that no user reaches honestly flushes nothing, in no time. */
TEST(responder_error, hostile_producer_index__flushes_nothing)
{
	for (uint32_t producer : {65u, 0x80000000u, 0xffffffffu}) {
		lone_qp q;

		q.rq.ring.header->producer = producer;
		q.modify_responder(SIRO_QPS_ERR);
		q.settle();
		EXPECT_TRUE(q.recv_completions().empty());
	}
}

TEST(responder_state, before_rtr_and_in_error__requests_are_dropped)
{
	for (uint32_t state : {SIRO_QPS_RESET, SIRO_QPS_INIT, SIRO_QPS_ERR}) {
		lone_qp q;

		q.modify(SIRO_QPS_RESET);
		q.modify_responder(state);
		q.hand({send_only(0), send_only(1)});
		EXPECT_EQ(q.count(SIRO_CNT_WRONG_STATE), 2u) << state;
		EXPECT_TRUE(q.sent.empty());
	}
}

TEST(responder_state, first_request_in_rtr__establishes_the_connection_once)
{
	lone_qp q;

	q.modify(SIRO_QPS_RESET);
	q.modify(SIRO_QPS_INIT);
	q.modify(SIRO_QPS_RTR);
	give_receives(q, 2);
	q.hand(send_only(0));
	EXPECT_EQ(q.last_responder.events, unsigned{SIRO_EVENT_COMM_EST});
	q.hand(send_only(1));
	EXPECT_EQ(q.last_responder.events, 0u);
	EXPECT_EQ(q.recv_completions().size(), 2u);
}

TEST(responder_header, partition_key__membership_does_not_count)
{
	lone_qp q;
	packet limited = send_only(0), other = send_only(1);

	give_receives(q, 2);
	limited.pkey = 0x7fff;
	other.pkey = 0x1234;
	q.hand({limited, other});
	EXPECT_EQ(q.recv_completions().size(), 1u);
	EXPECT_EQ(q.count(SIRO_CNT_BAD_PKEY), 1u);
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(1));
}

TEST(responder_header, datagram__is_not_for_a_connected_queue_pair)
{
	lone_qp q;
	packet p = request(lone_qp::psn(0), UD_SEND_ONLY, bytes(4));

	give_receives(q, 1);
	p.qkey = lone_qp::qkey;
	q.hand(p);
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_EQ(q.count(SIRO_CNT_MALFORMED_PKTS), 1u);
	EXPECT_FALSE(is_in_error(q));
}

TEST(responder_header, of_another_address__is_dropped)
{
	lone_qp q;
	super_packet in;
	packet p = send_only(0);

	give_receives(q, 1);
	p.qpn = q.opt.qpn;
	in.flow = q.opt.flow; /* not reversed */
	in.packets.push_back(encode(p, in.flow, 0));
	q.receive(in);
	EXPECT_EQ(q.count(SIRO_CNT_BAD_ADDRESS), 1u);
	EXPECT_TRUE(q.recv_completions().empty());
}
