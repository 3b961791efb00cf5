// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixed-width integers under the names the kernel's C code uses. */
#pragma once

namespace sirocco {

using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using s8 = __INT8_TYPE__;
using s16 = __INT16_TYPE__;
using s32 = __INT32_TYPE__;
using s64 = __INT64_TYPE__;
using usize = __SIZE_TYPE__;
using uptr = __UINTPTR_TYPE__;

/* Raw memory; unlike u8 it has no arithmetic, so no char sign to get wrong. */
enum class byte : u8 {};

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);
static_assert(sizeof(usize) == 8 && sizeof(void *) == 8, "64-bit kernels only");

} // namespace sirocco
