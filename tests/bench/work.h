/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body's work in units of about one nanosecond, the same for everyone: one
 * loop in a function of its own, compiled once and linked by all contestants,
 * on a cache line of its own. A copy that a compiler lays into a body may take
 * a third less or more time, for it lies at another address.
 */
#ifndef TESTS_BENCH_WORK_H
#define TESTS_BENCH_WORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void work_for(uint32_t units);

#ifdef __cplusplus
}
#endif
#endif
