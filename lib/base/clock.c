/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/clock.h"

#include "base/atomic.h"
#include "base/util.h"

#include <stdlib.h>

#define NR_READS 255
#define MEASURE_NS 200000

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

/* Both clocks at one moment: of some reads the one that took least. */
static int64_t both_clocks(uint64_t *ticks)
{
	uint64_t before, took, least = UINT64_MAX;
	int64_t now_ns, best_ns = 0;
	int i;

	for (i = 0; i < 4; i++) {
		before = clock_ticks();
		now_ns = clock_now_ns();
		took = clock_ticks() - before;
		if (took >= least && i)
			continue;
		least = took;
		*ticks = before + took / 2;
		best_ns = now_ns;
	}
	return best_ns;
}

static uint32_t measure_ticks(void)
{
	uint64_t from = 0, ticks = 0;
	int64_t from_ns = both_clocks(&from), now_ns;

	while (clock_now_ns() - from_ns < MEASURE_NS)
		;
	now_ns = both_clocks(&ticks);
	ticks = (ticks - from) * 1024 / (uint64_t)(now_ns - from_ns);
	return ticks ? (uint32_t)ticks : 1;
}

uint32_t clock_ticks_per_1024ns(void)
{
	/* Relaxed: whoever finds none measures the same clock. */
	static _Atomic(uint32_t) known;
	uint32_t ticks = a_load(&known, relaxed);

	if (!ticks) {
		ticks = measure_ticks();
		a_store(&known, ticks, relaxed);
	}
	return ticks;
}
