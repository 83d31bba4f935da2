/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The sleep of a worker that has not found any work, and how it stops looking:
 * what it has to see before, and whom it has to tell after.
 */
#ifndef SCHED_SLEEP_H
#define SCHED_SLEEP_H

#include "sched/sched.h"

/*
 * An idle worker says that it sleeps, so that nobody counts on it. Afterwards:
 * park_retract(), or a sleep if sleep_may().
 */
void sleep_announce(struct worker *w);

/* There is no work that it may take, and nothing else that it waits for. */
bool sleep_may(struct worker *w);

/* Its CPU is somebody else's, or the one whose seat it had is back. */
static inline bool sleep_has_to_go(struct worker *w)
{
	return w->sched->calls.must_leave(w, true);
}

/* The runtime stops, or the word that the worker waits for has changed. */
bool sleep_is_over(struct worker *w);

/*
 * Spinner on entry and on return. For how many ticks it is worth to spin then:
 * whoever slept its time has no reason to expect more than what it was for.
 */
uint64_t sleep_once(struct worker *w);

/* Spinner -> busy, and others look for work in its place if there is more. */
void sleep_leave(struct worker *w, bool found, uint64_t item);

#endif
