/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/then.h"

#include "base/err.h"
#include "check/fiber.h"
#include "core/failure.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "scope/event_any.h"
#include "scope/event_pulse.h"
#include "task/checked.h"
#include "task/complete.h"
#include "task/parallel_for.h"
#include "task/step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

void then_continue(struct executor *ex, struct task *t)
{
	struct lkdf *rt = rt_of(t);

	if (t->link.flags & TASK_AFTER_CHILDREN) {
		t->then_err = task_forget_children(t);
		t->link.flags &= (uint16_t)~TASK_AFTER_CHILDREN;
	}
	t->link.flags |= TASK_CONTINUES;
	task_start(rt, ex, t);
}

/* For a task or a run: that one is told of, and ends the waiting. */
static bool is_leaf(struct lkdf_event on)
{
	const struct event *ev = event_of(on);

	if (ev->any)
		return ev->any->may_leave;
	return a_load(&ev->is_users, relaxed);
}

/* From here on it may be fired, or end by a cancel of the task's scope. */
static void wait_for(struct task *t, struct lkdf_event on)
{
	if (!is_leaf(on))
		event_tap_add(&t->tap);
	else if (t->kind->flags & LKDF_ALWAYS)
		event_tap_add_told(&t->tap);
	else
		event_tap_add_in(&t->tap, t->scope);
}

/* ---- holding ------------------------------------------------------------ */

/*
 * The error of a held event is the task's, with a story of its own, by which it
 * is known whether somebody has seen it. A cancel of the scope has none; where
 * the body has failed that is the error of the task.
 */
static struct failure *failure_of_held(const struct task *t, int error)
{
	struct lkdf_error e = { .err = error, .id = -1, .worker = -1 };

	if (likely(!error) || t->link.flags & TASK_FAILED ||
	    scope_cancelled(t->scope) == error)
		return NULL;
	task_text(t, e.task, sizeof(e.task));
	snprintf(e.why, sizeof(e.why), "the event that it holds ended with %s",
		 strerror(-error));
	return failure_create(&e, t->kind->name);
}

static void hold_fired(struct event_tap *tap, int error)
{
	struct task *t = container_of(tap, struct task, tap);
	struct failure *f = failure_of_held(t, error);
	struct lkdf *rt = rt_of(t);
	bool is_last;

	if (rt->check)
		checked_held(t, tap->event);
	event_put(tap->event);
	/* Where others are left one of them ends the task. */
	if (unlikely(error))
		complete_child_failed(t, error, f);
	is_last = complete_child_left(t);
	failure_put(f, &rt->log);
	if (is_last)
		task_complete(runtime_executor(rt), t);
}

void then_arm_hold(struct task *t)
{
	check(t->kind);
	if (!(t->link.flags & TASK_HOLDS))
		return;
	t->link.flags &= (uint16_t)~TASK_HOLDS;
	t->nr_spawned++;
	t->tap.event = t->hold;
	t->tap.fn = hold_fired;
	wait_for(t, t->hold);
}

/* 0, or why a block of a loop does not end as a body may. */
static int refuse_block(const struct lkdf_ctx *c, const char *what)
{
	return loop_is_block(c) ? err(-EINVAL,
				      "%s: in a loop's function, whose block "
				      "ends when the function returns",
				      what)
				: 0;
}

int task_hold(struct lkdf_ctx *c, struct lkdf_event *e)
{
	int rc = refuse_block(c, "hold");
	struct task *t;

	if (rc)
		return rc;
	t = task_of_ctx(c);
	if (!t)
		return -ENOMEM;
	if (t->link.flags & TASK_HOLDS)
		return err(-EBUSY, "hold: the body holds an event already");
	rc = event_create(rt_of(t), c->ex, 1, 2, e);
	if (rc)
		return rc;
	a_store(&event_of(*e)->is_users, true, relaxed);
	t->hold = *e;
	t->link.flags |= TASK_HOLDS;
	c->after = AFTER_LOOK;
	/* It gives work to a thread of the program, by a lock or as it starts.
	 */
	if (unlikely(rt_of(t)->check != NULL))
		check_confide(rt_of(t)->check);
	return 0;
}

/* ---- leaving ------------------------------------------------------------ */

