/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How a run begins: its frame's link goes from worker to worker, and each takes
 * some of the tasks that wait for nobody. There is one holder at a time.
 */
#ifndef RUN_SOURCES_H
#define RUN_SOURCES_H

#include "run/burst.h"

/* A run, from a worker or from outside (NULL). */
void sources_start(struct lkdf *rt, struct worker *w, struct frame *f);

/*
 * The next wave of a stream in a frame whose last wave the worker has ended:
 * its one source, which has a token, gets what a link would bring it, at once.
 * The run may be over afterwards.
 */
void sources_go_on(struct worker *w, struct frame *f);

/* A worker has the link first: how does the run go? */
void sources_begin(struct worker *w, struct frame *f);

/*
 * Takes the next sources of a frame whose link the worker holds. Returns the
 * item to run next, or 0.
 */
uint64_t sources_take(struct burst *b, struct frame *f);

#endif
