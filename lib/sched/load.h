/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Work that was planned for a node and is still to be done there, and the
 * node's speed: the numbers that decide whether others may take some of it. The
 * worker that starts a run adds its tasks; the worker that starts a task takes
 * it away again, on any node. Torn or stale values cost time, nothing else.
 */
#ifndef SCHED_LOAD_H
#define SCHED_LOAD_H

#include "base/atomic.h"
#include "base/util.h"
#include "policy/deficit.h"

#include <string.h>

struct load {
	/* Any worker. */
	_Alignas(CACHE_LINE) _Atomic(int64_t) bytes; /* of tasks to come */
	_Atomic(int64_t) nr_tasks;
	_Atomic(uint32_t) rate; /* ticks per byte, a float; 0: not known */
	_Atomic(uint64_t) woken; /* ticks: when we last woke another node */
	_Atomic(uint64_t) since; /* ticks: when work came to where none was */
};

static inline void load_add(struct load *l, int64_t bytes, int64_t nr_tasks)
{
	a_add(&l->bytes, bytes, relaxed);
	a_add(&l->nr_tasks, nr_tasks, relaxed);
}

/* Is there planned work? */
static inline bool load_is_planned(const struct load *l)
{
	return a_load(&l->nr_tasks, relaxed) > 0;
}

/* Before a run adds its tasks: nobody has waited for them until now. */
static inline void load_begin(struct load *l, uint64_t now)
{
	if (!load_is_planned(l))
		a_store(&l->since, now, relaxed);
}

/* For a thief that has been idle for so long: with planned work in sight. */
static inline uint64_t load_idle(const struct load *l, uint64_t idle,
				 uint64_t now)
{
	int64_t ticks = (int64_t)(now - a_load(&l->since, relaxed));

	return min_u64(idle, ticks > 0 ? (uint64_t)ticks : 0);
}

/* A run begins: whoever sleeps on another node is told of it once at least. */
static inline void load_tell(struct load *l)
{
	a_store(&l->woken, 0, relaxed);
}

static inline double load_rate(const struct load *l)
{
	uint32_t bits = a_load(&l->rate, relaxed);
	float rate;

	memcpy(&rate, &bits, sizeof(rate));
	return (double)rate;
}

/* A task of the node took so long there. */
static inline void load_learn(struct load *l, uint64_t ticks, uint64_t bytes)
{
	float rate = (float)deficit_learn(load_rate(l), (double)ticks,
					  (double)bytes);
	uint32_t bits;

	memcpy(&bits, &rate, sizeof(bits));
	a_store(&l->rate, bits, relaxed);
}

#endif
