// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "regions.h"
#include "endpoint.h"

#include <gtest/gtest.h>

using namespace host;

/* H36: every page size and offset against the region's byte-wise model. */
TEST(copy_region, page_sizes_and_offsets__against_bytewise_model)
{
	for (uint32_t shift : {12u, 16u, 21u})
		for (uint32_t first : {0u, 512u, (1u << shift) - 1})
			for (uint32_t at : {0u, 1u, 511u, 4095u}) {
				region::options o;

				o.page_shift = shift;
				o.first_offset = first;
				o.length = 20000;

				region r(0x100, o);
				bytes data(9000), back(9000);

				for (size_t i = 0; i < data.size(); i++)
					data[i] = static_cast<uint8_t>(i * 31 + i / 256);
				r.fill(0xee);
				sirocco::copy_to_region(r.mr, o.iova + at, data.data(), 9000);
				ASSERT_EQ(r.read(at, 9000), data) << shift << " " << first;
				if (at) {
					ASSERT_EQ(r.at(at - 1), 0xee);
				}
				ASSERT_EQ(r.at(at + 9000), 0xee);
				sirocco::copy_from_region(r.mr, o.iova + at, back.data(), 9000);
				ASSERT_EQ(back, data);
			}
}

/* H36 */
TEST(region_bytes, page_outside_the_array__is_empty)
{
	region r(0x100, {});

	EXPECT_EQ(sirocco::region_bytes(r.mr, r.mr.iova + 4096, 1).size(), 0u);
	EXPECT_EQ(sirocco::region_bytes(r.mr, r.mr.iova + 4095, 9).size(), 1u);
}
