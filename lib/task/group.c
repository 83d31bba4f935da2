/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/group.h"

#include "base/err.h"
#include "base/log.h"
#include "core/failure.h"
#include "core/item.h"
#include "core/runtime.h"
#include "sched/current.h"
#include "scope/event.h"
#include "scope/scope.h"
#include "task/complete.h"
#include "task/step.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <string.h>

static struct lkdf *rt_of(const struct task *g)
{
	return g->kind->rt;
}

/* ---- made --------------------------------------------------------------- */

struct task *group_create_slowly(struct lkdf_ctx *c)
{
	struct task *t = task_of_ctx(c), *g;

	if (!t)
		return NULL;
	g = runtime_alloc(c->ex->rt, runtime_inside(c->ex), POOL_TASK);
	if (!g) {
		err(-ENOMEM, "group: no memory for one more");
		return NULL;
	}
	return group_begin(c, t, g);
}

/* ---- tasks of it -------------------------------------------------------- */

int group_spawn_elsewhere(struct task *g, struct lkdf_kind *k, const void *arg)
{
	struct lkdf *rt = rt_of(g);
	struct executor *ex = runtime_executor(rt);
	struct task *t;
	int rc = task_may_have_child(g, k);

	if (rc)
		return rc;
	t = task_create(rt, ex, k, arg, 0);
	if (!t)
		return -ENOMEM;
	task_init_limits(t);
	task_set_group(t, g);
	t->scope = g->scope;
	/* Relaxed: a task of the group keeps it, or the caller does. */
	a_add(&g->live, 1, relaxed);
	task_start(rt, ex, t);
	runtime_show(ex);
	sched_drain(&rt->sched);
	return 0;
}

/* ---- closed ------------------------------------------------------------- */

/*
 * All of its children have ended; it is the owner's again, who may be told by
 * its event. The first error goes to that; without one all go to the task
 * above, which counts the group until then.
 */
static bool tell_end(struct task *g, struct task *t)
{
	bool has_event = g->link.flags & TASK_HAS_DONE;
	struct lkdf_event done = g->done;
	struct lkdf *rt = rt_of(g);
	struct failure *f;
	int error;

	if (!has_event)
		complete_pass_errors(g, t);
	error = complete_take_child_error(g, &f);
	task_count_anew(g);
	if (has_event)
		event_finish(done, error, f);
	failure_put(f, &rt->log);
	return complete_child_left(t);
}

bool group_ended(struct task *g)
{
	return tell_end(g, group_above(g));
}

/* A child of the task above, until its own children have ended. */
static void close_group(struct task *g)
{
	int32_t out = (int32_t)(g->nr_spawned - g->nr_local);

	group_above(g)->nr_spawned++;
	/* [task.end] the body's writes; pairs with [task.child]. */
	if (a_add(&g->live, out, acq_rel) + out == 0)
		tell_end(g, group_above(g));
}

/*
 * Owner only: it has an event that has not fired. A slot of another life is
 * that of an event which has.
 */
static bool is_closed(struct task *g)
{
	if (likely(!(g->link.flags & TASK_HAS_DONE)))
		return false;
	if (!event_has_fired(g->done) && event_is_valid(g->done))
		return true;
	g->link.flags &= (uint16_t)~TASK_HAS_DONE;
	return false;
}

/*
 * True: the owner has taken the count back. False: the last child has ended,
 * and is about to tell it.
 */
static bool reopen_group(struct task *g)
{
	int32_t live = a_load(&g->live, relaxed);

	do {
		if (live <= 0 || live >= TASK_OPEN)
			return false;
		/* Relaxed: the wait for the children acquires what they did. */
	} while (!a_cas(&g->live, &live, live + TASK_OPEN, relaxed, relaxed));
	g->nr_spawned = 0;
	g->nr_local = TASK_OPEN;
	return true;
}

/* The owner waits for its end, which has the error. */
static int await_closed(struct executor *ex, struct task *g)
{
	if (reopen_group(g)) {
		task_await_children(ex, g);
		tell_end(g, group_above(g));
	} else {
		while (is_closed(g))
			a_pause();
	}
	return 0;
}

int group_wait_slowly(struct lkdf_ctx *c, struct task *g)
{
	int rc;

	if (!c)
		return err(-EDEADLK,
			   "group: only the body that made it waits for it");
	rc = task_may_join(c);
	if (!rc)
		return is_closed(g) ? await_closed(c->ex, g)
				    : task_join_on(c->ex, g);
	c->has_why = true;
	c->after = AFTER_LOOK;
	return rc;
}

void group_await_all(struct lkdf_ctx *c)
{
	struct task *g;

	for (g = c->task->groups; g; g = g->kick_next) {
		if (is_closed(g))
			continue;
		task_await_children(c->ex, g);
		complete_pass_errors(g, c->task);
		task_count_anew(g);
	}
}

int group_event(struct task *g, struct lkdf_event *out)
{
	struct lkdf_ctx *c = group_owner(g);
	int rc;

	if (!c)
		return group_wait_slowly(c, g);
	if (is_closed(g))
		return err(-EBUSY, "group_event: it has an event, which has "
				   "not fired");
	rc = event_create(rt_of(g), runtime_inside(c->ex), 1, 2, &g->done);
	if (rc)
		return rc;
	*out = g->done;
	g->link.flags |= TASK_HAS_DONE;
	close_group(g);
	return 0;
}

/* It is closed already, or has nothing that ends. */
static bool stays_as_it_is(struct task *g)
{
	return is_closed(g) ||
	       (!task_has_children(g) && !a_load(&g->child_err, relaxed));
}

void group_leave_all(struct lkdf_ctx *c, bool is_for_all)
{
	struct task *g, *next;

	for (g = is_for_all ? c->task->groups : NULL; g; g = next) {
		next = g->kick_next;
		if (!stays_as_it_is(g))
			close_group(g);
	}
	c->has_groups = false;
}

/* ---- given back ---------------------------------------------------------- */

static void unlink_group(struct lkdf_ctx *c, const struct task *g)
{
	struct task **at = &c->task->groups;

	if (!c->has_groups)
		return;
	while (*at && *at != g)
		at = &(*at)->kick_next;
	if (*at)
		*at = g->kick_next;
	c->has_groups = c->task->groups != NULL;
}

void group_put_slowly(struct task *g)
{
	struct lkdf *rt = rt_of(g);
	struct executor *ex = runtime_executor(rt);
	struct lkdf_ctx *c = group_owner(g);
	struct failure *f;
	int error;

	if (unlikely(is_closed(g)))
		await_closed(ex ? ex : rt->outside, g);
	task_await_children(ex ? ex : rt->outside, g);
	error = complete_take_child_error(g, &f);
	if (error && !f && error != scope_cancelled(g->scope))
		log_text(&rt->log, LKDF_LOG_ERROR,
			 "unobserved error: of a group: %s", strerror(-error));
	failure_put(f, &rt->log);
	if (c)
		unlink_group(c, g);
	runtime_free(rt, ex, POOL_TASK, g);
}
