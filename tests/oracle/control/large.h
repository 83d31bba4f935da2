/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Large graphs with control flow: a choice among 200 in a loop, a machine of
 * 700 states with numbers at random, 1,000 loops one in the other, 40,000 one
 * after another. The model of each is a few lines of plain C, which calls what
 * the graph calls.
 */
#ifndef TESTS_ORACLE_CONTROL_LARGE_H
#define TESTS_ORACLE_CONTROL_LARGE_H

#include <stdbool.h>
#include <stdint.h>

struct lkdf;

/* Each of them once. False, and told: a body ran too often or too seldom, or
 * the counters of the runtime say otherwise. */
bool large_try(struct lkdf *rt, uint64_t seed);

#endif
