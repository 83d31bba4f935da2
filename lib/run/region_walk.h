/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker's way through a region. region_run.c goes it, region_leave.c has the
 * ways out.
 */
#ifndef RUN_REGION_WALK_H
#define RUN_REGION_WALK_H

#include "run/region_run.h"

struct walk {
	struct burst *b;
	const struct region *r;
	struct region_run *run;
	uint64_t live; /* which words of bits are not 0 */
	uint32_t loop;
	uint32_t nr_ran; /* in this iteration */
	struct walk *outer; /* that the loop is a task of, or NULL */
	uint32_t position; /* as that */
	uint32_t *nr_run; /* tasks in all, of all walks */
	uint32_t max_run; /* after so many all else has its turn */
	/* Not yet counted. */
	uint64_t nr_unchosen, nr_turns;
	bool goes; /* a BACK edge was taken */
	bool has_folds; /* copies are combined after an iteration */
};

/* The iteration is over: what no branch has chosen in it. */
void region_count_unchosen(struct walk *k);

/*
 * The task at p is ready, or in its body: all before it are resolved, and their
 * own counters are as they were. Counters of those behind it are told what is
 * resolved. Others may have these tasks from here on, and those of the loops
 * around this one.
 */
void region_leave(struct walk *k, uint32_t p);

/* Tasks are live side by side: others could have them. */
bool region_must_share(struct walk *k);

/* A body has returned more than a value. is_transient: see chain_call(). */
enum region_end region_end_body(struct walk *k, uint32_t p, int rc,
				bool is_transient);

/* The wave of the task at p is dropped. */
enum region_end region_end_wave(struct walk *k, uint32_t p);

/* The iteration is over: the general way from here. */
enum region_end region_end_loop(struct walk *k, uint32_t *index);

/* All else has its turn. */
enum region_end region_give_turn(struct walk *k);

#endif
