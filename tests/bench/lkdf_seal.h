/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs whose seal is timed: 80,000 loops one after another, 4,000 loops in
 * each other, and a choice among 64,000 tasks.
 */
#ifndef TESTS_BENCH_LKDF_SEAL_H
#define TESTS_BENCH_LKDF_SEAL_H

#include <lkdf/lkdf.h>

#define LKDF_NR_SEALS 3

/* "loops", "nested", "choice"; NULL: there are no more. */
const char *lkdf_seal_name(unsigned at);

/* Builds that graph and seals it: CPU time of the seal. 0 or -errno. */
int lkdf_seal_time(struct lkdf *rt, unsigned at, double *ns);

#endif
