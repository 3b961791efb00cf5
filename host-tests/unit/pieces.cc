// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "pieces.h"

#include <gtest/gtest.h>

piece_list::piece_list(uint32_t capacity, bool merge) : storage_(new siro_extent[capacity])
{
	list.extents = storage_.get();
	list.capacity = capacity;
	siro_extents_reset(&list, merge);
}

piece_list::piece_list(const pieces &all, uint32_t repeat, bool merge)
	: piece_list(static_cast<uint32_t>(all.size()), merge)
{
	for (auto &p : all)
		EXPECT_EQ(add(p), 0);
	EXPECT_EQ(finish(repeat), 0);
}

int piece_list::add(const piece &p)
{
	return siro_extents_add(&list, p.address, p.length, p.skip, p.lkey);
}

std::vector<uint64_t> addresses_of(const pieces &all, uint32_t repeat)
{
	std::vector<uint64_t> out;

	for (uint32_t row = 0; row < repeat; row++)
		for (auto &p : all)
			for (uint64_t i = 0; i < p.length; i++)
				out.push_back(p.address + row * (p.length + p.skip) + i);
	return out;
}

host::region &add_indirect(host::device &dev, const pieces &all, uint64_t iova, uint32_t access,
			   uint32_t pd)
{
	host::region::options o;

	o.indirect = true;
	o.pd = pd;

	host::region &r = dev.add_region(o);

	r.staging.resize(all.size());
	r.staged.extents = r.staging.data();
	r.staged.capacity = static_cast<uint32_t>(all.size());
	siro_extents_reset(&r.staged, 0);
	for (auto &p : all)
		EXPECT_EQ(siro_extents_add(&r.staged, p.address, p.length, p.skip, p.lkey), 0);
	EXPECT_EQ(siro_extents_finish(&r.staged, 1), 0);
	r.go_live(iova, r.staged.row_length, access);
	return r;
}

piece piece_of(const host::region &from, uint64_t offset, uint64_t length, uint32_t skip)
{
	return {from.mr.iova + offset, length, skip, from.mr.key};
}
