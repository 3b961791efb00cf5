/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How often sirocco.ko has asked for memory. */
#ifndef ALLOC_COUNT_H
#define ALLOC_COUNT_H

/* One CPU, no preemption: a plain counter is exact enough. */
extern unsigned long siro_bench_allocations;

#endif /* ALLOC_COUNT_H */
