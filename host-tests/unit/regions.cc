// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "regions.h"
#include "endpoint.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace host;

namespace {

/* Calls use(bytes) with what lies together, until @length is covered. */
template <typename Use>
void for_each_piece(const siro_mr &mr, uint64_t va, uint64_t length, Use use)
{
	uint32_t hint = 0;

	while (length) {
		auto bytes = sirocco::region_bytes(mr, va, length, hint);

		ASSERT_NE(bytes.size(), 0u);
		use(bytes);
		va += bytes.size();
		length -= bytes.size();
	}
}

} // namespace

/* H36: every page size and offset against the region's byte-wise model. */
TEST(region_bytes, page_sizes_and_offsets__against_bytewise_model)
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
				size_t done = 0;

				for_each_piece(r.mr, o.iova + at, 9000, [&](auto piece) {
					memcpy(piece.data(), data.data() + done, piece.size());
					done += piece.size();
				});
				ASSERT_EQ(r.read(at, 9000), data) << shift << " " << first;
				if (at) {
					ASSERT_EQ(r.at(at - 1), 0xee);
				}
				ASSERT_EQ(r.at(at + 9000), 0xee);
				done = 0;
				for_each_piece(r.mr, o.iova + at, 9000, [&](auto piece) {
					memcpy(back.data() + done, piece.data(), piece.size());
					done += piece.size();
				});
				ASSERT_EQ(back, data);
			}
}

/* H36 */
TEST(region_bytes, page_outside_the_array__is_empty)
{
	region r(0x100, {});
	uint32_t hint = 0;

	EXPECT_EQ(sirocco::region_bytes(r.mr, r.mr.iova + 4096, 1, hint).size(), 0u);
	EXPECT_EQ(sirocco::region_bytes(r.mr, r.mr.iova + 4095, 9, hint).size(), 1u);
}
