/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of the graph suite. */
#ifndef TOOLS_BENCH_GRAPH_H
#define TOOLS_BENCH_GRAPH_H

#include "bench/bench.h"

#define BENCH_TASKS 65536

/* Building, memory, warm re-runs, large graphs. */
int bench_build(struct bench *b);
double bench_build_steps(const struct bench *b);

/* METG(50 %): the shortest task that keeps the workers half busy. */
int bench_metg(struct bench *b);
double bench_metg_steps(const struct bench *b);

/* Speed-up with bodies of 0.1 to 2 us. */
int bench_grain(struct bench *b);
double bench_grain_steps(const struct bench *b);

#endif
