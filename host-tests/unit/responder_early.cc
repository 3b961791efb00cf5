// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests that come before their turn and are kept. */
#include "lone_qp.h"

using namespace host;

namespace {

endpoint::options keeping()
{
	auto o = lone_qp::rc_user();

	o.hold = true;
	return o;
}

} // namespace

TEST(responder_early, long_run_of_kept_packets__is_executed_in_parts)
{
	constexpr uint32_t n = 200;
	auto o = keeping();

	o.rq_slots = 256;

	lone_qp q(o);

	for (uint32_t i = 0; i <= n; i++)
		q.post_recv(i, {});
	for (uint32_t i = 1; i < n; i++)
		q.hand(request(lone_qp::psn(i), SEND_ONLY));
	EXPECT_EQ(q.holding, int{n - 1});
	q.hand(request(lone_qp::psn(0), SEND_ONLY));
	EXPECT_TRUE(q.last_responder.has(SIRO_OUT_MORE));
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(1 + SIRO_MAX_BURST_PACKETS));

	/* What comes meanwhile is no sign of a loss. */
	q.hand(request(lone_qp::psn(n), SEND_ONLY));
	q.dev.now += second;
	q.run_responder(); /* the worker that the first call asked for */
	q.settle();
	EXPECT_EQ(siro_responder_psn(&q.responder), lone_qp::psn(n + 1));
	EXPECT_EQ(q.recv_completions().size(), size_t{n + 1});
	EXPECT_EQ(q.holding, 0);
	EXPECT_EQ(q.count(SIRO_CNT_SENT_NAKS), 0u);
}
