// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What becomes of work requests when the peer answers well. */
#include "lone_qp.h"

#include <algorithm>
#include <cstring>

using namespace host;

namespace {

constexpr uint64_t remote_va = 0x123456789000;
constexpr uint32_t remote_key = 0xabcdef01;

send_wr send(uint64_t wr_id, const std::vector<siro_sge> &sges = {})
{
	return make_send(wr_id, sges);
}

send_wr write(uint64_t wr_id, const siro_sge &sge)
{
	return make_rdma(SIRO_WR_RDMA_WRITE, wr_id, {sge}, remote_va, remote_key);
}

send_wr read(uint64_t wr_id, const siro_sge &sge)
{
	return make_rdma(SIRO_WR_RDMA_READ, wr_id, {sge}, remote_va, remote_key);
}

send_wr fenced(send_wr wr)
{
	wr.wqe.flags |= SIRO_SEND_FENCE;
	return wr;
}

/* Packets for @length bytes. */
uint32_t packets_for(uint32_t length)
{
	return length ? (length + lone_qp::mtu - 1) / lone_qp::mtu : 1;
}

/* Opcode of packet @i of @n, from those of a message of its kind. */
struct segments {
	uint8_t wr_opcode, first, middle, last, only;
	unsigned opcode(uint32_t i, uint32_t n) const
	{
		return n == 1 ? only : i == 0 ? first : i == n - 1 ? last : middle;
	}
};

const segments messages[] = {
	{SIRO_WR_SEND, SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY},
	{SIRO_WR_SEND_WITH_IMM, SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM},
	{SIRO_WR_SEND_WITH_INV, SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV, SEND_ONLY_INV},
	{SIRO_WR_RDMA_WRITE, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY},
	{SIRO_WR_RDMA_WRITE_WITH_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM, WRITE_ONLY_IMM},
};

void check_message(const segments &kind, uint32_t length)
{
	lone_qp q;
	send_wr wr = make_rdma(kind.wr_opcode, 1, {q.piece(3, length)}, remote_va, remote_key,
			       SIRO_SEND_SIGNALED | SIRO_SEND_SOLICITED);
	uint32_t n = packets_for(length);
	bytes payload;

	wr.wqe.imm = 0x11223344;
	q.post({wr});

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), n);
	for (uint32_t i = 0; i < n; i++) {
		const packet &p = sent[i];
		auto has = properties_of(p.opcode);
		bool is_last = i == n - 1;

		EXPECT_EQ(p.opcode, kind.opcode(i, n));
		EXPECT_EQ(p.psn, lone_qp::psn(i));
		EXPECT_EQ(p.qpn, lone_qp::peer_qpn);
		EXPECT_EQ(p.pkey, 0xffff);
		EXPECT_TRUE(p.migreq);
		EXPECT_EQ(p.ackreq, is_last);
		EXPECT_EQ(p.solicited, is_last);
		EXPECT_EQ(p.pad, -p.payload.size() & 3);
		if (has.reth) {
			EXPECT_EQ(p.va, remote_va);
			EXPECT_EQ(p.rkey, remote_key);
			EXPECT_EQ(p.dma_length, length);
		}
		if (has.imm) {
			EXPECT_EQ(p.imm, 0x11223344u);
		}
		if (has.inv) {
			EXPECT_EQ(p.inv_key, 0x11223344u);
		}
		if (!is_last) {
			EXPECT_EQ(p.payload.size(), lone_qp::mtu);
		}
		payload.insert(payload.end(), p.payload.begin(), p.payload.end());
	}
	EXPECT_EQ(payload, q.memory.read(3, length));
	EXPECT_EQ(siro_requester_psn(&q.requester), lone_qp::psn(n));
}

} // namespace

/* H5, H8: the port sees to it that pads are zero. */
TEST(requester_send, lengths_around_the_mtu__opcodes_headers_and_pads)
{
	for (auto &kind : messages)
		for (uint32_t length : {0, 1, 2, 3, 255, 256, 257, 512, 1023}) {
			SCOPED_TRACE(testing::Message()
				     << "opcode " << +kind.wr_opcode << " length " << length);
			check_message(kind, length);
		}
}

