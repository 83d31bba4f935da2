/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts the system calls of all threads of a peer between two getppid(2),
 * which the peer makes as marks.
 */
#ifndef TESTS_BENCH_SUITES_TRACE_H
#define TESTS_BENCH_SUITES_TRACE_H

#include "bench/peer.h"

/*
 * Asks, counts until the second mark, and ends the peer. Returns the count, or
 * -errno: -EPERM tracing is not allowed here.
 */
long trace_count_calls(struct peer *p, const char *question);

#endif
