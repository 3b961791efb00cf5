// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "view.h"

#include <algorithm>

namespace sim {

namespace {

constexpr uint32_t most_pieces = 12;

} // namespace

uint64_t view::length() const
{
	uint64_t sum = 0;

	for (auto &p : pieces_)
		sum += p.length;
	return sum;
}

host::bytes view::read(uint64_t offset, uint64_t length) const
{
	host::bytes out;

	for (auto &p : pieces_) {
		if (offset >= p.length) {
			offset -= p.length;
			continue;
		}

		uint64_t n = std::min(length, p.length - offset);
		auto part = p.region->read(p.offset + offset, n);

		out.insert(out.end(), part.begin(), part.end());
		length -= n;
		offset = 0;
	}
	return out;
}

std::vector<siro_sge> view::entries() const
{
	std::vector<siro_sge> out;

	for (auto &p : pieces_)
		out.push_back(p.region->sge(p.offset, static_cast<uint32_t>(p.length)));
	return out;
}

void view::stage()
{
	host::region &to = *key_;

	to.staging.assign(pieces_.size(), {});
	to.staged.extents = to.staging.data();
	to.staged.capacity = static_cast<uint32_t>(pieces_.size());
	siro_extents_reset(&to.staged, 0);
	for (const siro_sge &e : entries())
		siro_extents_add(&to.staged, e.addr, e.length, 0, e.lkey);
	siro_extents_finish(&to.staged, 1);
}

void view::go_live(random &r, uint32_t access)
{
	stage();
	key_->go_live((r.next() >> 2) & ~uint64_t{7}, length(), access);
}

std::vector<uint32_t> cut(random &r, uint32_t length, uint32_t count)
{
	std::vector<uint32_t> marks = {0, length}, out;

	for (uint32_t i = 1; i < count; i++)
		marks.push_back(r.below(uint64_t{length} + 1));
	std::sort(marks.begin(), marks.end());
	for (size_t i = 1; i < marks.size(); i++)
		out.push_back(marks[i] - marks[i - 1]);
	return out;
}

std::vector<view::piece> in_pieces(host::region &from, random &r)
{
	std::vector<view::piece> out;
	uint64_t at = 0;

	for (uint32_t n : cut(r, static_cast<uint32_t>(from.length()), r.between(1, most_pieces))) {
		out.push_back({&from, at, n});
		at += n;
	}
	return out;
}

std::vector<view::piece> scattered(host::region &from, uint32_t length, random &r)
{
	std::vector<view::piece> out;
	uint32_t count = r.between(1, most_pieces);
	auto gaps = cut(r, static_cast<uint32_t>(from.length()) - length, count + 1);
	auto lengths = cut(r, length, count);
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		at += gaps[i];
		out.push_back({&from, at, lengths[i]});
		at += lengths[i];
		std::swap(out.back(), out[r.below(out.size())]);
	}
	return out;
}

host::region &list_key(host::device &dev, bool user, uint32_t entries)
{
	host::region::options o;

	o.indirect = !user;
	o.mkey_entries = user ? entries : 0;
	return dev.add_region(o);
}

} // namespace sim