TEST(requester_send, several_sges__are_one_message)
{
	lone_qp q;

	q.post({send(1, {q.piece(0, 100), q.piece(5000, 0), q.piece(4090, 300)})});

	auto sent = q.take_sent();
	bytes want = q.memory.read(0, 100), rest = q.memory.read(4090, 300);

	want.insert(want.end(), rest.begin(), rest.end());
	ASSERT_EQ(sent.size(), 2u);
	sent[0].payload.insert(sent[0].payload.end(), sent[1].payload.begin(),
			       sent[1].payload.end());
	EXPECT_EQ(sent[0].payload, want);
}

/* H8: what the user changes afterwards is not sent. */
TEST(requester_send, inline_data__was_copied_when_it_was_fetched)
{
	for (uint32_t length : {0u, 1u, 63u, 64u}) {
		lone_qp q;
		send_wr wr = send(1);

		q.refuse_bursts = 1;
		wr.wqe.flags |= SIRO_SEND_INLINE;
		wr.wqe.inline_length = length;
		wr.inline_data = some_bytes(length);
		q.post({wr});
		memset(q.sq.entry(0), 0xee, q.sq.ring.stride);
		q.run_requester();

		auto sent = q.take_sent();

		ASSERT_EQ(sent.size(), 1u);
		EXPECT_EQ(sent[0].payload, wr.inline_data);
	}
}

TEST(requester_send, message__of_the_kernel_too)
{
	lone_qp q(lone_qp::rc_kernel());

	q.post({send(1, {q.piece(0, 300)})});
	EXPECT_EQ(opcodes_of(q.take_sent()), (std::vector<unsigned>{SEND_FIRST, SEND_LAST}));
}

TEST(requester_send, read__asks_for_chunks_of_128_packets)
{
	lone_qp q;
	uint32_t chunk = 128 * lone_qp::mtu;

	q.post({make_rdma(SIRO_WR_RDMA_READ, 1, {q.piece(0, chunk + 5)}, remote_va, remote_key)});

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 2u);
	EXPECT_EQ(psns_of(sent), (std::vector<uint32_t>{lone_qp::psn(0), lone_qp::psn(128)}));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(sent[i].opcode, unsigned{READ_REQUEST});
		EXPECT_TRUE(sent[i].ackreq);
		EXPECT_EQ(sent[i].rkey, remote_key);
		EXPECT_EQ(sent[i].va, remote_va + i * chunk);
		EXPECT_EQ(sent[i].dma_length, i ? 5u : chunk);
	}
	EXPECT_EQ(siro_requester_psn(&q.requester), lone_qp::psn(129));
}

TEST(requester_send, atomics__carry_their_operands)
{
	lone_qp q;

	q.post({make_atomic(SIRO_WR_ATOMIC_CMP_AND_SWP, 1, q.piece(0, 8), remote_va, remote_key, 7,
			    9),
		make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, 2, q.piece(8, 8), remote_va, remote_key,
			    5)});

	auto sent = q.take_sent();

	ASSERT_EQ(opcodes_of(sent), (std::vector<unsigned>{COMPARE_SWAP, FETCH_ADD}));
	EXPECT_EQ(sent[0].compare, 7u);
	EXPECT_EQ(sent[0].swap_add, 9u);
	EXPECT_EQ(sent[1].swap_add, 5u);
	for (auto &p : sent) {
		EXPECT_EQ(p.va, remote_va);
		EXPECT_EQ(p.rkey, remote_key);
		EXPECT_TRUE(p.ackreq);
	}
}

TEST(requester_send, window__is_256_packets)
{
	lone_qp q;

	q.budget = 1000;
	q.post({send(1, {q.piece(0, 300 * lone_qp::mtu / 2), q.piece(0, 300 * lone_qp::mtu / 2)})});

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 256u);
	EXPECT_TRUE(sent.back().ackreq);
	q.hand(acknowledge(lone_qp::psn(9)));
	EXPECT_EQ(q.take_sent().size(), 10u);
	EXPECT_TRUE(q.send_completions().empty());
}

TEST(requester_send, long_message__asks_for_an_ack_every_32_packets)
{
	lone_qp q;
	uint32_t since = 0;

	q.budget = 1000;
	q.post({send(1, {q.piece(0, 200 * lone_qp::mtu)})});
	for (auto &p : q.take_sent()) {
		since = p.ackreq ? 0 : since + 1;
		ASSERT_LT(since, 32u);
	}
	EXPECT_EQ(since, 0u);
}

