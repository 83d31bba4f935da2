/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* An executor counts and records that a task of it has failed. */
#ifndef CORE_NOTE_ERROR_H
#define CORE_NOTE_ERROR_H

#include "core/runtime.h"
#include "trace/counters.h"

/* error is negative; task is its number in a graph, or NO_TASK_NUMBER. */
static inline void runtime_note_error(struct lkdf *rt, int executor, int error,
				      uint64_t task)
{
	struct trace_ring *ring = rt->executors[executor].ring;

	counter_add(ring->counters, COUNTER_FAILED, 1);
	trace_event(ring, EVENT_ERROR, (uint32_t)-error, task);
}

#endif
