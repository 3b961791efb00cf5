// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Ordered access to words that user space or another CPU writes concurrently. */
#pragma once

#include "traits.h"

namespace sirocco {

template <typename T>
concept lock_free = trivially_copyable<T> && __atomic_always_lock_free(sizeof(T), nullptr);

template <lock_free T>
inline T load_relaxed(const T &from)
{
	return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <lock_free T>
inline T load_acquire(const T &from)
{
	return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template <lock_free T>
inline void store_relaxed(T &to, remove_cv<T> value)
{
	__atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

template <lock_free T>
inline void store_release(T &to, remove_cv<T> value)
{
	__atomic_store_n(&to, value, __ATOMIC_RELEASE);
}

} // namespace sirocco
