// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Times at which something is due; 0 is never. */
#pragma once

#include "base/base.h"

namespace sirocco {

constexpr u64 earlier(u64 a, u64 b)
{
	return a && (!b || a < b) ? a : b;
}

constexpr bool is_due(u64 deadline, u64 now)
{
	return deadline && now >= deadline;
}

} // namespace sirocco
