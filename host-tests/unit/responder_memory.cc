// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys, rights and bounds of what the peer wants to reach; atomics. */
#include "lone_qp.h"

#include <cstring>

using namespace host;

namespace {

enum operation { op_write, op_read, op_atomic };

constexpr operation operations[] = {op_write, op_read, op_atomic};

uint32_t right_for(operation op)
{
	return op == op_write  ? SIRO_ACCESS_REMOTE_WRITE
	       : op == op_read ? SIRO_ACCESS_REMOTE_READ
			       : SIRO_ACCESS_REMOTE_ATOMIC;
}

/* @length does not matter to an atomic. */
packet make(operation op, uint64_t va, uint32_t key, uint32_t length = 8)
{
	uint32_t psn = lone_qp::psn(0);

	if (op == op_atomic)
		return atomic(psn, FETCH_ADD, va, key, 1);
	if (op == op_read)
		return rdma(psn, READ_REQUEST, va, key, length);
	if (length > lone_qp::mtu)
		return rdma(psn, WRITE_FIRST, va, key, length, bytes(lone_qp::mtu, 0xee), true);
	return rdma(psn, WRITE_ONLY, va, key, length, bytes(length, 0xee), true);
}

bool is_in_error(const lone_qp &q)
{
	return siro_responder_state(&q.responder) == SIRO_QPS_ERR;
}

void expect_refused(lone_qp &q, uint8_t syndrome)
{
	expect_reply(q, syndrome, lone_qp::psn(0));
	EXPECT_TRUE(is_in_error(q));
}

void expect_done(lone_qp &q, operation op)
{
	auto sent = q.take_sent();

	ASSERT_EQ(sent.size(), 1u);
	EXPECT_EQ(sent[0].opcode, unsigned{op == op_write  ? ACKNOWLEDGE
					   : op == op_read ? READ_RESPONSE_ONLY
							   : ATOMIC_ACKNOWLEDGE});
	EXPECT_TRUE(is_ack(sent[0].syndrome));
	EXPECT_FALSE(is_in_error(q));
}

/* H34: one cell of the matrix of rights. */
void check_rights(operation op, uint32_t qp_access, uint32_t mr_access, uint32_t pd)
{
	lone_qp q([&](auto &e) { e.res_attr.access = qp_access; });
	region::options o;
	uint32_t need = right_for(op);

	o.access = mr_access;
	o.pd = pd;

	region &r = q.dev.add_region(o);

	r.fill(0x11);
	q.hand(make(op, r.mr.iova, r.key()));
	if (!(qp_access & need))
		expect_refused(q, NAK_INVALID_REQUEST);
	else if (!(mr_access & need) || pd != q.opt.pd)
		expect_refused(q, NAK_REMOTE_ACCESS);
	else
		return expect_done(q, op);
	EXPECT_EQ(r.read(0, 64), bytes(64, 0x11));
	EXPECT_EQ(r.mr.users, 0u);
}

uint64_t word_at(region &r, uint64_t offset)
{
	bytes b = r.read(offset, 8);
	uint64_t value;

	memcpy(&value, b.data(), 8);
	return value;
}

void set_word(region &r, uint64_t offset, uint64_t value)
{
	bytes b(8);

	memcpy(b.data(), &value, 8);
	r.write(offset, b);
}

} // namespace

/* H34 */
TEST(responder_rights, all_of_queue_pair_region_and_domain__each_needed)
{
	constexpr uint32_t remote[] = {SIRO_ACCESS_REMOTE_WRITE, SIRO_ACCESS_REMOTE_READ,
				       SIRO_ACCESS_REMOTE_ATOMIC};

	for (operation op : operations)
		for (uint32_t qp_bits = 0; qp_bits < 8; qp_bits++)
			for (uint32_t mr_access = 0; mr_access < 16; mr_access++)
				for (uint32_t pd : {1u, 2u}) {
					uint32_t qp_access = 0;

					for (int i = 0; i < 3; i++)
						qp_access |= qp_bits >> i & 1 ? remote[i] : 0;
					SCOPED_TRACE(testing::Message()
						     << "operation " << op << " QP " << qp_access
						     << " MR " << mr_access << " PD " << pd);
					check_rights(op, qp_access, mr_access, pd);
				}
}

TEST(responder_key, unknown_stale_or_invalid__is_a_remote_access_error)
{
	for (operation op : operations)
		for (int how = 0; how < 3; how++) {
			lone_qp q;
			uint32_t key = q.memory.key();

			SCOPED_TRACE(testing::Message() << op << " " << how);
			if (how == 0)
				key = 0x99900;
			else if (how == 1)
				key ^= 1;
			else
				q.memory.mr.state = SIRO_MR_INVALID;
			q.hand(make(op, q.memory.mr.iova, key));
			expect_refused(q, NAK_REMOTE_ACCESS);
		}
}

