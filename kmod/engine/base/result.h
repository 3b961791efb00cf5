// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A value or the reason why there is none. */
#pragma once

#include "memory.h"
#include "traits.h"

namespace sirocco {

/*
 * E is an enum whose value 0 means success, so that a plain E is the result of
 * an operation without a value.
 */
template <trivially_copyable T, enumeration E>
class [[nodiscard]] result {
public:
	constexpr result(T value) : value_(value), error_{} {}

	constexpr result(E error) : value_{}, error_(error)
	{
		if (error == E{})
			__builtin_trap();
	}

	constexpr bool ok() const
	{
		return error_ == E{};
	}

	constexpr explicit operator bool() const
	{
		return ok();
	}

	constexpr E error() const
	{
		return error_;
	}

	/* Only after ok(). */
	constexpr const T &operator*() const
	{
		if (!ok())
			__builtin_trap();
		return value_;
	}

	constexpr const T *operator->() const
	{
		return &**this;
	}

	constexpr T value_or(T other) const
	{
		return ok() ? value_ : other;
	}

private:
	T value_;
	E error_;
};

} // namespace sirocco
