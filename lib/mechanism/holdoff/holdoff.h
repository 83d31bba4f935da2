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
 *	else             ticks: keeps its work until then; in its low bits the
 *	                 logarithm of the width
 *
 * The width is 1, or a power of two of workers that have the work together: a
 * group, which is those of the same number but for as many low bits, so that
 * both sides see from two numbers whether they are of one. A thief that takes
 * an item of its group's holds others off as its victim does. Within a group
 * work is shared as ever, but chance decides which sleeper wakes, so sleepers
 * of the group are called (sched/park.h):
 *
 *	holder                           sleeper of its group
 *	(A) makes work public            (C) is_parking = 1
 *	(B) looks at is_parking          (D) looks at all public work
 *
 * All four are seq_cst. A sleeper that is missed all the same, as the holder
 * was not asked, comes back after its nap. A worker of a group that has nothing
 * left to do holds nobody off.
 *
 * The static order of a run (run/guard.h) does not replace it: a run's link
 * that thieves may take at once is taken at once. On two workers a task of a
 * graph of 4,096 empty bodies with four predecessors each takes 2.9 ns at best
 * and 18 to 27 in the mean with it, and 28 and 140 to 220 where thieves ignore
 * it. Runs without such an order, loops and graphs with tokens, need it too.
 */
#ifndef MECHANISM_HOLDOFF_H
#define MECHANISM_HOLDOFF_H

#include "base/clock.h"
#include "mechanism/rows.h"
#include "sched/worker.h"

#define HELD_OFF_LATELY 1

/* The bits of the word that are no ticks. */
#define HOLDOFF_WIDTH UINT64_C(31)

/* How long somebody sleeps beside a worker that keeps its work. */
#define HOLDOFF_NAP_MIN_NS 1000000
#define HOLDOFF_NAP_MAX_NS 64000000

/* For each worker. */
struct holdoff {
	/* This worker sets, others read. */
	_Atomic(uint64_t) until;

	/* This worker only: beside others that keep their work. */
	int64_t nap_ns;
};

extern const struct mechanism holdoff_mechanism;

static inline struct holdoff *holdoff_of(const struct worker *w)
{
	return w->data[SLOT_HOLDOFF];
}

/* This worker only: does it hold off thieves? */
static inline bool holdoff_is_on(const struct worker *w)
{
	return a_load(&holdoff_of(w)->until, relaxed) > HELD_OFF_LATELY;
}

/* This worker only: has it its work for itself? */
static inline bool holdoff_is_alone(const struct worker *w)
{
	uint64_t until = a_load(&holdoff_of(w)->until, relaxed);

	return until > HELD_OFF_LATELY && !(until & HOLDOFF_WIDTH);
}

/*
 * This worker only: it holds off thieves but those of its group until that
 * time, in ticks; width: its logarithm.
 */
void holdoff_begin(struct worker *w, uint64_t until, uint32_t width);

/* Any thread: does it keep its work from somebody? */
static inline bool holdoff_keeps(struct worker *victim)
{
	uint64_t until = a_load(&holdoff_of(victim)->until, relaxed);

	return unlikely(until > HELD_OFF_LATELY) && clock_ticks() < until;
}

/* Is this victim's work to be left alone by this worker? */
static inline bool holdoff_holds(const struct worker *w, struct worker *victim)
{
	uint64_t until = a_load(&holdoff_of(victim)->until, relaxed);

	return unlikely(until > HELD_OFF_LATELY) &&
	       (uint32_t)(w->id ^ victim->id) >> (until & HOLDOFF_WIDTH) &&
	       clock_ticks() < until;
}

/*
 * Is this victim's work none that this worker looks for, or tells others of? A
 * worker that holds others off itself asks for those: who has work calls the
 * group.
 */
static inline bool holdoff_hides(struct worker *w, struct worker *victim)
{
	return holdoff_holds(w, victim) ||
	       (holdoff_is_on(w) && holdoff_keeps(victim));
}

/* This worker only: it has taken an item of the victim's. */
static inline void holdoff_join(struct worker *w, struct worker *victim)
{
	uint64_t until = a_load(&holdoff_of(victim)->until, relaxed);

	if (unlikely(until > HELD_OFF_LATELY) && until & HOLDOFF_WIDTH)
		a_store(&holdoff_of(w)->until, until, relaxed);
}

/* This worker only: it has nothing left; alone it may get more of its run. */
static inline void holdoff_leave(struct worker *w)
{
	if (unlikely(a_load(&holdoff_of(w)->until, relaxed) & HOLDOFF_WIDTH) &&
	    holdoff_is_on(w))
		a_store(&holdoff_of(w)->until, HELD_OFF_LATELY, relaxed);
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

/*
 * Somebody asks for work, and the next body is short. True: there is an answer,
 * which one of the group has heard.
 */
bool holdoff_answers(struct worker *w, bool is_short);

/* Before it sleeps, of what others keep: see nap.h. */
int64_t holdoff_nap(struct worker *w);

#endif
