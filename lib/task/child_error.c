/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors of a task's children, and how the task's body sees them. The task
 * keeps each with its story until a join, an event or its own end tells the
 * first; those that nobody was told of go to the log when they are let go, but
 * for those that say the same as the first.
 *
 * A task keeps no more than MOST_KEPT: what comes after these goes to the log
 * with its child, unless the child has an event.
 */
#include "task/complete.h"

#include "core/failure.h"
#include "core/runtime.h"
#include "scope/event_any.h"

#define MOST_KEPT 64

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

/* Under lock. False: t has many, or another task keeps it. */
static bool keep_story(struct task *t, int error, struct failure *f)
{
	struct failure **at = &t->child_failure;
	unsigned nr = 0;

	lock_assert_held(&rt_of(t)->failed_lock);
	if (!f || a_load(&f->child_of, relaxed))
		return false;
	for (; *at && nr < MOST_KEPT; nr++)
		at = &(*at)->beside;
	if (nr == MOST_KEPT)
		return false;
	*at = failure_get(f);
	f->beside = NULL;
	f->child_error = error;
	a_store(&f->child_of, t, relaxed);
	return true;
}

void complete_child_failed(struct task *parent, int error, struct failure *f)
{
	struct lock *l = &rt_of(parent)->failed_lock;
	bool is_first, is_kept;

	lock_take(l);
	is_first = !a_load(&parent->child_err, relaxed);
	if (is_first) {
		parent->child_failure = NULL;
		parent->child_bare = 0;
	}
	is_kept = keep_story(parent, error, f);
	if (!is_kept && (!f || is_first) && !parent->child_bare)
		parent->child_bare = error;
	if (is_first) {
		parent->is_bare = !is_kept;
		a_store(&parent->child_err, error, relaxed);
	}
	lock_give(l);
}

/* The oldest, or NULL; the caller owns the reference. */
static struct failure *pop_story(struct task *t)
{
	struct lock *l = &rt_of(t)->failed_lock;
	struct failure *f;

	lock_take(l);
	f = t->child_failure;
	if (f) {
		t->child_failure = f->beside;
		a_store(&f->child_of, NULL, relaxed);
	}
	lock_give(l);
	return f;
}

int complete_take_child_error(struct task *t, struct failure **f)
{
	int error = a_load(&t->child_err, relaxed);
	struct failure *other;

	*f = NULL;
	if (!error)
		return 0;
	if (!t->is_bare)
		*f = pop_story(t);
	while ((other = pop_story(t)))
		failure_put_beside(*f, other, &rt_of(t)->log);
	a_store(&t->child_err, 0, relaxed);
	return error;
}

void complete_pass_errors(struct task *from, struct task *to)
{
	struct failure *f;

	if (!a_load(&from->child_err, relaxed))
		return;
	if (from->is_bare)
		complete_child_failed(to, from->child_bare, NULL);
	while ((f = pop_story(from))) {
		complete_child_failed(to, f->child_error, f);
		failure_put(f, &rt_of(to)->log);
	}
	if (!from->is_bare && from->child_bare)
		complete_child_failed(to, from->child_bare, NULL);
	a_store(&from->child_err, 0, relaxed);
}

/*
 * The task's own error stands for those of runs that are its children, which
 * nobody else was told of.
 */
void complete_put_child_errors(struct task *t)
{
	bool has_failed = t->link.flags & TASK_FAILED;
	struct failure *first = pop_story(t), *f;

	while ((f = pop_story(t))) {
		if (has_failed && f->is_child_runs)
			failure_observe(f);
		failure_put_beside(first, f, &rt_of(t)->log);
	}
	if (has_failed && first && first->is_child_runs)
		failure_observe(first);
	failure_put(first, &rt_of(t)->log);
}

/* Under lock: it has kept f, which is the body's by now. */
static void take_out(struct task *t, struct failure *f)
{
	struct failure **at = &t->child_failure;
	bool was_first = *at == f && !t->is_bare;

	lock_assert_held(&rt_of(t)->failed_lock);
	while (*at != f)
		at = &(*at)->beside;
	*at = f->beside;
	a_store(&f->child_of, NULL, relaxed);
	if (!was_first)
		return;
	t->is_bare = !t->child_failure;
	a_store(&t->child_err,
		t->is_bare ? t->child_bare : t->child_failure->child_error,
		relaxed);
}

/* f: NULL, or the story of one that the body was told of. */
static void saw_one(void *task, struct failure *f)
{
	struct task *t = task;

	/* The child that has set it has ended before its event fired. */
	if (!f || a_load(&f->child_of, relaxed) != t)
		return;
	lock_take(&rt_of(t)->failed_lock);
	take_out(t, f);
	lock_give(&rt_of(t)->failed_lock);
	failure_observe(f);
	failure_put(f, &rt_of(t)->log);
}

void complete_seen(struct task *t, struct lkdf_event e)
{
	const struct event *ev = event_of(e);

	saw_one(t, event_failure(ev));
	if (ev->any)
		event_any_stories(ev->any, saw_one, t);
}
