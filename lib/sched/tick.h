/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timers and workers: who looks at the clock. An idle worker sleeps until the
 * earliest time (timers.h). Busy ones have ATTN_CLOCK set while there are
 * timers, and look between bodies: at each that may be long, at every 16th
 * short one.
 *
 *	adds a timer                     worker
 *	(A) earliest = its time          (C) clears ATTN_CLOCK
 *	(B) sets it where it is clear    (D) looks at earliest, sets it again
 */
#ifndef SCHED_TICK_H
#define SCHED_TICK_H

#include "sched/sched.h"

#define TICK_EVERY 16

/* Any thread: a timer that fires on a worker is added, or taken out. */
void sched_add_timer(struct sched *s, struct timer *t);
void sched_del_timer(struct sched *s, struct timer *t);

/*
 * This worker only, between two bodies, with ATTN_CLOCK set. True: a timer has
 * fired, and there may be work in our deques.
 */
bool worker_tick(struct worker *w);

/* This worker was idle and has found work: somebody else keeps the time. */
void worker_pass_time(struct worker *w);

static inline bool worker_has_clock(struct worker *w)
{
	return unlikely(a_load(&w->attn, relaxed) & ATTN_CLOCK);
}

/* Looks at the clock rarely, behind a short body. */
static inline bool worker_tick_rarely(struct worker *w)
{
	return unlikely(++w->looks.nr_ticks % TICK_EVERY == 0) &&
	       worker_tick(w);
}

/* There is a clock to look at; what else there is to attend to. */
static inline uint32_t worker_look(struct worker *w, bool is_short)
{
	if (is_short)
		worker_tick_rarely(w);
	else
		worker_tick(w);
	return a_load(&w->attn, relaxed) & ~ATTN_CLOCK;
}

/* The runtime's timers are due: fires them. Any thread, between bodies. */
static inline bool sched_tick(struct sched *s, void *rt)
{
	bool is_due = timers_are_due(&s->timers);

	if (unlikely(is_due))
		s->ops.tick(rt);
	return is_due;
}

#endif
