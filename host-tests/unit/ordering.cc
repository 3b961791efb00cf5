// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Litmus tests of docs/ordering.md: the packets of a few requests arrive in every
 * possible order at a responder that places out of order, or at a strict one.
 */
#include "lone_qp.h"

#include <algorithm>
#include <set>

using namespace host;

namespace {

constexpr uint8_t both = SIRO_OOO_CONSENT | SIRO_OOO_MARK;

endpoint::options keeping()
{
	auto o = lone_qp::rc_user();

	o.hold = true;
	return o;
}

lone_qp::prepare with(uint8_t ooo)
{
	return [ooo](lone_qp &q) {
		q.req_attr.ooo = q.res_attr.ooo = ooo;
		q.req_attr.max_rd_atomic = 16;
		q.req_attr.retry_count = 7;
		q.set_resources(16);
	};
}

/* Where the requests go; every responder looks alike. */
constexpr uint64_t place = 4096; /* in the memory of the responder */

struct target {
	uint64_t address;
	uint32_t key;
};

target find_target()
{
	lone_qp q(keeping(), with(both));

	return {q.memory.mr.iova + place, q.memory.key()};
}

struct sender : lone_qp {
	const target to = find_target();

	sender() : lone_qp(keeping(), with(both))
	{
		post({write(0)}); /* the agreement comes with its ACK */
		take_sent();

		packet echo = acknowledge(psn(0));

		echo.marked = true;
		hand(echo);
		send_completions();
	}

	/* Fills @packets packets with @value. */
	send_wr write(uint8_t value, uint32_t packets = 1, uint64_t offset = 0, uint8_t flags = 0)
	{
		memory.write(value * 1024, bytes(packets * mtu, value));
		return make_rdma(SIRO_WR_RDMA_WRITE, value, {piece(value * 1024, packets * mtu)},
				 to.address + offset, to.key, flags);
	}

	send_wr write_imm(uint8_t value, uint64_t offset = 0)
	{
		send_wr wr = write(value, 1, offset);

		wr.wqe.opcode = SIRO_WR_RDMA_WRITE_WITH_IMM;
		return wr;
	}

	send_wr read()
	{
		return make_rdma(SIRO_WR_RDMA_READ, 90, {piece(32768, mtu)}, to.address, to.key);
	}

	send_wr add(uint64_t value)
	{
		return make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, 91, piece(40960, 8), to.address,
				   to.key, value);
	}

	std::vector<packet> packets_of(const std::vector<send_wr> &list)
	{
		post(list);
		return take_sent();
	}
};

struct receiver : lone_qp {
	explicit receiver(uint8_t ooo) : lone_qp(keeping(), with(ooo))
	{
		memory.write(place, bytes(8192, 0));
		hand(rdma(psn(0), WRITE_ONLY, 0, 0, 0)); /* the first PSN is over */
		for (uint64_t i = 0; i < 8; i++)
			post_recv(i, {piece(32768 + i * 1024, 1024)});
		take_sent();
	}

	uint8_t value(uint64_t offset = 0)
	{
		return memory.at(place + offset);
	}

	/* Have all bytes of @packets packets this value? */
	bool holds(uint8_t wanted, uint32_t packets, uint64_t offset = 0)
	{
		return memory.read(place + offset, packets * mtu) == bytes(packets * mtu, wanted);
	}

	/* What a READ or an atomic was answered, since the last call. */
	std::vector<uint64_t> answers()
	{
		std::vector<uint64_t> out;

		for (auto &p : take_sent()) {
			if (p.opcode == READ_RESPONSE_ONLY)
				out.push_back(p.payload[0]);
			if (p.opcode == ATOMIC_ACKNOWLEDGE)
				out.push_back(p.original);
		}
		return out;
	}
};

/* All orders of arrival; @look after each packet with what has come so far. */
template <typename Look, typename End>
void each_order(const std::vector<packet> &packets, uint8_t ooo, Look look, End end)
{
	std::vector<size_t> order(packets.size());

	for (size_t i = 0; i < order.size(); i++)
		order[i] = i;
	do {
		receiver r(ooo);

		for (size_t i : order) {
			r.hand(packets[i]);
			r.settle();
			look(r);
		}
		ASSERT_EQ(siro_responder_psn(&r.responder),
			  (packets.back().psn + 1) & SIRO_PSN_MASK);
		end(r);
	} while (std::next_permutation(order.begin(), order.end()));
}

