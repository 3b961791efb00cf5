// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A requester whose peer places out of order, and READs of one that agreed itself. */
#include "lone_qp.h"
#include "psn_window.h"
#include "sack.h"

#include <set>

using namespace host;

namespace {

constexpr uint8_t both = SIRO_OOO_CONSENT | SIRO_OOO_MARK;
constexpr uint64_t remote_va = 0x10000;
constexpr uint32_t remote_key = 0xabcdef01;

struct ooo_qp : lone_qp {
	explicit ooo_qp(uint8_t ooo = both)
		: lone_qp(keeping(), [ooo](lone_qp &q) {
			  q.req_attr.ooo = ooo;
			  q.req_attr.max_rd_atomic = 4;
			  q.req_attr.retry_count = 7;
			  q.req_attr.rnr_retry = 7;
		  })
	{
	}

	static options keeping()
	{
		auto o = rc_user();

		o.hold = true;
		return o;
	}

	send_wr write(uint64_t wr_id, uint32_t packets, uint8_t flags = SIRO_SEND_SIGNALED)
	{
		return make_rdma(SIRO_WR_RDMA_WRITE, wr_id, {piece(0, packets * mtu)}, remote_va,
				 remote_key, flags);
	}

	void post_read(uint64_t wr_id, uint32_t packets)
	{
		post({make_rdma(SIRO_WR_RDMA_READ, wr_id, {piece(8192, packets * mtu)}, remote_va,
				remote_key)});
	}

	/* PSN 0 goes, and the peer echoes the marker. */
	void agree()
	{
		post({write(1000, 1)});
		take_sent();
		dev.now += 100 * microsecond;
		hand(echo(0));
		ASSERT_TRUE(siro_requester_agreed(&requester));
		ASSERT_EQ(send_completions().size(), 1u);
	}

	static packet echo(uint32_t n, const std::set<uint32_t> &distances = {},
			   uint32_t duplicates = 0)
	{
		packet p = acknowledge(psn(n));

		p.marked = true;
		if (distances.empty())
			return p;

		sirocco::PsnWindow arrived;
		sirocco::Psn next(psn(n + 1));

		for (auto d : distances)
			arrived.set(next + d);
		p.payload.resize(sirocco::Sack::most_bytes);
		p.payload.resize(sirocco::Sack::put(p.payload.data(), arrived, next, 0,
						    *distances.rbegin(), duplicates));
		return p;
	}

	std::vector<uint32_t> sent_numbers()
	{
		std::vector<uint32_t> out;

		for (auto &p : take_sent())
			out.push_back((p.psn - first_psn) & SIRO_PSN_MASK);
		return out;
	}

	/* Lets the timer that was asked for fire. */
	void let_time_come()
	{
		ASSERT_NE(deadline, 0u);
		at(deadline);
	}

	bytes sink(uint32_t packet_index)
	{
		return memory.read(8192 + packet_index * mtu, mtu);
	}
};

packet response(uint32_t n, unsigned seed)
{
	return read_response(lone_qp::psn(n), READ_RESPONSE_MIDDLE, some_bytes(lone_qp::mtu, seed));
}

using numbers = std::vector<uint32_t>;

} // namespace

TEST(requester_ooo, marker__is_on_writes_and_reads_of_a_consenting_end_only)
{
	for (uint8_t ooo : {uint8_t{0}, uint8_t{SIRO_OOO_CONSENT}, both}) {
		ooo_qp q(ooo);

		q.post({q.write(1, 2), make_send(2, {q.piece(0, 4)})});
		q.post_read(3, 1);

		auto out = q.take_sent();

		ASSERT_EQ(out.size(), 4u);
		EXPECT_EQ(out[0].marked, ooo == both);
		EXPECT_EQ(out[1].marked, ooo == both);
		EXPECT_FALSE(out[2].marked);
		EXPECT_EQ(out[3].marked, ooo == both);
	}
}

