// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The bytes of a fuzzer, taken one value at a time; zeros when they run out. */
#pragma once

#include "endpoint.h"

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

		memcpy(&value, data_, n);
		data_ += n;
		left_ -= n;
		return value;
	}

	uint32_t below(uint32_t limit)
	{
		return take<uint32_t>() % limit;
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
