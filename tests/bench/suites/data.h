/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of the data suite. */
#ifndef TESTS_BENCH_SUITES_DATA_H
#define TESTS_BENCH_SUITES_DATA_H

#include "bench/bench.h"

/* Page faults and allocations of warm runs, the peak of a long chain. */
int bench_held(struct bench *b);
double bench_held_steps(const struct bench *b);

/* Blocked Cholesky and LU by submitted tasks. */
int bench_tiles(struct bench *b);
double bench_tiles_steps(const struct bench *b);

#endif
