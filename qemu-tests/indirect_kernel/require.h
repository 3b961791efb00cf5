/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The assertion of the scenarios. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include <linux/printk.h>

/* Ends the function it stands in with -EBADMSG, and the log tells why. */
#define REQUIRE(condition)                                                       \
	do {                                                                     \
		if (!(condition)) {                                              \
			pr_err("%s:%d: not true: %s\n", __func__, __LINE__,      \
			       #condition);                                      \
			return -EBADMSG;                                         \
		}                                                                \
	} while (0)

#endif /* REQUIRE_H */
