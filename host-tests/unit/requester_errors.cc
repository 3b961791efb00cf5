// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How a send queue ends: refusals of the peer, bad requests, flush. */
#include "lone_qp.h"

#include <functional>

using namespace host;

namespace {

constexpr uint64_t remote_va = 0x10000;
constexpr uint32_t remote_key = 0xabcdef01;

send_wr send(uint64_t wr_id, const std::vector<siro_sge> &sges = {})
{
	return make_send(wr_id, sges);
}

send_wr read(uint64_t wr_id, const siro_sge &sge)
{
	return make_rdma(SIRO_WR_RDMA_READ, wr_id, {sge}, remote_va, remote_key);
}

send_wr fetch_add(uint64_t wr_id, const siro_sge &sge)
{
	return make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, wr_id, sge, remote_va, remote_key, 1);
}

struct refusal {
	uint8_t syndrome;
	unsigned status;
};

constexpr refusal refusals[] = {
	{NAK_INVALID_REQUEST, SIRO_WC_REM_INV_REQ_ERR},
	{NAK_REMOTE_ACCESS, SIRO_WC_REM_ACCESS_ERR},
	{NAK_REMOTE_OPERATIONAL, SIRO_WC_REM_OP_ERR},
};

bool is_in_error(const lone_qp &q)
{
	return siro_requester_state(&q.requester) == SIRO_QPS_ERR;
}

/* A request that cannot be sent, and how it has to end. */
struct fault {
	const char *what;
	unsigned status;
	std::function<send_wr(lone_qp &)> make;
};

send_wr with_opcode(uint8_t opcode)
{
	send_wr wr = send(0);

	wr.wqe.opcode = opcode;
	return wr;
}

const fault faults[] = {
	{"opcode 8", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 return with_opcode(8);
	 }},
	{"opcode 255", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 return with_opcode(255);
	 }},
	{"REG_MR of a user", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 return with_opcode(SIRO_WR_REG_MR);
	 }},
	{"REG_INDIR_MR of a user", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 return with_opcode(SIRO_WR_REG_INDIR_MR);
	 }},
	{"READ_WITH_INV of a user", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 return with_opcode(SIRO_WR_RDMA_READ_WITH_INV);
	 }},
	{"unknown flag", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &) {
		 send_wr wr = send(0);

		 wr.wqe.flags |= 0x40;
		 return wr;
	 }},
	{"too many SGEs", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &q) {
		 send_wr wr = send(0);

		 wr.wqe.num_sge = static_cast<uint16_t>(q.opt.max_send_sge + 1);
		 return wr;
	 }},
	{"inline too long", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &q) {
		 send_wr wr = send(0);

		 wr.wqe.flags |= SIRO_SEND_INLINE;
		 wr.wqe.inline_length = q.opt.max_inline + 1;
		 return wr;
	 }},
	{"LOCAL_INV of no key", SIRO_WC_MW_BIND_ERR,
	 [](auto &) {
		 return with_opcode(SIRO_WR_LOCAL_INV);
	 }},
	{"unknown lkey", SIRO_WC_LOC_PROT_ERR,
	 [](auto &) {
		 return send(0, {{0x1000, 8, 0x99900}});
	 }},
	{"lkey with another low byte", SIRO_WC_LOC_PROT_ERR,
	 [](auto &q) {
		 siro_sge sge = q.piece(0, 8);

		 sge.lkey ^= 1;
		 return send(0, {sge});
	 }},
	{"SGE past the end", SIRO_WC_LOC_PROT_ERR,
	 [](auto &q) {
		 return send(0, {q.piece(q.memory.length() - 7, 8)});
	 }},
	{"SGE before the start", SIRO_WC_LOC_PROT_ERR,
	 [](auto &q) {
		 return send(0, {q.piece(~uint64_t{0}, 8)});
	 }},
	{"region of another PD", SIRO_WC_LOC_PROT_ERR,
	 [](auto &q) {
		 region::options o;

		 o.pd = 2;
		 return send(0, {q.dev.add_region(o).sge(0, 8)});
	 }},
	{"second SGE bad", SIRO_WC_LOC_PROT_ERR,
	 [](auto &q) {
		 return send(0, {q.piece(0, 300), {0x1000, 8, 0x99900}});
	 }},
	{"message above 2 GiB", SIRO_WC_LOC_LEN_ERR,
	 [](auto &q) {
		 return send(0, {q.piece(0, 0x80000000), q.piece(0, 1)});
	 }},
	{"sum of lengths above 4 GiB", SIRO_WC_LOC_LEN_ERR,
	 [](auto &q) {
		 return send(0, {q.piece(0, 0xffffffff), q.piece(0, 2)});
	 }},
	{"atomic of 4 bytes", SIRO_WC_LOC_LEN_ERR,
	 [](auto &q) {
		 return fetch_add(0, q.piece(0, 4));
	 }},
	{"atomic of 16 bytes", SIRO_WC_LOC_LEN_ERR,
	 [](auto &q) {
		 return fetch_add(0, q.piece(0, 16));
	 }},
};

