/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Cancellation, with OMP_CANCELLATION=true. A construct that is cancelled ends
 * where its threads come to a cancellation point or, a region, to a barrier;
 * tasks of a group that is cancelled, and of a cancelled region, that have not
 * begun do not run. A thread of a cancelled region drops out of the gang at its
 * end, so that nobody waits for it at a barrier.
 */
#ifndef GOMP_CANCEL_H
#define GOMP_CANCEL_H

#include "gomp/gomp.h"

/* A taskgroup. The thread or task that has begun it frees it, once all of its
 * tasks have ended. */
struct task_group {
	_Atomic(uint32_t) is_cancelled; /* any of its tasks sets */
	/* Set at the beginning, constant afterwards. */
	struct task_group
		*outer; /* of the same task, or of one above; or NULL */
	unsigned depth; /* of its task then */
	bool is_of_construct; /* of a loop, sections or scope with reductions */
};

/* This task's next group; one that has no memory is never cancelled. */
void cancel_begin_group(bool is_of_construct);
void cancel_end_group(void);

/* Do tasks of the team and group run no more? */
bool cancel_drops(const struct team *t, const struct task_group *g);

static inline bool cancel_is_region(const struct team *t)
{
	return t->cancels && a_load(&t->is_cancelled, relaxed);
}

#endif
