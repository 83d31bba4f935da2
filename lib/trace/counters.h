/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef TRACE_COUNTERS_H
#define TRACE_COUNTERS_H
#include "base/atomic.h"
#include "base/util.h"
enum counter {
	COUNTER_TASKS,
	COUNTER_SPAWNED,
	COUNTER_STEALS_NEAR,
	COUNTER_STEALS_FAR,
	COUNTER_STEAL_FAILS,
	COUNTER_PARKS,
	COUNTER_WAKES,
	COUNTER_IDLE_NS,
	COUNTER_RUNS,
	COUNTER_FAILED,
	COUNTER_SKIPPED,
	COUNTER_CANCELLED,
	COUNTER_BLOCKING,
	COUNTER_OVERFLOWS,
	NR_COUNTERS
};
struct counters {
	_Alignas(64) _Atomic(uint64_t) v[NR_COUNTERS];
};
static inline void counter_add(struct counters *c, enum counter i, uint64_t n)
{
	a_store(&c->v[i], a_load(&c->v[i], relaxed) + n, relaxed);
}
#endif
