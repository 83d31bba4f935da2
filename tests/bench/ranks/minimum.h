/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The fewest messages and bytes by which tasks that run where they do can have
 * what they read: one for each version of a data and rank that reads it and has
 * not made it. Counted by sorting, not by the simulation. Return: false: no
 * memory.
 */
#ifndef TESTS_BENCH_RANKS_MINIMUM_H
#define TESTS_BENCH_RANKS_MINIMUM_H

#include "tests/bench/ranks/shape.h"

bool ranks_minimum(const struct shape *s, uint64_t *nr_messages,
		   uint64_t *bytes);

#endif
