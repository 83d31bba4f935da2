/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Running the body of a task once: inline, since it is the whole cost of a
 * small child.
 */
#ifndef TASK_STEP_H
#define TASK_STEP_H

#include "sched/current.h"
#include "sched/worker.h"
#include "scope/scope.h"
#include "task/noted.h"
#include "task/task.h"

/* Limits, cancelled scopes, continuations, kinds not known to be short. */
enum task_end task_step_slowly(struct lkdf_ctx *c, struct task *t);

/* Body returned: PENDING while children are outstanding. */
static inline enum task_end task_end_body(struct task *t)
{
	int32_t out = (int32_t)(t->nr_spawned - t->nr_local);

	if (likely(!out))
		return TASK_COMPLETE;
	/*
	 * Outstanding children go to live, and the thread that makes it 0
	 * completes. [task.end] the body's writes; pairs with [task.child].
	 */
	return a_add(&t->live, out, acq_rel) + out == 0 ? TASK_COMPLETE
							: TASK_PENDING;
}

/* On a worker, where task_may_join() needs no look at its uses. */
static inline __attribute__((always_inline)) bool
task_joins_freely(const struct lkdf_ctx *c)
{
	struct worker *w = c->ex->worker;

	return w && depth_has_room(&w->depth) &&
	       (!c->task || !(c->task->link.flags & TASK_HAS_DATA));
}

/*
 * 0: nothing is to be done before its body; SLOW_NOTES alone: its kind is to be
 * noted, or counted as well, nothing else.
 */
static inline uint32_t task_before(const struct task *t)
{
	return (t->link.flags & (TASK_GENERAL | TASK_CONTINUES | TASK_OWNED |
				 TASK_HAS_DATA | TASK_EXTRA)) |
	       a_load(&t->kind->slow, relaxed) |
	       (uint32_t)scope_cancelled(t->scope);
}

/* COMPLETE: the caller tells the parent. */
static inline enum task_end task_step(struct executor *ex, struct task *t)
{
	struct lkdf_ctx c = { .ex = ex, .task = t };
	struct lkdf_ctx *outer = current_set(ex, &c);
	uint32_t before = task_before(t);
	enum task_end end;
	int rc;

	if (likely(!before)) {
		rc = body_call(t->kind->fn, &c, t->arg);
	} else if (!(before & ~SLOW_NOTES)) {
		rc = noted_by(before, t->kind, &c, t->kind->fn, t->arg);
	} else {
		end = task_step_slowly(&c, t);
		current_restore(ex, outer);
		return end;
	}
	current_restore(ex, outer);
	counter_add(ex->counters, COUNTER_BODIES, 1);
	if (unlikely((rc | c.after) < 0))
		return task_after(&c, rc);
	return task_end_body(t);
}

/*
 * A child, or one below it, of the body that runs on this thread has ended: a
 * child of its own is counted without a locked operation.
 */
static inline void task_end_child(struct executor *ex, struct task *t,
				  struct task *parent)
{
	if (a_load(&t->parent, relaxed) != parent ||
	    t->link.flags & TASK_ENDS_SLOWLY ||
	    a_load(&t->child_err, relaxed)) {
		task_complete(ex, t);
		return;
	}
	parent->nr_local++;
	magazine_put(&ex->magazine[POOL_TASK], t);
}

/* On top of the body of parent. */
static inline void task_run_child(struct executor *ex, struct task *t,
				  struct task *parent)
{
	if (task_step(ex, t) == TASK_COMPLETE)
		task_end_child(ex, t, parent);
}

#endif
