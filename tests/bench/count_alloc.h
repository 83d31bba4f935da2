/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counts every allocation and mapping of the process it is linked into. */
#ifndef TESTS_BENCH_COUNT_ALLOC_H
#define TESTS_BENCH_COUNT_ALLOC_H

#include <stdint.h>

struct count_alloc {
	uint64_t mallocs, mmaps;
};

void count_alloc_read(struct count_alloc *c);

#endif
