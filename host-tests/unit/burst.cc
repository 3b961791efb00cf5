// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "burst.h"
#include "lone_qp.h"

#include <cstring>
#include <functional>

using namespace host;

namespace {

/* BTH and ICRC of a packet without extension headers. */
constexpr uint32_t overhead = 16;

/* One packet of @payload bytes; false if there is no room. */
bool put(sirocco::Burst &burst, siro_flow &flow, uint32_t payload, uint32_t hint = 0)
{
	uint32_t size = payload + overhead;
	uint8_t *to = burst.reserve(flow, size, hint ? hint : size);

	if (!to)
		return false;

	bytes ib = encode_without_icrc(request(0, SEND_ONLY, some_bytes(payload)));

	memcpy(to, ib.data(), ib.size());
	burst.add(size);
	return true;
}

call_result with_burst(lone_qp &q, const std::function<void(sirocco::Burst &)> &function)
{
	return q.call_as(true, [&](siro_context *ctx) {
		sirocco::Burst burst(*ctx, false);

		function(burst);
	});
}

/* How many packets each burst has. */
std::vector<size_t> sizes(const lone_qp &q)
{
	std::vector<size_t> out;

	for (auto &b : q.sent)
		out.push_back(b.packets.size());
	return out;
}

using counts = std::vector<size_t>;

} // namespace

TEST(burst, equal_packets__share_one_burst)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) {
		for (int i = 0; i < 5; i++)
			put(burst, q.requester_flow, 100, 5 * (100 + overhead));
	});
	ASSERT_EQ(sizes(q), counts{5});
	for (auto &p : q.sent[0].packets)
		EXPECT_EQ(p.size(), 100u + overhead);
}

TEST(burst, shorter_packet__is_the_last)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) {
		for (uint32_t n : {100u, 100u, 60u, 60u, 60u})
			put(burst, q.requester_flow, n, 4000);
	});
	ASSERT_EQ(sizes(q), (counts{3, 2}));
	EXPECT_EQ(q.sent[0].packets[2].size(), 60u + overhead);
}

TEST(burst, longer_packet__begins_another)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) {
		put(burst, q.requester_flow, 60, 4000);
		put(burst, q.requester_flow, 100, 4000);
	});
	EXPECT_EQ(sizes(q), (counts{1, 1}));
}

TEST(burst, capacity__is_never_exceeded)
{
	lone_qp q;
	constexpr uint32_t size = 1024 + overhead;

	q.max_burst_bytes = 4 * size + 3;
	with_burst(q, [&](auto &burst) {
		for (int i = 0; i < 9; i++)
			put(burst, q.requester_flow, 1024, 9 * size);
	});
	EXPECT_EQ(sizes(q), (counts{4, 4, 1}));
}

TEST(burst, hint_above_the_largest_burst__is_cut)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) {
		EXPECT_TRUE(put(burst, q.requester_flow, 4096, 64 * (4096 + overhead)));
	});
	EXPECT_EQ(sizes(q), counts{1});
}

TEST(burst, small_packets__at_most_64)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) {
		for (int i = 0; i < 65; i++)
			put(burst, q.requester_flow, 0, 65 * overhead);
	});
	EXPECT_EQ(sizes(q), (counts{64, 1}));
}

TEST(burst, another_flow__begins_another)
{
	lone_qp q(lone_qp::ud_user());
	siro_flow a = q.opt.flow, b = q.opt.flow;

	b.daddr[3] = 9;
	with_burst(q, [&](auto &burst) {
		put(burst, a, 40, 4000);
		put(burst, b, 40, 4000);
		put(burst, a, 40, 4000);
	});
	ASSERT_EQ(sizes(q), (counts{1, 1, 1}));
	EXPECT_EQ(q.sent[1].flow.daddr[3], 9);
}

TEST(burst, no_room__is_blocked)
{
	lone_qp q;

	q.refuse_bursts = 1;

	call_result r =
		with_burst(q, [&](auto &burst) { EXPECT_FALSE(put(burst, q.requester_flow, 40)); });

	EXPECT_TRUE(r.has(SIRO_OUT_BLOCKED));
	EXPECT_EQ(r.budget_left, q.budget);
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.requester_flow.next_id, q.opt.flow.next_id);
}

TEST(burst, reserved_but_not_added__is_not_sent)
{
	lone_qp q;

	with_burst(q, [&](auto &burst) { EXPECT_TRUE(burst.reserve(q.requester_flow, 60, 60)); });
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.requester_flow.next_id, q.opt.flow.next_id);
}

TEST(burst, ip_id__counts_packets_across_bursts_and_wraps)
{
	lone_qp q;

	q.requester_flow.next_id = 0xfffe;
	with_burst(q, [&](auto &burst) {
		for (uint32_t n : {100u, 100u, 60u, 60u})
			put(burst, q.requester_flow, n, 4000);
	});
	ASSERT_EQ(sizes(q), (counts{3, 1}));
	EXPECT_EQ(q.sent[0].first_id, 0xfffe);
	EXPECT_EQ(q.sent[1].first_id, 1);
	EXPECT_EQ(q.requester_flow.next_id, 2);
}

/* H7 */
TEST(burst, each_packet__has_the_icrc_of_its_own_ip_id)
{
	for (bool v6 : {false, true}) {
		auto o = lone_qp::rc_user();

		if (v6)
			o.flow = flow_ipv6(1, 2, 50000);

		lone_qp q(o);

		with_burst(q, [&](auto &burst) {
			for (uint32_t n : {64u, 64u, 20u})
				put(burst, q.requester_flow, n, 4000);
		});
		ASSERT_EQ(sizes(q), counts{3});
		for (uint16_t i = 0; i < 3; i++)
			EXPECT_TRUE(icrc_matches(q.sent[0].packets[i], q.opt.flow,
						 static_cast<uint16_t>(q.sent[0].first_id + i)));
	}
}

TEST(burst, budget__is_one_per_packet)
{
	lone_qp q;

	q.budget = 10;

	call_result r = with_burst(q, [&](auto &burst) {
		for (int i = 0; i < 3; i++)
			put(burst, q.requester_flow, 8);
	});

	EXPECT_EQ(r.budget_left, 7u);
}
