/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/clock.h"

#include "base/util.h"

#include <stdlib.h>

#define NR_READS 255

static int compare_ticks(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t clock_cost_ticks(void)
{
	uint64_t took[NR_READS], start;
	int i;

	for (i = 0; i < NR_READS; i++) {
		start = clock_ticks();
		took[i] = clock_ticks() - start;
	}
	qsort(took, NR_READS, sizeof(took[0]), compare_ticks);
	return (uint32_t)min_u64(took[NR_READS / 2], UINT32_MAX);
}

uint32_t clock_ticks_per_1024ns(void)
{
	int64_t from_ns = clock_now_ns(), now_ns;
	uint64_t from = clock_ticks(), ticks;

	do {
		now_ns = clock_now_ns();
	} while (now_ns - from_ns < 500000);
	ticks = clock_ticks() - from;
	ticks = ticks * 1024 / (uint64_t)(now_ns - from_ns);
	return ticks ? (uint32_t)ticks : 1;
}