TEST(responder_bounds, within__is_done)
{
	struct {
		uint64_t offset;
		uint32_t length;
	} const good[] = {{0, 8}, {0, 256}, {4095, 1}, {3840, 256}, {4088, 8}};

	for (operation op : {op_write, op_read})
		for (auto &g : good) {
			lone_qp q;
			region &r = q.dev.add_region({});

			SCOPED_TRACE(testing::Message() << op << " " << g.offset);
			q.hand(make(op, r.mr.iova + g.offset, r.key(), g.length));
			expect_done(q, op);
		}
}

TEST(responder_bounds, any_byte_outside__is_a_remote_access_error)
{
	struct {
		uint64_t offset;
		uint32_t length;
	} const bad[] = {
		{~uint64_t{0}, 1}, {~uint64_t{0}, 2}, {4096, 1},
		{4095, 2},         {4000, 97},        {0, 4097},
		{1, 4096},         {0, 0x80000000},   {uint64_t{1} << 63, 8},
	};

	for (operation op : {op_write, op_read})
		for (auto &b : bad) {
			lone_qp q;
			region &r = q.dev.add_region({});

			SCOPED_TRACE(testing::Message()
				     << op << " " << b.offset << " " << b.length);
			r.fill(0x11);
			q.hand(make(op, r.mr.iova + b.offset, r.key(), b.length));
			expect_refused(q, NAK_REMOTE_ACCESS);
			EXPECT_EQ(r.read(0, 4096), bytes(4096, 0x11));
		}
}

TEST(responder_bounds, end_of_the_address_space__does_not_wrap)
{
	for (operation op : {op_write, op_read}) {
		lone_qp q;
		region::options o;

		o.iova = ~uint64_t{0} - 4095;

		region &r = q.dev.add_region(o);

		q.hand(make(op, ~uint64_t{0}, r.key(), 1));
		expect_done(q, op);
		q.hand([&] {
			packet p = make(op, ~uint64_t{0}, r.key(), 2);

			p.psn = lone_qp::psn(1);
			return p;
		}());
		expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(1));
	}
}

/* H35 */
TEST(responder_zero_length, write_and_read__need_no_key)
{
	for (operation op : {op_write, op_read})
		for (uint32_t key : {0u, 0x99900u, 0xffffffffu}) {
			lone_qp q;

			SCOPED_TRACE(testing::Message() << op << " " << key);
			q.hand(make(op, 0xdeadbeef00, key, 0));
			expect_done(q, op);
		}
}

/* H35 */
TEST(responder_zero_length, foreign_region__is_not_looked_at)
{
	for (operation op : {op_write, op_read}) {
		lone_qp q;
		region::options o;

		o.pd = 2;
		o.access = 0;

		region &r = q.dev.add_region(o);

		q.hand(make(op, r.mr.iova - 1, r.key(), 0));
		expect_done(q, op);
	}
}

/* H35 */
TEST(responder_zero_length, write_with_immediate__takes_a_receive)
{
	lone_qp q;

	ASSERT_TRUE(q.post_recv(1, {}));
	q.hand(rdma(lone_qp::psn(0), WRITE_ONLY_IMM, 0, 0, 0));

	auto done = q.recv_completions();

	ASSERT_EQ(ends_of(done), (ends{{1, 0}}));
	EXPECT_EQ(done[0].byte_len, 0u);
	EXPECT_EQ(done[0].opcode, SIRO_WC_RECV_RDMA_WITH_IMM);
}

/* H35 */
TEST(responder_zero_length, send__takes_a_receive_without_entries_or_with_a_bad_one)
{
	lone_qp q;

	ASSERT_TRUE(q.post_recv(1, {}));
	ASSERT_TRUE(q.post_recv(2, {{0, 8, 0x99900}}));
	q.hand({request(lone_qp::psn(0), SEND_ONLY), request(lone_qp::psn(1), SEND_ONLY)});
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, 0}, {2, 0}}));
}

/* The right of the queue pair is asked for even then. */
TEST(responder_zero_length, without_the_right_of_the_queue_pair__is_refused)
{
	for (operation op : {op_write, op_read}) {
		lone_qp q([](auto &e) { e.res_attr.access = 0; });

		q.hand(make(op, 0, 0, 0));
		expect_refused(q, NAK_INVALID_REQUEST);
	}
}

TEST(responder_write, across_pages__lands_where_it_should)
{
	lone_qp q;
	region::options o;

	o.first_offset = 512;
	o.length = 20000;

	region &r = q.dev.add_region(o);
	bytes data = some_bytes(600, 5);

	r.fill(0x11);
	q.hand({rdma(lone_qp::psn(0), WRITE_FIRST, o.iova + 3300, r.key(), 600,
		     bytes(data.begin(), data.begin() + 256)),
		request(lone_qp::psn(1), WRITE_MIDDLE,
			bytes(data.begin() + 256, data.begin() + 512)),
		request(lone_qp::psn(2), WRITE_LAST, bytes(data.begin() + 512, data.end()))});
	EXPECT_EQ(r.read(3300, 600), data);
	EXPECT_EQ(r.at(3299), 0x11);
	EXPECT_EQ(r.at(3900), 0x11);
}

