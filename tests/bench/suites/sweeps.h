/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The sweeps: rows that lkdf-bench adds to a suite of the tool. They ask every
 * size, length or number of submitters, which takes minutes.
 */
#ifndef TESTS_BENCH_SUITES_SWEEPS_H
#define TESTS_BENCH_SUITES_SWEEPS_H

#include "bench/bench.h"

/* graph: building, memory, warm re-runs, large graphs. */
int bench_build(struct bench *b);
double bench_build_steps(const struct bench *b);

/* graph: METG(50 %), the shortest task that keeps the workers half busy. */
int bench_metg(struct bench *b);
double bench_metg_steps(const struct bench *b);

/* graph: speed-up with bodies of 0.1 to 2 us. */
int bench_grain(struct bench *b);
double bench_grain_steps(const struct bench *b);

/* submit: the cost of a second submitter to the first. */
int bench_second(struct bench *b);
double bench_second_steps(const struct bench *b);

/* idle: a few workers do work, the others look for it. */
int bench_few(struct bench *b);
double bench_few_steps(const struct bench *b);

/* wake: as many tasks as workers, all of whom sleep. */
int bench_burst(struct bench *b);
double bench_burst_steps(const struct bench *b);

#endif
