/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Times of the host. A User-mode Linux of one CPU is one thread there, so the
 * thread's CPU time leaves out what other work on the host takes; the guest has
 * no clock that knows it. System calls of the kernel's own code go to the host.
 */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <linux/time64.h>

#ifndef CONFIG_UML_X86
#error "the clocks are those of a User-mode Linux on x86"
#endif

struct elapsed {
	u64 wall, cpu;
};

struct stopwatch {
	struct elapsed last;
};

static inline u64 host_clock_ns(long clock)
{
	const long host_clock_gettime = 228;
	struct {
		s64 seconds, nanoseconds;
	} now = {};
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(host_clock_gettime), "D"(clock), "S"(&now)
		     : "rcx", "r11", "memory");
	return now.seconds * NSEC_PER_SEC + now.nanoseconds;
}

static inline struct elapsed host_now(void)
{
	const long monotonic = 1, thread_cpu = 3;

	return (struct elapsed){ host_clock_ns(monotonic), host_clock_ns(thread_cpu) };
}

static inline void stopwatch_start(struct stopwatch *watch)
{
	watch->last = host_now();
}

/* Adds the time since the last call, or since the start. */
static inline void stopwatch_lap(struct stopwatch *watch, struct elapsed *sum)
{
	struct elapsed now = host_now();

	sum->wall += now.wall - watch->last.wall;
	sum->cpu += now.cpu - watch->last.cpu;
	watch->last = now;
}

#endif /* STOPWATCH_H */