TEST(requester_ooo, marked_response__is_an_echo)
{
	for (bool marked : {false, true}) {
		ooo_qp q;
		packet p = response(0, 1);

		p.marked = marked;
		q.post_read(1, 3);
		q.take_sent();
		q.hand(p);
		EXPECT_EQ(siro_requester_agreed(&q.requester), marked);
	}
}

TEST(requester_ooo, sack_that_lacks_a_read__asks_for_all_of_it_again)
{
	ooo_qp q;

	q.agree();
	q.post_read(1, 3);
	q.post_read(2, 1);
	ASSERT_EQ(q.sent_numbers(), (numbers{1, 4}));
	q.hand(ooo_qp::echo(0, {3}));
	EXPECT_EQ(q.sent_numbers(), numbers{});
	q.let_time_come();

	auto out = q.take_sent();

	ASSERT_EQ(out.size(), 1u);
	EXPECT_EQ(out[0].opcode, READ_REQUEST);
	EXPECT_EQ(out[0].psn, lone_qp::psn(1));
	EXPECT_EQ(out[0].dma_length, 3 * lone_qp::mtu);

	/* What the peer said before the second copy came says nothing of it. */
	q.hand(ooo_qp::echo(0, {3}));
	q.at(q.dev.now + 50 * microsecond);
	EXPECT_EQ(q.sent_numbers(), numbers{});
}

/* Others than those who agreed may remember but the last duplicate. */
TEST(requester_ooo, two_holes_of_a_read__are_asked_for_at_once_if_the_peer_agreed)
{
	for (bool agreed : {false, true}) {
		ooo_qp q;

		q.post_read(1, 6);
		q.take_sent();
		q.dev.now += 100 * microsecond;
		for (uint32_t n : {0, 2, 4, 5}) {
			packet p = response(n, n);

			p.marked = agreed;
			q.hand(p);
		}
		q.let_time_come();
		EXPECT_EQ(q.sent_numbers(), agreed ? (numbers{1, 3}) : numbers{1});
	}
}

TEST(requester_ooo, echo__makes_each_packet_of_the_next_write_a_message)
{
	ooo_qp q;

	q.post({q.write(1, 3)});

	auto before = q.take_sent();

	EXPECT_EQ(opcodes_of(before),
		  (std::vector<unsigned>{WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST}));
	q.hand(ooo_qp::echo(0)); /* in the middle of it */
	q.post({q.write(2, 3)});

	auto after = q.take_sent();

	ASSERT_EQ(opcodes_of(after), (std::vector<unsigned>{WRITE_ONLY, WRITE_ONLY, WRITE_ONLY}));
	for (uint32_t i = 0; i < 3; i++) {
		EXPECT_EQ(after[i].va, remote_va + i * lone_qp::mtu);
		EXPECT_EQ(after[i].dma_length, lone_qp::mtu);
		EXPECT_EQ(after[i].payload, q.memory.read(i * lone_qp::mtu, lone_qp::mtu));
		EXPECT_TRUE(after[i].marked);
	}

	/* Sent again, the first one has its old form. */
	packet nak = acknowledge(lone_qp::psn(1), NAK_SEQUENCE);

	nak.marked = true;
	q.hand(nak);
	EXPECT_EQ(opcodes_of(q.take_sent()), std::vector<unsigned>{WRITE_MIDDLE});
}

TEST(requester_ooo, echo__is_ignored_by_who_did_not_mark)
{
	for (uint8_t ooo : {uint8_t{0}, uint8_t{SIRO_OOO_CONSENT}}) {
		ooo_qp q(ooo);

		q.post({q.write(1, 1)});
		q.take_sent();
		q.hand(ooo_qp::echo(0));
		EXPECT_FALSE(siro_requester_agreed(&q.requester));
		q.post({q.write(2, 2)});
		EXPECT_EQ(opcodes_of(q.take_sent()),
			  (std::vector<unsigned>{WRITE_FIRST, WRITE_LAST}));
	}
}

