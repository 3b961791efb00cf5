// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Random numbers that depend on nothing but the seed. */
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sim {

class random {
public:
	explicit random(uint64_t seed) : state_(seed)
	{
		/* Else neighbours would be the same stream, shifted. */
		state_ = next() ^ seed << 32;
	}

	uint64_t next() /* splitmix64 */
	{
		uint64_t z = state_ += 0x9e3779b97f4a7c15;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		return z ^ (z >> 31);
	}

	/* 0 to n - 1 */
	uint32_t below(uint64_t n)
	{
		return static_cast<uint32_t>(next() % n);
	}

	uint32_t between(uint32_t low, uint32_t high)
	{
		return low + below(uint64_t{high} - low + 1);
	}

	bool chance(uint32_t permille)
	{
		return below(1000) < permille;
	}

	template <typename T>
	T pick(std::initializer_list<T> from)
	{
		return from.begin()[below(from.size())];
	}

private:
	uint64_t state_;
};

} // namespace sim
