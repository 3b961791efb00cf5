// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A responder that places WRITEs before their turn, by agreement. */
#include "lone_qp.h"
#include "sack.h"

#include <set>

using namespace host;

namespace {

constexpr uint8_t both = SIRO_OOO_CONSENT | SIRO_OOO_MARK;

struct ooo_qp : lone_qp {
	explicit ooo_qp(uint8_t ooo = both)
		: lone_qp(keeping(), [ooo](lone_qp &q) { q.res_attr.ooo = ooo; })
	{
	}

	static options keeping()
	{
		auto o = rc_user();

		o.hold = true;
		return o;
	}

	packet write(uint32_t n, uint64_t offset, const bytes &data, bool marked = true)
	{
		packet p = rdma(psn(n), WRITE_ONLY, memory.mr.iova + offset, memory.key(),
				static_cast<uint32_t>(data.size()), data);

		p.marked = marked;
		return p;
	}

	packet read(uint32_t n, uint64_t offset, uint32_t length)
	{
		packet p =
			rdma(psn(n), READ_REQUEST, memory.mr.iova + offset, memory.key(), length);

		p.marked = p.ackreq = true;
		return p;
	}

	bytes at(uint64_t offset, size_t length)
	{
		return memory.read(offset, length);
	}

	packet only_reply()
	{
		auto out = take_sent();

		EXPECT_EQ(out.size(), 1u);
		return out.empty() ? packet() : out[0];
	}
};

std::set<uint32_t> distances(const packet &ack)
{
	std::set<uint32_t> out;
	auto sack = sirocco::Sack::parse(ack.payload.data(),
					 static_cast<uint32_t>(ack.payload.size()), 1023);

	EXPECT_TRUE(sack.is_good());
	sack.for_each([&](uint32_t d) { out.insert(d); });
	return out;
}

} // namespace

TEST(responder_ooo, marked_write_before_its_turn__is_placed_at_once)
{
	ooo_qp q;
	bytes data = some_bytes(100);

	q.hand(q.write(3, 1000, data));
	EXPECT_EQ(q.at(1000, 100), data);
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(0));
	EXPECT_EQ(q.count(SIRO_CNT_OOO_PLACED), 1u);

	packet ack = q.only_reply();

	EXPECT_EQ(ack.opcode, ACKNOWLEDGE);
	EXPECT_EQ(ack.psn, lone_qp::psn(0) - 1);
	EXPECT_TRUE(is_ack(ack.syndrome));
	EXPECT_TRUE(ack.marked);
	EXPECT_EQ(distances(ack), std::set<uint32_t>{3});
}

TEST(responder_ooo, gap_that_closes__is_acknowledged_at_once)
{
	ooo_qp q;

	q.hand(q.write(1, 100, some_bytes(10)));
	q.hand(q.write(2, 200, some_bytes(10)));
	q.take_sent();
	q.hand(q.write(0, 0, some_bytes(10)));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(3));

	packet ack = q.only_reply();

	EXPECT_EQ(ack.psn, lone_qp::psn(2));
	EXPECT_EQ(ack.msn, 3u);
	EXPECT_TRUE(ack.marked);
	EXPECT_TRUE(ack.payload.empty());
}

TEST(responder_ooo, gap__is_not_naked)
{
	ooo_qp q;

	q.hand(q.write(1, 100, some_bytes(10)));
	EXPECT_EQ(q.last_responder.deadline, 0u);
	q.dev.now += second;
	q.take_sent();
	q.run_responder();
	EXPECT_TRUE(q.take_sent().empty());
	EXPECT_EQ(q.count(SIRO_CNT_SENT_NAKS), 0u);
}

/* T3: newer data stays, before the turn, after it, and after others. */
TEST(responder_ooo, late_duplicate__is_never_placed)
{
	ooo_qp q;
	bytes newer = some_bytes(50, 9);

	q.hand(q.write(1, 500, some_bytes(50)));
	q.memory.write(500, newer);
	q.hand(q.write(1, 500, some_bytes(50)));
	EXPECT_EQ(q.at(500, 50), newer);
	q.hand(q.write(0, 0, some_bytes(10)));
	q.hand(q.write(1, 500, some_bytes(50)));
	EXPECT_EQ(q.at(500, 50), newer);
	EXPECT_EQ(q.count(SIRO_CNT_DUPLICATE_REQUEST), 2u);
	EXPECT_EQ(q.count(SIRO_CNT_OOO_PLACED), 1u);
}