TEST(requester_ooo, write_with_immediate__stays_one_message)
{
	ooo_qp q;

	q.agree();
	q.post({make_rdma(SIRO_WR_RDMA_WRITE_WITH_IMM, 1, {q.piece(0, 2 * lone_qp::mtu)}, remote_va,
			  remote_key)});
	EXPECT_EQ(opcodes_of(q.take_sent()), (std::vector<unsigned>{WRITE_FIRST, WRITE_LAST_IMM}));
}

TEST(requester_ooo, sack__only_the_hole_is_sent_again)
{
	ooo_qp q;

	q.agree();
	q.post({q.write(1, 6)});
	EXPECT_EQ(q.sent_numbers(), (numbers{1, 2, 3, 4, 5, 6}));
	q.dev.now += 100 * microsecond;
	q.hand(ooo_qp::echo(1, {1, 2, 4})); /* 2 and 5 are missing */
	EXPECT_TRUE(q.send_completions().empty()); /* S6: no SACK completes anything */
	EXPECT_EQ(q.sent_numbers(), numbers{}); /* perhaps only late */
	q.let_time_come();
	EXPECT_EQ(q.sent_numbers(), (numbers{2, 5}));
	EXPECT_EQ(q.count(SIRO_CNT_RETRANSMITTED_PKTS), 2u);
	q.dev.now += 100 * microsecond;
	q.hand(ooo_qp::echo(6));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(q.sent_numbers(), numbers{});
}

TEST(requester_ooo, late_packet__is_not_sent_again)
{
	ooo_qp q;

	q.agree();
	q.post({q.write(1, 3)});
	q.take_sent();
	q.dev.now += 100 * microsecond;
	q.hand(ooo_qp::echo(0, {1, 2}));
	q.dev.now += 5 * microsecond;
	q.hand(ooo_qp::echo(3));
	EXPECT_EQ(q.send_completions().size(), 1u);
	EXPECT_EQ(q.count(SIRO_CNT_RETRANSMITTED_PKTS), 0u);
}

/* S6 */
TEST(requester_ooo, sack_of_what_was_never_sent__is_ignored_and_counted)
{
	ooo_qp q;

	q.agree();
	q.post({q.write(1, 3)});
	q.take_sent();
	q.dev.now += 100 * microsecond;
	q.hand(ooo_qp::echo(0, {1, 3}));
	EXPECT_EQ(q.count(SIRO_CNT_SACK_INVALID), 1u);
	EXPECT_EQ(q.count(SIRO_CNT_SACK_RECEIVED), 0u);
	q.hand(ooo_qp::echo(3)); /* the ACK itself is good */
	EXPECT_EQ(q.send_completions().size(), 1u);
}

TEST(requester_ooo, extension__before_the_agreement__is_ignored)
{
	ooo_qp q;

	q.post({q.write(1, 3)});
	q.take_sent();

	packet p = ooo_qp::echo(0, {1});

	p.marked = false;
	q.hand(p);
	EXPECT_EQ(q.count(SIRO_CNT_SACK_RECEIVED), 0u);
	q.hand(acknowledge(lone_qp::psn(2)));
	EXPECT_EQ(q.send_completions().size(), 1u);
}

TEST(requester_ooo, sequence_nak__sends_that_packet_only)
{
	ooo_qp q;
	packet nak = acknowledge(lone_qp::psn(2), NAK_SEQUENCE);

	nak.marked = true;
	q.agree();
	q.post({q.write(1, 5)});
	q.take_sent();
	q.hand(nak);
	EXPECT_EQ(q.sent_numbers(), numbers{2});
}

