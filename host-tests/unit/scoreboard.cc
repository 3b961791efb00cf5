// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What became of each packet that was sent. */
#include "scoreboard.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using sirocco::Psn;
using sirocco::PsnWindow;
using sirocco::Scoreboard;
using Answer = sirocco::Scoreboard::Answer;

namespace {

constexpr Psn base(0xfffffe);
constexpr uint64_t us = 1000;

struct board {
	std::vector<uint32_t> stamps = std::vector<uint32_t>(PsnWindow::size);
	Scoreboard it{stamps.data()};
	uint64_t now = 1000000000;
	uint32_t una = 0, sent = 0;
	Answer answer = Answer::acknowledgement; /* what all wait for */

	void send(uint32_t count)
	{
		for (; count; count--)
			it.sent(now, base + sent++, false);
	}

	void send_again(uint32_t n)
	{
		it.sent(now, base + n, true);
	}

	void arrive(uint32_t n)
	{
		it.arrived(now, base + n, answer == Answer::response);
	}

	void judge()
	{
		it.take_sample();
		it.judge(now, base + una, sent - una, [this](Psn) { return answer; });
	}

	/* The time at which the next one is lost. */
	void wait()
	{
		ASSERT_NE(it.deadline(), 0u);
		now = it.deadline();
		judge();
	}

	std::set<uint32_t> lost()
	{
		std::set<uint32_t> out;
		uint32_t span = sent - una;

		for (uint32_t i = it.next_lost(base + una, 0, span); i < span;
		     i = it.next_lost(base + una, i + 1, span))
			out.insert(una + i);
		return out;
	}
};

} // namespace

TEST(scoreboard, packet_before_those_that_arrived__is_lost_after_the_reorder_window)
{
	board b;

	b.send(5);
	b.now += 100 * us;
	for (uint32_t i : {0, 2, 3, 4})
		b.arrive(i);
	b.una = 1;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	ASSERT_NE(b.it.deadline(), 0u);
	EXPECT_GT(b.it.deadline(), b.now);
	b.now = b.it.deadline() - us;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	b.now += 2 * us;
	b.judge();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1}));
	EXPECT_EQ(b.it.deadline(), 0u);
}

TEST(scoreboard, nothing_later_has_arrived__nothing_is_lost)
{
	board b;

	b.send(5);
	b.now += 100 * us;
	b.arrive(0);
	b.una = 1;
	b.now += 1000000 * us;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	EXPECT_EQ(b.it.deadline(), 0u);
}

/* Stamps come round again: an arrival of long ago is not the newest for ever. */
TEST(scoreboard, after_long_idleness__loss_is_found)
{
	board b;

	b.send(1);
	b.now += 100 * us;
	b.arrive(0);
	b.una = 1;
	b.judge();
	b.now += 700 * 1000000 * us;
	b.send(3);
	b.now += 100 * us;
	b.arrive(2);
	b.arrive(3);
	b.judge();
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1}));
}

/* A second copy that is lost too is found by what was sent after it. */
TEST(scoreboard, second_copy__is_judged_by_its_own_time)
{
	board b;

	b.send(3);
	b.now += 100 * us;
	b.arrive(1);
	b.arrive(2);
	b.judge();
	b.wait();
	ASSERT_EQ(b.lost(), (std::set<uint32_t>{0}));
	b.send_again(0);
	EXPECT_TRUE(b.lost().empty());
	b.judge();
	EXPECT_TRUE(b.lost().empty()); /* 1 and 2 were sent before it */
	b.now += us;
	b.send(1);
	b.now += 100 * us;
	b.arrive(3);
	b.judge();
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{0}));
}

/* The answer to a second copy shows an older hole beyond it. */
TEST(scoreboard, arrival_of_a_second_copy__shows_holes_of_higher_psns)
{
	board b;

	b.send(3);
	b.now += 100 * us;
	b.send_again(0);
	b.now += 100 * us;
	b.arrive(0);
	b.una = 1;
	b.judge();
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1, 2}));
}

