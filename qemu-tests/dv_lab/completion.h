/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef COMPLETION_H
#define COMPLETION_H

#include <infiniband/verbs.h>

/* Seconds since some moment. */
double now(void);
/* The next completion, which must come within @seconds. */
struct ibv_wc next_completion(struct ibv_cq *cq, double seconds);

#endif /* COMPLETION_H */
