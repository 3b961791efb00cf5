// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responses that come before their turn and are kept. */
#include "lone_qp.h"

using namespace host;

namespace {

endpoint::options keeping()
{
	auto o = lone_qp::rc_user();

	o.hold = true;
	return o;
}

void post_read(lone_qp &q, uint64_t wr_id, uint32_t packets)
{
	q.post({make_rdma(SIRO_WR_RDMA_READ, wr_id, {q.piece(0, packets * lone_qp::mtu)}, 0x1000,
			  0x55)});
}

packet middle(uint32_t n)
{
	return read_response(lone_qp::psn(n), READ_RESPONSE_MIDDLE, some_bytes(lone_qp::mtu, n));
}

} // namespace

/* The ACK of a READ's last PSN overtakes the response. */
TEST(requester_early, ack_before_the_response_of_its_psn__takes_no_place)
{
	lone_qp q(keeping());

	post_read(q, 1, 3);
	q.take_sent();
	q.hand(middle(1));
	q.hand(acknowledge(lone_qp::psn(2)));
	q.hand(read_response(lone_qp::psn(2), READ_RESPONSE_LAST, some_bytes(lone_qp::mtu, 2)));
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_FIRST, some_bytes(lone_qp::mtu, 0)));
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(q.holding, 0);
}

/* A refusal overtakes the last response of the READ before it. */
TEST(requester_early, refusal_before_a_response__waits_for_its_turn)
{
	lone_qp q(keeping());

	post_read(q, 1, 1);
	q.post({make_rdma(SIRO_WR_RDMA_WRITE, 2, {q.piece(0, 4)}, 0x1000, 0x66)});
	q.take_sent();
	q.hand(acknowledge(lone_qp::psn(1), NAK_REMOTE_ACCESS));
	q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, some_bytes(lone_qp::mtu)));
	EXPECT_EQ(ends_of(q.send_completions()),
		  (ends{{1, SIRO_WC_SUCCESS}, {2, SIRO_WC_REM_ACCESS_ERR}}));
	EXPECT_EQ(q.holding, 0);
}
