/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker may keep its work for a while, where to hand it over costs more than
 * it brings (policy/solo.h). Its work is public as ever, one item at least, but
 * until a time that the worker names no thief takes an item of class NORMAL or
 * below, and nobody is woken for it. An idle worker that finds no other work
 * sleeps for a limited time, so that it comes back once the time is over. Those
 * that slept before are woken by the worker, which looks at the time whenever
 * it looks at the inbox.
 *
 *	0                holds nobody off, and has not since it last slept
 *	HELD_OFF_LATELY  holds nobody off now
 *	else             ticks: keeps its work until then
 *
 * The static order of a run (run/guard.h) does not replace it: a run's link
 * that thieves may take at once is taken at once. On two workers a task of a
 * graph of 4,096 empty bodies with four predecessors each takes 2.9 ns at best
 * and 18 to 27 in the mean with it, and 28 and 140 to 220 where thieves ignore
 * it. Runs without such an order, loops and graphs with tokens, need it too.
 */
#ifndef SCHED_HOLDOFF_H
#define SCHED_HOLDOFF_H

#include "base/clock.h"
#include "sched/worker.h"

#define HELD_OFF_LATELY 1

/* How long somebody sleeps beside a worker that keeps its work. */
#define HOLDOFF_NAP_MIN_NS 1000000
#define HOLDOFF_NAP_MAX_NS 64000000

/* This worker only: does it hold off thieves? */
static inline bool holdoff_is_on(struct worker *w)
{
	return a_load(&w->holdoff_until, relaxed) > HELD_OFF_LATELY;
}

/* This worker only: it holds off thieves until that time, in ticks. */
static inline void holdoff_begin(struct worker *w, uint64_t until)
{
	a_store(&w->holdoff_until, until, relaxed);
	/* So that what is pushed next is public. */
	w->has_deferred = true;
}

/* Any thread: is this victim's work to be left alone? */
static inline bool holdoff_holds(struct worker *victim)
{
	uint64_t until = a_load(&victim->holdoff_until, relaxed);

	return unlikely(until > HELD_OFF_LATELY) && clock_ticks() < until;
}

/* This worker only: from now on it has its work as others do; tells them. */
void holdoff_stop(struct worker *w);

static inline void holdoff_end(struct worker *w)
{
	if (unlikely(holdoff_is_on(w)))
		holdoff_stop(w);
}

/* This worker only, now and then. */
void holdoff_look(struct worker *w);

/* Of NORMAL work while it is kept: sees to it that one item is public. */
bool holdoff_push(struct worker *w, uint64_t item);

/*
 * Somebody asks for work, and the next body is short. True: there is an answer.
 */
bool holdoff_answers(struct worker *w, bool is_short);

/* Before it sleeps, of what others keep: see nap.h. */
int64_t holdoff_nap(struct worker *w);

#endif