/* Five requests, the one at @place bad. */
void check_fault(const fault &f, unsigned place)
{
	constexpr unsigned count = 5;
	lone_qp q;
	std::vector<send_wr> list;
	ends want;

	for (unsigned i = 0; i < count; i++) {
		list.push_back(i == place ? f.make(q) : send(0, {q.piece(0, 10)}));
		list.back().wqe.wr_id = i;
		want.emplace_back(i, i < place    ? unsigned{SIRO_WC_SUCCESS}
				     : i == place ? f.status
						  : unsigned{SIRO_WC_WR_FLUSH_ERR});
	}
	q.post(list);

	uint32_t good = 0;
	bool asked = false;

	/* The last good packet may go twice, to ask for an ACK. */
	for (auto &p : q.take_sent()) {
		if (p.psn == lone_qp::psn(good) && good < place)
			good++;
		if (place && p.psn == lone_qp::psn(place - 1))
			asked = asked || p.ackreq;
	}
	EXPECT_EQ(good, place);
	if (place) {
		EXPECT_TRUE(asked) << "nobody would acknowledge what is before";
		EXPECT_TRUE(q.send_completions().empty());
		EXPECT_FALSE(is_in_error(q));
		q.hand(acknowledge(lone_qp::psn(place - 1)));
	}
	EXPECT_EQ(ends_of(q.send_completions()), want);
	EXPECT_TRUE(is_in_error(q));
	EXPECT_TRUE(q.sticky_outcome[0] & SIRO_OUT_QP_ERROR);
	EXPECT_EQ(q.deadline, 0u);
}

} // namespace

/* H13, H14 */
TEST(requester_fault, at_each_place_of_five__good_ones_first_then_flush)
{
	for (auto &f : faults)
		for (unsigned place = 0; place < 5; place++) {
			SCOPED_TRACE(testing::Message() << f.what << " at " << place);
			check_fault(f, place);
		}
}

/* H14 */
TEST(requester_fault, every_unknown_opcode__ends_with_one_error)
{
	for (unsigned op = 0; op < 256; op++) {
		if (!is_unknown_opcode(op))
			continue;

		lone_qp q;
		send_wr bad = with_opcode(static_cast<uint8_t>(op));

		bad.wqe.wr_id = 1;
		q.post({bad, send(2)});
		EXPECT_EQ(ends_of(q.send_completions()),
			  (ends{{1, SIRO_WC_LOC_QP_OP_ERR}, {2, SIRO_WC_WR_FLUSH_ERR}}))
			<< op;
		EXPECT_TRUE(q.sent.empty());
	}
}

/* H13 */
TEST(requester_fault, of_a_kernel_poster__is_refused_and_the_queue_goes_on)
{
	lone_qp q(lone_qp::rc_kernel());

	EXPECT_EQ(q.post_send_kernel(send(1)), 0);
	EXPECT_EQ(q.post_send_kernel(with_opcode(8)), -22);
	EXPECT_EQ(q.post_send_kernel(send(2)), 0);
	q.run_requester();
	q.hand(acknowledge(lone_qp::psn(1)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}, {2, 0}}));
}

TEST(requester_fault, read_without_resources__is_an_operation_error)
{
	lone_qp q([](auto &e) { e.req_attr.max_rd_atomic = 0; });

	q.post({read(1, q.piece(0, 8))});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_LOC_QP_OP_ERR}}));
}

/* H34: what is fetched needs the right to write locally, what is sent does not. */
TEST(requester_fault, local_write__is_asked_of_the_sink_only)
{
	region::options o;

	o.access = 0;

	lone_qp source;

	source.post({send(1, {source.dev.add_region(o).sge(0, 8)})});
	source.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_EQ(ends_of(source.send_completions()), (ends{{1, 0}}));

	lone_qp sink;
	region &r = sink.dev.add_region(o);

	r.fill(0x11);
	sink.post({read(1, r.sge(0, 8))});
	sink.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(8)));
	EXPECT_EQ(ends_of(sink.send_completions()), (ends{{1, SIRO_WC_LOC_PROT_ERR}}));
	EXPECT_EQ(r.read(0, 8), bytes(8, 0x11));
}

