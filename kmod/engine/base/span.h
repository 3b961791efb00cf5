// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A view of contiguous elements that carries its length. */
#pragma once

#include "traits.h"
#include "types.h"

namespace sirocco {

template <typename T>
class span {
public:
	constexpr span() = default;

	constexpr span(T *data, usize size) : data_(data), size_(size) {}

	template <usize N>
	constexpr span(T (&array)[N]) : data_(array), size_(N)
	{
	}

	/* span<T> to span<const T> */
	template <same_as<remove_cv<T>> U>
	constexpr span(span<U> other) : data_(other.data()), size_(other.size())
	{
	}

	constexpr T *data() const
	{
		return data_;
	}

	constexpr usize size() const
	{
		return size_;
	}

	constexpr bool empty() const
	{
		return !size_;
	}

	constexpr T *begin() const
	{
		return data_;
	}

	constexpr T *end() const
	{
		return data_ + size_;
	}

	/* The caller has checked @i; an index that is wrong all the same traps. */
	constexpr T &operator[](usize i) const
	{
		if (i >= size_)
			__builtin_trap();
		return data_[i];
	}

	/* The three below cut to what is there: they never read past the end. */
	constexpr span first(usize n) const
	{
		return {data_, n < size_ ? n : size_};
	}

	constexpr span drop(usize n) const
	{
		return n < size_ ? span{data_ + n, size_ - n} : span{data_ + size_, 0};
	}

	constexpr span slice(usize offset, usize n) const
	{
		return drop(offset).first(n);
	}

private:
	T *data_ = nullptr;
	usize size_ = 0;
};

} // namespace sirocco
