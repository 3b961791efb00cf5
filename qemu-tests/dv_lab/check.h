/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A program ends where something is not as it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                         \
	do {                                                     \
		if (!(condition)) {                              \
			printf("%s:%d: not true: %s (errno %d)\n", \
			       __FILE__, __LINE__, #condition, errno); \
			exit(1);                                 \
		}                                                \
	} while (0)

/* Says what it got, too. */
#define CHECK_IS(got, wanted)                                    \
	do {                                                     \
		const long long got_ = (got), wanted_ = (wanted); \
		if (got_ != wanted_) {                           \
			printf("%s:%d: %s is %lld, not %lld\n",  \
			       __FILE__, __LINE__, #got, got_, wanted_); \
			exit(1);                                 \
		}                                                \
	} while (0)

#endif /* CHECK_H */
