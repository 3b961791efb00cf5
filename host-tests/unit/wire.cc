// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire.h"
#include "wire_packet.h"

#include <gtest/gtest.h>

namespace wire = sirocco::wire;

/* H5: lengths follow from the properties, so these must be right for all opcodes. */
TEST(wire, properties__all_opcodes_against_independent_table)
{
	for (unsigned op = 0; op < 256; op++) {
		auto want = host::properties_of(static_cast<uint8_t>(op));
		auto props = wire::properties(static_cast<uint8_t>(op));

		SCOPED_TRACE(op);
		ASSERT_EQ(!!(props & wire::known), want.known);
		if (!want.known)
			continue;
		EXPECT_EQ(!(props & wire::response), want.request);
		EXPECT_EQ(!!(props & wire::payload), want.payload);
		EXPECT_EQ(!!(props & wire::has_reth), want.reth);
		EXPECT_EQ(!!(props & wire::has_imm), want.imm);
		EXPECT_EQ(!!(props & wire::has_ieth), want.inv);
		EXPECT_EQ(wire::header_bytes(props), want.header_bytes());
	}
}

TEST(wire, credit_code__never_promises_more_than_there_is)
{
	for (uint32_t n = 0; n < 70000; n++) {
		auto code = wire::credit_code(n);

		ASSERT_LT(code, wire::credits_unlimited);
		ASSERT_LE(wire::credit_count(code), n);
		if (code + 1 < wire::credits_unlimited) {
			ASSERT_GT(wire::credit_count(static_cast<uint8_t>(code + 1)), n);
		}
	}
}

TEST(wire, rnr_nanoseconds__values_of_the_specification)
{
	EXPECT_EQ(wire::rnr_nanoseconds(0), 655360000u);
	EXPECT_EQ(wire::rnr_nanoseconds(1), 10000u);
	EXPECT_EQ(wire::rnr_nanoseconds(14), 1280000u);
	EXPECT_EQ(wire::rnr_nanoseconds(31), 491520000u);
}
