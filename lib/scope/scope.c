/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/scope.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "check/fiber.h"
#include "core/runtime.h"
#include "core/waits.h"
#include "core/watch.h"
#include "sched/tick.h"
#include "scope/deadline.h"
#include "scope/room.h"
#include "scope/scope_error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void scope_init(struct lkdf_scope *s, struct lkdf *rt,
		struct lkdf_scope *parent, const char *name)
{
	memset(s, 0, sizeof(*s));
	s->rt = rt;
	s->parent = parent;
	s->depth = parent ? parent->depth + 1 : 0;
	snprintf(s->name, sizeof(s->name), "%s", name ? name : "");
	pthread_mutex_init(&s->lock, NULL);
	a_store(&s->count, SCOPE_REF, relaxed);
}

void scope_fini(struct lkdf_scope *s)
{
	scope_fini_errors(s);
	pthread_mutex_destroy(&s->lock);
	if (unlikely(s->check != NULL))
		check_forget(s->check);
}

static void add_child(struct lkdf_scope *parent, struct lkdf_scope *s)
{
	mutex_assert_held(&s->rt->scope_lock);
	s->next = parent->children;
	s->prev = &parent->children;
	if (s->next)
		s->next->prev = &s->next;
	parent->children = s;
}

static void del_child(struct lkdf_scope *s)
{
	mutex_assert_held(&s->rt->scope_lock);
	*s->prev = s->next;
	if (s->next)
		s->next->prev = s->prev;
}

static struct lkdf_scope *new_scope(struct lkdf_scope *parent, const char *name)
{
	struct lkdf_scope *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s) {
		err(-ENOMEM, "scope: no memory for \"%s\"", name ? name : "");
		return NULL;
	}
	scope_init(s, parent->rt, parent, name);
	s->is_limited = parent->is_limited;
	return s;
}

/* Into the tree. is_own: also below one that is cancelled. */
static int join_tree(struct lkdf_scope *s, bool is_own)
{
	struct lkdf_scope *parent = s->parent;
	int rc;

	pthread_mutex_lock(&s->rt->scope_lock);
	/* Under lock: a cancel from above finds us or we see it. */
	rc = scope_cancelled(parent);
	if (!rc || is_own)
		add_child(parent, s);
	if (is_own)
		a_store(&s->cancel_err, rc, relaxed);
	pthread_mutex_unlock(&s->rt->scope_lock);
	if (rc && !is_own)
		return err(-ECANCELED, "scope: parent \"%s\" is cancelled",
			   parent->name);
	a_add(&parent->count, SCOPE_REF, relaxed);
	return 0;
}

int scope_create(struct lkdf *rt, struct lkdf_scope *parent,
		 const struct lkdf_scope_attr *a, struct lkdf_scope **out)
{
	struct lkdf_scope *s = new_scope(parent, a->name);
	int rc;

	if (!s)
		return -ENOMEM;
	s->max_tasks = a->max_tasks;
	s->is_limited |= a->max_tasks != 0;
	rc = join_tree(s, false);
	if (rc) {
		scope_fini(s);
		free(s);
		return rc;
	}
	deadline_set(s, a->deadline_ns);
	a_add(&rt->nr_handles, 1, relaxed);
	*out = s;
	return 0;
}

int scope_create_own(struct lkdf_scope *parent, struct lkdf_scope **out)
{
	struct lkdf_scope *s = new_scope(parent, parent->name);

	if (!s)
		return -ENOMEM;
	s->is_own = true;
	*out = s;
	return join_tree(s, true);
}

static void scope_destroy(struct lkdf_scope *s)
{
	struct lkdf *rt = s->rt;
	bool is_own = s->is_own;

	deadline_drop(s);
	pthread_mutex_lock(&rt->scope_lock);
	del_child(s);
	pthread_mutex_unlock(&rt->scope_lock);
	scope_fini(s);
	if (is_own) {
		free(s);
		return;
	}
	s->rt = NULL;
	a_sub(&rt->nr_handles, 1, relaxed);
	handle_bury(rt, s);
}

/* The root is the runtime's own and never gets here with its last one. */
void scope_put(struct lkdf_scope *s)
{
	struct lkdf_scope *parent;

	for (; s; s = parent) {
		parent = s->parent;
		/* [scope.put] all uses before the free; pairs with itself. */
		if (a_sub(&s->count, SCOPE_REF, acq_rel) != SCOPE_REF)
			return;
		scope_destroy(s);
	}
}

int scope_refuse(const struct lkdf_scope *s)
{
	int rc = deadline_cancelled(s);

	return likely(!rc) ? 0
			   : err(-ECANCELED, "scope: \"%s\" is cancelled: %s",
				 s->name, strerror(-rc));
}

static inline void count_one(struct lkdf_scope *s)
{
	for (; s->parent; s = s->parent)
		a_add(&s->count, SCOPE_LIVE + SCOPE_REF, relaxed);
	a_add(&s->came, 1, relaxed);
}

/* It or one above has max_tasks, or the runtime is watched. */
static __attribute__((noinline)) int enter_limited(struct lkdf_scope *s,
						   uint32_t nr, bool may_wait)
{
	struct watch *w = s->rt->watch;
	int rc = room_take(s, nr, may_wait);

	if (rc)
		return rc;
	count_one(s);
	if (w)
		watch_opened(w);
	return 0;
}

