// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parts of READs that are answered once more. */
#include "repeat_queue.h"

#include <gtest/gtest.h>

using sirocco::Psn;
using sirocco::Repeat;
using sirocco::RepeatQueue;

TEST(repeat_queue, first__is_what_was_asked_for_first)
{
	RepeatQueue q;

	EXPECT_EQ(q.first(), nullptr);
	ASSERT_TRUE(q.add(Psn(7), 2));
	ASSERT_TRUE(q.add(Psn(3), 1));
	EXPECT_EQ(q.first()->psn.value(), 7u);
	q.pop();
	EXPECT_EQ(q.first()->psn.value(), 3u);
	q.pop();
	EXPECT_EQ(q.first(), nullptr);
}

TEST(repeat_queue, advance__goes_on_across_the_end_of_psns)
{
	RepeatQueue q;

	ASSERT_TRUE(q.add(Psn(0xffffff), 2));

	Repeat &r = *q.first();

	EXPECT_FALSE(r.begun);
	r.advance();
	EXPECT_TRUE(r.begun);
	EXPECT_EQ(r.psn.value(), 0u);
	EXPECT_EQ(r.left, 1u);
}

/* A peer may send duplicates without end. */
TEST(repeat_queue, full__takes_no_more_until_one_is_done)
{
	RepeatQueue q;
	uint32_t n = 0;

	while (n < 1000 && q.add(Psn(n), 1))
		n++;
	ASSERT_GE(n, 8u);
	ASSERT_LT(n, 1000u);
	for (uint32_t i = 0; i < 3 * n; i++) {
		ASSERT_EQ(q.first()->psn.value(), i);
		q.pop();
		ASSERT_TRUE(q.add(Psn(n + i), 1));
		ASSERT_FALSE(q.add(Psn(0), 1));
	}
	q.clear();
	EXPECT_EQ(q.first(), nullptr);
	EXPECT_TRUE(q.add(Psn(1), 1));
}
