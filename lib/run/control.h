/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Branches and loops of one run: what follows from a task being resolved in a
 * graph with control flow. The hot loop does without where a task has run and
 * all its edges are plain.
 */
#ifndef RUN_CONTROL_H
#define RUN_CONTROL_H

#include "graph/control.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct region_run;
struct worker;

/* A loop in a run. */
struct loop_run {
	/* Members, relaxed, before they tell others: set, never cleared. */
	_Atomic(uint8_t) goes_back, leaves, has_failed;
	/* The worker that resolves the head; enum verdict. */
	int8_t entry;
	/* Members with BACK edges; the last one re-arms all of this. */
	_Atomic(uint32_t) nr_backs;
};

/* A frame's own; NULL pointers without loops. */
struct control_run {
	struct loop_run *loops;
	_Atomic(uint8_t) *taken; /* by exit: its branch was chosen */
	struct region_run *regions; /* by loop; NULL: no loop has one */
};

/* For a sealed graph with control: the run's part of a frame. 0 or -ENOMEM. */
int control_run_create(struct frame *f);
void control_run_destroy(struct frame *f);

/*
 * A task is resolved; verdict: what its body has returned, or enum verdict.
 * Tells its successors and loops, pushes what gets ready, and passes no token.
 * Returns how many tasks the frame is to be told of: a loop's members count
 * when it has ended. For a member that is 0, and run and graph may be gone.
 */
uint32_t control_resolve(struct worker *w, struct frame *f, uint32_t index,
			 int verdict);

/*
 * The edges that close loop l are all resolved. Adds to *nr as above. Returns
 * the head, which is to run again, or NO_TASK.
 */
uint32_t control_end_loop(struct worker *w, struct frame *f, uint32_t l,
			  uint32_t *nr);

/* The task chooses an edge that leaves its loop, before it tells others. */
void control_leave(struct frame *f, const struct control_edge *e);

/* A BACK edge is resolved, of a member to its own loop. */
void control_tell_back(struct frame *f, const struct control_edge *e,
		       bool is_taken);

/*
 * The loop is over, and nothing but leaves has been set since it was entered.
 * Its exits are the caller's to tell.
 */
void control_over(struct frame *f, uint32_t l);

/* The task has resolved nr edges that close loop l. True: they are the last. */
bool control_close(struct frame *f, uint32_t l, uint32_t nr);

/* An edge to the task is resolved; flags: the edge's. */
void control_arrive(struct worker *w, struct frame *f, uint32_t to,
		    uint8_t flags, int verdict);

/* A task is ready, or to be skipped for the reason that pending keeps. */
void control_push(struct worker *w, struct frame *f, uint32_t index,
		  int verdict);

/* Was the task that is to be skipped not chosen? Forgets it. */
bool control_is_unchosen(struct frame *f, uint32_t index);

/* 0, or -ERANGE: no branch of the task has this value; err() says which do. */
int control_check(const struct frame *f, uint32_t index, int value);

#endif
