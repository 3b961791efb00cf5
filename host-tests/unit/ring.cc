// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace host;

namespace {

constexpr uint32_t stride = sizeof(siro_recv_wqe) + 2 * sizeof(siro_sge);

} // namespace

TEST(ring_pending, honest_producer__counts_up_to_all_slots)
{
	ring_memory r(8, stride, 8);

	for (uint32_t base : {0u, 5u, 0xfffffffcu})
		for (uint32_t n = 0; n <= 8; n++) {
			r.ring.index = base;
			r.ring.header->producer = base + n;
			EXPECT_EQ(siro_ring_pending(&r.ring), n) << base;
		}
}

/* H10: nothing is pending where no honest producer can be. */
TEST(ring_pending, hostile_producer__is_none)
{
	ring_memory r(8, stride, 8);

	for (uint32_t base : {0u, 5u, 0xfffffffcu})
		for (uint32_t jump : {9u, 0x7fffffffu, 0x80000000u, 0xfffffff8u, 0xffffffffu}) {
			r.ring.index = base;
			r.ring.header->producer = base + jump;
			EXPECT_EQ(siro_ring_pending(&r.ring), 0u) << base << " + " << jump;
		}
}

/* H10 */
TEST(recv_ring_take, hostile_producer__takes_nothing)
{
	siro_recv_wqe wqe;
	siro_sge sges[SIRO_MAX_SGE];

	for (uint32_t jump : {9u, 0x80000000u, 0xffffffffu}) {
		ring_memory r(8, stride, 8);

		r.ring.index = 3;
		r.ring.header->producer = 3 + jump;
		EXPECT_EQ(siro_recv_ring_take(&r.ring, &wqe, sges), 0);
		EXPECT_EQ(r.ring.index, 3u);
	}
}

/* H10 */
TEST(recv_ring_take, index_wraps_at_32_bits__keeps_to_the_slots)
{
	ring_memory r(4, stride, 4);
	siro_recv_wqe wqe;
	siro_sge sges[SIRO_MAX_SGE];

	r.ring.index = 0xfffffffe;
	r.ring.header->producer = 2;
	for (uint32_t i = 0; i < 4; i++) {
		siro_recv_wqe in = {};

		in.wr_id = i;
		memcpy(r.entry(i), &in, sizeof(in));
	}
	for (uint32_t i : {2u, 3u, 0u, 1u}) {
		ASSERT_EQ(siro_recv_ring_take(&r.ring, &wqe, sges), 1);
		EXPECT_EQ(wqe.wr_id, i);
	}
	EXPECT_EQ(siro_recv_ring_take(&r.ring, &wqe, sges), 0);
	EXPECT_EQ(r.ring.header->consumer, 2u);
}

/* H9: num_sge counts against the stride, and the bad entry is consumed. */
TEST(recv_ring_take, num_sge_above_stride__is_einval_and_consumed)
{
	for (uint32_t n : {3u, 17u, 0x10000001u, 0xffffffffu}) {
		ring_memory r(4, stride, 4);
		siro_recv_wqe in = {}, out;
		siro_sge sges[SIRO_MAX_SGE];

		in.wr_id = 77;
		in.num_sge = n;
		memcpy(r.entry(0), &in, sizeof(in));
		r.ring.header->producer = 1;
		EXPECT_EQ(siro_recv_ring_take(&r.ring, &out, sges), -22);
		EXPECT_EQ(out.wr_id, 77u);
		EXPECT_EQ(siro_recv_ring_take(&r.ring, &out, sges), 0);
	}
}

TEST(recv_ring_put, no_sges__takes_a_null_list)
{
	ring_memory r(2, stride, 2);
	siro_recv_wqe wqe = {}, out;
	siro_sge sges[SIRO_MAX_SGE];

	wqe.wr_id = 5;
	EXPECT_EQ(siro_recv_ring_put(&r.ring, &wqe, nullptr), 0);
	EXPECT_EQ(siro_recv_ring_take(&r.ring, &out, sges), 1);
	EXPECT_EQ(out.wr_id, 5u);
	EXPECT_EQ(out.num_sge, 0u);
}

TEST(recv_ring_put, full_or_too_many_sges__is_refused)
{
	ring_memory r(4, stride, 2);
	siro_recv_wqe wqe = {};
	siro_sge sges[3] = {};

	wqe.num_sge = 3;
	EXPECT_EQ(siro_recv_ring_put(&r.ring, &wqe, sges), -22);
	wqe.num_sge = 2;
	EXPECT_EQ(siro_recv_ring_put(&r.ring, &wqe, sges), 0);
	EXPECT_EQ(siro_recv_ring_put(&r.ring, &wqe, sges), 0);
	EXPECT_EQ(siro_recv_ring_put(&r.ring, &wqe, sges), -12);
}

/* H10 */
TEST(cq_ring_push, hostile_consumer__is_an_overflow)
{
	siro_cqe cqe = {};

	for (uint32_t consumer : {1u, 0x80000000u, 0xffffffffu - 8}) {
		ring_memory r(4, sizeof(siro_cqe), 4);

		r.ring.header->consumer = consumer;
		EXPECT_EQ(siro_cq_ring_push(&r.ring, &cqe), -28);
		EXPECT_EQ(r.ring.header->producer, 0u);
	}
}

TEST(cq_ring_push, full__is_enospc_until_the_consumer_moves)
{
	ring_memory r(2, sizeof(siro_cqe), 2);
	siro_cqe cqe = {};

	EXPECT_EQ(siro_cq_ring_push(&r.ring, &cqe), 0);
	EXPECT_EQ(siro_cq_ring_push(&r.ring, &cqe), 0);
	EXPECT_EQ(siro_cq_ring_push(&r.ring, &cqe), -28);
	r.ring.header->consumer = 1;
	EXPECT_EQ(siro_cq_ring_push(&r.ring, &cqe), 0);
}
