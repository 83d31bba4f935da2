/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/complete.h"

#include "base/err.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "sched/current.h"
#include "scope/deadline.h"
#include "task/after.h"
#include "task/checked.h"
#include "task/group.h"
#include "task/step.h"
#include "task/then.h"
#include "task/traced.h"
#include "task/uses.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

enum ending complete_ending(const struct task *t)
{
	return t->link.flags & TASK_FAILED ? t->ending : ENDED_WELL;
}

void complete_failed(struct task *t, enum ending ending, int error,
		     struct failure *failure)
{
	check(error < 0);
	t->link.flags |= TASK_FAILED;
	t->ending = ending;
	t->error = error;
	t->failure = failure;
}

int complete_error(struct task *t)
{
	return t->link.flags & TASK_FAILED ? t->error
					   : a_load(&t->child_err, relaxed);
}

struct failure *complete_failure(struct task *t)
{
	if (t->link.flags & TASK_FAILED)
		return t->failure;
	return a_load(&t->child_err, relaxed) && !t->is_bare ? t->child_failure
							     : NULL;
}

/* Gives nr tokens of a limit back; who waits for them tries again. */
static void give_limit(struct executor *ex, struct lkdf_limit *l, uint32_t nr)
{
	struct limit_waiter *w = limit_give(l, nr), *next;
	struct task *other;

	for (; w; w = next) {
		next = w->next;
		other = container_of(w, struct task, limit_waiter);
		other->limit_woken = true;
		task_start(rt_of(other), ex, other);
	}
}

/* Without having taken any it may have been woken to: others get the chance. */
static void give_limits(struct executor *ex, struct task *t)
{
	const struct lkdf_kind *k = t->kind;
	bool has = t->nr_limits_held != 0;
	uint32_t i;

	check(!has || t->nr_limits_held == k->nr_limits);
	check(t->kind);
	t->nr_limits_held = 0;
	for (i = 0; i < k->nr_limits; i++)
		give_limit(ex, k->limit[i].limit, has ? k->limit[i].tokens : 0);
}

/* Takes as many as it gets, in order; the index of the one it does not. */
static uint32_t take_some(const struct lkdf_kind *k, bool was_woken)
{
	uint32_t i;

	for (i = 0; i < k->nr_limits; i++) {
		if (!limit_take(k->limit[i].limit, k->limit[i].tokens,
				was_woken))
			break;
	}
	return i;
}

/* Its wait for tokens is over: they were given when it became ready again. */
static __attribute__((noinline)) void tell_wait(struct executor *ex,
						struct task *t)
{
	struct trace *trace = &rt_of(t)->trace;
	const struct lkdf_stats_slice s = {
		.begin = t->limit_waiter.since,
		.end = max_u64(t->limit_waiter.since, t->ready_ticks),
		.task = NO_SLICE_TASK,
		.name = t->limit_waiter.name,
		.by = t->ready_by,
		.number = (uint64_t)LKDF_SPAN_LIMIT << 48,
		.value = t->kind->trace_name,
	};

	t->limit_waiter.since = 0;
	if (ex)
		trace_slice(ex->ring, &s);
	else
		trace_slice_outside(trace_outside(trace), &s);
}

/* Before it waits: who wakes it may run it at once. */
static void note_wait(struct task *t, const struct lkdf_limit *l)
{
	t->limit_waiter.name = l->trace_name;
	t->limit_waiter.since =
		unlikely(trace_is_recording(&l->rt->trace)) ? clock_ticks() : 0;
}

bool complete_take_limits(struct executor *ex, struct task *t)
{
	const struct lkdf_kind *k = t->kind;
	bool was_woken = t->limit_woken;
	uint32_t nr, i;

	if (!(t->link.flags & TASK_GENERAL))
		return true;
	if (unlikely(was_woken && !t->nr_limits_held && t->limit_waiter.since))
		tell_wait(ex, t);
	while (t->nr_limits_held < k->nr_limits) {
		nr = take_some(k, was_woken);
		if (nr == k->nr_limits) {
			t->nr_limits_held = nr;
			break;
		}
		for (i = 0; i < nr; i++)
			give_limit(ex, k->limit[i].limit, k->limit[i].tokens);
		note_wait(t, k->limit[nr].limit);
		if (limit_wait(k->limit[nr].limit, &t->limit_waiter,
			       k->limit[nr].tokens, was_woken))
			return false;
	}
	return true;
}

static void tell_scope(struct task *t, int error, struct failure *f)
{
	enum ending ending = complete_ending(t);
	struct tally tally = { 0 };

	if (ending != ENDED_WELL) {
		a_store(&tally.nr[ending], 1, relaxed);
		scope_count(t->scope, &tally);
	}
	/* The scope knows of its own cancel. */
	if (error && t->link.flags & TASK_SCOPED &&
	    (ending != ENDED_CANCELLED || deadline_hit(t->scope)))
		scope_fail(t->scope, error, f);
}

