/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The first error of a task's children, and how the task's body sees it. */
#include "task/complete.h"

#include "core/failure.h"
#include "core/runtime.h"
#include "scope/event_any.h"

void complete_forget_child(const struct task *t)
{
	const void *of = t;

	if (t->child_failure)
		a_cas(&t->child_failure->child_of, &of, NULL, relaxed, relaxed);
}

void complete_child_failed(struct task *parent, int error, struct failure *f)
{
	int32_t zero = 0;

	/* [child.first] what complete_seen() did; pairs with [child.seen]. */
	if (!a_cas(&parent->child_err, &zero, error, acquire, relaxed)) {
		failure_observe(f);
		return;
	}
	parent->child_failure = failure_get(f);
	if (f)
		a_store(&f->child_of, parent, relaxed);
}

int complete_take_child_error(struct task *t, struct failure **f)
{
	int error = a_load(&t->child_err, relaxed);

	*f = error ? t->child_failure : NULL;
	if (!error)
		return 0;
	complete_forget_child(t);
	/* [child.seen] what we did; pairs with [child.first]. */
	a_store(&t->child_err, 0, release);
	return error;
}

/* f: NULL, or the story of one that the body was told of. */
static void saw_one(void *task, struct failure *f)
{
	struct task *t = task;
	struct failure *kept;

	/* The child that has set it has ended before its event fired. */
	if (!f || a_load(&f->child_of, relaxed) != t)
		return;
	complete_take_child_error(t, &kept);
	failure_observe(kept);
	failure_put(kept, &t->kind->rt->log);
}

void complete_seen(struct task *t, struct lkdf_event e)
{
	const struct event *ev = event_of(e);

	saw_one(t, event_failure(ev));
	if (ev->any)
		event_any_stories(ev->any, saw_one, t);
}
