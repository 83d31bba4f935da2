/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs that one worker keeps, or few do: policy/solo.h judges them by their
 * time, for graphs where that is possible. It goes with any mode of a run.
 */
#ifndef RUN_SOLO_RUN_H
#define RUN_SOLO_RUN_H

#include "run/frame.h"

/* A worker has the link of a run first. */
void solo_run_begin(struct worker *w, struct frame *f);

/*
 * The worker ends a run. A run whose one outermost loop has gone round
 * SOLO_TURNS times and more counts as several: each of so many iterations is
 * judged as if it was a run, and the rest is not.
 */
void solo_run_end(struct worker *w, struct frame *f);

#define SOLO_TURNS 16

/*
 * The loop that is judged goes round, and the worker has its head. Tasks beside
 * the loop may be ready or under way.
 */
void solo_run_turn(struct worker *w, struct frame *f);

#endif