TEST(requester_ooo, rnr__one_packet_waits_and_goes_again)
{
	ooo_qp q;
	packet rnr = acknowledge(lone_qp::psn(1), RNR_NAK | 1);

	rnr.marked = true;
	q.agree();
	q.post({make_send(1, {q.piece(0, 4)}), make_send(2, {q.piece(0, 4)})});
	q.take_sent();
	q.hand(rnr);
	EXPECT_EQ(q.sent_numbers(), numbers{});
	q.let_time_come();
	EXPECT_EQ(q.sent_numbers(), numbers{1});
}

TEST(requester_ooo, silence__the_last_packet_is_a_probe_once)
{
	ooo_qp q;

	q.agree();
	q.post({q.write(1, 3)});
	q.take_sent();
	q.let_time_come();
	EXPECT_EQ(q.sent_numbers(), numbers{3});
	EXPECT_EQ(q.count(SIRO_CNT_TAIL_PROBES), 1u);
	q.let_time_come(); /* then it is a timeout */
	EXPECT_EQ(q.count(SIRO_CNT_TAIL_PROBES), 1u);
	EXPECT_EQ(q.count(SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR), 1u);
	EXPECT_EQ(q.sent_numbers(), numbers{1}); /* its answer shows the rest */
}

/* A peer that has lost what it had gets everything again. */
TEST(requester_ooo, fifth_timeout__sends_all_again)
{
	ooo_qp q;

	q.agree();
	q.post({q.write(1, 5)});
	q.take_sent();
	q.dev.now += 100 * microsecond;
	q.hand(ooo_qp::echo(0, {1, 2, 3, 4}));
	while (q.count(SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR) < 5) {
		q.take_sent();
		q.let_time_come();
	}
	EXPECT_EQ(q.sent_numbers(), (numbers{1, 2, 3, 4, 5}));
}

/* Who answers nothing but SACKs does not live for ever. */
TEST(requester_ooo, endless_sacks__do_not_reset_the_patience)
{
	ooo_qp q;
	uint64_t patience = (uint64_t{4096} << q.req_attr.timeout) * (q.req_attr.retry_count + 1u);
	uint64_t end = 0;

	q.agree();
	q.post({q.write(1, 60)});
	end = q.dev.now + patience;
	for (uint32_t i = 0; q.send_completions().empty(); i++) {
		ASSERT_LT(i, 10000u);
		q.dev.now = q.deadline;
		q.timeout();
		q.take_sent();
		if (siro_requester_state(&q.requester) != SIRO_QPS_RTS)
			break;
		q.hand(ooo_qp::echo(0, {1 + i % 59}));
		q.take_sent();
	}
	EXPECT_EQ(siro_requester_state(&q.requester), uint32_t{SIRO_QPS_ERR});
	EXPECT_LE(q.dev.now, end + second);
}

TEST(requester_ooo, agreement__widens_the_window)
{
	auto big = [](uint8_t ooo) {
		ooo_qp q(ooo);
		size_t total = 0;

		if (ooo)
			q.agree();
		q.post(std::vector<send_wr>(10, q.write(1, 200)));
		for (int i = 0; i < 40; i++) {
			q.run_requester();
			total += q.take_sent().size();
		}
		return total;
	};

	EXPECT_EQ(big(0), 256u);
	EXPECT_EQ(big(both), 1024u);
}

/* The extended fence. */
TEST(requester_ooo, fence__waits_for_writes_if_the_end_consents)
{
	for (uint8_t ooo : {uint8_t{0}, uint8_t{SIRO_OOO_CONSENT}}) {
		ooo_qp q(ooo);

		q.post({q.write(1, 1), q.write(2, 1, SIRO_SEND_SIGNALED | SIRO_SEND_FENCE)});
		EXPECT_EQ(q.take_sent().size(), ooo ? 1u : 2u);
		q.hand(acknowledge(lone_qp::psn(0)));
		EXPECT_EQ(q.take_sent().size(), ooo ? 1u : 0u);
	}
}

