/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The hot record: one task of one frame in 32 bytes, see
 * Documentation/internals/hot-record.rst. A frame is an array of them,
 * successors are indices into it.
 *
 * The counter holds the arrivals still to come. A task with one arrival needs
 * none, so nr_in 1 never touches it. The last to arrive re-arms it with a
 * plain store, so a frame is ready for its next run without a sweep. DEAD is
 * set by whoever arrives from a task that failed or was skipped.
 */
#ifndef GRAPH_RECORD_H
#define GRAPH_RECORD_H

#include "base/atomic.h"
#include "base/util.h"

struct lkdf_kind;

#define MAX_TASKS (1u << 30)
#define REC_DEAD (1u << 31)
#define REC_WIDE 0xffffu /* nr_in is in the graph's side table */
#define REC_SPILLED 3u /* succ[0] is an offset, succ[1] a count */
#define REC_CONTROL 4u /* the same, in the edges of struct control */

enum rec_flag {
	REC_CLASS = 3, /* two bits: enum sched_class */
	REC_TOKEN = 4, /* one arrival comes from the run before */
	REC_PLACED = 8, /* has a node of its own, see renumber_home() */
	REC_LEADS = 16, /* see io_chain.h and early.h: a successor */
	REC_FOLLOWS = 32, /* may go with it, or it with another */
	REC_CHOSEN =
		64, /* one at least of the edges that count is to be live */
	REC_MEMBER = 128, /* of a loop, whose end counts it */
};

struct rec {
	struct lkdf_kind *kind;
	void *arg;
	_Atomic(uint32_t) pending;
	uint16_t nr_in; /* what pending is re-armed to */
	uint8_t nr_succ; /* 0 .. 2 inline, or REC_SPILLED */
	uint8_t flags;
	uint32_t succ[2];
};

_Static_assert(sizeof(struct rec) == 32, "two records a cache line");

enum arrival {
	ARRIVAL_EARLY, /* others are still to come */
	ARRIVAL_LIVE, /* the last: it may run */
	ARRIVAL_DEAD, /* the last, and an input failed or was skipped */
};

/* A live arrival at a record with a counter; does not re-arm. */
static inline enum arrival rec_arrive(struct rec *r)
{
	/* [dep.last] what all predecessors did; pairs with [dep.arrive]. */
	uint32_t pending = a_load(&r->pending, acquire);

	if (pending == 1)
		return ARRIVAL_LIVE;
	/* [dep.arrive] what we did; pairs with [dep.last] and itself. */
	pending = a_sub(&r->pending, 1, acq_rel);
	check(pending & ~REC_DEAD);
	if (likely((pending & ~REC_DEAD) != 1))
		return ARRIVAL_EARLY;
	return pending == 1 ? ARRIVAL_LIVE : ARRIVAL_DEAD;
}

/* A dead arrival at a record with a counter; does not re-arm. */
static inline enum arrival rec_arrive_dead(struct rec *r)
{
	uint32_t pending;

	a_or(&r->pending, REC_DEAD, relaxed);
	/* [dep.dead] what we did and the mark; pairs with [dep.last]. */
	pending = a_sub(&r->pending, 1, acq_rel);
	check(pending & ~REC_DEAD);
	return (pending & ~REC_DEAD) == 1 ? ARRIVAL_DEAD : ARRIVAL_EARLY;
}

/*
 * In graphs with control flow pending holds more, so that one operation tells
 * all: arrivals to come in bits 0 to 19, live ones among those that count in 20
 * to 28, a dead one of these because of a failure in 29, others in 30 and 31.
 *
 * Nobody needs the number of live ones, only whether it is 0, but to add 1 with
 * the subtraction costs nothing. While more than REC_MANY arrivals are to come
 * a live one sets the lowest bit instead, as the dead ones set theirs: at most
 * REC_MANY ones are added, each bit set after one of them adds one more at
 * most, and their sum has room in nine bits however many edges there are.
 */
#define REC_ARRIVALS ((1u << 20) - 1)
#define REC_ONE_LIVE (1u << 20)
#define REC_LIVE (511u << 20)
#define REC_LOST (1u << 29)
#define REC_UNCHOSEN (1u << 30)
#define REC_MANY 200u

/* A live arrival, while many are to come. Returns what is left to tell. */
static inline uint32_t rec_live_among_many(struct rec *r, uint32_t how,
					   uint32_t pending)
{
	if (how & REC_LIVE && !(pending & REC_ONE_LIVE))
		a_or(&r->pending, REC_ONE_LIVE, relaxed);
	return how & ~REC_LIVE;
}

/*
 * An arrival: its state, REC_ONE_LIVE or one of the three bits or DEAD or 0,
 * goes into pending. *all: with what has come before. True: it is the last;
 * does not re-arm.
 */
static inline bool rec_arrive_control(struct rec *r, uint32_t how,
				      uint32_t *all)
{
	/* [control.last] what all predecessors did; pairs with
	 * [control.arrive]. */
	uint32_t pending = a_load(&r->pending, acquire);

	if ((pending & REC_ARRIVALS) != 1) {
		if (unlikely((pending & REC_ARRIVALS) > REC_MANY))
			how = rec_live_among_many(r, how, pending);
		if (how & ~REC_LIVE && !(pending & how))
			a_or(&r->pending, how & ~REC_LIVE, relaxed);
		/* [control.arrive] what we did; pairs with [control.last] and
		 * itself. */
		pending = a_sub(&r->pending, 1 - (how & REC_LIVE), acq_rel);
	}
	check(pending & REC_ARRIVALS);
	*all = (pending | (how & ~REC_LIVE)) + (how & REC_LIVE);
	return (pending & REC_ARRIVALS) == 1;
}

/*
 * nr arrivals of tasks that were not chosen, nr_strong of which do not count:
 * then the target is not chosen, either. True: the last one is among them.
 * *all: as rec_arrive_control() says.
 */
static inline bool rec_arrive_unchosen(struct rec *r, uint32_t nr,
				       uint32_t nr_strong, uint32_t *all)
{
	uint32_t how = nr_strong ? REC_UNCHOSEN : 0;

	if (how)
		a_or(&r->pending, how, relaxed);
	/* [control.arrive] what we did; pairs with [control.last] and itself.
	 */
	*all = a_sub(&r->pending, nr, acq_rel) | how;
	check((*all & REC_ARRIVALS) >= nr);
	return (*all & REC_ARRIVALS) == nr;
}

/* By whoever arrived last, before the task runs. */
static inline void rec_rearm(struct rec *r, uint32_t nr_in)
{
	/* Relaxed: the next run's arrivals come after this run's end. */
	a_store(&r->pending, nr_in, relaxed);
}

#endif
