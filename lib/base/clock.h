/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Two clocks: CLOCK_MONOTONIC for whatever a user sees, and cheap ticks for
 * deciding how long to spin. Ticks are the TSC on x86-64, where every machine
 * of the last ten years has an invariant one, else nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline int64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* When a timeout that begins now ends; -1: never, also where it is absurd. */
static inline int64_t clock_end_of(int64_t timeout_ns)
{
	if (timeout_ns < 0 || timeout_ns > INT64_MAX / 2)
		return -1;
	return clock_now_ns() + timeout_ns;
}

/*
 * Is the time end over? Else *left_ns is what is left of it. end -1 is never,
 * and then *left_ns is -1.
 */
static inline bool clock_is_over(int64_t end, int64_t *left_ns)
{
	*left_ns = end < 0 ? -1 : end - clock_now_ns();
	return end >= 0 && *left_ns <= 0;
}

static inline uint64_t clock_ticks(void)
{
#ifdef LKDF_MC
	/* Under the model checker time stands still: runs repeat exactly. */
	return 0;
#elif defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return (uint64_t)clock_now_ns();
#endif
}

/*
 * Measures how much of a sample is the clock's: the median difference of two
 * reads. The least one may be out of the common: 1 tick, where most have 25, on
 * a virtual machine.
 */
uint32_t clock_cost_ticks(void);

/* Ticks per 1024 ns, at least 1: measured once in a process, for 0.2 ms. */
uint32_t clock_ticks_per_1024ns(void);

#endif
