// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A bit for each PSN of a window. */
#include "psn_window.h"

#include <gtest/gtest.h>

#include <set>

using sirocco::Psn;
using sirocco::PsnWindow;

namespace {

/* A window that wraps both the PSN and the words. */
constexpr Psn base(0xffffff - 100);

std::set<uint32_t> all(const PsnWindow &w, uint32_t end = PsnWindow::size)
{
	std::set<uint32_t> out;

	for (uint32_t i = w.next(base, 0, end); i < end; i = w.next(base, i + 1, end))
		out.insert(i);
	return out;
}

} // namespace

TEST(psn_window, next__finds_each_that_was_set)
{
	const std::set<uint32_t> want = {0, 1, 63, 64, 100, 101, 102, 500, 1023};
	PsnWindow w;

	EXPECT_TRUE(w.is_empty());
	for (auto i : want)
		w.set(base + i);
	EXPECT_EQ(all(w), want);
	EXPECT_FALSE(w.is_empty());
	EXPECT_TRUE(w.has(base + 102));
	EXPECT_FALSE(w.has(base + 103));
}

TEST(psn_window, next__of_every_single_psn)
{
	for (uint32_t i = 0; i < PsnWindow::size; i++) {
		PsnWindow w;

		w.set(base + i);
		ASSERT_EQ(w.next(base, 0, PsnWindow::size), i);
		ASSERT_EQ(w.next(base, i, PsnWindow::size), i);
		ASSERT_EQ(w.next(base, i + 1, PsnWindow::size), PsnWindow::size);
		ASSERT_EQ(w.next(base, 0, i), i); /* nothing before it */
	}
}

TEST(psn_window, clear__of_a_range__keeps_the_rest)
{
	PsnWindow w;

	for (uint32_t i = 0; i < 300; i++)
		w.set(base + i);
	w.clear(base + 10, base + 290);
	EXPECT_EQ(all(w).size(), 20u);
	w.clear(base, base + 10);
	w.clear(base + 290, base + 300);
	EXPECT_TRUE(w.is_empty());
}

TEST(psn_window, set__twice__counts_once)
{
	PsnWindow w;

	w.set(base);
	w.set(base);
	w.clear(base);
	EXPECT_TRUE(w.is_empty());
	w.clear(base);
	EXPECT_TRUE(w.is_empty());
}
