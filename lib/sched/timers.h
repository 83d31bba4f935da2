/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timers of one runtime: what is to happen at some time, the earliest first.
 * A pairing heap under a lock (Fredman, Sedgewick, Sleator, Tarjan 1986) of
 * timers that lie in what they belong to, so nothing here needs memory. The
 * earliest time is mirrored in one word, so that looking costs one load.
 *
 * A worker that goes to sleep arms itself: it sleeps until the earliest time,
 * unless another one does so already. armed is the time that somebody sleeps
 * to. A thread that adds an earlier one than that wakes a sleeper:
 *
 *	adds a timer                     goes to sleep
 *	(A) earliest = its time          (C) sleepers + 1
 *	(B) looks at armed and sleepers  (D) looks at earliest, arms itself
 *
 * All seq_cst: either B sees C and wakes, or D sees A. A sleeper that wakes and
 * turns busy disarms first and then looks at earliest as B does (timers_need),
 * and so does the spinner who finds work: if a time is left, somebody else
 * sleeps to it. A busy worker looks at the clock between bodies.
 */
#ifndef SCHED_TIMERS_H
#define SCHED_TIMERS_H

#include "base/atomic.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/util.h"

#define TIMERS_NONE INT64_MAX

struct timer {
	/* Set before it is added. */
	int64_t end_ns; /* as timers_now() */
	/* Under the timers' lock, once; it is in no queue any more. */
	void (*fire)(struct timer *t);

	/* Under the timers' lock. */
	bool is_queued;
	struct timer *child, *next;
	struct timer *prev; /* of the first child: the parent */
};

struct timers {
	/* Any thread; earliest is written under lock. */
	_Alignas(CACHE_LINE) _Atomic(int64_t) earliest;
	_Atomic(int64_t) armed;

	/* Under lock. */
	_Alignas(CACHE_LINE) struct lock lock;
	struct timer *root;

	/* Option order: the time, which goes on where nothing is ready, and
	 * then at once; 0: time is CLOCK_MONOTONIC. */
	_Atomic(int64_t) virtual_ns;
};

void timers_init(struct timers *ts);

/* From now on time is virtual. */
void timers_be_virtual(struct timers *ts);

/* Nothing is ready: virtual time goes on by ns. */
void timers_pass(struct timers *ts, int64_t ns);

/* The time of all deadlines and timeouts, in ns. */
static inline int64_t timers_now(const struct timers *ts)
{
	int64_t ns = a_load(&ts->virtual_ns, relaxed);

	return unlikely(ns) ? ns : clock_now_ns();
}

/* As clock_end_of() and clock_is_over(), by timers_now(). */
static inline int64_t timers_end_of(const struct timers *ts, int64_t timeout_ns)
{
	if (timeout_ns < 0 || timeout_ns > INT64_MAX / 2)
		return -1;
	return timers_now(ts) + timeout_ns;
}

static inline bool timers_are_over(const struct timers *ts, int64_t end,
				   int64_t *left_ns)
{
	*left_ns = end < 0 ? -1 : end - timers_now(ts);
	return end >= 0 && *left_ns <= 0;
}

/* True: it is the earliest now. Then call timers_need(). */
bool timers_add(struct timers *ts, struct timer *t);

/* Afterwards it does not fire, or it has. */
void timers_del(struct timers *ts, struct timer *t);

/* Fires what is over; how many. */
unsigned timers_fire(struct timers *ts);

/* There is a time to which nobody sleeps. */
bool timers_need(struct timers *ts);

/*
 * After one has said that one sleeps: -1 to sleep for ever, or the nanoseconds
 * until the earliest; 0: it is over. *mine goes to timers_disarm().
 */
int64_t timers_arm(struct timers *ts, int64_t *mine);
void timers_disarm(struct timers *ts, int64_t mine);

static inline bool timers_are_empty(const struct timers *ts)
{
	return a_load(&ts->earliest, relaxed) == TIMERS_NONE;
}

/* Is the earliest over? The cost is a load if there is none. */
static inline bool timers_are_due(const struct timers *ts)
{
	int64_t earliest = a_load(&ts->earliest, relaxed);

	return unlikely(earliest != TIMERS_NONE) && timers_now(ts) >= earliest;
}

#endif