TEST(requester_ooo, response_before_its_turn__is_placed_at_once)
{
	ooo_qp q(SIRO_OOO_CONSENT);

	q.post_read(1, 4);
	q.take_sent();
	q.hand(response(2, 2));
	EXPECT_EQ(q.sink(2), some_bytes(lone_qp::mtu, 2));
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(q.count(SIRO_CNT_OOO_PLACED), 1u);
	EXPECT_TRUE(q.send_completions().empty());

	/* Another copy is not placed again. */
	q.memory.write(8192 + 2 * lone_qp::mtu, bytes(lone_qp::mtu, 0x77));
	q.hand(response(2, 2));
	EXPECT_EQ(q.sink(2), bytes(lone_qp::mtu, 0x77));
	for (uint32_t i : {0, 3, 1})
		q.hand(response(i, i));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(q.sink(1), some_bytes(lone_qp::mtu, 1));
	EXPECT_EQ(q.sink(3), some_bytes(lone_qp::mtu, 3));
}

TEST(requester_ooo, copy_of_a_placed_response_beside_the_missing_one__is_not_placed)
{
	ooo_qp q(SIRO_OOO_CONSENT);

	q.post_read(1, 4);
	q.hand(response(1, 1));
	q.hand({response(0, 0), response(1, 7), response(2, 2), response(3, 3)});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(q.sink(i), some_bytes(lone_qp::mtu, i));
	EXPECT_EQ(q.count(SIRO_CNT_STALE_RESPONSES), 1u);
}

TEST(requester_ooo, responses_of_several_reads__find_their_places)
{
	ooo_qp q(SIRO_OOO_CONSENT);

	/* READs of PSNs 0 to 1, 4 to 5, 9 to 10, WRITEs between. */
	for (uint32_t i : {0, 1, 2}) {
		q.post({make_rdma(SIRO_WR_RDMA_READ, i, {q.piece(8192 + i * 512, 512)}, remote_va,
				  remote_key)});
		for (uint32_t n = 0; n <= i; n++)
			q.post({q.write(10, n ? 1 : 2)});
	}
	for (uint32_t n : {10, 5, 9, 4, 1}) {
		q.hand(response(n, n));
		EXPECT_EQ(q.holding, 0);
	}

	uint32_t at = 1;

	for (uint32_t n : {1, 4, 5, 9, 10})
		EXPECT_EQ(q.sink(at++), some_bytes(lone_qp::mtu, n));
}

TEST(requester_ooo, strict_end__response_before_its_turn_is_kept)
{
	ooo_qp q(0);
	bytes before = q.sink(2);

	q.post_read(1, 4);
	q.hand(response(2, 2));
	EXPECT_EQ(q.sink(2), before);
	EXPECT_EQ(q.holding, 1);
	for (uint32_t i : {0, 1, 3})
		q.hand(response(i, i));
	EXPECT_EQ(q.sink(2), some_bytes(lone_qp::mtu, 2));
}

/* Of any peer: a duplicate request for the missing part. */
TEST(requester_ooo, hole_in_a_read__is_asked_for_alone)
{
	for (uint8_t ooo : {uint8_t{0}, uint8_t{SIRO_OOO_CONSENT}}) {
		ooo_qp q(ooo);

		q.post_read(1, 8);
		q.post({q.write(2, 1)});
		q.take_sent();
		for (uint32_t i : {0, 1, 4, 5, 7})
			q.hand(response(i, i));
		q.let_time_come();

		auto out = q.take_sent();

		ASSERT_EQ(opcodes_of(out), std::vector<unsigned>{READ_REQUEST});
		EXPECT_EQ(out[0].psn, lone_qp::psn(2));
		EXPECT_EQ(out[0].va, remote_va + 2 * lone_qp::mtu);
		EXPECT_EQ(out[0].dma_length, 2 * lone_qp::mtu);
		q.hand(response(2, 2));
		q.hand(response(3, 3));
		out = q.take_sent();
		ASSERT_EQ(out.size(), 1u); /* the next one, in ascending order */
		EXPECT_EQ(out[0].psn, lone_qp::psn(6));
		EXPECT_EQ(out[0].dma_length, lone_qp::mtu);
		q.hand(response(6, 6));
		q.hand(acknowledge(lone_qp::psn(8)));
		EXPECT_EQ(q.send_completions().size(), 2u);
		for (uint32_t i = 0; i < 8; i++)
			EXPECT_EQ(q.sink(i), some_bytes(lone_qp::mtu, i));
	}
}

