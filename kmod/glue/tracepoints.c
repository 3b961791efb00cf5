// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Bodies of the trace events. */
#define CREATE_TRACE_POINTS
#include "tracepoints.h"
