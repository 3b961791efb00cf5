// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "retransmit.h"

#include <gtest/gtest.h>

using sirocco::Psn;
using sirocco::RetransmitTimer;

namespace {

constexpr uint64_t start = 1000000000;
/* Three of it are a timeout between the limits. */
constexpr uint64_t round_trip = RetransmitTimer::max_rto / 8;
constexpr uint8_t long_timeout = 31;

RetransmitTimer timer_with(uint8_t timeout, uint8_t retry_count)
{
	RetransmitTimer t;

	t.configure(timeout, retry_count);
	t.reset();
	return t;
}

/* One packet goes at @now and is acknowledged after @rtt. Returns the end. */
uint64_t exchange(RetransmitTimer &t, uint64_t now, uint64_t rtt, bool outstanding = false)
{
	t.sent(now);
	t.sample(now, Psn(7));
	now += rtt;
	t.sampled(now, Psn(8));
	t.acknowledged(now, outstanding);
	return now;
}

uint64_t timeout_of(RetransmitTimer &t, uint64_t now)
{
	t.sent(now);
	return t.deadline() - now;
}

} // namespace

TEST(retransmit_timer, nothing_sent__has_no_deadline)
{
	RetransmitTimer t = timer_with(14, 7);

	EXPECT_EQ(t.deadline(), 0u);
	EXPECT_FALSE(t.expired(~uint64_t{0}));
}

TEST(retransmit_timer, sent_again__keeps_the_deadline_of_the_oldest)
{
	RetransmitTimer t = timer_with(long_timeout, 7);

	t.sent(start);
	t.sent(start + 1000);
	EXPECT_EQ(t.deadline(), start + RetransmitTimer::first_rto);
	EXPECT_FALSE(t.expired(start + RetransmitTimer::first_rto - 1));
	EXPECT_TRUE(t.expired(start + RetransmitTimer::first_rto));
}

/* RFC 6298, 2.2: SRTT = R, RTTVAR = R / 2. */
TEST(retransmit_timer, first_sample__three_round_trips)
{
	RetransmitTimer t = timer_with(long_timeout, 7);
	uint64_t now = exchange(t, start, round_trip);

	EXPECT_EQ(timeout_of(t, now), 3 * round_trip);
}

/* RFC 6298, 2.3 with a round trip half as long as before. */
TEST(retransmit_timer, second_sample__is_smoothed)
{
	RetransmitTimer t = timer_with(long_timeout, 7);
	uint64_t now = exchange(t, exchange(t, start, round_trip), round_trip / 2);
	uint64_t rttvar = (3 * (round_trip / 2) + round_trip / 2) / 4;
	uint64_t srtt = (7 * round_trip + round_trip / 2) / 8;

	EXPECT_EQ(timeout_of(t, now), srtt + 4 * rttvar);
}

TEST(retransmit_timer, many_equal_samples__approach_the_round_trip)
{
	RetransmitTimer t = timer_with(long_timeout, 7);
	uint64_t now = start;

	for (int i = 0; i < 100; i++)
		now = exchange(t, now, round_trip);

	uint64_t timeout = timeout_of(t, now);

	EXPECT_GE(timeout, round_trip);
	EXPECT_LE(timeout, round_trip + round_trip / 100);
}

TEST(retransmit_timer, tiny_and_huge_round_trips__stay_within_the_limits)
{
	RetransmitTimer fast = timer_with(long_timeout, 7), slow = timer_with(long_timeout, 7);
	uint64_t now = start;

	for (int i = 0; i < 100; i++)
		now = exchange(fast, now, 0);
	EXPECT_EQ(timeout_of(fast, now), uint64_t{RetransmitTimer::min_rto});
	now = exchange(slow, start, 10 * RetransmitTimer::max_rto);
	EXPECT_EQ(timeout_of(slow, now), uint64_t{RetransmitTimer::max_rto});
}

/* Karn's rule */
TEST(retransmit_timer, retransmitted__voids_the_sample)
{
	RetransmitTimer t = timer_with(long_timeout, 7);

	t.sent(start);
	t.sample(start, Psn(7));
	t.retransmitted();
	t.sampled(start + round_trip, Psn(8));
	t.acknowledged(start + round_trip, false);
	EXPECT_EQ(timeout_of(t, start + round_trip), uint64_t{RetransmitTimer::first_rto});
}

