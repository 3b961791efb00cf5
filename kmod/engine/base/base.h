// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* All of kmod/engine/base, and from here on no name of the C++ library. */
#pragma once

#include "algorithm.h"
#include "atomic.h"
#include "bits.h"
#include "endian.h"
#include "errors.h"
#include "memory.h"
#include "result.h"
#include "span.h"
#include "traits.h"
#include "types.h"

/* Host tests include the engine beside GoogleTest, which needs the name. */
#if !__STDC_HOSTED__
#pragma GCC poison std
#endif
