/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of lkdf bench flow with what a graph and a runtime cost once. */
#ifndef TESTS_BENCH_SUITES_FLOW_ONCE_H
#define TESTS_BENCH_SUITES_FLOW_ONCE_H

#include "bench/bench.h"

int bench_flow_once(struct bench *b);
double bench_flow_once_steps(const struct bench *b);

#endif