TEST(requester_send, budget__ends_the_call_and_asks_for_more)
{
	lone_qp q;

	q.budget = 2;
	q.post({send(1, {q.piece(0, 5 * lone_qp::mtu)})});
	EXPECT_TRUE(q.last_requester.has(SIRO_OUT_MORE));
	EXPECT_EQ(q.take_sent().size(), 2u);
	q.settle();
	EXPECT_EQ(psns_of(q.take_sent()),
		  (std::vector<uint32_t>{lone_qp::psn(2), lone_qp::psn(3), lone_qp::psn(4)}));
	EXPECT_FALSE(q.last_requester.has(SIRO_OUT_MORE));
}

TEST(requester_send, no_transmit_memory__is_tried_again)
{
	lone_qp q;

	q.refuse_bursts = 1;
	q.post({send(1)});
	EXPECT_TRUE(q.last_requester.has(SIRO_OUT_BLOCKED));
	EXPECT_TRUE(q.sent.empty());
	q.run_requester();
	EXPECT_EQ(psns_of(q.take_sent()), std::vector<uint32_t>{lone_qp::psn(0)});
}

TEST(requester_ack, of_the_last__completes_all_in_order)
{
	lone_qp q;

	q.post({send(1), write(2, q.piece(0, 600)), send(3), send(4)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(5)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}, {3, 0}, {4, 0}}));
	EXPECT_EQ(q.deadline, 0u);
}

TEST(requester_ack, unsignaled__completes_without_a_cqe)
{
	lone_qp q;

	q.post({make_send(1, {}, 0), send(2), make_send(3, {}, 0)});
	q.hand(acknowledge(lone_qp::psn(2)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{2, 0}}));
	EXPECT_EQ(q.sq.ring.header->consumer, 3u);
}

TEST(requester_ack, inside_a_message__is_progress_without_completion)
{
	lone_qp q;

	q.post({send(1), send(2, {q.piece(0, 4 * lone_qp::mtu)})});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(2)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
	q.at(q.deadline);
	EXPECT_EQ(psns_of(q.take_sent()),
		  (std::vector<uint32_t>{lone_qp::psn(3), lone_qp::psn(4)}));
}

TEST(requester_ack, of_what_was_never_sent__is_ignored)
{
	lone_qp q;

	q.post({send(1), send(2)});
	for (uint32_t n : {2u, 3u, 0x7fffffu, 0x800000u, 0xfffffeu})
		for (uint8_t syndrome : {lone_qp::unlimited, NAK_REMOTE_ACCESS, NAK_SEQUENCE})
			q.hand(acknowledge(lone_qp::psn(n), syndrome));
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
	EXPECT_EQ(q.count(SIRO_CNT_STALE_RESPONSES), 15u);
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_EQ(q.send_completions().size(), 2u);
}

TEST(requester_ack, of_what_was_acknowledged_before__is_ignored)
{
	lone_qp q;

	q.post({send(1), send(2), send(3)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(1)));
	q.send_completions();
	q.hand(acknowledge(lone_qp::psn(0), NAK_SEQUENCE));
	q.hand(acknowledge(lone_qp::psn(0), NAK_REMOTE_ACCESS));
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
}

TEST(requester_ack, with_nothing_outstanding__is_ignored)
{
	lone_qp q;

	for (uint8_t syndrome : {lone_qp::unlimited, NAK_REMOTE_ACCESS, NAK_SEQUENCE, RNR_NAK})
		q.hand(acknowledge(lone_qp::psn(0), syndrome));
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, {}));
	q.hand(atomic_response(lone_qp::psn(0), 5));
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
	EXPECT_EQ(q.deadline, 0u);
}

TEST(requester_ack, reserved_syndromes__are_ignored)
{
	lone_qp q;

	q.post({send(1)});
	for (unsigned syndrome = 0x40; syndrome < 0x60; syndrome++)
		q.hand(acknowledge(lone_qp::psn(0), static_cast<uint8_t>(syndrome)));
	for (unsigned syndrome = 0x64; syndrome < 0x80; syndrome++)
		q.hand(acknowledge(lone_qp::psn(0), static_cast<uint8_t>(syndrome)));
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(q.count(SIRO_CNT_STALE_RESPONSES), 32u + 28u);
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
}

