/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An executor is a thread that runs bodies: a worker, or one of the blocking
 * pool. State that it owns alone lies here, so that a body's calls need no
 * lock.
 */
#ifndef SCHED_EXECUTOR_H
#define SCHED_EXECUTOR_H

#include "base/atomic.h"
#include "base/thread.h"
#include "mem/pool.h"
#include "mem/region.h"
#include "trace/ring.h"

struct cache;
struct lkdf_ctx;
struct worker;

enum executor_pool {
	POOL_TASK,
	POOL_EVENT,
	NR_POOLS,
};

struct executor {
	/* Set before the thread starts, constant afterwards. */
	_Alignas(REGION_PAGE) void *rt; /* the runtime, for the layer above */
	struct worker *worker; /* NULL: of the blocking pool */
	int id; /* workers first, then the blocking pool */
	int node;
	struct trace_ring *ring; /* its events and slices */

	/* Set before as well, and when a trial needs counts; see noted.h. */
	_Atomic(struct kind_row *) kinds; /* NULL: bodies are not counted */

	/*
	 * This thread, and the probe's programs on it read it where it lies:
	 * see task/noted.h. 0: in no body, or nobody wants to know.
	 */
	_Atomic(uint32_t) noted;

	/* This thread only. */
	struct thread record; /* of the thread, see thread_adopt() */
	struct lkdf_ctx
		*current; /* of the body it is in; see sched/current.h */
	struct cache *cache; /* of the runtime's heap, kept; NULL: none yet */
	struct magazine magazine[NR_POOLS];
	struct counters *counters;
	void *scratch; /* of the layer above */
	const void *scope; /* whose cancel ends waits of the body; or NULL */
	uint64_t nr_begun; /* bodies and operations that were recorded */
	uint64_t now; /* uid of the last of them, see task/traced.h */

	/* Odd: a task has left its data and does not yet leave its scope. */
	_Atomic(uint32_t) nr_ends;
};

#endif