template <typename Outcome>
std::set<uint64_t> outcomes(const std::vector<packet> &packets, uint8_t ooo, Outcome outcome)
{
	std::set<uint64_t> out;

	each_order(
		packets, ooo, [](lone_qp &) {}, [&](receiver &r) { out.insert(outcome(r)); });
	return out;
}

using values = std::set<uint64_t>;

} // namespace

/* WRITE, WRITE: F */
TEST(ordering, write_then_write__last_one_wins_only_if_strict)
{
	sender a;
	auto packets = a.packets_of({a.write(1), a.write(2), a.write(3)});
	auto value = [](receiver &r) {
		return r.value();
	};

	EXPECT_EQ(outcomes(packets, both, value), (values{1, 2, 3}));
	EXPECT_EQ(outcomes(packets, 0, value), values{3});
}

/* Within a message: never ordered; all of it is there in the end. */
TEST(ordering, packets_of_one_write__any_of_them_first)
{
	sender a;
	auto packets = a.packets_of({a.write(1, 4)});
	std::set<uint32_t> seen;

	each_order(
		packets, both,
		[&](receiver &r) {
			uint32_t bits = 0;

			for (uint32_t i = 0; i < 4; i++)
				bits |= uint32_t{r.value(i * lone_qp::mtu)} << i;
			seen.insert(bits);
		},
		[](receiver &r) { ASSERT_TRUE(r.holds(1, 4)); });
	EXPECT_EQ(seen.size(), 15u); /* every subset but the empty one */
}

/* WRITE, SEND: C */
TEST(ordering, write_then_send__receive_completes_after_placement)
{
	sender a;
	auto packets =
		a.packets_of({a.write(1, 3), make_send(2, {a.piece(0, 8)}), a.write(3, 1, 2048)});

	for (uint8_t ooo : {both, uint8_t{0}})
		each_order(
			packets, ooo,
			[](receiver &r) {
				if (!r.recv_completions().empty()) {
					ASSERT_TRUE(r.holds(1, 3));
				}
			},
			[](receiver &) {});
}

/* W(a,1), W(a,2), SEND: 1 or 2 when the receive completes. */
TEST(ordering, two_writes_then_send__either_value_is_there)
{
	sender a;
	auto packets = a.packets_of({a.write(1), a.write(2), make_send(3, {a.piece(0, 8)})});
	values seen, strict;

	for (auto [ooo, to] : {std::pair{both, &seen}, std::pair{uint8_t{0}, &strict}})
		each_order(
			packets, ooo,
			[to = to](receiver &r) {
				if (!r.recv_completions().empty())
					to->insert(r.value());
			},
			[](receiver &) {});
	EXPECT_EQ(seen, (values{1, 2}));
	EXPECT_EQ(strict, values{2});
}

/* WRITE, SEND_INV: C+ */
TEST(ordering, write_then_send_with_invalidate__no_access_after_the_completion)
{
	sender a;
	send_wr send = make_send(3, {});

	send.wqe.opcode = SIRO_WR_SEND_WITH_INV;
	send.wqe.imm = a.to.key;

	auto packets = a.packets_of({a.write(1, 3), send});
	std::vector<size_t> order = {0, 1, 2, 3};

	do {
		receiver r(both);
		bool completed = false;

		r.memory.fast = true; /* may be invalidated */
		for (size_t i : order) {
			r.hand(packets[i]);
			completed |= !r.recv_completions().empty();
			ASSERT_EQ(completed, r.memory.mr.state == SIRO_MR_FREE);
			if (completed) {
				ASSERT_TRUE(r.holds(1, 3));
			}
		}
		ASSERT_TRUE(completed);
	} while (std::next_permutation(order.begin(), order.end()));
}

