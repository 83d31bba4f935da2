/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The owner of a run that goes by its static order, where there are more
 * workers than one. Its owner goes from step to step and tells nobody, while
 * the run's link lies where others may take it. A worker that does, because the
 * run takes too long, takes the rest of the run away from the owner, though
 * that may be in a body that does not end before another task of the run has
 * begun.
 *
 *	WAITS -> RUNS    whoever holds the link begins some steps
 *	RUNS  -> WAITS   they are done, there are more
 *	RUNS  -> ENDED   all are done, or the owner leaves the order
 *	RUNS  -> TAKEN   by who has taken the link
 *	TAKEN -> LEFT    and it has left the order on the owner's behalf
 *
 * The owner says which step it is at, then looks whether the run is still its
 * own, then calls the body. The thief takes the run, has all CPUs pass a
 * barrier, then looks at the step. So either the owner sees it before that
 * step's body, or it is in it, or has been, and sees it before the next one's:
 * one step at most is in doubt, and the owner knows which, and whether its body
 * was called. Between saying where it is and calling the body the owner reads
 * nothing that the thief may change.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include "base/atomic.h"
#include "base/membarrier.h"
#include "base/util.h"

#include <stdbool.h>
#include <stdint.h>

enum guard_state {
	GUARD_WAITS,
	GUARD_RUNS,
	GUARD_ENDED,
	GUARD_TAKEN,
	GUARD_LEFT,
};

struct guard {
	/* Set before the link can be taken, constant during the run. */
	bool is_on;

	/* The owner; others look. */
	_Atomic(uint32_t) step;

	/* See above. */
	_Atomic(uint32_t) state;
	uint32_t left_at; /* the thief, before LEFT: the step in doubt */
};

/* Called by the holder of the link, before others may have it. */
static inline void guard_begin(struct guard *g, uint32_t step)
{
	check(a_load(&g->state, relaxed) == GUARD_WAITS || !g->is_on);
	a_store(&g->step, step, relaxed);
	/* Relaxed: the link is told afterwards. */
	a_store(&g->state, GUARD_RUNS, relaxed);
}

/* The owner is at a step. True: the run is TAKEN, or LEFT. */
static inline bool guard_at(struct guard *g, uint32_t step)
{
#ifdef LKDF_MC
	/*
	 * The thief's barrier makes it so. [guard.at] before we look; pairs
	 * with [guard.take].
	 */
	a_store(&g->step, step, seq_cst);
	/* [guard.at] as above. */
	return a_load(&g->state, seq_cst) != GUARD_RUNS;
#else
	/* [guard.step] what the bodies before it did; pairs with
	 * [guard.look]. */
	a_store(&g->step, step, release);
	membarrier_light();
	return a_load(&g->state, relaxed) != GUARD_RUNS;
#endif
}

/* The owner. False: the run is TAKEN. */
static inline bool guard_stop(struct guard *g, enum guard_state to)
{
	uint32_t runs = GUARD_RUNS;

	/* [guard.stop] what the steps did, and where to go on; pairs with
	 * [guard.see]. */
	return a_cas(&g->state, &runs, (uint32_t)to, release, relaxed);
}

/* Called by the holder of the link. */
static inline enum guard_state guard_see(struct guard *g)
{
	/* [guard.see] pairs with [guard.stop]. */
	return (enum guard_state)a_load(&g->state, acquire);
}

/*
 * Called by the thief that took the link while it RUNS. False: it does not any
 * more.
 */
static inline bool guard_take(struct guard *g)
{
	uint32_t runs = GUARD_RUNS;

	/* [guard.take] before we look at the step, with the barrier; pairs
	 * with [guard.at]. */
	return a_cas(&g->state, &runs, GUARD_TAKEN, seq_cst, relaxed);
}

/* The thief, once it has taken the run and all have passed its barrier. */
static inline uint32_t guard_look(struct guard *g)
{
	/* [guard.look] what the bodies before it did; pairs with
	 * [guard.step]. */
	return a_load(&g->step, acquire);
}

/* The thief: the run has left its order, with that step in doubt. */
static inline void guard_leave(struct guard *g, uint32_t step)
{
	check(a_load(&g->state, relaxed) == GUARD_TAKEN);
	g->left_at = step;
	/* [guard.left] what leaving did; pairs with [guard.wait]. */
	a_store(&g->state, GUARD_LEFT, release);
}

/* The owner, of what is TAKEN. True: it is LEFT, at left_at. */
static inline bool guard_is_left(struct guard *g)
{
	/* [guard.wait] what leaving did; pairs with [guard.left]. */
	return a_load(&g->state, acquire) == GUARD_LEFT;
}

#endif
