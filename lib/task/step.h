/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Running the body of a task once: inline, since it is the whole cost of a
 * small child.
 */
#ifndef TASK_STEP_H
#define TASK_STEP_H

#include "scope/scope.h"
#include "task/task.h"

/* Limits, cancelled scopes, continuations, kinds not known to be short. */
enum task_end task_step_slowly(struct lkdf_ctx *c, struct task *t);

/* Body returned: PENDING while children are outstanding. */
static inline enum task_end task_end_body(struct task *t)
{
	int32_t out = (int32_t)(t->nr_spawned - t->nr_local);

	if (likely(!out))
		return TASK_COMPLETE;
	/* What is outstanding goes to live, and who makes it 0 completes.
	 * [task.end] the body's writes; pairs with [task.child]. */
	return a_add(&t->live, out, acq_rel) + out == 0 ? TASK_COMPLETE
							: TASK_PENDING;
}

/* Nothing is to be done before its body. */
static inline bool task_is_plain(const struct task *t)
{
	return !((t->link.flags & (TASK_GENERAL | TASK_CONTINUES | TASK_OWNED |
				   TASK_HAS_DATA | TASK_EXTRA)) |
		 a_load(&t->kind->slow, relaxed) |
		 (uint32_t)scope_cancelled(t->scope));
}

/* COMPLETE: the caller tells the parent. */
static inline enum task_end task_step(struct executor *ex, struct task *t)
{
	struct lkdf_ctx c = { .ex = ex, .task = t };
	int rc;

	if (unlikely(!task_is_plain(t)))
		return task_step_slowly(&c, t);
	rc = t->kind->fn(&c, t->arg);
	counter_add(ex->counters, COUNTER_TASKS, 1);
	if (unlikely((rc | c.after) < 0))
		return task_after(&c, rc);
	return task_end_body(t);
}

#endif
