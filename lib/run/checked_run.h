/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option check: the orders of a run, see task/checked.h. A record has a token,
 * into which each body before it tells at its end; the run has one that its
 * caller has told, and one for its end, which all bodies tell. The next run in
 * the frame, or repetition, or wave, comes after the end of the one before.
 */
#ifndef RUN_CHECKED_RUN_H
#define RUN_CHECKED_RUN_H

#include "check/fiber.h"

struct frame;
struct frame_check;
struct lkdf_graph;

/* The running thread or body begins a run in the frame. */
void checked_run_begins(struct frame *f);

/* The next repetition, or the next wave of a stream, which its caller has told.
 */
void checked_run_again(struct frame *f);

/* The running thread begins a stream. */
void checked_stream_begins(struct lkdf_graph *g);

void checked_run_free(struct frame *f);

/* See owner_ops of core/ops.h. */
void checked_run_hear(struct frame *f, uint32_t index);
void checked_run_tell(struct frame *f, uint32_t index,
		      const struct check_place *at);
struct check_place checked_run_after(const struct frame *f, uint32_t index);

/* The task is passed over: those behind it come after those before it. */
void checked_run_passed(struct frame *f, uint32_t index);

/* Asks the program whether the run goes on. */
bool checked_run_until(struct frame *f, bool (*until)(void *u), void *u);

/* Has the program drop a value at a port. */
void checked_run_drop(struct frame *f, void (*drop)(void *value), void *value);

#endif