TEST(retransmit_timer, acknowledgement_before_the_sample__measures_nothing)
{
	RetransmitTimer t = timer_with(long_timeout, 7);

	t.sent(start);
	t.sample(start, Psn(7));
	t.sampled(start + 1, Psn(7));
	t.acknowledged(start + 1, true);
	EXPECT_EQ(t.deadline(), start + 1 + RetransmitTimer::first_rto);
	t.sampled(start + round_trip, Psn(8));
	t.acknowledged(start + round_trip, true);
	EXPECT_EQ(t.deadline(), start + round_trip + 3 * round_trip);
}

TEST(retransmit_timer, back_off__doubles_up_to_the_limit)
{
	RetransmitTimer t = timer_with(long_timeout, 7);
	uint64_t now = start, want = RetransmitTimer::first_rto;

	t.sent(now);
	for (int i = 0; i < 40; i++) {
		EXPECT_EQ(t.deadline() - now, want) << i;
		now = t.deadline();
		EXPECT_TRUE(t.expired(now));
		t.back_off(now);
		want = std::min(2 * want, uint64_t{RetransmitTimer::max_rto});
	}
}

TEST(retransmit_timer, acknowledged__ends_the_back_off)
{
	RetransmitTimer t = timer_with(long_timeout, 7);
	uint64_t now = start;

	t.sent(now);
	for (int i = 0; i < 3; i++)
		t.back_off(now = t.deadline());
	t.acknowledged(now, true);
	EXPECT_EQ(t.deadline() - now, uint64_t{RetransmitTimer::first_rto});
	t.acknowledged(now, false);
	EXPECT_EQ(t.deadline(), 0u);
}

/* (retry count + 1) timeouts without progress are the end, not earlier or later. */
TEST(retransmit_timer, patience__is_retry_count_plus_one_timeouts)
{
	for (uint8_t timeout : {1, 8, 14, 18})
		for (uint8_t retries : {0, 1, 7}) {
			RetransmitTimer t = timer_with(timeout, retries);
			uint64_t patience = (uint64_t{4096} << timeout) * (retries + 1u);
			int expirations = 0;

			t.sent(start);
			while (!t.exhausted(t.deadline())) {
				ASSERT_LT(t.deadline(), start + patience);
				ASSERT_LT(++expirations, 10000);
				t.back_off(t.deadline());
			}
			EXPECT_EQ(t.deadline(), start + patience) << +timeout << " " << +retries;
			EXPECT_FALSE(t.exhausted(start + patience - 1));
		}
}

TEST(retransmit_timer, progress__begins_the_patience_anew)
{
	RetransmitTimer t = timer_with(8, 0);
	uint64_t patience = uint64_t{4096} << 8;

	t.sent(start);
	t.acknowledged(start + patience - 1, true);
	EXPECT_FALSE(t.exhausted(start + patience));
	EXPECT_TRUE(t.exhausted(start + 2 * patience - 1));
}

TEST(retransmit_timer, timeout_zero__never_gives_up)
{
	RetransmitTimer t = timer_with(0, 0);
	uint64_t now = start;

	t.sent(now);
	for (int i = 0; i < 1000; i++) {
		now = t.deadline();
		ASSERT_TRUE(t.expired(now));
		ASSERT_FALSE(t.exhausted(now));
		t.back_off(now);
	}
	EXPECT_FALSE(t.exhausted(~uint64_t{0}));
}

/* H15: the silence that the peer asked for is not waiting for an answer. */
TEST(retransmit_timer, hold__stops_the_timer_and_does_not_count_as_patience)
{
	RetransmitTimer t = timer_with(8, 0);
	uint64_t patience = uint64_t{4096} << 8, until = start + 100 * patience;

	t.sent(start);
	t.hold(until);
	EXPECT_EQ(t.deadline(), 0u);
	EXPECT_FALSE(t.expired(until));
	t.sent(until);
	EXPECT_GT(t.deadline(), until);
	EXPECT_FALSE(t.exhausted(until + patience - 1));
	EXPECT_TRUE(t.exhausted(until + patience));
}