/* More than one call executes has been placed: what is left is not placed again. */
TEST(responder_ooo, copy_of_a_placed_write_that_waits_for_its_call__is_not_placed)
{
	constexpr uint32_t last = SIRO_MAX_BURST_PACKETS + 1;
	ooo_qp q;
	bytes newer = some_bytes(50, 9);
	bytes other = some_bytes(50, 8);

	for (uint32_t n = 1; n <= last; n++)
		q.hand(q.write(n, n * 100, some_bytes(50)));
	q.take_sent();
	q.hand(q.write(0, 0, some_bytes(50)));
	ASSERT_TRUE(q.last_responder.has(SIRO_OUT_MORE));

	/* Nothing beyond what is expected next is there that a SACK could tell of. */
	EXPECT_TRUE(q.only_reply().payload.empty());

	uint32_t next = (siro_responder_psn(&q.responder) - lone_qp::psn(0)) & SIRO_PSN_MASK;

	q.memory.write(next * 100, newer);
	q.hand(q.write(next, next * 100, other));
	EXPECT_EQ(q.at(next * 100, 50), newer);
	q.run_responder();
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(last + 1));
	EXPECT_EQ(q.count(SIRO_CNT_DUPLICATE_REQUEST), 1u);
}

/* T4 */
TEST(responder_ooo, write_without_a_right__is_refused_in_its_turn_only)
{
	ooo_qp q;
	packet bad = q.write(1, 0, some_bytes(10));

	bad.rkey ^= 0x100000;
	q.hand(bad);
	EXPECT_TRUE(is_ack(q.only_reply().syndrome));
	q.hand(q.write(2, 300, some_bytes(10)));
	EXPECT_EQ(q.at(300, 10), some_bytes(10));
	q.take_sent();
	q.hand(q.write(0, 0, some_bytes(10)));

	packet nak = q.only_reply();

	EXPECT_EQ(nak.syndrome, NAK_REMOTE_ACCESS);
	EXPECT_EQ(nak.psn, lone_qp::psn(1));
	EXPECT_EQ(siro_responder_state(&q.responder), uint32_t{SIRO_QPS_ERR});
	EXPECT_EQ(q.holding, 0);
}

TEST(responder_ooo, placed_write_inside_a_message__is_refused_in_its_turn)
{
	ooo_qp q;

	q.hand(q.write(1, 300, some_bytes(10)));
	q.take_sent();
	q.hand(rdma(lone_qp::psn(0), WRITE_FIRST, q.memory.mr.iova, q.memory.key(),
		    3 * lone_qp::mtu, some_bytes(lone_qp::mtu)));
	EXPECT_EQ(q.only_reply().syndrome, NAK_INVALID_REQUEST);
}

/* No agreement without consent, without the marker, or with markers turned off. */
TEST(responder_ooo, strict_end__keeps_the_order_and_never_echoes)
{
	for (uint8_t ooo : {uint8_t{0}, uint8_t{SIRO_OOO_CONSENT}}) {
		ooo_qp q(ooo);
		bytes before = q.at(100, 10);

		q.hand(q.write(1, 100, some_bytes(10)));
		EXPECT_EQ(q.at(100, 10), before);
		EXPECT_EQ(q.holding, 1);
		q.hand(q.write(0, 0, some_bytes(10)));
		EXPECT_EQ(q.at(100, 10), some_bytes(10));
		for (auto &p : q.take_sent()) {
			EXPECT_FALSE(p.marked);
			EXPECT_TRUE(p.payload.empty());
		}
		EXPECT_FALSE(siro_responder_agreed(&q.responder));
	}
}