/* WRITE, WRITE_IMM: C; the data of the second waits for its turn here. */
TEST(ordering, write_then_write_with_immediate__completes_after_both)
{
	sender a;
	auto packets = a.packets_of({a.write(1, 3), a.write_imm(2, 2048)});

	each_order(
		packets, both,
		[](receiver &r) {
			if (!r.recv_completions().empty()) {
				ASSERT_TRUE(r.holds(1, 3) && r.holds(2, 1, 2048));
			}
		},
		[](receiver &) {});
}

/* WRITE, READ: #x */
TEST(ordering, write_then_read__reads_what_was_written)
{
	sender a;
	auto packets = a.packets_of({a.write(1), a.read()});
	auto answer = [](receiver &r) {
		return r.answers().back();
	};

	EXPECT_EQ(outcomes(packets, both, answer), values{1});
	EXPECT_EQ(outcomes(packets, 0, answer), values{1});
}

/* W1, W2, W3, READ: some of them, but never the state before. */
TEST(ordering, three_writes_then_read__executes_after_all_three)
{
	sender a;
	auto packets = a.packets_of({a.write(1), a.write(2), a.write(3), a.read()});
	auto answer = [](receiver &r) {
		return r.answers().back();
	};

	EXPECT_EQ(outcomes(packets, both, answer), (values{1, 2, 3}));
	EXPECT_EQ(outcomes(packets, 0, answer), values{3});
}

/* WRITE, ATOMIC: #x */
TEST(ordering, write_then_atomic__works_on_what_was_written)
{
	sender a;
	auto packets = a.packets_of({a.write(1), a.add(1)});
	auto answer = [](receiver &r) {
		return r.answers().back();
	};

	EXPECT_EQ(outcomes(packets, both, answer), values{0x0101010101010101});
}

/* READ, WRITE: F */
TEST(ordering, read_then_write__may_read_the_new_data)
{
	sender a;
	auto packets = a.packets_of({a.read(), a.write(2)});
	auto answer = [](receiver &r) {
		return r.answers().back();
	};

	EXPECT_EQ(outcomes(packets, both, answer), (values{0, 2}));
	EXPECT_EQ(outcomes(packets, 0, answer), (values{0, 2}));
}

/* ATOMIC, WRITE: F */
TEST(ordering, atomic_then_write__may_work_on_the_new_data)
{
	sender a;
	auto packets = a.packets_of({a.add(1), a.write(2)});
	auto answer = [](receiver &r) {
		return r.answers().back();
	};

	EXPECT_EQ(outcomes(packets, both, answer), (values{0, 0x0202020202020202}));
	EXPECT_EQ(outcomes(packets, 0, answer), values{0});
}

/* READ, READ and ATOMIC, READ: executed in order. READ, ATOMIC: F. */
TEST(ordering, reads_and_atomics__are_executed_in_order)
{
	sender a;
	auto packets = a.packets_of({a.add(1), a.read(), a.add(2), a.read()});

	for (uint8_t ooo : {both, uint8_t{0}}) {
		std::vector<uint64_t> all;

		each_order(
			packets, ooo,
			[&](receiver &r) {
				for (auto v : r.answers())
					all.push_back(v);
			},
			[&](receiver &) {
				ASSERT_EQ(all.size(), 4u);
				ASSERT_EQ(all[0], 0u);
				ASSERT_EQ(all[2], 1u);
				ASSERT_EQ(all[3], 3u);
				ASSERT_TRUE(all[1] == 1 || all[1] == 3);
				all.clear();
			});
	}
}

/* SEND, SEND and SEND, WRITE_IMM: receives in order. */
TEST(ordering, sends__take_receives_in_order)
{
	sender a;
	auto packets = a.packets_of({make_send(1, {a.piece(0, 1)}), make_send(2, {a.piece(0, 2)}),
				     a.write_imm(3), make_send(4, {a.piece(0, 4)})});

	for (uint8_t ooo : {both, uint8_t{0}}) {
		std::vector<siro_cqe> done;

		each_order(
			packets, ooo,
			[&](receiver &r) {
				for (auto &c : r.recv_completions())
					done.push_back(c);
			},
			[&](receiver &) {
				ASSERT_EQ(done.size(), 4u);
				for (uint64_t i = 0; i < 4; i++)
					ASSERT_EQ(done[i].wr_id, i);
				ASSERT_EQ(done[0].byte_len, 1u);
				ASSERT_EQ(done[3].byte_len, 4u);
				done.clear();
			});
	}
}