TEST(requester_ack, of_another_address__is_dropped)
{
	lone_qp q;

	q.post({send(1)});

	super_packet in;
	packet ack = acknowledge(lone_qp::psn(0));

	ack.qpn = q.opt.qpn;
	in.flow = q.opt.flow; /* not reversed */
	in.packets.push_back(encode(ack, in.flow, 0));
	q.receive(in);
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(q.count(SIRO_CNT_BAD_ADDRESS), 1u);
}

TEST(requester_read, response__lands_in_the_sges_and_completes)
{
	for (uint32_t length : {0u, 1u, 255u, 256u, 257u, 512u, 600u}) {
		lone_qp q;
		bytes data = some_bytes(length, 9);
		uint32_t n = packets_for(length), half = length / 2;
		std::vector<packet> answer;

		SCOPED_TRACE(length);
		q.post({make_rdma(SIRO_WR_RDMA_READ, 1,
				  {q.piece(100, half), q.piece(4000, length - half)}, remote_va,
				  remote_key)});
		for (uint32_t i = 0; i < n; i++) {
			auto begin = data.begin() + i * lone_qp::mtu;
			auto end = data.begin() + std::min(length, (i + 1) * lone_qp::mtu);
			uint8_t opcode = n == 1       ? READ_RESPONSE_ONLY
					 : i == 0     ? READ_RESPONSE_FIRST
					 : i == n - 1 ? READ_RESPONSE_LAST
						      : READ_RESPONSE_MIDDLE;

			answer.push_back(read_response(lone_qp::psn(i), opcode, bytes(begin, end)));
		}
		q.hand(answer);

		auto done = q.send_completions();

		ASSERT_EQ(ends_of(done), (ends{{1, 0}}));
		EXPECT_EQ(done[0].opcode, SIRO_WC_RDMA_READ);
		EXPECT_EQ(done[0].byte_len, length);
		EXPECT_EQ(q.memory.read(100, half), bytes(data.begin(), data.begin() + half));
		EXPECT_EQ(q.memory.read(4000, length - half),
			  bytes(data.begin() + half, data.end()));
	}
}

TEST(requester_read, response__acknowledges_what_was_before)
{
	lone_qp q;

	q.post({send(1), write(2, q.piece(0, 10)), read(3, q.piece(0, 4)), send(4)});
	q.hand(read_response(lone_qp::psn(2), READ_RESPONSE_ONLY, bytes(4)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}, {3, 0}}));
}

TEST(requester_read, with_invalidate__invalidates_before_the_completion)
{
	lone_qp q(lone_qp::rc_kernel());
	region::options fast;

	fast.fast = true;

	region &r = q.dev.add_region(fast);
	send_wr wr =
		make_rdma(SIRO_WR_RDMA_READ_WITH_INV, 1, {q.piece(0, 8)}, remote_va, remote_key);

	r.mr.state = SIRO_MR_VALID;
	wr.wqe.imm = r.key();
	q.post({wr});
	EXPECT_EQ(r.mr.state, unsigned{SIRO_MR_VALID});
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(8)));
	EXPECT_EQ(r.mr.state, unsigned{SIRO_MR_FREE});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
}

TEST(requester_atomic, response__is_stored_and_completes)
{
	lone_qp q;
	uint64_t original = 0x1122334455667788, stored;

	q.post({make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, 1, q.piece(16, 8), remote_va, remote_key,
			    1)});
	q.hand(atomic_response(lone_qp::psn(0), original));

	auto done = q.send_completions();
	bytes got = q.memory.read(16, 8);

	memcpy(&stored, got.data(), 8);
	ASSERT_EQ(ends_of(done), (ends{{1, 0}}));
	EXPECT_EQ(done[0].opcode, SIRO_WC_FETCH_ADD);
	EXPECT_EQ(stored, original);
}

TEST(requester_order, max_rd_atomic__bounds_reads_and_atomics_in_flight)
{
	lone_qp q([](auto &e) { e.req_attr.max_rd_atomic = 2; });
	auto add = [&](uint64_t id) {
		return make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, id, q.piece(0, 8), remote_va,
				   remote_key, 1);
	};

	q.post({read(1, q.piece(0, 4)), add(2), add(3), read(4, q.piece(0, 4))});
	EXPECT_EQ(opcodes_of(q.take_sent()), (std::vector<unsigned>{READ_REQUEST, FETCH_ADD}));
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(4)));
	EXPECT_EQ(opcodes_of(q.take_sent()), std::vector<unsigned>{FETCH_ADD});
	q.hand(atomic_response(lone_qp::psn(1), 0));
	EXPECT_EQ(opcodes_of(q.take_sent()), std::vector<unsigned>{READ_REQUEST});
}