/* A WRITE holds its region for one batch at most: later packets look anew. */
TEST(responder_write, region_gone_between_its_packets__is_a_remote_access_error)
{
	lone_qp q;

	q.hand(rdma(lone_qp::psn(0), WRITE_FIRST, q.memory.mr.iova, q.memory.key(), 260,
		    bytes(256)));
	EXPECT_EQ(q.memory.mr.users, 0u);
	q.memory.mr.state = SIRO_MR_INVALID;
	q.hand(request(lone_qp::psn(1), WRITE_LAST, bytes(4)));
	expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(1));
}

TEST(responder_atomic, operations__change_the_word_and_answer_with_the_old_one)
{
	struct {
		uint8_t opcode;
		uint64_t before, swap_add, compare, after;
	} const cases[] = {
		{FETCH_ADD, 5, 7, 0, 12},
		{FETCH_ADD, ~uint64_t{0}, 2, 0, 1},
		{COMPARE_SWAP, 5, 7, 5, 7},
		{COMPARE_SWAP, 5, 7, 6, 5},
		{COMPARE_SWAP, 0x100000005, 7, 5, 0x100000005},
	};

	for (auto &c : cases) {
		lone_qp q;
		region &r = q.memory;

		set_word(r, 16, c.before);
		q.hand(atomic(lone_qp::psn(0), c.opcode, r.mr.iova + 16, r.key(), c.swap_add,
			      c.compare));

		auto sent = q.take_sent();

		ASSERT_EQ(sent.size(), 1u);
		EXPECT_EQ(sent[0].opcode, unsigned{ATOMIC_ACKNOWLEDGE});
		EXPECT_EQ(sent[0].original, c.before);
		EXPECT_EQ(sent[0].psn, lone_qp::psn(0));
		EXPECT_EQ(word_at(r, 16), c.after);
	}
}

/* H3, H38 */
TEST(responder_atomic, misaligned_address__is_an_invalid_request)
{
	for (uint32_t opcode : {FETCH_ADD, COMPARE_SWAP})
		for (uint64_t offset = 1; offset < 8; offset++) {
			lone_qp q;
			bytes before = q.memory.read(0, 64);

			q.hand(atomic(lone_qp::psn(0), static_cast<uint8_t>(opcode),
				      q.memory.mr.iova + offset, q.memory.key(), 1));
			expect_refused(q, NAK_INVALID_REQUEST);
			EXPECT_EQ(q.memory.read(0, 64), before);
		}
}

/* H38: nor may the word be misaligned in memory. */
TEST(responder_atomic, word_that_memory_does_not_align__is_an_invalid_request)
{
	region::options o;

	o.first_offset = 4;
	o.length = 8192;
	for (uint64_t offset : {uint64_t{0}, uint64_t{4088}}) {
		lone_qp q;
		region &r = q.dev.add_region(o);

		r.fill(0x11);
		q.hand(atomic(lone_qp::psn(0), FETCH_ADD, o.iova + offset, r.key(), 1));
		expect_refused(q, NAK_INVALID_REQUEST);
		EXPECT_EQ(r.read(0, 8192), bytes(8192, 0x11));
	}
}

/* H38 */
TEST(responder_atomic, past_the_end__is_a_remote_access_error)
{
	lone_qp q;
	region &r = q.dev.add_region({});

	q.hand(atomic(lone_qp::psn(0), FETCH_ADD, r.mr.iova + 4096, r.key(), 1));
	expect_refused(q, NAK_REMOTE_ACCESS);
}

TEST(responder_resources, none__reads_and_atomics_are_invalid_requests)
{
	for (operation op : {op_read, op_atomic}) {
		lone_qp q([](auto &e) { e.set_resources(0); });
		bytes before = q.memory.read(0, 8);

		q.hand(make(op, q.memory.mr.iova, q.memory.key()));
		expect_refused(q, NAK_INVALID_REQUEST);
		EXPECT_EQ(q.memory.read(0, 8), before);
	}
}

TEST(responder_resources, more_at_once_than_there_are__is_an_invalid_request)
{
	lone_qp q([](auto &e) { e.set_resources(1); });
	packet a = make(op_read, q.memory.mr.iova, q.memory.key());
	packet b = make(op_atomic, q.memory.mr.iova, q.memory.key());
	bytes before = q.memory.read(0, 8);

	b.psn = lone_qp::psn(1);
	q.hand({a, b});

	auto sent = q.take_sent();

	ASSERT_EQ(opcodes_of(sent), (std::vector<unsigned>{READ_RESPONSE_ONLY, ACKNOWLEDGE}));
	EXPECT_EQ(sent[1].syndrome, NAK_INVALID_REQUEST);
	EXPECT_EQ(sent[1].psn, lone_qp::psn(1));
	EXPECT_EQ(q.memory.read(0, 8), before);
}
