// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Lists of pieces, what they mean byte by byte, regions made of them. */
#pragma once

#include "endpoint.h"

#include <vector>

struct piece {
	uint64_t address, length;
	uint32_t skip = 0;
	uint32_t lkey = 0;
};

using pieces = std::vector<piece>;

/* Storage of exactly @capacity extents: a sanitizer sees one too many. */
class piece_list {
public:
	explicit piece_list(uint32_t capacity, bool merge = false);
	/* Finished; a failure of either step fails the test. */
	explicit piece_list(const pieces &all, uint32_t repeat = 1, bool merge = false);

	int add(const piece &p);
	int finish(uint32_t repeat = 1)
	{
		return siro_extents_finish(&list, repeat);
	}

	siro_extents list = {};

private:
	std::unique_ptr<siro_extent[]> storage_;
};

/* Where each byte of @repeat rows is, by going through all of them. */
std::vector<uint64_t> addresses_of(const pieces &all, uint32_t repeat = 1);

/* A region of @all that is in use: address 0 of it is @iova. */
host::region &add_indirect(host::device &dev, const pieces &all, uint64_t iova,
			   uint32_t access = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
					     SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC,
			   uint32_t pd = 1);

/* Bytes @offset to @offset + @length of @from, by its key. */
piece piece_of(const host::region &from, uint64_t offset, uint64_t length, uint32_t skip = 0);