TEST(requester_ooo, response_of_a_wrong_length__fails_in_its_turn)
{
	ooo_qp q(SIRO_OOO_CONSENT);
	packet bad = response(1, 1);

	bad.payload.resize(4);
	q.post_read(1, 3);
	q.hand(bad);
	EXPECT_TRUE(q.send_completions().empty());
	q.hand(response(0, 0));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}));
}

TEST(requester_ooo, reset__forgets_the_agreement)
{
	ooo_qp q;

	q.agree();
	EXPECT_EQ(q.count(SIRO_CNT_QP_OOO_ACTIVE), 1u);
	q.modify(SIRO_QPS_RESET);
	EXPECT_EQ(q.count(SIRO_CNT_QP_OOO_ACTIVE), 0u);
	q.to_rts();
	EXPECT_FALSE(siro_requester_agreed(&q.requester));
	q.post({q.write(1, 2)});
	EXPECT_EQ(opcodes_of(q.take_sent()), (std::vector<unsigned>{WRITE_FIRST, WRITE_LAST}));
}

TEST(requester_ooo, agreement__spreads_writes_over_the_paths)
{
	ooo_qp q;
	std::set<uint16_t> before, after;

	q.req_attr.paths = 4;
	q.modify_requester(SIRO_QPS_RTS);
	q.post({q.write(1, 40)});
	for (auto &burst : q.sent)
		before.insert(burst.flow.source_port);
	EXPECT_EQ(before.size(), 1u);
	q.take_sent();
	q.hand(ooo_qp::echo(39));
	q.post({q.write(2, 40), make_send(3, {q.piece(0, 4)})});
	for (auto &burst : q.sent)
		after.insert(burst.flow.source_port);
	EXPECT_EQ(after.size(), 4u);
	EXPECT_EQ(q.sent.back().flow.source_port, *before.begin()); /* the SEND */
}

/* An ACK says that a READ was executed, not that its responses have come. */
TEST(requester_ooo, ack_behind_a_hole_in_a_read__does_not_fill_it)
{
	ooo_qp q;

	q.agree();
	q.post_read(1, 4);
	q.post({q.write(2, 1)});
	q.take_sent();
	for (uint32_t n : {1, 3, 4})
		q.hand(response(n, n));
	q.hand(ooo_qp::echo(5));
	q.let_time_come();
	EXPECT_EQ(q.sent_numbers(), numbers{2});
	EXPECT_EQ(q.count(SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR), 0u);
	EXPECT_EQ(q.count(SIRO_CNT_TAIL_PROBES), 0u);
}

/* Repair of a READ is no reason to ignore that a request behind it is missing. */
TEST(requester_ooo, nak_during_the_repair_of_a_read__is_followed)
{
	ooo_qp q(0);

	q.post_read(1, 4);
	q.post({q.write(2, 1)});
	q.take_sent();
	for (uint32_t n : {0, 2, 3})
		q.hand(response(n, n));
	q.let_time_come();
	EXPECT_EQ(q.sent_numbers(), numbers{1});
	q.hand(acknowledge(lone_qp::psn(4), NAK_SEQUENCE));
	EXPECT_EQ(q.sent_numbers(), numbers{4});
	q.hand(acknowledge(lone_qp::psn(4), NAK_SEQUENCE)); /* another copy */
	EXPECT_EQ(q.sent_numbers(), numbers{});
	q.hand(response(1, 1));
	q.hand(acknowledge(lone_qp::psn(4)));
	EXPECT_EQ(q.send_completions().size(), 2u);
}