TEST(responder_ooo, early_packets__are_told_by_hole_and_when_the_peer_asks)
{
	ooo_qp q;
	packet last = q.write(4, 400, some_bytes(10));

	last.ackreq = true;
	q.hand(q.write(2, 200, some_bytes(10)));
	EXPECT_EQ(distances(q.only_reply()), (std::set<uint32_t>{2}));
	q.hand(q.write(3, 300, some_bytes(10)));
	EXPECT_TRUE(q.take_sent().empty());
	q.hand(last);
	EXPECT_EQ(distances(q.only_reply()), (std::set<uint32_t>{2, 3, 4}));
	q.hand(q.write(6, 600, some_bytes(10)));
	EXPECT_EQ(distances(q.only_reply()), (std::set<uint32_t>{2, 3, 4, 6}));
}

/* A READ needs no WRITE before it to agree. */
TEST(responder_ooo, marked_read__is_answered_with_the_marker)
{
	ooo_qp q;
	packet read = q.read(0, 0, 3 * lone_qp::mtu);

	q.hand(read);
	EXPECT_TRUE(siro_responder_agreed(&q.responder));

	auto out = q.take_sent();

	ASSERT_EQ(out.size(), 3u);
	for (auto &p : out)
		EXPECT_TRUE(p.marked);
}

TEST(responder_ooo, reset__ends_the_agreement)
{
	ooo_qp q;

	q.hand(q.read(0, 0, lone_qp::mtu));
	ASSERT_TRUE(siro_responder_agreed(&q.responder));
	q.modify(SIRO_QPS_RESET);
	EXPECT_FALSE(siro_responder_agreed(&q.responder));
}

TEST(responder_ooo, read_before_its_turn__is_told)
{
	ooo_qp q;

	q.hand(q.read(1, 0, lone_qp::mtu));
	EXPECT_EQ(distances(q.only_reply()), (std::set<uint32_t>{1}));
}

/* After the first missing request has come, the next is known to be missing. */
TEST(responder_ooo, read_that_fills_a_gap__shows_the_next_gap)
{
	ooo_qp q;

	q.hand(q.read(2, 0, lone_qp::mtu));
	q.take_sent();
	q.hand(q.read(0, 0, lone_qp::mtu));

	auto out = q.take_sent();

	ASSERT_EQ(out.size(), 2u);
	EXPECT_EQ(out[0].opcode, READ_RESPONSE_ONLY);
	EXPECT_EQ(out[1].opcode, ACKNOWLEDGE);
	EXPECT_EQ(distances(out[1]), (std::set<uint32_t>{1}));
}

TEST(responder_ooo, duplicates_of_parts_of_a_read__bring_just_these)
{
	ooo_qp q;

	q.hand(q.read(0, 0, 8 * lone_qp::mtu));
	ASSERT_EQ(q.take_sent().size(), 8u);
	q.hand({q.read(2, 2 * lone_qp::mtu, lone_qp::mtu),
		q.read(5, 5 * lone_qp::mtu, 2 * lone_qp::mtu)});

	auto out = q.take_sent();

	ASSERT_EQ(out.size(), 3u);
	EXPECT_EQ(out[0].opcode, READ_RESPONSE_ONLY);
	EXPECT_EQ(out[0].psn, lone_qp::psn(2));
	EXPECT_EQ(out[0].payload, q.at(2 * lone_qp::mtu, lone_qp::mtu));
	EXPECT_EQ(out[1].opcode, READ_RESPONSE_FIRST);
	EXPECT_EQ(out[1].psn, lone_qp::psn(5));
	EXPECT_EQ(out[2].opcode, READ_RESPONSE_LAST);
	EXPECT_EQ(out[2].payload, q.at(6 * lone_qp::mtu, lone_qp::mtu));
}

/* READs of a batch may bring the PSNs round, to an atomic or a READ that has less. */
TEST(responder_ooo, duplicate_of_a_read_whose_psns_are_another_ones_now__brings_nothing)
{
	constexpr uint32_t half = 1u << 23; /* of all PSNs */
	ooo_qp q;

	q.memory.mr.length = uint64_t{half} * lone_qp::mtu;
	q.hand(q.read(0, 0, 8 * lone_qp::mtu));
	ASSERT_EQ(q.take_sent().size(), 8u);
	q.hand({q.read(1, 1 * lone_qp::mtu, 7 * lone_qp::mtu), q.read(8, 0, half * lone_qp::mtu),
		q.read(8 + half, 0, (half - 7) * lone_qp::mtu), q.read(1, 0, lone_qp::mtu)});
	for (auto &p : q.take_sent())
		EXPECT_GE((p.psn - lone_qp::first_psn) & SIRO_PSN_MASK, 8u);
}

