/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf bench policy: rows on what the probe costs, in a file of their own. */
#ifndef TESTS_BENCH_SUITES_POLICY_H
#define TESTS_BENCH_SUITES_POLICY_H

#include "bench/bench.h"

/* With a probe of its own, in a directory of its own. 0 or -errno. */
int bench_policy_probe(struct bench *b);

#endif