/* SEND, WRITE: F. The data may be there before the receive completes. */
TEST(ordering, send_then_write__may_be_placed_before_the_receive_completes)
{
	sender a;
	auto packets = a.packets_of({make_send(1, {a.piece(0, 8)}), a.write(2)});
	values relaxed, strict;

	for (auto [ooo, to] : {std::pair{both, &relaxed}, std::pair{uint8_t{0}, &strict}}) {
		bool completed = false;

		each_order(
			packets, ooo,
			[&, to = to](receiver &r) {
				completed |= !r.recv_completions().empty();
				if (!completed)
					to->insert(r.value());
			},
			[&](receiver &) { completed = false; });
	}
	EXPECT_EQ(relaxed, values{2});
	EXPECT_EQ(strict, values{0});
}

/* An error at one PSN: what comes later may have taken effect, what is reported is that PSN. */
TEST(ordering, error__is_reported_in_its_turn)
{
	sender a;
	send_wr bad = a.write(2);

	bad.wqe.rkey ^= 0x100000;

	auto packets = a.packets_of({a.write(1), bad, a.write(3, 1, 2048)});
	std::vector<size_t> order = {0, 1, 2};
	values later;

	do {
		receiver r(both);
		std::vector<packet> naks;

		for (size_t i : order) {
			r.hand(packets[i]);
			for (auto &p : r.take_sent())
				if (!is_ack(p.syndrome))
					naks.push_back(p);
		}
		ASSERT_EQ(naks.size(), 1u);
		ASSERT_EQ(naks[0].psn, packets[1].psn);
		ASSERT_EQ(naks[0].syndrome, NAK_REMOTE_ACCESS);
		ASSERT_TRUE(r.holds(1, 1));
		later.insert(r.value(2048));
	} while (std::next_permutation(order.begin(), order.end()));
	EXPECT_EQ(later, (values{0, 3}));
}

/* The fence of every row and column: the second is not sent before the first is done. */
TEST(ordering, fence__holds_everything_back)
{
	using make = send_wr (*)(sender &);
	const make kinds[] = {
		[](sender &a) { return a.write(1); },      [](sender &a) { return a.write_imm(1); },
		[](sender &) { return make_send(1, {}); }, [](sender &a) { return a.read(); },
		[](sender &a) { return a.add(1); },
	};

	for (make earlier : kinds)
		for (make later : kinds) {
			sender a;
			send_wr fenced = later(a);

			fenced.wqe.flags |= SIRO_SEND_FENCE;

			auto out = a.packets_of({earlier(a), fenced});

			ASSERT_EQ(out.size(), 1u);
			if (out[0].opcode == READ_REQUEST)
				a.hand(read_response(out[0].psn, READ_RESPONSE_ONLY,
						     bytes(lone_qp::mtu)));
			else if (out[0].opcode == FETCH_ADD)
				a.hand(atomic_response(out[0].psn, 0));
			else
				a.hand(acknowledge(out[0].psn));
			ASSERT_EQ(a.take_sent().size(), 1u);
		}
}

/* READ, READ: scattered in any order, complete in order. */
TEST(ordering, two_reads_into_one_place__either_may_win)
{
	values seen;

	for (bool swapped : {false, true}) {
		sender a;
		auto packets = a.packets_of({a.read(), a.read()});
		auto earlier =
			read_response(packets[0].psn, READ_RESPONSE_ONLY, bytes(lone_qp::mtu, 1));
		auto later =
			read_response(packets[1].psn, READ_RESPONSE_ONLY, bytes(lone_qp::mtu, 2));

		a.hand(swapped ? later : earlier);
		ASSERT_EQ(a.send_completions().size(), swapped ? 0u : 1u);
		a.hand(swapped ? earlier : later);
		ASSERT_EQ(a.send_completions().size(), swapped ? 2u : 1u);
		seen.insert(a.memory.at(32768));
	}
	EXPECT_EQ(seen, (values{1, 2}));
}
