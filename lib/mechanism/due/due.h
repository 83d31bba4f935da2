/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker is due while a member of a gang is bound to it, or is about to be,
 * and has not begun there. Until then the worker takes no other work, so that
 * no task of the gang's run finds its thread as the program had not set it up.
 *
 *	thread that runs the gang        worker
 *	(A) is_due = 1 for all members   (C) takes an item
 *	(B) pushes the members           (D) looks at is_due
 *
 * Members make work after B, and the thread that takes such an item sees what
 * was done before it became public. So a worker that has one sees A at D: it
 * puts the item back where others find it, and looks for its member in its
 * parts alone. The member is there soon, as the thread that runs the gang waits
 * for nothing from A to B. The member clears is_due when it begins.
 *
 * Substitutes (mechanism/lend) are no members: they are due for as long as the
 * gang runs, and stand by.
 *
 * Two sorts of work go on: what was bound to the worker before its member, in
 * that order; and what a join runs, which lies below a body that runs already.
 */
#ifndef MECHANISM_DUE_H
#define MECHANISM_DUE_H

#include "mechanism/rows.h"
#include "sched/sched.h"

/* For each worker. */
struct due_worker {
	/* A gang sets it, its member on this worker clears it. */
	_Atomic(uint32_t) is_due;
};

extern const struct mechanism due_mechanism;

static inline struct due_worker *due_of(const struct worker *w)
{
	return w->data[SLOT_DUE];
}

/* Workers first and up, before last. */
void due_set(struct sched *s, int first, int last, uint32_t is_due);

static inline bool due_is(const struct worker *w)
{
	return unlikely(a_load(&due_of(w)->is_due, relaxed) != 0);
}

#endif