namespace {

/* A kernel queue with a region for each REG_MR or LOCAL_INV. */
class order_pair {
public:
	order_pair() : q(lone_qp::rc_kernel()) {}

	send_wr make(uint8_t opcode, uint64_t wr_id)
	{
		send_wr wr = make_rdma(opcode, wr_id, {q.piece(0, 8)}, remote_va, remote_key);

		if (opcode == SIRO_WR_REG_MR || opcode == SIRO_WR_LOCAL_INV ||
		    opcode == SIRO_WR_RDMA_READ_WITH_INV)
			name_region(wr);
		return wr;
	}

	/* Everything on the wire is executed by the peer. */
	void answer(const send_wr &wr, uint32_t psn)
	{
		uint8_t op = wr.wqe.opcode;

		if (op == SIRO_WR_RDMA_READ || op == SIRO_WR_RDMA_READ_WITH_INV)
			q.hand(read_response(psn, READ_RESPONSE_ONLY, bytes(8)));
		else if (op == SIRO_WR_ATOMIC_CMP_AND_SWP || op == SIRO_WR_ATOMIC_FETCH_AND_ADD)
			q.hand(atomic_response(psn, 0));
		else
			q.hand(acknowledge(psn));
	}

	lone_qp q;

private:
	void name_region(send_wr &wr)
	{
		region::options o;

		o.fast = true;

		region &r = q.dev.add_region(o);

		wr.wqe.imm = r.key();
		if (wr.wqe.opcode != SIRO_WR_REG_MR) {
			r.mr.state = SIRO_MR_VALID;
			if (wr.wqe.opcode == SIRO_WR_RDMA_READ_WITH_INV)
				return;
		} else {
			wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(&r.mr);
			wr.wqe.reg.iova = 0x1000;
			wr.wqe.reg.length = 4096;
			wr.wqe.reg.key = device::next_key(r.key());
			wr.wqe.reg.access = SIRO_ACCESS_LOCAL_WRITE;
		}
		wr.sges.clear();
		wr.wqe.num_sge = 0;
	}
};

bool is_local(uint8_t op)
{
	return op == SIRO_WR_REG_MR || op == SIRO_WR_LOCAL_INV;
}

bool is_read_or_atomic(uint8_t op)
{
	return op == SIRO_WR_RDMA_READ || op == SIRO_WR_RDMA_READ_WITH_INV ||
	       op == SIRO_WR_ATOMIC_CMP_AND_SWP || op == SIRO_WR_ATOMIC_FETCH_AND_ADD;
}

constexpr uint8_t all_opcodes[] = {
	SIRO_WR_RDMA_WRITE,
	SIRO_WR_RDMA_WRITE_WITH_IMM,
	SIRO_WR_SEND,
	SIRO_WR_SEND_WITH_IMM,
	SIRO_WR_RDMA_READ,
	SIRO_WR_ATOMIC_CMP_AND_SWP,
	SIRO_WR_ATOMIC_FETCH_AND_ADD,
	SIRO_WR_LOCAL_INV,
	SIRO_WR_SEND_WITH_INV,
	SIRO_WR_RDMA_READ_WITH_INV,
	SIRO_WR_REG_MR,
};

/* Has the second request begun while the first is without an answer? */
void check_pair(uint8_t first, uint8_t later, bool fence)
{
	order_pair pair;
	lone_qp &q = pair.q;
	send_wr a = pair.make(first, 1), b = pair.make(later, 2);
	region *changed = is_local(later) ? q.dev.find(b.wqe.imm) : nullptr;
	uint32_t untouched = changed ? changed->mr.state : 0;
	bool outstanding = !is_local(first);
	bool waits =
		outstanding && (later == SIRO_WR_LOCAL_INV || (fence && is_read_or_atomic(first)));

	if (fence)
		b = fenced(b);
	q.post({a, b});

	size_t on_the_wire = q.take_sent().size();

	if (is_local(later))
		EXPECT_EQ(changed->mr.state != untouched, !waits);
	else
		EXPECT_EQ(on_the_wire, size_t{outstanding} + !waits);
	if (outstanding)
		pair.answer(a, lone_qp::psn(0));
	if (!is_local(later))
		pair.answer(b, lone_qp::psn(outstanding));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}}));
	if (changed) {
		EXPECT_NE(changed->mr.state, untouched);
	}
}

} // namespace

