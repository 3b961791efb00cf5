// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "completion.h"

#include <time.h>

#include "check.h"

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

struct ibv_wc next_completion(struct ibv_cq *cq, double seconds)
{
	const double end = now() + seconds;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)) && now() < end)
		;
	CHECK_IS(n, 1);
	return wc;
}
