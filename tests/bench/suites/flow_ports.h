/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of lkdf bench flow with values at ports. */
#ifndef TESTS_BENCH_SUITES_FLOW_PORTS_H
#define TESTS_BENCH_SUITES_FLOW_PORTS_H

#include "bench/bench.h"

int bench_flow_ports(struct bench *b);
double bench_flow_ports_steps(const struct bench *b);

#endif
