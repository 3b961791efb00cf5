// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* An object may belong to one module only, and the tests of indirect regions have it too. */
#include "../../kunit/rc_end.c"
