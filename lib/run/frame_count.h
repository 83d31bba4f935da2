/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How tasks that were not called, or gave up, are counted: by the executor that
 * resolves them and by their frame.
 */
#ifndef RUN_FRAME_COUNT_H
#define RUN_FRAME_COUNT_H

#include "run/frame.h"
#include "trace/counters.h"

/* Counters of an executor: enum counter. */
static const uint8_t ending_counters[NR_ENDINGS] = {
	[ENDED_FAILED] = COUNTER_FAILED,
	[ENDED_SKIPPED] = COUNTER_SKIPPED,
	[ENDED_CANCELLED] = COUNTER_CANCELLED,
	[ENDED_UNCHOSEN] = COUNTER_UNCHOSEN,
};

_Static_assert(NR_COUNTERS <= UINT8_MAX, "a counter is a byte");

/* A task of the frame ends so, and was not called or gave up. */
static inline void frame_count(struct frame *f, struct counters *c,
			       enum ending ending)
{
	counter_add(c, ending_counters[ending], 1);
	a_add(&f->tally.nr[ending], 1, relaxed);
}

#endif