/* H19 */
TEST(requester_order, all_pairs_of_opcodes__wait_for_the_fence_or_invalidation_only)
{
	for (uint8_t first : all_opcodes)
		for (uint8_t later : all_opcodes)
			for (bool fence : {false, true}) {
				SCOPED_TRACE(testing::Message() << "opcode " << +first << " then "
								<< +later << " fence " << fence);
				check_pair(first, later, fence);
			}
}

TEST(requester_order, local_operations__complete_in_their_turn)
{
	order_pair pair;
	lone_qp &q = pair.q;

	q.post({send(1), pair.make(SIRO_WR_REG_MR, 2), send(3), pair.make(SIRO_WR_LOCAL_INV, 4),
		send(5)});
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(q.take_sent().size(), 2u);
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}}));
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{3, 0}, {4, 0}}));
	EXPECT_EQ(q.take_sent().size(), 1u);
}

TEST(requester_order, registered_region__can_be_sent_from_at_once)
{
	order_pair pair;
	lone_qp &q = pair.q;
	send_wr reg = pair.make(SIRO_WR_REG_MR, 1);
	region &r = *q.dev.find(reg.wqe.imm);

	r.fill(0x3c);
	q.post({reg, send(2, {{reg.wqe.reg.iova, 100, reg.wqe.reg.key}})});

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 1u);
	EXPECT_EQ(sent[0].payload, bytes(100, 0x3c));
}

/* IBTA 9.7.7.2 */
TEST(requester_credits, none_left__only_the_oldest_request_goes)
{
	lone_qp q;

	q.post({send(1)});
	q.hand(acknowledge(lone_qp::psn(0), 0, 1));
	q.take_sent();
	q.post({send(2), send(3), send(4), send(5)});

	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 1u);
	EXPECT_TRUE(sent[0].ackreq);
	q.hand(acknowledge(lone_qp::psn(1), 2, 2)); /* two more receives */
	sent = q.take_sent();
	EXPECT_EQ(psns_of(sent), (std::vector<uint32_t>{lone_qp::psn(2), lone_qp::psn(3)}));
	EXPECT_FALSE(sent[0].ackreq);
	EXPECT_TRUE(sent[1].ackreq);
	/* A repeated ACK brings news of credits as well. */
	q.hand(acknowledge(lone_qp::psn(1), 3, 2));
	EXPECT_EQ(psns_of(q.take_sent()), std::vector<uint32_t>{lone_qp::psn(4)});
}

TEST(requester_credits, unlimited_again__all_go)
{
	lone_qp q;

	q.post({send(1)});
	q.hand(acknowledge(lone_qp::psn(0), 0, 1));
	q.take_sent();
	q.post({send(2), send(3), send(4)});
	EXPECT_EQ(q.take_sent().size(), 1u);
	q.hand(acknowledge(lone_qp::psn(1), lone_qp::unlimited, 2));
	EXPECT_EQ(q.take_sent().size(), 2u);
}

TEST(requester_credits, none_left__requests_without_a_receive_go)
{
	lone_qp q;

	q.post({send(1)});
	q.hand(acknowledge(lone_qp::psn(0), 0, 1));
	q.take_sent();
	q.post({send(2), write(3, q.piece(0, 8)), read(4, q.piece(0, 8)),
		make_rdma(SIRO_WR_RDMA_WRITE_WITH_IMM, 5, {}, remote_va, remote_key)});
	EXPECT_EQ(opcodes_of(q.take_sent()),
		  (std::vector<unsigned>{SEND_ONLY, WRITE_ONLY, READ_REQUEST}));
}

/* A READ of two chunks is two requests to the peer's MSN. */
TEST(requester_credits, reads__are_counted_as_the_peer_counts_them)
{
	lone_qp q;

	q.post({send(1)});
	q.hand(acknowledge(lone_qp::psn(0), 0, 1));
	q.take_sent();
	q.post({read(2, q.piece(0, 129 * lone_qp::mtu)), send(3)});
	EXPECT_EQ(q.take_sent().size(), 2u);

	packet first = read_response(lone_qp::psn(1), READ_RESPONSE_FIRST, bytes(lone_qp::mtu));

	first.syndrome = 1;
	first.msn = 2; /* SEND and first chunk; the SEND after the READ would be the fourth */
	q.hand(first);
	EXPECT_TRUE(q.sent.empty());
	first.psn = lone_qp::psn(2);
	first.msn = 3;
	q.hand(first);
	EXPECT_EQ(opcodes_of(q.take_sent()), std::vector<unsigned>{SEND_ONLY});
}