/* The machine was busy, so a timeout sent again what had arrived. */
TEST(scoreboard, copy_that_is_answered_along_with_others__shows_no_holes)
{
	board b;

	b.send(100);
	b.now += 20000 * us;
	b.it.lose(base);
	b.send_again(0);
	b.now += 10000 * us;
	for (uint32_t i = 0; i < 32; i++)
		b.arrive(i);
	b.una = 32;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	b.now += 10000 * us;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
}

TEST(scoreboard, copy_that_is_answered_too_soon__shows_no_holes)
{
	board b;

	b.send(2);
	b.now += 1000 * us;
	b.arrive(0);
	b.arrive(1);
	b.una = 2;
	b.judge();
	b.send(100);
	b.now += 20000 * us;
	b.it.lose(base + 2);
	b.send_again(2);
	b.now += 100 * us;
	b.arrive(2);
	b.una = 3;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
}

/* What arrives twice was sent again in vain: more time next time. */
TEST(scoreboard, copy_sent_in_vain__widens_the_reorder_window)
{
	board b;

	b.send(2);
	b.now += 100 * us;
	b.arrive(1);
	b.judge();
	b.wait();
	ASSERT_EQ(b.lost(), (std::set<uint32_t>{0}));
	b.send_again(0);
	b.now += us;
	b.arrive(0);

	uint64_t before = b.it.reorder_window();

	EXPECT_FALSE(b.it.came_twice(base + 1)); /* by the network */
	EXPECT_EQ(b.it.reorder_window(), before);
	EXPECT_TRUE(b.it.came_twice(base));
	EXPECT_EQ(b.it.reorder_window(), std::min(2 * before, 4000 * us));
	EXPECT_FALSE(b.it.came_twice(base)); /* a third copy is no news */
}

/* Who has twice as much as was sent twice, and more, tells of the network. */
TEST(scoreboard, duplicates_at_the_peer__count_if_there_are_about_as_many)
{
	for (uint32_t twice : {1, 6, 40}) {
		board b;

		b.send(8);
		for (uint32_t i = 0; i < 8; i++) {
			EXPECT_EQ(b.it.came_twice(0), 0u);
			b.send_again(i);
		}

		uint64_t before = b.it.reorder_window();

		EXPECT_EQ(b.it.came_twice(twice), twice == 6 ? 6u : 0u);
		EXPECT_EQ(b.it.reorder_window() > before, twice == 6);
	}
}

/* Holes of READs are answered before what else is due. */
TEST(scoreboard, response_asked_for_again__tells_of_others_of_that_kind_only)
{
	board b;

	b.answer = Answer::response;
	b.send(6);
	b.now += 100 * us;
	b.arrive(2);
	b.judge();
	b.wait();
	ASSERT_EQ(b.lost(), (std::set<uint32_t>{0, 1}));
	b.send_again(0);
	b.send_again(1);
	b.now += 100 * us;
	b.arrive(1);
	b.judge();
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{0}));
}

/* All of a READ are asked for at once: how long one took tells nothing of the next. */
TEST(scoreboard, response_that_others_overtake__is_lost_after_the_reorder_window)
{
	board b;
	uint64_t overtaken;

	b.answer = Answer::response;
	b.send(1000);
	b.now += 100 * us;
	b.arrive(0);
	b.una = 1;
	b.judge();
	b.now += 4 * us;
	overtaken = b.now;
	for (uint32_t i = 2; b.lost().empty() && i < 1000; i++) {
		b.arrive(i);
		b.judge();
		ASSERT_NE(b.it.deadline(), 0u);
		ASSERT_GE(b.it.deadline() + us, b.now);
		b.now = std::min(b.now + 100 * us, b.it.deadline());
		b.judge();
	}
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1}));
	EXPECT_NEAR(b.now - overtaken, b.it.reorder_window(), us);
}

TEST(scoreboard, response_that_comes_late__is_waited_for_when_it_happens_again)
{
	board b;

	b.answer = Answer::response;
	for (int i = 0; i < 2; i++) {
		b.send(3);
		b.now += 100 * us;
		b.arrive(b.sent - 1);
		b.judge();
		b.now += 3600 * us;
		b.arrive(b.sent - 2);
		b.arrive(b.sent - 3);
		b.una = b.sent;
		b.judge();
		EXPECT_TRUE(b.lost().empty());
	}
	EXPECT_GE(b.it.reorder_window(), 3600 * us);
}