/* Afterwards its scope is the user's again. */
static void end_extra(struct task *t)
{
	if (t->after)
		after_end(t);
	if (t->own)
		t->scope = deadline_leave(t->own);
	if (unlikely(t->label))
		label_put(&rt_of(t)->heap->labels, t->label);
}

/* The end that end_slowly() has begun: no scope counts the task any more. */
static void end_seen(struct executor *ex)
{
	uint32_t nr = ex ? a_load(&ex->nr_ends, relaxed) : 0;

	/* [ends.left] the scope was left; pairs with [close.ends]. */
	if (nr & 1)
		a_store(&ex->nr_ends, nr + 1, release);
}

static void drop_argument(struct executor *ex, struct task *t)
{
	struct lkdf_ctx *outer = current_none(ex);

	if (unlikely(rt_of(t)->check != NULL))
		checked_drop(t);
	else
		t->kind->drop(t->arg);
	current_again(ex, outer);
}

/* Everything but owner and parent. */
static void end_slowly(struct executor *ex, struct task *t, int error)
{
	struct failure *f = complete_failure(t);
	uint16_t flags = t->link.flags;

	if (flags & TASK_GENERAL)
		give_limits(ex, t);
	if (flags & TASK_OWNED)
		error = t->owner->ending(t, error);
	if (flags & TASK_HAS_DATA) {
		if (ex)
			a_store(&ex->nr_ends, a_load(&ex->nr_ends, relaxed) | 1,
				relaxed);
		claim_leave(ex, t->claim, error, f);
	}
	if (flags & TASK_HAS_DROP)
		drop_argument(ex, t);
	task_free_arg(t);
	/* An owner counts its own tasks and tells the scope at its end. */
	if (!(flags & TASK_OWNED))
		tell_scope(t, error, f);
	if (flags & TASK_EXTRA)
		end_extra(t);
}

void complete_put_failures(struct lkdf *rt, struct task *t)
{
	if (t->link.flags & TASK_FAILED)
		failure_put(t->failure, &rt->log);
	if (a_load(&t->child_err, relaxed))
		complete_put_child_errors(t);
}

/* Its parent is told, or its event alone: the others go to the log. */
static void pass_error(struct lkdf *rt, struct task *t, struct task *parent,
		       int error, struct failure *f)
{
	failure_get(f);
	complete_put_failures(rt, t);
	if (parent)
		complete_child_failed(parent, error, f);
	failure_put(f, &rt->log);
}

bool complete_child_left(struct task *parent)
{
	struct lkdf *rt = rt_of(parent);
	int32_t live;

	/* [task.child] what the child did; pairs with [task.end],
	 * [task.join]. */
	live = a_sub(&parent->live, 1, acq_rel);
	if (live > TASK_JOINING / 2)
		task_wake_join(rt, parent);
	return live == 1;
}

/* True: it has waited for its children, and is not complete. */
static bool goes_on(struct executor *ex, struct task *t)
{
	bool waits = t->link.flags & TASK_AFTER_CHILDREN;

	if (waits)
		then_continue(ex, t);
	return waits;
}

/*
 * A join of the parent ends after the event has fired, and a body that the
 * event tells of the error has it by then: so the error first, then the event,
 * then the parent's count. A thread that waits for the event of a task without
 * a parent may close the runtime: so the task leaves its scope before. True: it
 * was the last child, and the parent's body has ended.
 */
static bool tell_end(struct executor *ex, struct task *t, struct task *parent,
		     int error, bool is_slow)
{
	struct failure *failure = complete_failure(t);
	struct lkdf_event done = { 0 };
	struct lkdf_scope *scope;
	struct lkdf *rt = rt_of(t);
	uint32_t nr = t->index;

	scope = t->link.flags & TASK_SCOPED ? t->scope : NULL;
	check(!scope || !parent);
	if (unlikely(t->link.flags & TASK_HAS_DONE))
		done = t->done;
	failure_get(done.slot ? failure : NULL);
	if (unlikely(error))
		pass_error(rt, t, parent, error, failure);
	runtime_free(rt, ex, POOL_TASK, t);
	if (scope)
		scope_leave(scope, nr);
	if (unlikely(is_slow))
		end_seen(ex);
	if (unlikely(done.slot != NULL)) {
		event_finish(done, error, failure);
		failure_put(failure, &rt->log);
	}
	return parent && complete_child_left(parent);
}