TEST(requester_fault, fast_region_that_is_not_free__cannot_be_registered)
{
	lone_qp q(lone_qp::rc_kernel());
	region::options o;

	o.fast = true;

	region &r = q.dev.add_region(o);
	send_wr wr = with_opcode(SIRO_WR_REG_MR);

	r.mr.state = SIRO_MR_VALID;
	wr.wqe.wr_id = 1;
	wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(&r.mr);
	wr.wqe.reg.key = r.key();
	q.post({wr, send(2)});
	EXPECT_EQ(ends_of(q.send_completions()),
		  (ends{{1, SIRO_WC_MW_BIND_ERR}, {2, SIRO_WC_WR_FLUSH_ERR}}));
}

TEST(requester_refused, each_nak__is_its_status_between_success_and_flush)
{
	for (auto &r : refusals)
		for (uint32_t at = 0; at < 3; at++) {
			lone_qp q;
			ends want;

			q.post({send(0), send(1), send(2)});
			for (uint32_t i = 0; i < 3; i++)
				want.emplace_back(i, i < at    ? unsigned{SIRO_WC_SUCCESS}
						     : i == at ? r.status
							       : unsigned{SIRO_WC_WR_FLUSH_ERR});
			q.hand(acknowledge(lone_qp::psn(at), r.syndrome));
			EXPECT_EQ(ends_of(q.send_completions()), want);
			EXPECT_TRUE(is_in_error(q));
			EXPECT_TRUE(q.last_requester.has(SIRO_OUT_QP_ERROR));
			EXPECT_EQ(q.deadline, 0u);
		}
}

/* H18: after each response of a READ. */
TEST(requester_refused, in_the_middle_of_a_read__ends_the_queue)
{
	for (auto &r : refusals)
		for (uint32_t k = 0; k < 4; k++) {
			lone_qp q;

			q.post({read(1, q.piece(0, 4 * lone_qp::mtu)), send(2)});
			q.take_sent();
			for (uint32_t i = 0; i < k; i++)
				q.hand(read_response(lone_qp::psn(i),
						     i ? READ_RESPONSE_MIDDLE : READ_RESPONSE_FIRST,
						     bytes(lone_qp::mtu)));
			q.hand(acknowledge(lone_qp::psn(k), r.syndrome));
			EXPECT_EQ(ends_of(q.send_completions()),
				  (ends{{1, r.status}, {2, SIRO_WC_WR_FLUSH_ERR}}));
			EXPECT_TRUE(q.sent.empty());
			EXPECT_EQ(q.deadline, 0u);
		}
}

/* H23: what is left of a batch is nobody's. */
TEST(requester_refused, rest_of_the_batch__is_not_looked_at)
{
	lone_qp q;

	q.post({send(1), send(2), send(3)});
	q.hand({acknowledge(lone_qp::psn(0)), acknowledge(lone_qp::psn(1), NAK_REMOTE_ACCESS),
		acknowledge(lone_qp::psn(2))});
	EXPECT_EQ(ends_of(q.send_completions()),
		  (ends{{1, 0}, {2, SIRO_WC_REM_ACCESS_ERR}, {3, SIRO_WC_WR_FLUSH_ERR}}));
}

TEST(requester_bad_response, read_response_of_wrong_length__ends_the_queue)
{
	for (uint32_t length : {0u, 99u, 101u, 256u}) {
		lone_qp q;

		q.memory.fill(0x11);
		q.post({read(1, q.piece(0, 100)), send(2)});
		q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(length, 0xee)));
		EXPECT_EQ(ends_of(q.send_completions()),
			  (ends{{1, SIRO_WC_BAD_RESP_ERR}, {2, SIRO_WC_WR_FLUSH_ERR}}))
			<< length;
		EXPECT_EQ(q.memory.read(0, 512), bytes(512, 0x11));
	}
}

TEST(requester_bad_response, first_that_is_not_full__ends_the_queue)
{
	for (uint32_t length : {0u, 252u, 260u}) {
		lone_qp q;

		q.post({read(1, q.piece(0, 3 * lone_qp::mtu))});
		q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_FIRST, bytes(length)));
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}))
			<< length;
	}
}

TEST(requester_bad_response, of_another_kind_than_asked_for__ends_the_queue)
{
	lone_qp to_send, to_atomic, to_read, atomic_to_send;

	to_send.post({send(1)});
	to_send.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, {}));
	EXPECT_EQ(ends_of(to_send.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}));

	to_atomic.post({fetch_add(1, to_atomic.piece(0, 8))});
	to_atomic.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(8)));
	EXPECT_EQ(ends_of(to_atomic.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}));

	to_read.post({read(1, to_read.piece(0, 8))});
	to_read.hand(atomic_response(lone_qp::psn(0), 0));
	EXPECT_EQ(ends_of(to_read.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}));

	atomic_to_send.post({send(1)});
	atomic_to_send.hand(atomic_response(lone_qp::psn(0), 0));
	EXPECT_EQ(ends_of(atomic_to_send.send_completions()), (ends{{1, SIRO_WC_BAD_RESP_ERR}}));
}

