/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixed-width integers for headers that the kernel's C, the freestanding C++
 * of the engine and host programs all include.
 */
#ifndef SIRO_TYPES_H
#define SIRO_TYPES_H

#if defined(__KERNEL__) && !defined(__cplusplus)
#include <linux/types.h>
#else
typedef __UINT8_TYPE__ __u8;
typedef __UINT16_TYPE__ __u16;
typedef __UINT32_TYPE__ __u32;
typedef unsigned long long __u64;
#endif

#ifdef __cplusplus
#define SIRO_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define SIRO_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#ifdef __cplusplus
#define SIRO_BEGIN_DECLS extern "C" {
#define SIRO_END_DECLS }
#else
#define SIRO_BEGIN_DECLS
#define SIRO_END_DECLS
#endif

#endif /* SIRO_TYPES_H */
