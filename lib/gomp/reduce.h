/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions of tasks. A construct has a copy of its variables for each thread
 * of the team; a task works on the copies of the thread that runs it, and the
 * program adds them up once all tasks have ended.
 */
#ifndef GOMP_REDUCE_H
#define GOMP_REDUCE_H

#include "gomp/gomp.h"

/* The array of words in which gcc describes a construct's variables. */
struct reduction {
	uintptr_t nr; /* variables */
	uintptr_t size; /* bytes of a thread's copies */
	uintptr_t memory; /* their alignment; then where they are */
	uintptr_t allocator; /* the program's wish, not followed */
	struct reduction *outer; /* of the construct around */
	uintptr_t depth; /* ours: that of its group of tasks */
	uintptr_t end; /* of the memory */
	struct {
		uintptr_t address, offset, spare;
	} variable[];
};

_Static_assert(sizeof(struct reduction) == 7 * sizeof(uintptr_t),
	       "as gcc has it");

/* A group of tasks, of the program's or of a construct with reductions. */
void group_begin(bool is_of_construct);

/* Zeroed copies for so many threads. */
void reduce_make(struct reduction *r, unsigned nr_threads);
void reduce_free(struct reduction *r);

/* This thread's description of a construct that another has made copies for. */
void reduce_share(struct reduction *r, const struct reduction *first);

/* Tasks that this one makes from now on reduce these, until its group ends. */
void reduce_begin(struct reduction *r);

#endif
