/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which body a thread is in, for code that was called without its context. The
 * word is a field of the executor; a thread of the program, which is none, has
 * it in its record, for blocks of loops. The callers of bodies set the word and
 * restore it: a step of a task, a join for the children that it runs, a burst
 * for the tasks of a graph, whose bodies share one context, and a loop for its
 * blocks. A callback of the program that is no body runs with none.
 */
#ifndef SCHED_CURRENT_H
#define SCHED_CURRENT_H

#include "sched/executor.h"

/* From now on this executor's thread is in the body of c. Returns the outer. */
static inline struct lkdf_ctx *current_set(struct executor *ex,
					   struct lkdf_ctx *c)
{
	struct lkdf_ctx *outer = ex->current;

	ex->current = c;
	return outer;
}

/* The body is over. */
static inline void current_restore(struct executor *ex, struct lkdf_ctx *outer)
{
	ex->current = outer;
}

/* Around a callback that is no body. ex may be NULL: then there is no word. */
static inline struct lkdf_ctx *current_none(struct executor *ex)
{
	return ex ? current_set(ex, NULL) : NULL;
}

static inline void current_again(struct executor *ex, struct lkdf_ctx *outer)
{
	if (ex)
		ex->current = outer;
}

/* The context of the body, or of the loop's block, that this thread is in. */
static inline struct lkdf_ctx *current_get(void)
{
	const struct thread *self = thread_record;
	const struct executor *ex;

	if (!self)
		return NULL;
	ex = self->executor;
	return ex ? ex->current : self->current;
}

#endif