TEST(responder_ooo, unmarked_write__keeps_its_turn)
{
	ooo_qp q;
	bytes before = q.at(100, 10);

	q.hand(q.write(1, 100, some_bytes(10), false));
	EXPECT_EQ(q.at(100, 10), before);
	EXPECT_EQ(q.holding, 1);
	q.hand(q.write(2, 200, some_bytes(10)));
	EXPECT_TRUE(siro_responder_agreed(&q.responder));
	EXPECT_EQ(distances(q.only_reply()), (std::set<uint32_t>{1, 2}));

	/* The marker counts for its packet, whatever came before. */
	bytes later = q.at(300, 10);

	q.hand(q.write(4, 300, some_bytes(10), false));
	EXPECT_EQ(q.at(300, 10), later);
	EXPECT_EQ(q.holding, 2);
	q.hand(q.write(0, 0, some_bytes(10), false));
	EXPECT_EQ(q.at(100, 10), some_bytes(10));
}

/* T5: C+ */
TEST(responder_ooo, invalidation__waits_for_all_writes_before_it)
{
	ooo_qp q;
	region &target = q.dev.add_region({});

	target.fast = true; /* may be invalidated */
	q.post_recv(7, {});

	packet send = request(lone_qp::psn(1), SEND_ONLY_INV);
	packet write =
		rdma(lone_qp::psn(0), WRITE_ONLY, target.mr.iova, target.key(), 10, some_bytes(10));

	send.inv_key = target.key();
	write.marked = true;
	q.hand(send);
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_EQ(target.mr.state, uint32_t{SIRO_MR_VALID});
	q.hand(write);
	EXPECT_EQ(target.read(0, 10), some_bytes(10));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{7, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(target.mr.state, uint32_t{SIRO_MR_FREE});
}

/* T7: a WRITE with immediate takes its receive in its turn. */
TEST(responder_ooo, write_with_immediate__completes_in_order)
{
	ooo_qp q;
	packet imm = rdma(lone_qp::psn(1), WRITE_ONLY_IMM, q.memory.mr.iova, q.memory.key(), 10,
			  some_bytes(10));

	imm.marked = true;
	q.post_recv(1, {});
	q.post_recv(2, {});
	q.hand(imm);
	EXPECT_TRUE(q.recv_completions().empty());
	q.hand(request(lone_qp::psn(0), SEND_ONLY));

	auto done = q.recv_completions();

	ASSERT_EQ(done.size(), 2u);
	EXPECT_EQ(done[1].byte_len, 10u);
}

/* T8 */
TEST(responder_ooo, reset__forgets_the_agreement_and_what_was_placed)
{
	ooo_qp q;

	q.hand(q.write(1, 100, some_bytes(10)));
	q.modify(SIRO_QPS_ERR);
	q.modify(SIRO_QPS_RESET);
	q.to_rts();
	EXPECT_FALSE(siro_responder_agreed(&q.responder));
	q.take_sent();
	q.hand(q.write(0, 0, some_bytes(10)));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(1));
}

TEST(responder_ooo, packet_beyond_the_window__is_dropped)
{
	ooo_qp q;
	bytes before = q.at(100, 10);

	q.hand(q.write(SIRO_RX_WINDOW, 100, some_bytes(10)));
	EXPECT_EQ(q.at(100, 10), before);
	EXPECT_EQ(q.count(SIRO_CNT_OOO_DROPPED), 1u);
	q.hand(q.write(SIRO_RX_WINDOW - 1, 100, some_bytes(10)));
	EXPECT_EQ(q.at(100, 10), some_bytes(10));
}

