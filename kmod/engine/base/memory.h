// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Raw memory: the mem* builtins, unaligned access and placement new. */
#pragma once

#include "traits.h"
#include "types.h"

#if __STDC_HOSTED__
/* Tests may include the library's placement new too, so share that one. */
#include <new>
#else
[[gnu::always_inline]] inline void *operator new(__SIZE_TYPE__, void *place) noexcept
{
	return place;
}

[[gnu::always_inline]] inline void *operator new[](__SIZE_TYPE__, void *place) noexcept
{
	return place;
}
#endif

namespace sirocco {

/* The ranges must not overlap: use memory_move() where they may. */
inline void memory_copy(void *to, const void *from, usize len)
{
	__builtin_memcpy(to, from, len);
}

inline void memory_move(void *to, const void *from, usize len)
{
	__builtin_memmove(to, from, len);
}

inline void memory_set(void *to, u8 value, usize len)
{
	__builtin_memset(to, value, len);
}

inline void memory_zero(void *to, usize len)
{
	__builtin_memset(to, 0, len);
}

inline bool memory_equal(const void *a, const void *b, usize len)
{
	return !__builtin_memcmp(a, b, len);
}

/* Any alignment. */
template <trivially_copyable T>
inline T load(const void *from)
{
	T value;

	__builtin_memcpy(&value, from, sizeof(T));
	return value;
}

template <trivially_copyable T>
inline void store(void *to, const T &value)
{
	__builtin_memcpy(to, &value, sizeof(T));
}

/* Builds a T in storage that glue embeds in its own object. */
template <c_storable T, typename... Args>
inline T *construct_at(void *place, Args &&...args)
{
	return ::new (place) T(static_cast<Args &&>(args)...);
}

template <typename T>
constexpr remove_reference<T> &&move(T &&value)
{
	return static_cast<remove_reference<T> &&>(value);
}

template <typename T>
constexpr T &&forward(remove_reference<T> &value)
{
	return static_cast<T &&>(value);
}

} // namespace sirocco