/* Body and event are both there. */
static void resume_task(struct executor *ex, struct task *t)
{
	bool is_over = t->link.flags & TASK_AWAY && t->kind->ops->ended(ex, t);

	check(t->then_fn);
	if (unlikely(rt_of(t)->check != NULL) && is_over)
		checked_came(t);
	/* It has waited for the event, though it does not go on. */
	if (unlikely(rt_of(t)->check != NULL) && t->link.flags & TASK_FAILED &&
	    t->then_on_event && t->tap.event.slot)
		checked_held(t, t->tap.event);
	if (!is_over && !(t->link.flags & TASK_FAILED)) {
		then_continue(ex, t);
		return;
	}
	then_arm_hold(t);
	if (task_end_body(t) == TASK_COMPLETE)
		task_complete(ex, t);
}

enum task_end then_leave(struct executor *ex, struct task *t)
{
	/* [then.arrive] pairs with [then.left] and itself: the second sees
	 * the first. */
	if (a_add(&t->then_arrivals, 1, acq_rel) == 1)
		resume_task(ex, t);
	return TASK_PENDING;
}

void then_begin_away(struct task *t, lkdf_fn fn)
{
	t->then_fn = fn;
	t->then_err = 0;
	t->then_on_event = true;
	t->tap.event = (struct lkdf_event){ 0 };
	/* 1: it is over already. */
	a_store(&t->then_arrivals, 0, relaxed);
}

int then_stay_away(struct lkdf_ctx *c)
{
	c->leaves = true;
	c->after = AFTER_LOOK;
	return 0;
}

/*
 * A thread of another runtime that fires the event is still here when the task
 * has ended: close waits for it, as for a thread that signals. In serial mode
 * no other thread looks at ours then.
 */
static void leave_to(struct task *t, struct lkdf_event fired)
{
	struct lkdf *rt = rt_of(t);
	bool is_ours = event_of(fired)->rt == rt;

	event_put(fired);
	if (likely(is_ours)) {
		then_leave(runtime_executor(rt), t);
		return;
	}
	a_add(&rt->nr_callers, 1, relaxed);
	then_leave(runtime_executor(rt), t);
	if (rt->sched.is_serial)
		sched_drain(&rt->sched);
	/* [caller.out] our last use; pairs with [caller.none]. */
	a_sub(&rt->nr_callers, 1, release);
}

static void then_fired(struct event_tap *tap, int error)
{
	struct task *t = container_of(tap, struct task, tap);
	int own;

	/* Else the error is a cancel's, and the event has not fired. */
	if (unlikely(error) && event_look(event_of(tap->event), &own)) {
		failure_observe(event_failure(event_of(tap->event)));
		complete_seen(t, tap->event);
	}
	t->then_err = error;
	leave_to(t, tap->event);
}

const struct task *then_of_tap(const struct event_tap *tap, bool *is_hold)
{
	const struct task *t = container_of(tap, const struct task, tap);

	*is_hold = tap->fn == hold_fired;
	if (*is_hold)
		return t;
	/* [then.left] what the body did; pairs with [then.arrive]. */
	return tap->fn == then_fired && a_load(&t->then_arrivals, acquire)
		       ? t
		       : NULL;
}

static void set_next(struct task *t, lkdf_fn fn, bool on_event)
{
	t->then_fn = fn;
	t->then_err = 0;
	t->then_on_event = on_event;
}

void then_wait(struct task *t, lkdf_fn fn, struct lkdf_event on)
{
	set_next(t, fn, true);
	a_store(&t->then_arrivals, 0, relaxed);
	t->tap.event = on;
	t->tap.fn = then_fired;
	wait_for(t, on);
}

int task_then(struct lkdf_ctx *c, lkdf_fn fn, struct lkdf_event on)
{
	int rc = refuse_block(c, "then");
	struct task *t;

	if (rc)
		return rc;
	t = task_of_ctx(c);
	if (!t)
		return -ENOMEM;
	if (c->leaves)
		return err(-EBUSY, "then: called twice in one body");
	if (on.slot && !event_is_valid(on))
		return err(-ESTALE, "then: the event's slot was given on");
	/* The caller's reference is for the next signal, too. */
	if (on.slot && event_is_pulse(on) && !event_get(on))
		return err(-ESTALE, "then: the event's last reference is gone");
	if (on.slot)
		then_wait(t, fn, on);
	else
		set_next(t, fn, false);
	c->leaves = true;
	c->after = AFTER_LOOK;
	return 0;
}