TEST(requester_sqd, event__once_when_what_has_started_is_done)
{
	lone_qp q;

	q.post({send(1), send(2)});
	q.take_sent();
	q.req_attr.sqd_event = 1;
	q.modify_requester(SIRO_QPS_SQD);
	EXPECT_TRUE(siro_requester_draining(&q.requester));
	q.post({send(3)});
	EXPECT_TRUE(q.sent.empty());
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_FALSE(q.sticky_events & SIRO_EVENT_SQ_DRAINED);
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_TRUE(q.last_requester.events & SIRO_EVENT_SQ_DRAINED);
	EXPECT_FALSE(siro_requester_draining(&q.requester));
	q.run_requester();
	EXPECT_FALSE(q.last_requester.events & SIRO_EVENT_SQ_DRAINED);
	q.modify_requester(SIRO_QPS_RTS);
	EXPECT_EQ(psns_of(q.take_sent()), std::vector<uint32_t>{lone_qp::psn(2)});
}

TEST(requester_sqd, idle_queue__has_drained_at_once)
{
	lone_qp q;

	q.req_attr.sqd_event = 1;
	EXPECT_TRUE(q.modify_requester(SIRO_QPS_SQD).events & SIRO_EVENT_SQ_DRAINED);

	lone_qp silent;

	silent.req_attr.sqd_event = 0;
	EXPECT_EQ(silent.modify_requester(SIRO_QPS_SQD).events, 0u);
}

/* H28: a message that has begun is finished, however small the budget. */
TEST(requester_sqd, budget_spent__goes_on_draining)
{
	for (uint32_t packets : {1u, 2u, 3u}) {
		lone_qp q;

		q.budget = 2;
		q.refuse_bursts = 1;
		q.post({send(1, {q.piece(0, packets * lone_qp::mtu)}), send(2)});
		q.req_attr.sqd_event = 1;
		q.modify_requester(SIRO_QPS_SQD);
		q.settle();
		EXPECT_EQ(q.take_sent().size(), packets);
		EXPECT_FALSE(q.sticky_events & SIRO_EVENT_SQ_DRAINED);
		q.hand(acknowledge(lone_qp::psn(packets - 1)));
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
		EXPECT_TRUE(q.sticky_events & SIRO_EVENT_SQ_DRAINED);
	}
}

TEST(requester_state, before_rts__a_kernel_request_is_refused)
{
	for (uint32_t state : {SIRO_QPS_RESET, SIRO_QPS_INIT, SIRO_QPS_RTR}) {
		lone_qp q(lone_qp::rc_kernel());

		q.modify(SIRO_QPS_RESET);
		for (uint32_t s = SIRO_QPS_INIT; s <= state; s++)
			q.modify(s);
		EXPECT_EQ(q.post_send_kernel(send(1)), -22) << state;
	}
}

TEST(requester_state, reset__forgets_everything_without_completions)
{
	lone_qp q;

	q.post({send(1), read(2, q.piece(0, 8))});
	q.take_sent();
	q.modify(SIRO_QPS_RESET);
	EXPECT_EQ(q.deadline, 0u);
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(q.sq.ring.header->consumer, 2u);
	q.to_rts();
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_TRUE(q.send_completions().empty());
	q.post({send(3)});
	EXPECT_EQ(psns_of(q.take_sent()), std::vector<uint32_t>{lone_qp::psn(0)});
}

TEST(requester_state, responses_to_another_state__are_dropped)
{
	for (uint32_t state : {SIRO_QPS_RESET, SIRO_QPS_INIT, SIRO_QPS_RTR, SIRO_QPS_ERR}) {
		lone_qp q;

		q.modify(SIRO_QPS_RESET);
		q.modify_requester(state);
		q.hand(acknowledge(lone_qp::psn(0)));
		EXPECT_EQ(q.count(SIRO_CNT_WRONG_STATE), 1u) << state;
	}
}
