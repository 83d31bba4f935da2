/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks with more than a kind and an argument: place, event, deadline, uses,
 * events to start after.
 */
#include "task/task.h"

#include "core/runtime.h"
#include "mem/heap.h"
#include "scope/deadline.h"
#include "task/after.h"
#include "task/homes.h"
#include "task/parallel_for.h"
#include "task/uses.h"

#include <stdio.h>

static void set_home(struct task *t, const struct lkdf_task *a)
{
	t->home = home_of(a);
	if (t->home != HOME_NONE)
		t->link.flags |= TASK_PLACED;
}

/* t->scope is set. */
static int add_extra(struct task *t, struct lkdf_scope *scope,
		     const struct lkdf_task *a)
{
	int rc = 0;

	t->link.flags |= TASK_EXTRA;
	t->own = NULL;
	t->after = NULL;
	t->is_profiled = a->flags & LKDF_PROFILE;
	t->label = label_take(&t->kind->rt->heap->labels, a->label);
	if (a->deadline_ns)
		rc = deadline_create(scope, a->deadline_ns, &t->own);
	if (!rc && a->nr_after)
		rc = after_create(t, a->after, a->nr_after);
	return rc;
}

static void undo_extra(struct task *t)
{
	if (t->after)
		after_destroy(t);
	if (t->own)
		deadline_leave(t->own);
	label_put(&t->kind->rt->heap->labels, t->label);
}

void task_text(const struct task *t, char *text, size_t size)
{
	char label[LABEL_MAX + 1] = "";

	if (t->link.flags & TASK_EXTRA)
		label_text(&t->kind->rt->heap->labels, t->label, label);
	snprintf(text, size, label[0] ? "%s (%s)" : "%s", t->kind->name, label);
}

/* Deadline, events, profile or label. */
static bool has_extra(const struct lkdf_task *a)
{
	return a->deadline_ns || a->nr_after || a->flags & LKDF_PROFILE ||
	       a->label;
}

void task_undo(struct lkdf *rt, struct executor *ex, struct task *t)
{
	check(t->kind);
	if (t->link.flags & TASK_EXTRA)
		undo_extra(t);
	if (t->link.flags & TASK_HAS_DATA)
		uses_destroy(t);
	if (t->link.flags & TASK_HAS_DONE) {
		event_put(t->done);
		event_put(t->done);
	}
	task_destroy(rt, ex, t);
}

int task_add_extras(struct task *t, struct executor *ex, struct task *parent,
		    const struct lkdf_task *a, bool has_done)
{
	struct lkdf *rt = t->kind->rt;
	int rc = 0;

	set_home(t, a);
	task_init_limits(t);
	if (has_done) {
		rc = event_create(rt, ex, 1, 2, &t->done);
		if (rc)
			return rc;
		t->link.flags |= TASK_HAS_DONE;
	}
	if (a->nr_use)
		rc = uses_create(t, parent, a->use, a->nr_use);
	if (!rc && unlikely(has_extra(a)))
		rc = add_extra(t, parent ? parent->scope : t->scope, a);
	return rc;
}

void task_has_data(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (unlikely(t->link.flags & TASK_EXTRA) && t->after)
		after_arrive(ex, t);
	else
		task_start(rt, ex, t);
}

/* Starts a task with a deadline or events; once it is in it may be gone. */
static __attribute__((noinline)) int
start_extra(struct lkdf *rt, struct executor *ex, struct task *t)
{
	bool waits = t->after != NULL;
	int rc;

	if (t->own)
		t->scope = t->own;
	rc = t->link.flags & TASK_HAS_DATA ? uses_enter(ex, t) : 1;
	if (waits && rc >= 0)
		after_start(ex, t, rc > 0);
	else if (rc > 0)
		task_start(rt, ex, t);
	return rc < 0 ? rc : 0;
}

static inline __attribute__((always_inline)) int
start_in_turn(struct lkdf *rt, struct executor *ex, struct task *t)
{
	int rc = 1;

	if (unlikely(t->link.flags & TASK_EXTRA))
		return start_extra(rt, ex, t);
	if (t->link.flags & TASK_HAS_DATA)
		rc = uses_enter(ex, t);
	if (rc > 0)
		task_start(rt, ex, t);
	return rc < 0 ? rc : 0;
}

int task_start_in_turn(struct lkdf *rt, struct executor *ex, struct task *t)
{
	check(t->kind && t->scope);
	return start_in_turn(rt, ex, t);
}

int task_spawn_with(struct lkdf_ctx *c, const struct lkdf_task *a,
		    struct lkdf_event *done)
{
	struct executor *ex = runtime_inside(c->ex);
	struct lkdf *rt = c->ex->rt;
	struct lkdf_event event;
	struct task *parent, *t;
	int rc;

	/* No use of a block covers those of its children. */
	if (a->nr_use && loop_is_block(c))
		return task_submit(rt, c->owner->scope(c), a, done);
	parent = task_of_ctx(c);
	if (!parent)
		return -ENOMEM;
	rc = task_may_have_child(parent, a->kind);
	if (rc)
		return rc;
	t = task_create(rt, ex, a->kind, a->arg, a->prio);
	if (!t)
		return -ENOMEM;
	rc = task_add_extras(t, ex, parent, a, done != NULL);
	event = t->done;
	if (!rc) {
		task_adopt(parent, t);
		if (!ex || !task_runs_inline(ex, t, parent))
			rc = task_start_in_turn(rt, ex, t);
		parent->nr_spawned -= rc != 0;
	}
	if (rc)
		task_undo(rt, ex, t);
	else if (done)
		*done = event;
	runtime_show(ex);
	return rc;
}

int task_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct lkdf_task *a, struct lkdf_event *done)
{
	struct executor *ex = runtime_executor(rt);
	struct lkdf_event event;
	struct task *t;
	int rc;

	rc = scope_enter(s, 1, scope_may_wait());
	if (rc)
		return rc;
	t = task_create(rt, ex, a->kind, a->arg, a->prio);
	if (!t) {
		scope_leave(s, 1);
		return -ENOMEM;
	}
	t->scope = s;
	t->index = 1;
	t->link.flags |= TASK_SCOPED;
	rc = task_add_extras(t, ex, NULL, a, done != NULL);
	event = t->done;
	if (!rc)
		rc = start_in_turn(rt, ex, t);
	if (rc) {
		task_undo(rt, ex, t);
		scope_leave(s, 1);
		return rc;
	}
	if (done)
		*done = event;
	runtime_show(ex);
	sched_drain(&rt->sched);
	return 0;
}
