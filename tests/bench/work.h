/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A body's work in units of about one nanosecond, the same for everyone. */
#ifndef TESTS_BENCH_WORK_H
#define TESTS_BENCH_WORK_H

#include <stdint.h>

/* A chain of dependent operations that no compiler shortens. */
static inline void work_for(uint32_t units)
{
	uint32_t x = units;

	while (units--)
		__asm__ volatile("" : "+r"(x) : "r"(x * 5 + 1));
}

#endif
