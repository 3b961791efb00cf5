// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The kernel's error numbers that the boundary uses. */
#pragma once

namespace sirocco {

constexpr int enomem = -12;
constexpr int einval = -22;
constexpr int enospc = -28;

} // namespace sirocco
