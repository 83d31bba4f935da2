/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The CPUs that this process may use can get fewer while it runs: its cgroup's
 * quota or cpuset is changed, or its threads' affinity. A worker that comes by
 * or goes to sleep looks, not more often than every QUOTA_LOOK_NS. A look is
 * some thirty system calls; so while there are CPUs for all workers only one
 * whose thread may have lost its CPU looks so soon, which is one that has not
 * come by for QUOTA_GAP_NS, and others every QUOTA_CALM_NS. Each worker
 * has a rank, given so that the first ranks are one on every node. With
 * fewer CPUs than workers nobody spins, and workers whose rank is not below
 * the number of CPUs leave what they have to the others, where they come
 * between two bodies, and stand by. A part keeps one of its workers, see
 * part.h. A worker whose CPUs went away and have come back is bound to them
 * again, see bind.h.
 *
 * To all others a worker on standby is one in a body that does not end: its
 * deques are public, it counts neither as spinner nor as sleeper, so nobody
 * wakes it for work. While the others are at work those on standby come back
 * every QUOTA_LOOK_NS to look, so that a rise is seen though all bodies are
 * long. When all are asleep they sleep for ever, and the first that finds work
 * stirs them:
 *
 *	finds work                       stands by
 *	(A) leaves the spinners          (C) is_deep = 1
 *	(B) looks at is_deep             (D) looks whether all sleep
 *
 * All four are seq_cst: B sees C, or D sees A.
 *
 * Substitutes, whose ranks are the last ones, run while seats are lent
 * (lend.h), however many CPUs there are, and look at nothing on standby.
 */
#ifndef MECHANISM_QUOTA_H
#define MECHANISM_QUOTA_H

#include "base/atomic.h"
#include "base/util.h"
#include "mechanism/rows.h"
#include "sched/sched.h"

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_LOOK_NS 100000000
#define QUOTA_CALM_NS 1000000000
#define QUOTA_GAP_NS 1000000

struct quota {
	/* Set at start, constant afterwards. */
	_Alignas(CACHE_LINE) const char *proc_root; /* NULL: the system's */
	const char *cgroup_root; /* the same */
	bool has_standby; /* else the user has said how many workers run */
	uint64_t look_ticks, calm_ticks; /* between two looks */
	uint64_t gap_ticks; /* a worker that stays away for longer looks */
	uint64_t spin_ticks; /* where there are CPUs enough */

	/* Any thread reads, the worker that moves look_at writes. */
	_Atomic(uint64_t) look_at; /* ticks; UINT64_MAX: never */
	_Atomic(uint64_t) patience; /* ticks after look_at; 0: CPUs are few */
	_Atomic(uint32_t) nr_running; /* workers of lower rank run; 0: all
				       * but substitutes */
	_Atomic(int) milli; /* the quota, 1/1000 CPU; 0: none */
	_Atomic(int64_t) read_ns; /* when it was read; 0: nobody does */
	_Atomic(int) cpus; /* for all workers, at most one each */

	/* Any thread. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t)
		word; /* futex of those on standby */
	_Atomic(uint32_t) nr_standby;
	_Atomic(uint32_t) nr_lent; /* and so many run more, see lend.h */
	_Atomic(uint32_t) is_deep; /* some may sleep there for ever */
};

/* For each worker. */
struct quota_worker {
	/* Set by the maker of a part: a quota leaves it running. */
	_Atomic(uint32_t) is_exempt;

	uint32_t rank; /* set at start */
	uint64_t seen_at; /* ticks; when it came by last; this worker only */
};

extern const struct mechanism quota_mechanism;

static inline struct quota *quota_in(const struct sched *s)
{
	return s->data[SLOT_QUOTA];
}

static inline struct quota_worker *quota_of(const struct worker *w)
{
	return w->data[SLOT_QUOTA];
}

/* Those on standby look again: the sched stops, or work was found. */
void quota_stir(struct quota *q);

/* This worker only: looks if it is time, which is one load and the clock. */
void quota_look(struct worker *w);

/* This worker only: it has slept, which is no sign that CPUs are few. */
void quota_rise(struct worker *w);

/* This worker only: it may not run, and nothing that keeps it from leaving. */
bool quota_must_leave(struct worker *w);

/* This worker only, outside of all bodies: until it may run. */
void quota_stand_by(struct worker *w);

/* A worker has found work and left the spinners. */
static inline void quota_found(struct quota *q)
{
	/* [quota.b] after we left the spinners; pairs with [quota.c]. */
	if (unlikely(a_load(&q->is_deep, seq_cst)))
		quota_stir(q);
}

#endif