int scope_enter(struct lkdf_scope *s, uint32_t nr, bool may_wait)
{
	int rc;

	check(nr);
	check(s->rt);
	if (unlikely(s->is_limited))
		return enter_limited(s, nr, may_wait);
	rc = scope_refuse(s);
	if (rc)
		return rc;
	count_one(s);
	return 0;
}

static inline bool has_waiters(struct lkdf_scope *s)
{
	/* [scope.b] after live; pairs with [scope.c]. */
	return a_load(&s->nr_waiters, seq_cst) != 0;
}

static void wake_waiters(struct lkdf_scope *s)
{
	/* [scope.woken] that nothing lives; pairs with [scope.epoch]. */
	a_add(&s->epoch, 1, release);
	futex_wake(&s->epoch, INT_MAX);
}

/* The last one out wakes the waiters before it drops its reference. */
static void leave_last(struct lkdf_scope *s)
{
	if (has_waiters(s)) {
		wait_is_over(s->rt);
		wake_waiters(s);
	}
	scope_put(s);
}

static void leave_root(struct lkdf_scope *s)
{
	/* [scope.a] what was done before live; pairs with [scope.d]. */
	a_add(&s->departed, 1, seq_cst);
	if (unlikely(has_waiters(s)) && !scope_live(s)) {
		wait_is_over(s->rt);
		wake_waiters(s);
	}
}

static void leave_one(struct lkdf_scope *s)
{
	uint64_t count = a_load(&s->count, relaxed), next;
	bool is_last;

	do {
		is_last = (uint32_t)count == 1;
		next = count - SCOPE_LIVE - (is_last ? 0 : SCOPE_REF);
		/* [scope.a] what was done before live; pairs with
		 * [scope.d]. */
	} while (!a_cas(&s->count, &count, next, seq_cst, relaxed));
	if (is_last)
		leave_last(s);
}

/*
 * From the root down: whoever finds a scope empty may rely on all above it not
 * counting the task any more, and close the runtime.
 */
void scope_leave(struct lkdf_scope *s, uint32_t nr)
{
	struct lkdf_scope *at;
	unsigned depth, i, last = s->depth;

	check(nr);
	if (unlikely(s->is_limited))
		room_give(s, nr);
	for (at = s; at->parent;)
		at = at->parent;
	leave_root(at);
	for (depth = 1; depth <= last; depth++) {
		for (at = s, i = last; i > depth; i--)
			at = at->parent;
		leave_one(at);
	}
}

/* Live or the time is up: 0 or 1. */
static int wait_empty(struct lkdf_scope *s, int64_t timeout_ns)
{
	const struct timers *ts = &s->rt->sched.timers;
	int64_t end = timers_end_of(ts, timeout_ns);
	int64_t left;
	uint32_t epoch;
	int rc = 0;

	/* [scope.c] before we look at live; pairs with [scope.b]. */
	a_add(&s->nr_waiters, 1, seq_cst);
	for (;;) {
		/* [scope.epoch] before we look at live; pairs with
		 * [scope.woken]. */
		epoch = a_load(&s->epoch, acquire);
		if (!scope_live(s))
			break;
		if (timers_are_over(ts, end, &left)) {
			rc = 1;
			break;
		}
		deadline_sleep(s->rt, &s->epoch, epoch, left);
	}
	a_sub(&s->nr_waiters, 1, relaxed);
	return rc;
}

int scope_wait(struct lkdf_scope *s, int64_t timeout_ns)
{
	bool is_live = scope_live(s);
	uint64_t begin = is_live ? wait_begins(s->rt) : 0;
	int rc = is_live && wait_empty(s, timeout_ns);

	wait_ended(s->rt, "lkdf_scope_wait", begin);
	if (rc)
		return 1;
	if (unlikely(s->rt->check != NULL))
		check_acquire(s->rt->check, s->check);
	sched_tick(&s->rt->sched, s->rt);
	return scope_take_error(s);
}

struct lkdf_scope *scope_below(const struct lkdf_scope *top,
			       const struct lkdf_scope *s)
{
	if (s->children)
		return s->children;
	while (s != top && !s->next)
		s = s->parent;
	return s == top ? NULL : s->next;
}

static void cancel_below(struct lkdf_scope *top, int error, bool is_first)
{
	struct lkdf_scope *s;

	for (s = top; s; s = scope_below(top, s)) {
		if (!is_first || !scope_cancelled(s))
			/* [scope.cancel] before workers look; pairs with
			 * [run.look], [room.e], [then.cancel]. */
			a_store(&s->cancel_err, error, seq_cst);
		room_wake(s);
	}
}

/* is_first: only where there is no error yet. */
static void cancel_scope(struct lkdf_scope *s, int error, bool is_first)
{
	struct lkdf *rt = s->rt;

	pthread_mutex_lock(&rt->scope_lock);
	cancel_below(s, error, is_first);
	/* Wakes the threads that wait in it for room in one above. */
	for (s = s->parent; s && s->is_limited; s = s->parent)
		room_wake(s);
	pthread_mutex_unlock(&rt->scope_lock);
}

void scope_cancel(struct lkdf_scope *s, int error)
{
	check(error < 0);
	cancel_scope(s, error, false);
	sched_look(&s->rt->sched);
}

void scope_expire(struct lkdf_scope *s)
{
	cancel_scope(s, -ETIME, true);
}
