// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Type properties the compiler knows, for use in constraints and assertions. */
#pragma once

namespace sirocco {

template <typename A, typename B>
concept same_as = __is_same(A, B);

template <typename T>
concept trivially_copyable = __is_trivially_copyable(T);

template <typename T>
concept enumeration = __is_enum(T);

namespace detail {
template <typename T>
struct remove_cv {
	using type = T;
};
template <typename T>
struct remove_cv<const T> {
	using type = T;
};
template <typename T>
struct remove_cv<volatile T> {
	using type = T;
};
template <typename T>
struct remove_cv<const volatile T> {
	using type = T;
};

template <typename T>
struct remove_reference {
	using type = T;
};
template <typename T>
struct remove_reference<T &> {
	using type = T;
};
template <typename T>
struct remove_reference<T &&> {
	using type = T;
};
} // namespace detail

template <typename T>
using remove_cv = typename detail::remove_cv<T>::type;

template <typename T>
using remove_reference = typename detail::remove_reference<T>::type;

template <typename T>
using remove_cvref = remove_cv<remove_reference<T>>;

/* auto: g++ 12 cannot mangle __underlying_type in a signature. */
template <enumeration E>
constexpr auto to_underlying(E e)
{
	return static_cast<__underlying_type(E)>(e);
}

namespace detail {
template <typename T>
constexpr bool is_unsigned = false;
template <>
inline constexpr bool is_unsigned<unsigned char> = true;
template <>
inline constexpr bool is_unsigned<unsigned short> = true;
template <>
inline constexpr bool is_unsigned<unsigned int> = true;
template <>
inline constexpr bool is_unsigned<unsigned long> = true;
template <>
inline constexpr bool is_unsigned<unsigned long long> = true;
} // namespace detail

template <typename T>
concept unsigned_integral = detail::is_unsigned<remove_cv<T>>;

/*
 * What may live in storage that C code allocates (8-byte aligned) and frees
 * without running a destructor.
 */
template <typename T>
concept c_storable = alignof(T) <= 8 && __has_trivial_destructor(T);

} // namespace sirocco