void task_complete(struct executor *ex, struct task *t)
{
	struct task *parent;
	bool is_slow;
	int error;

	check(t->kind && t->scope);
	check(a_load(&t->live, relaxed) == 0);
	for (; t; t = parent) {
		parent = a_load(&t->parent, relaxed);
		if (unlikely(t->link.flags & TASK_GROUP)) {
			if (!group_ended(t) || goes_on(ex, parent))
				return;
			continue;
		}
		error = complete_error(t);
		is_slow = error || t->link.flags & TASK_ENDS_SLOWLY;
		if (unlikely(is_slow))
			end_slowly(ex, t, error);
		if (t->link.flags & TASK_OWNED) {
			t->owner->ended(ex, t);
			end_seen(ex);
			return;
		}
		if (!tell_end(ex, t, parent, error, is_slow) ||
		    goes_on(ex, parent))
			return;
	}
}

void task_child_ended(struct executor *ex, struct task *parent, int error,
		      struct failure *f)
{
	if (unlikely(error))
		complete_child_failed(parent, error, f);
	if (!complete_child_left(parent))
		return;
	if (parent->link.flags & TASK_AFTER_CHILDREN)
		then_continue(ex, parent);
	else
		task_complete(ex, parent);
}

/* Its own deadline is over. */
static struct failure *complete_late(const struct task *t, int worker)
{
	struct lkdf_error e = {
		.err = -ETIME,
		.id = -1,
		.worker = worker,
		.nr_cancelled = 1,
	};

	task_text(t, e.task, sizeof(e.task));
	snprintf(e.why, sizeof(e.why), "%s: its deadline is over", e.task);
	return failure_create(&e, t->kind->name);
}

enum task_end complete_cancelled(struct executor *ex, struct task *t, int error)
{
	struct failure *failure = NULL;

	if (deadline_hit(t->scope) && !(t->link.flags & TASK_OWNED))
		failure = complete_late(t, ex->id);
	counter_add(ex->counters, COUNTER_CANCELLED, 1);
	complete_failed(t, ENDED_CANCELLED, error, failure);
	return TASK_COMPLETE;
}

/* 0, or why it should not start. */
static int cancelled_with(const struct task *t)
{
	int rc = scope_cancelled(t->scope);

	if (!rc && t->link.flags & TASK_EXTRA && t->after)
		rc = after_cancelled(t->after);
	return rc;
}

static void add_kickable(struct lkdf *rt, struct task *t)
{
	mutex_assert_held(&rt->kick_lock);
	t->kick_next = rt->kickable;
	t->kick_prev = &rt->kickable;
	if (t->kick_next)
		t->kick_next->kick_prev = &t->kick_next;
	rt->kickable = t;
	t->is_kicked = false;
}

bool complete_may_go(const struct task *t)
{
	return t->kind->flags & LKDF_ALWAYS || !cancelled_with(t);
}

int complete_begin(struct task *t)
{
	bool goes_on = t->link.flags & (TASK_CONTINUES | TASK_AWAY) ||
		       t->kind->flags & LKDF_ALWAYS;
	struct lkdf *rt = rt_of(t);
	int cancelled;

	if (!t->kind->on_cancel)
		return goes_on ? 0 : cancelled_with(t);
	pthread_mutex_lock(&rt->kick_lock);
	/* Under lock: we see the cancel or its kick finds us. */
	cancelled = goes_on ? 0 : cancelled_with(t);
	if (!cancelled)
		add_kickable(rt, t);
	pthread_mutex_unlock(&rt->kick_lock);
	return cancelled;
}

void complete_end(struct task *t)
{
	struct lkdf *rt = rt_of(t);

	check(t->kind);
	if (!t->kind->on_cancel)
		return;
	pthread_mutex_lock(&rt->kick_lock);
	*t->kick_prev = t->kick_next;
	if (t->kick_next)
		t->kick_next->kick_prev = t->kick_prev;
	pthread_mutex_unlock(&rt->kick_lock);
}

static void kick_waiter(struct lkdf *rt, bool again)
{
	struct executor *ex = runtime_executor(rt);
	struct lkdf_ctx *outer = current_none(ex);
	struct task *t;

	pthread_mutex_lock(&rt->kick_lock);
	for (t = rt->kickable; t; t = t->kick_next) {
		if (!scope_cancelled(t->scope) || (t->is_kicked && !again))
			continue;
		t->is_kicked = true;
		t->kind->on_cancel(t->arg);
	}
	pthread_mutex_unlock(&rt->kick_lock);
	current_again(ex, outer);
	completion_kick(rt);
}

void task_kick(struct lkdf *rt, uint32_t how)
{
	uint32_t nr;

	/*
	 * [kick.ask] the cancel before it; pairs with itself. The thread that
	 * kicks does our part too, and may be further up this stack.
	 */
	if (a_add(&rt->nr_kicks, how, acq_rel))
		return;
	do {
		/* [kick.ask] as above. */
		nr = a_load(&rt->nr_kicks, acquire);
		kick_waiter(rt, nr >= KICK_AGAIN);
		/* [kick.ask] as above. */
	} while (a_sub(&rt->nr_kicks, nr, acq_rel) != nr);
}
