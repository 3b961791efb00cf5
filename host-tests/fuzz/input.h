// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The bytes of a fuzzer, taken one value at a time; zeros when they run out. A
 * zero always means the ordinary choice.
 */
#pragma once

#include "wire_packet.h"

#include <cstring>

class input {
public:
	input(const uint8_t *data, size_t size) : data_(data), left_(size) {}

	bool empty() const
	{
		return !left_;
	}

	template <typename T>
	T take()
	{
		T value = {};
		size_t n = left_ < sizeof(T) ? left_ : sizeof(T);

		if (n)
			memcpy(&value, data_, n);
		data_ += n;
		left_ -= n;
		return value;
	}

	uint32_t below(uint32_t limit)
	{
		return limit <= 256 ? take<uint8_t>() % limit : take<uint16_t>() % limit;
	}

	bool once_in(uint32_t n)
	{
		return below(n) == n - 1;
	}

	/* @good, seldom a neighbour, a flipped bit or anything. */
	uint32_t near(uint32_t good)
	{
		switch (below(64)) {
		case 60:
			return good + 1;
		case 61:
			return good - 1;
		case 62:
			return good ^ 1u << below(32);
		case 63:
			return take<uint32_t>();
		default:
			return good;
		}
	}

	/* A length where @limit is a limit. */
	uint32_t length(uint32_t limit)
	{
		switch (below(32)) {
		case 28:
			return limit ? limit - 1 : 0;
		case 29:
			return limit;
		case 30:
			return limit + 1 + below(4);
		case 31:
			return take<uint16_t>();
		default:
			return below(limit + 1);
		}
	}

	host::bytes bytes(size_t most)
	{
		size_t n = left_ < most ? left_ : most;
		host::bytes out(data_, data_ + n);

		data_ += n;
		left_ -= n;
		return out;
	}

private:
	const uint8_t *data_;
	size_t left_;
};