/* A NAK is an ACKNOWLEDGE; in a response its syndrome means nothing. */
TEST(requester_bad_response, response_with_a_nak_syndrome__is_ignored)
{
	lone_qp q;
	packet p = read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(8));

	p.syndrome = NAK_REMOTE_ACCESS;
	q.post({read(1, q.piece(0, 8))});
	q.hand(p);
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_FALSE(is_in_error(q));
}

TEST(requester_bad_response, invalidation_that_fails__ends_the_queue)
{
	lone_qp q(lone_qp::rc_kernel());
	send_wr wr = read(1, q.piece(0, 8));

	wr.wqe.opcode = SIRO_WR_RDMA_READ_WITH_INV;
	wr.wqe.imm = q.memory.key(); /* not a fast region */
	q.post({wr});
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, bytes(8)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_LOC_QP_OP_ERR}}));
}

/* H40: a flushed completion says what it was. */
TEST(requester_flush, completions__carry_their_opcode)
{
	const struct {
		uint8_t wr, wc;
	} table[] = {
		{SIRO_WR_RDMA_WRITE, SIRO_WC_RDMA_WRITE},
		{SIRO_WR_RDMA_WRITE_WITH_IMM, SIRO_WC_RDMA_WRITE},
		{SIRO_WR_SEND, SIRO_WC_SEND},
		{SIRO_WR_SEND_WITH_IMM, SIRO_WC_SEND},
		{SIRO_WR_SEND_WITH_INV, SIRO_WC_SEND},
		{SIRO_WR_RDMA_READ, SIRO_WC_RDMA_READ},
		{SIRO_WR_RDMA_READ_WITH_INV, SIRO_WC_RDMA_READ},
		{SIRO_WR_ATOMIC_CMP_AND_SWP, SIRO_WC_COMP_SWAP},
		{SIRO_WR_ATOMIC_FETCH_AND_ADD, SIRO_WC_FETCH_ADD},
		{SIRO_WR_LOCAL_INV, SIRO_WC_LOCAL_INV},
		{SIRO_WR_REG_MR, SIRO_WC_REG_MR},
	};
	lone_qp q(lone_qp::rc_kernel());
	uint64_t id = 0;

	q.modify(SIRO_QPS_ERR);
	for (auto &t : table) {
		send_wr wr = with_opcode(t.wr);

		wr.wqe.wr_id = id++;
		wr.wqe.flags = 0; /* flushed ones complete all the same */
		ASSERT_EQ(q.post_send_kernel(wr), 0);
	}
	q.run_requester();

	auto done = q.send_completions();

	ASSERT_EQ(done.size(), std::size(table));
	for (size_t i = 0; i < done.size(); i++) {
		EXPECT_EQ(done[i].wr_id, i);
		EXPECT_EQ(done[i].status, SIRO_WC_WR_FLUSH_ERR);
		EXPECT_EQ(done[i].opcode, table[i].wc);
	}
	EXPECT_TRUE(q.sent.empty());
}

/* H23: everything once, in order, nothing as a success. */
TEST(requester_flush, started_and_waiting__all_once_in_posting_order)
{
	lone_qp q([](auto &e) { e.req_attr.max_rd_atomic = 1; });

	q.post({send(1), read(2, q.piece(0, 8)), read(3, q.piece(0, 8)), send(4)});
	q.take_sent();
	q.modify(SIRO_QPS_ERR);
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_WR_FLUSH_ERR},
						       {2, SIRO_WC_WR_FLUSH_ERR},
						       {3, SIRO_WC_WR_FLUSH_ERR},
						       {4, SIRO_WC_WR_FLUSH_ERR}}));
	q.hand(acknowledge(lone_qp::psn(0)));
	q.run_requester();
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_TRUE(q.sent.empty());
	q.post({send(5)});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{5, SIRO_WC_WR_FLUSH_ERR}}));
}

/* H28 */
TEST(requester_flush, budget__asks_for_more_until_all_are_flushed)
{
	for (uint32_t n : {1u, 3u, 4u, 5u}) {
		lone_qp q;

		for (uint32_t i = 0; i < n; i++)
			ASSERT_TRUE(q.post_send(send(i)));
		q.budget = 4;
		EXPECT_EQ(q.modify_requester(SIRO_QPS_ERR).has(SIRO_OUT_MORE), n > 4);
		q.settle();
		EXPECT_EQ(q.send_completions().size(), n);
	}
}
