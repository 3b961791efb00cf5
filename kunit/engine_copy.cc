// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The suites' own copy of the engine, compiled with the flags of the kernel. */
#include "../kmod/engine/engine.cc"
