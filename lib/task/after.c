/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/after.h"

#include "base/err.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "scope/scope.h"
#include "task/checked.h"

#include <errno.h>

static void free_after(struct after *x)
{
	struct heap *h = x->rt->heap;
	uint32_t i;

	for (i = 0; i < x->nr; i++)
		failure_put(x->input[i].failure, &x->rt->log);
	heap_free(h, heap_thread_cache(h), x);
}

/* Under lock. */
static void unlist_after(struct after *x)
{
	lock_assert_held(&x->rt->after_lock);
	if (!x->prev)
		return;
	*x->prev = x->next;
	if (x->next)
		x->next->prev = x->prev;
	x->prev = NULL;
}

static void put_after(struct after *x)
{
	/* [after.put] all uses before the free; pairs with itself. */
	if (a_sub(&x->nr_refs, 1, acq_rel) != 1)
		return;
	if (x->is_listed) {
		lock_take(&x->rt->after_lock);
		unlist_after(x);
		lock_give(&x->rt->after_lock);
	}
	free_after(x);
}

/* True: it was the second. */
static bool has_arrived(const struct task *t)
{
	check(t->after);
	/* [after.arrive] pairs with itself: the second sees the first. */
	return a_add(&t->after->nr_arrivals, 1, acq_rel) == 1;
}

void after_arrive(struct executor *ex, struct task *t)
{
	if (has_arrived(t))
		task_start(t->kind->rt, ex, t);
}

static void events_arrive(struct executor *ex, struct task *t)
{
	if (!has_arrived(t))
		return;
	t->after->came_last = t->after->is_listed;
	task_start(t->kind->rt, ex, t);
}

/* All events have fired. */
static void after_over(struct after *x)
{
	bool was_over = false;

	if (x->is_listed) {
		lock_take(&x->rt->after_lock);
		was_over = x->is_over;
		x->is_over = true;
		unlist_after(x);
		lock_give(&x->rt->after_lock);
	}
	if (!was_over)
		events_arrive(runtime_executor(x->rt), x->task);
}

static void count_down(struct after *x)
{
	/* [after.left] what was done before the events; pairs with itself. */
	if (a_sub(&x->nr_left, 1, acq_rel) == 1)
		after_over(x);
	put_after(x);
}

static void event_fired(struct event_waiter *w, int error)
{
	struct after_input *in = container_of(w, struct after_input, waiter);

	in->error = error;
	if (error)
		in->failure = failure_get(event_failure(event_of(in->event)));
	count_down(in->after);
}

static int add_input(struct after *x, unsigned i, struct lkdf_event e)
{
	struct after_input *in = &x->input[i];

	if (!e.slot)
		return err(-EINVAL, "task: after: event %u is { 0 }", i);
	if (event_of(e)->rt != x->rt)
		return err(-EINVAL,
			   "task: after: event %u is of another runtime", i);
	if (!event_get(e))
		return err(-ESTALE,
			   "task: after: event %u: its last reference is gone",
			   i);
	in->waiter.fn = event_fired;
	in->after = x;
	in->event = e;
	in->error = 0;
	in->failure = NULL;
	x->nr++;
	return 0;
}

int after_create(struct task *t, const struct lkdf_event *e, unsigned nr)
{
	struct lkdf *rt = t->kind->rt;
	struct after *x;
	unsigned i;
	int rc = 0;

	x = heap_new(rt->heap, heap_thread_cache(rt->heap),
		     sizeof(*x) + nr * sizeof(x->input[0]));
	if (!x)
		return err(-ENOMEM, "task: no memory for %u events", nr);
	a_store(&x->nr_refs, nr + 2, relaxed);
	a_store(&x->nr_left, nr + 1, relaxed);
	a_store(&x->nr_arrivals, 0, relaxed);
	x->task = t;
	x->rt = rt;
	x->nr = 0;
	x->prev = NULL;
	x->is_listed = x->is_over = x->came_last = false;
	x->cancel_err = 0;
	t->after = x;
	if (rt->check)
		checked_made(t);
	for (i = 0; i < nr && !rc; i++)
		rc = add_input(x, i, e[i]);
	return rc;
}

void after_destroy(struct task *t)
{
	struct after *x = t->after;
	uint32_t i;

	for (i = 0; i < x->nr; i++)
		event_put(x->input[i].event);
	free_after(x);
}

void after_end(struct task *t)
{
	check(t->after);
	put_after(t->after);
}

static bool has_all_fired(const struct after *x)
{
	uint32_t i;

	for (i = 0; i < x->nr; i++)
		if (!event_has_fired(x->input[i].event))
			return false;
	return true;
}

/* For a task that a cancel does not reach: 0. */
static int cancel_of(const struct after *x)
{
	return x->task->kind->flags & LKDF_ALWAYS
		       ? 0
		       : scope_cancelled(x->task->scope);
}

/* Under lock: a cancel comes before and we see it, or it finds us. */
static bool list_after(struct after *x)
{
	struct lkdf *rt = x->rt;
	int error;

	x->is_listed = true;
	lock_take(&rt->after_lock);
	error = cancel_of(x);
	x->cancel_err = error;
	x->is_over = error != 0;
	x->next = rt->waiting;
	x->prev = &rt->waiting;
	if (x->next)
		x->next->prev = &x->next;
	rt->waiting = x;
	lock_give(&rt->after_lock);
	return !error;
}

void after_start(struct executor *ex, struct task *t, bool has_data)
{
	struct after *x = t->after;
	bool may_wait = true;
	uint32_t i;

	if (!has_all_fired(x))
		may_wait = list_after(x);
	for (i = 0; i < x->nr; i++)
		event_call_give(x->input[i].event, &x->input[i].waiter);
	/* From here on the task may be gone, but for what we still owe it. */
	if (!may_wait)
		after_arrive(ex, t);
	if (has_data)
		after_arrive(ex, t);
	count_down(x);
}

int after_begin(struct task *t, struct failure **failure)
{
	const struct after *x = t->after;
	uint32_t i;

	*failure = NULL;
	if (t->kind->flags & LKDF_ALWAYS)
		return 0;
	for (i = 0; i < x->nr; i++) {
		if (!x->input[i].error)
			continue;
		*failure = x->input[i].failure;
		return -x->input[i].error;
	}
	return 0;
}

int after_error(const struct task *t, unsigned index)
{
	check(t->after);
	return index < t->after->nr ? t->after->input[index].error : 0;
}

void after_cancel(struct lkdf *rt)
{
	struct executor *ex = runtime_executor(rt);
	struct after *x, *next, *late = NULL;
	struct task *t;
	int error;

	lock_take(&rt->after_lock);
	for (x = rt->waiting; x; x = x->next) {
		error = x->is_over ? 0 : cancel_of(x);
		if (!error)
			continue;
		x->is_over = true;
		x->cancel_err = error;
		x->late = late;
		late = x;
	}
	lock_give(&rt->after_lock);
	for (x = late; x; x = next) {
		next = x->late;
		t = x->task;
		after_arrive(ex, t);
	}
	event_tap_cancel(rt);
}

void after_close(struct lkdf *rt)
{
	struct after *x, *next;

	for (x = rt->waiting; x; x = next) {
		next = x->next;
		free_after(x);
	}
	rt->waiting = NULL;
}
