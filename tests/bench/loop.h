/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The loop that all contestants run: one addition for each number of an array,
 * so that what the loop itself costs shows. Each pass leaves a trace: after n
 * passes element i holds n (i | 1).
 */
#ifndef TESTS_BENCH_LOOP_H
#define TESTS_BENCH_LOOP_H

#include <stdint.h>
#include <stdlib.h>

static inline void loop_block(uint32_t *x, uint64_t begin, uint64_t end)
{
	uint64_t i;

	for (i = begin; i < end; i++)
		x[i] += (uint32_t)i | 1;
}

/* How many elements are not as so many passes leave them. */
static inline uint64_t loop_wrong(const uint32_t *x, uint64_t nr,
				  uint32_t passes)
{
	uint64_t i, wrong = 0;

	for (i = 0; i < nr; i++)
		wrong += x[i] != passes * ((uint32_t)i | 1);
	return wrong;
}

#endif
