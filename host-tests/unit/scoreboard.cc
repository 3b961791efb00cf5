// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What became of each packet that was sent. */
#include "scoreboard.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using sirocco::Psn;
using sirocco::PsnWindow;
using sirocco::Scoreboard;

namespace {

constexpr Psn base(0xfffffe);
constexpr uint64_t us = 1000;

struct board {
	std::vector<uint32_t> stamps = std::vector<uint32_t>(PsnWindow::size);
	Scoreboard it{stamps.data()};
	uint64_t now = 1000000000;
	uint32_t una = 0, sent = 0;

	void send(uint32_t count)
	{
		for (; count; count--)
			it.sent(now, base + sent++, false);
	}

	void arrive(uint32_t n)
	{
		it.arrived(now, base + n);
	}

	void judge()
	{
		it.take_sample();
		it.judge(now, base + una, sent - una);
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
	b.now += 1000 * us;
	b.judge();
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
	b.now += 1000 * us;
	b.judge();
	ASSERT_EQ(b.lost(), (std::set<uint32_t>{0}));
	b.it.sent(b.now, base, true);
	EXPECT_TRUE(b.lost().empty());
	b.judge();
	EXPECT_TRUE(b.lost().empty()); /* 1 and 2 were sent before it */
	b.now += us;
	b.send(1);
	b.now += 100 * us;
	b.arrive(3);
	b.judge();
	b.now += 1000 * us;
	b.judge();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{0}));
}

/* The answer to a second copy shows an older hole beyond it. */
TEST(scoreboard, arrival_of_a_second_copy__shows_holes_of_higher_psns)
{
	board b;

	b.send(3);
	b.now += 100 * us;
	b.it.sent(b.now, base, true);
	b.now += 100 * us;
	b.arrive(0);
	b.una = 1;
	b.judge();
	b.now += 1000 * us;
	b.judge();
	EXPECT_EQ(b.lost(), (std::set<uint32_t>{1, 2}));
}

/* One whose answer comes at once was only late: more time next time. */
TEST(scoreboard, copy_sent_in_vain__widens_the_reorder_window)
{
	board b;

	b.send(2);
	b.now += 100 * us;
	b.arrive(1);
	b.judge();

	uint64_t before = b.it.reorder_window();

	b.now += 1000 * us;
	b.judge();
	ASSERT_EQ(b.lost(), (std::set<uint32_t>{0}));
	b.it.sent(b.now, base, true);
	b.now += us;
	b.arrive(0);
	EXPECT_EQ(b.it.take_spurious(), 1u);
	EXPECT_EQ(b.it.take_spurious(), 0u);
	EXPECT_EQ(b.it.reorder_window(), 2 * before);
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
