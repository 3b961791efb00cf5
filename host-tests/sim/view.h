// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a key reaches: a region, or a list of pieces of others. */
#pragma once

#include "endpoint.h"
#include "random.h"

#include <vector>

namespace sim {

class view {
public:
	struct piece {
		host::region *region;
		uint64_t offset, length;
	};

	view() = default;
	view(host::region &plain) : key_(&plain), pieces_{{&plain, 0, plain.length()}} {}
	/* Nobody has given the list to @key yet. */
	view(host::region &key, std::vector<piece> pieces) : key_(&key), pieces_(std::move(pieces))
	{
	}

	uint64_t length() const;
	host::bytes read(uint64_t offset, uint64_t length) const;
	std::vector<siro_sge> entries() const;

	uint32_t key() const
	{
		return key_->key();
	}
	uint64_t address(uint64_t offset) const
	{
		return key_->mr.iova + offset;
	}
	siro_sge sge(uint64_t offset, uint32_t length) const
	{
		return key_->sge(offset, length);
	}

	/* The list is ready for the key to take it. */
	void stage();
	/* It is in use from now on, at a random address. */
	void go_live(random &r, uint32_t access);

private:
	host::region *key_ = nullptr;
	std::vector<piece> pieces_;
};

/* Cuts @length into @count pieces, perhaps empty ones. */
std::vector<uint32_t> cut(random &r, uint32_t length, uint32_t count);

/* All of @from in order, cut at random places. */
std::vector<view::piece> in_pieces(host::region &from, random &r);

/* @length bytes of @from in pieces that do not overlap, in any order. */
std::vector<view::piece> scattered(host::region &from, uint32_t length, random &r);

/* A key for lists, of the kind that @user has. */
host::region &list_key(host::device &dev, bool user, uint32_t entries);

} // namespace sim