TEST(responder_ooo, part_of_a_read__is_answered_again)
{
	ooo_qp q;
	packet read = rdma(lone_qp::psn(0), READ_REQUEST, q.memory.mr.iova, q.memory.key(),
			   6 * lone_qp::mtu);

	q.hand(read);
	EXPECT_EQ(q.take_sent().size(), 6u);
	read.psn = lone_qp::psn(2);
	read.va += 2 * lone_qp::mtu;
	read.dma_length = 2 * lone_qp::mtu;
	q.hand(read);

	auto again = q.take_sent();

	ASSERT_EQ(opcodes_of(again),
		  (std::vector<unsigned>{READ_RESPONSE_FIRST, READ_RESPONSE_LAST}));
	EXPECT_EQ(again[0].psn, lone_qp::psn(2));
	EXPECT_EQ(again[1].payload, q.at(3 * lone_qp::mtu, lone_qp::mtu));

	/* Not one that ends inside a packet, or beyond the request. */
	for (uint32_t length : {2 * lone_qp::mtu - 1, 5 * lone_qp::mtu, 0u}) {
		read.dma_length = length;
		q.hand(read);
		EXPECT_TRUE(q.take_sent().empty()) << length;
	}
}

/* Nobody fills the gap: the memory of what is held goes, what is placed stays placed. */
TEST(responder_ooo, held_packets__grow_old)
{
	ooo_qp q;
	bytes newer = some_bytes(10, 9);

	q.post_recv(7, {});
	q.hand(request(lone_qp::psn(1), SEND_ONLY));
	q.hand(q.write(2, 100, some_bytes(10)));
	q.hand(request(lone_qp::psn(3), SEND_ONLY));
	EXPECT_EQ(q.holding, 2);
	ASSERT_NE(q.last_responder.deadline, 0u);
	q.dev.now = q.last_responder.deadline - 1;
	q.run_responder();
	EXPECT_EQ(q.holding, 2);
	q.dev.now += 2;
	q.run_responder();
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(q.count(SIRO_CNT_OOO_AGED), 1u);
	EXPECT_EQ(q.last_responder.deadline, 0u);

	q.memory.write(100, newer);
	q.take_sent();
	q.hand(q.write(2, 100, some_bytes(10)));
	EXPECT_EQ(q.memory.read(100, 10), newer);
	EXPECT_EQ(distances(q.only_reply()), std::set<uint32_t>{2});
	q.hand(q.write(0, 0, some_bytes(4)));
	q.hand(request(lone_qp::psn(1), SEND_ONLY));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(3));
}

TEST(responder_ooo, progress__lets_held_packets_wait_on)
{
	ooo_qp q;

	q.hand(q.write(0, 0, some_bytes(4)));
	q.hand(request(lone_qp::psn(2), SEND_ONLY));
	q.dev.now = q.last_responder.deadline - 1;
	q.hand(q.write(1, 0, some_bytes(4)));
	EXPECT_EQ(q.holding, 0); /* its turn came */
	EXPECT_EQ(q.last_responder.deadline, 0u);
}

TEST(responder_ooo, answers_to_reads__are_spread_after_the_agreement)
{
	ooo_qp q;
	std::set<uint16_t> ports;
	packet read = rdma(lone_qp::psn(1), READ_REQUEST, q.memory.mr.iova, q.memory.key(),
			   40 * lone_qp::mtu);

	q.res_attr.paths = 4;
	q.modify_responder(SIRO_QPS_RTS);
	q.hand(q.write(0, 0, some_bytes(4)));
	q.take_sent();
	q.hand(read);
	for (auto &burst : q.sent)
		ports.insert(burst.flow.source_port);
	EXPECT_EQ(ports.size(), 4u);
}

/* What waits for its turn only is no reason for the peer to doubt the rest. */
TEST(responder_ooo, sack_amid_a_long_run__does_not_name_what_is_expected)
{
	ooo_qp q;

	for (uint32_t i = 1; i < 200; i++)
		q.hand(q.write(i, 0, some_bytes(4)));
	q.take_sent();
	q.hand(q.write(0, 0, some_bytes(4)));
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_MORE));

	auto told = distances(q.only_reply());

	EXPECT_EQ(told.count(0), 0u);
	EXPECT_EQ(told.count(1), 1u);
}
