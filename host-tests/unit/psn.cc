// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "psn.h"

#include <gtest/gtest.h>

using sirocco::Psn;

TEST(psn, add__wraps_at_24_bits)
{
	EXPECT_EQ((Psn(0xffffff) + 1).value(), 0u);
	EXPECT_EQ((Psn(0) - 1).value(), 0xffffffu);
	EXPECT_EQ(Psn(0xff000001).value(), 1u);
}

TEST(psn, ahead_of__both_sides_of_the_wrap)
{
	EXPECT_EQ(Psn(2).ahead_of(Psn(0xfffffe)), 4);
	EXPECT_EQ(Psn(0xfffffe).ahead_of(Psn(2)), -4);
	EXPECT_EQ(Psn(0x800000).ahead_of(Psn(0)), -0x800000);
	EXPECT_EQ(Psn(0x7fffff).ahead_of(Psn(0)), 0x7fffff);
}

TEST(psn, since__counts_forward_only)
{
	EXPECT_EQ(Psn(1).since(Psn(0xffffff)), 2u);
	EXPECT_EQ(Psn(0xffffff).since(Psn(1)), 0xfffffeu);
}

TEST(psn, less__is_serial_order)
{
	EXPECT_TRUE(Psn(0xffffff) < Psn(0));
	EXPECT_FALSE(Psn(0) < Psn(0xffffff));
	EXPECT_TRUE(Psn(5) <= Psn(5));
	EXPECT_FALSE(Psn(5) < Psn(5));
}