TEST(scoreboard, overtake__all_of_a_request_are_lost_at_once)
{
	board b;

	b.answer = Answer::response;
	b.send(8);
	b.now += 100 * us;
	b.it.overtake(b.now, base + 2, base + 6);
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{2, 3, 4, 5}));
}

/* Who says so may have said it before the second copy came. */
TEST(scoreboard, overtake_of_a_second_copy__waits_for_a_round_trip)
{
	board b;

	b.answer = Answer::response;
	b.send(1);
	b.now += 1000 * us;
	b.arrive(0);
	b.una = 1;
	b.judge();
	b.send(2);
	b.send_again(1);
	b.now += 500 * us;
	b.it.overtake(b.now, base + 1, base + 2);
	b.judge();
	EXPECT_EQ(b.it.deadline(), 0u);
	b.now += 600 * us;
	b.it.overtake(b.now, base + 1, base + 2);
	b.judge();
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1}));
}

/* A packet that comes late by itself shows how much time is needed. */
TEST(scoreboard, late_packet__is_waited_for_when_it_happens_again)
{
	board b;

	/* Losses make the window short. */
	for (uint32_t i = 0; i < 40; i++) {
		b.send(2);
		b.now += 100 * us;
		b.arrive(b.sent - 1);
		b.judge();
		b.wait();
		b.it.sent(b.now, base + b.sent - 2, true);
		b.now += 100 * us;
		b.arrive(b.sent - 2);
		b.una = b.sent;
		b.judge();
	}

	uint64_t before = b.it.reorder_window();

	EXPECT_LT(before, 300 * us);
	b.send(3);
	b.now += 100 * us;
	b.arrive(b.sent - 1);
	b.judge();
	b.now += 2 * before / 3;
	b.arrive(b.sent - 2);
	b.judge();
	EXPECT_EQ(b.it.reorder_window(), before);
	b.now += before / 4;
	b.arrive(b.sent - 3);
	b.judge();
	EXPECT_GT(b.it.reorder_window(), before);
	EXPECT_TRUE(b.lost().empty());
}

/* Whoever wakes up late has not looked at what has come meanwhile. */
TEST(scoreboard, timer_much_too_late__nobody_is_lost_at_once)
{
	board b;

	b.send(2);
	b.now += 100 * us;
	b.arrive(1);
	b.judge();
	b.now = b.it.deadline() + 100000 * us;
	b.judge();
	EXPECT_TRUE(b.lost().empty());
	ASSERT_GT(b.it.deadline(), b.now);
	b.wait();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{0}));
}

TEST(scoreboard, judge__leaves_out_what_it_may_not_say)
{
	board b;

	b.send(4);
	b.now += 100 * us;
	b.arrive(3);
	for (int i = 0; i < 2; i++) {
		b.it.take_sample();
		b.it.judge(b.now, base, 4, [](Psn psn) {
			return psn == base + 1 ? Answer::untold : Answer::acknowledgement;
		});
		b.now = b.it.deadline();
	}
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{0, 2}));
	EXPECT_TRUE(b.it.is_flying(base + 1));
}

TEST(scoreboard, last_flying__passes_what_has_arrived_or_is_lost)
{
	board b;

	b.send(5);
	b.arrive(4);
	b.it.lose(base + 3);
	EXPECT_EQ(b.it.last_flying(base, 5), 2u);
	for (uint32_t i = 0; i < 3; i++)
		b.arrive(i);
	EXPECT_EQ(b.it.last_flying(base, 5), 5u);
}

TEST(scoreboard, without_memory__notes_nothing)
{
	Scoreboard none(nullptr);

	none.sent(1, base, false);
	EXPECT_FALSE(none.is_kept());
	EXPECT_FALSE(none.is_flying(base));
	EXPECT_FALSE(none.arrived(2, base));
}
