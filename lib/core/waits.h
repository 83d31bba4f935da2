/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waits of the program's threads, told while a file is recorded: from when to
 * when, in which call, and which body or operation ended before the waker woke
 * the thread.
 */
#ifndef CORE_WAITS_H
#define CORE_WAITS_H

#include "core/runtime.h"

/* When it began; 0: nobody records, or the thread is an executor. */
static inline uint64_t wait_begins(struct lkdf *rt)
{
	if (likely(!trace_is_recording(&rt->trace)) || runtime_executor(rt))
		return 0;
	return clock_ticks();
}

void wait_tell(struct lkdf *rt, const char *call, uint64_t begin);

/* It waited for room in what is called so, where so many fit. */
void wait_tell_room(struct lkdf *rt, const char *place, uint64_t fits,
		    uint64_t begin);

static inline void wait_ended(struct lkdf *rt, const char *call, uint64_t begin)
{
	if (unlikely(begin))
		wait_tell(rt, call, begin);
}

/* Before a thread of the program is told that what it waits for is there. */
static inline void wait_is_over(struct lkdf *rt)
{
	struct executor *ex;

	if (likely(!trace_is_recording(&rt->trace)))
		return;
	ex = runtime_executor(rt);
	a_store(&rt->trace.waker, ex ? ex->now : 0, relaxed);
}

#endif
