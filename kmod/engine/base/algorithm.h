// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Minimum, maximum and exchange. */
#pragma once

#include "memory.h"

namespace sirocco {

template <typename T>
constexpr T min(T a, T b)
{
	return b < a ? b : a;
}

template <typename T>
constexpr T max(T a, T b)
{
	return a < b ? b : a;
}

template <typename T>
constexpr T clamp(T v, T low, T high)
{
	return v < low ? low : high < v ? high : v;
}

template <typename T>
constexpr void swap(T &a, T &b)
{
	T t = sirocco::move(a);

	a = sirocco::move(b);
	b = sirocco::move(t);
}

/* Stores @next and returns what was there. */
template <typename T, typename U = T>
constexpr T exchange(T &object, U &&next)
{
	T old = sirocco::move(object);

	object = sirocco::forward<U>(next);
	return old;
}

} // namespace sirocco
