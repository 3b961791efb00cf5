// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The unity file of the engine. */
#include "base/base.h"
