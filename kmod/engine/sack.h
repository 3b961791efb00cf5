// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The extension of an ACK that says what came before its turn. */
#pragma once

#include "base/base.h"

#include "psn_window.h"
#include "siro_engine.h"

namespace sirocco {

/*
 * Between AETH and ICRC of an ACK, only towards a peer that marks its requests.
 * Distances count from the PSN that is expected next, the one after the ACK's.
 */
class Sack {
public:
	struct Header {
		be16 magic;
		u8 version;
		u8 bytes; /* of the extension, a multiple of 4 */
		be16 base; /* distance of the bitmap's first bit */
		be16 highest; /* distance of the highest PSN that has come */
		be16 window; /* distances that the responder takes */
		be16 duplicates; /* requests that came twice, modulo 2^16 */
		be32 stamp; /* 0: no echo of a send time */
	};

	static constexpr u16 magic = 0x5153;
	static constexpr u8 version = 1;
	static constexpr u32 most_bytes = 64;
	static constexpr u32 map_bytes = most_bytes - sizeof(Header);
	static constexpr u32 map_bits = map_bytes * 8;

	/*
	 * Writes what of @arrived lies at distances @base to @base + map_bits - 1;
	 * returns the bytes written. @highest: distance, at least 1
	 */
	static u32 put(u8 *to, const PsnWindow &arrived, Psn expected, u32 base, u32 highest,
		       u32 duplicates)
	{
		u32 end = min(highest + 1 - base, map_bits);
		u32 bytes = max((end + 31) / 32 * 4, 8u);
		Header header{};

		header.magic = magic;
		header.version = version;
		header.bytes = static_cast<u8>(sizeof(header) + bytes);
		header.base = static_cast<u16>(base);
		header.highest = static_cast<u16>(highest);
		header.window = SIRO_RX_WINDOW;
		header.duplicates = static_cast<u16>(duplicates);
		store(to, header);
		to += sizeof(header);
		memory_zero(to, bytes);

		Psn first = expected + base;

		/* What is expected next may be there and wait for its turn only. */
		for (u32 i = arrived.next(first, !base, end); i < end;
		     i = arrived.next(first, i + 1, end))
			to[i / 8] = static_cast<u8>(to[i / 8] | 1 << i % 8);
		return header.bytes;
	}

	/*
	 * @from: the extension as it came, @bytes of it. @most: distance of the last
	 * PSN that was sent; whoever says more than that is not to be believed.
	 */
	static Sack parse(const u8 *from, u32 bytes, u32 most)
	{
		Sack sack;

		if (bytes < sizeof(Header) + 8 || bytes > most_bytes)
			return sack;

		Header header = load<Header>(from);
		u32 map = bytes - static_cast<u32>(sizeof(header));

		if (header.magic != magic || header.version != version || header.bytes != bytes ||
		    !header.highest || header.highest > most || header.base > header.highest)
			return sack;
		memory_copy(sack.map_, from + sizeof(header), map);
		sack.base_ = header.base;
		sack.bits_ = map * 8;
		sack.window_ = header.window;
		sack.highest_ = header.highest;
		sack.duplicates_ = header.duplicates;
		sack.good_ = sack.is_within();
		return sack;
	}

	bool is_good() const
	{
		return good_;
	}

	u32 window() const
	{
		return window_;
	}

	u16 duplicates() const
	{
		return duplicates_;
	}

	/* Calls @take with each distance that has come. */
	template <typename Take>
	void for_each(Take take) const
	{
		for (u32 i = 0; i < bits_; i++)
			if (has(i))
				take(base_ + i);
	}

private:
	bool has(u32 i) const
	{
		return map_[i / 8] >> i % 8 & 1;
	}

	/* What is expected next has not come, nothing beyond the highest has. */
	bool is_within() const
	{
		for (u32 i = 0; i < bits_; i++)
			if (has(i) && (base_ + i > highest_ || base_ + i == 0))
				return false;
		return true;
	}

	u8 map_[map_bytes] = {};
	u32 base_ = 0;
	u32 bits_ = 0;
	u32 highest_ = 0;
	u32 window_ = 0;
	u16 duplicates_ = 0;
	bool good_ = false;
};

static_assert(sizeof(Sack::Header) == 16 && Sack::map_bits >= 64);

} // namespace sirocco
