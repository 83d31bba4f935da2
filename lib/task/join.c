/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waiting for children inside a body: runs own descendants, from the own
 * deque, the inbox or a thief's deque, and nothing else, so that a join never
 * nests foreign work on this stack. When there is none left to take it spins
 * with a pace, then sleeps until one is made public or a child has ended; a
 * thread of no worker, which runs none, sleeps on the task's live count.
 *
 * The sleep is cut short now and then: a descendant may have come into a
 * backlog meanwhile, and it may be that nobody but us can run it.
 */
#include "task/task.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/forked.h"
#include "core/runtime.h"
#include "data/claim.h"
#include "mechanism/gate/gate.h"
#include "mechanism/lend/lend.h"
#include "mechanism/team/team.h"
#include "sched/current.h"
#include "sched/joiner.h"
#include "sched/nap.h"
#include "sched/tick.h"
#include "task/body.h"
#include "task/checked.h"
#include "task/complete.h"
#include "task/descend.h"
#include "task/group.h"
#include "task/step.h"
#include "trace/counters.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define SPINS 200
#define TOLD_NS 1000000000 /* of naps, which may end early */

/* The caller is told of it; f: why, or NULL. */
static int tell_child(int rc, const struct failure *f)
{
	uint32_t nr_more = f ? a_load(&f->nr_more, relaxed) : 0;
	const char *why = f ? f->error.why : strerror(-rc);

	return nr_more ? err(rc, "%s (and %u more)", why, nr_more)
		       : err(rc, "%s", why);
}

int task_forget_children(struct task *t)
{
	struct failure *f;
	int rc;

	if (group_has_event(t))
		return 0;
	rc = complete_take_child_error(t, &f);
	task_count_anew(t);
	if (!rc)
		return 0;
	failure_observe(f);
	tell_child(rc, f);
	failure_put(f, &t->kind->rt->log);
	return rc;
}

void task_wake_join(struct lkdf *rt, struct task *t)
{
	if (!joiner_tell_root(&rt->sched, t))
		futex_wake((_Atomic(uint32_t) *)(void *)&t->live, INT_MAX);
}

/* Returns what live is then, in which a child that ends sees that we wait. */
static uint32_t begin_nap(struct task *t)
{
	/* [join.c] before we look; pairs with [task.child]. */
	return (uint32_t)a_add(&t->live, TASK_JOINING, seq_cst) + TASK_JOINING;
}

static bool has_ended(const struct task *t, uint32_t live)
{
	return t->nr_spawned - t->nr_local + live == TASK_JOINING;
}

/* A thread of no worker: until a child is gone or the nap is over. */
static void nap_outside(struct task *t, int64_t nap_ns)
{
	uint32_t live;

	/* In serial mode nobody else runs them. */
	sched_drain(&t->kind->rt->sched);
	live = begin_nap(t);
	if (!has_ended(t, live))
		futex_wait((_Atomic(uint32_t) *)(void *)&t->live, live, nap_ns);
	a_sub(&t->live, TASK_JOINING, relaxed);
}

/* Or until there is work below the task, which others have made public. */
static void nap_joined(struct worker *w, struct task *t, int64_t nap_ns)
{
	uint32_t nr_calls = joiner_announce(w, t), live = begin_nap(t);

	if (!has_ended(t, live) && !descend_sees(w, t))
		joiner_sleep(w, nr_calls, nap_ns);
	a_sub(&t->live, TASK_JOINING, relaxed);
	joiner_retract(w);
}

/*
 * In serial mode nobody else waits for what is under way, keeps the time, or
 * runs what a child may wait for.
 */
static void rest_serial(struct worker *w, struct task *t, int64_t nap_ns)
{
	struct sched *s = w->sched;
	struct lkdf *rt = t->kind->rt;

	if (s->ops.wait(w, -1) || worker_run_any(w))
		return;
	if (sched_pass_time(s, -1)) {
		sched_tick(s, rt);
		return;
	}
	if (timers_are_empty(&s->timers))
		rt->stuck(rt);
	nap_joined(w, t, nap_ns);
}

static void rest_in_join(struct worker *w, struct task *t, int64_t nap_ns)
{
	uint64_t start = clock_ticks();

	if (w)
		gate_release(w);
	if (w && team_has(w))
		team_rest(w);
	else if (!w)
		nap_outside(t, nap_ns);
	else if (w->sched->is_serial)
		rest_serial(w, t, nap_ns);
	else
		nap_joined(w, t, nap_ns);
	if (w)
		counter_add(w->executor->counters, COUNTER_JOIN_IDLE_NS,
			    sched_ns(w->sched, clock_ticks() - start));
}

/* In a join: how it has rested since it found something. */
struct rest {
	int64_t nap_ns; /* the last nap's length */
	int64_t told_ns; /* of all naps; see descend_tell() */
	bool has_lent; /* a substitute runs in its place */
};

/* It can go on. */
static void end_rest(struct worker *w, struct rest *r)
{
	r->nap_ns = 0;
	if (r->has_lent)
		lend_end(w);
	r->has_lent = false;
}

static void rest_once(struct worker *w, struct task *t, struct rest *r)
{
	nap_join(&r->nap_ns);
	r->told_ns += r->nap_ns;
	if (unlikely(r->told_ns >= TOLD_NS && r->told_ns - r->nap_ns < TOLD_NS))
		descend_tell(w, t);
	if (w && unlikely(team_has(w)))
		end_rest(w, r);
	else if (w && !r->has_lent)
		r->has_lent = lend_begin(w, r->nap_ns);
	rest_in_join(w, t, r->nap_ns);
	/* Before the work, or else both would run. */
	if (r->has_lent && descend_sees(w, t))
		end_rest(w, r);
}

/*
 * The body of a plain child that needed nothing before has returned rc. The
 * context is the join's own: its fields come back as they were.
 */
static inline __attribute__((always_inline)) void
end_plain_child(struct worker *w, struct task *t, struct task *parent,
		struct lkdf_ctx *c, int rc)
{
	c->has_spawned = false;
	if (unlikely((rc | c->after) < 0)) {
		if (task_after(c, rc) == TASK_COMPLETE)
			task_end_child(w->executor, t, parent);
		*c = (struct lkdf_ctx){ .ex = w->executor };
		return;
	}
	if (likely(t->nr_spawned == t->nr_local &&
		   !a_load(&t->child_err, relaxed))) {
		parent->nr_local++;
		magazine_put(&w->executor->magazine[POOL_TASK], t);
		return;
	}
	if (task_end_body(t) == TASK_COMPLETE)
		task_end_child(w->executor, t, parent);
}

/* The plain case: our youngest private item is a child. */
static inline __attribute__((always_inline)) bool pop_child(struct worker *w,
							    struct task *parent,
							    struct lkdf_ctx *c,
							    uint64_t *nr_run)
{
	struct deque *d = &w->deque[CLASS_NORMAL];
	uint32_t head = deque_head(d), before;
	struct task *t;
	int rc;

	if (!deque_has_private(d))
		return false;
	t = deque_lower(d, head - 1) ? descend_task(deque_at(d, head - 1))
				     : NULL;
	if (!t || a_load(&t->parent, relaxed) != parent) {
		deque_raise(d, head);
		return false;
	}
	before = task_before(t) | (t->link.flags & TASK_ENDS_SLOWLY);
	if (likely(!before)) {
		c->task = t;
		rc = body_call(t->kind->fn, c, t->arg);
	} else if (before == SLOW_NOTED) {
		c->task = t;
		rc = noted_call(t->kind, c, t->kind->fn, t->arg);
	} else if (before == SLOW_NOTES) {
		c->task = t;
		rc = noted_count(t->kind, c, t->kind->fn, t->arg);
	} else {
		task_run_child(w->executor, t, parent);
		return true;
	}
	end_plain_child(w, t, parent, c, rc);
	(*nr_run)++;
	return true;
}

static __attribute__((noinline, cold)) int too_deep(const struct worker *w)
{
	return err(-EOVERFLOW,
		   "join: nested too deep, less than a quarter of the worker's "
		   "stack of %zu KiB is left; go on with lkdf_then(), or have "
		   "larger stacks by option stack_kib",
		   w->depth.size / 1024);
}

int task_may_join(const struct lkdf_ctx *c)
{
	struct worker *w = c->ex->worker;
	const struct task *t = c->task;
	int rc = w ? 0 : forked_refuse(c->ex->rt);

	if (rc)
		return rc;
	if (unlikely(w && !depth_may_join(&w->depth)))
		return too_deep(w);
	if (likely(!t || !(t->link.flags & TASK_HAS_DATA) ||
		   !t->claim->has_weak))
		return 0;
	return err(-EDEADLK,
		   "join: the task has WEAK uses, and its children may wait "
		   "for whom this worker would run; use lkdf_then()");
}

/* Runs and waits until no child is left. Returns how many ran here. */
static inline __attribute__((always_inline)) uint64_t
run_children(struct worker *w, struct task *t, struct lkdf_ctx *child)
{
	uint64_t nr_run = 0;
	unsigned spins = 0;
	struct rest rest = { 0 };

	while (task_has_children(t)) {
		if (w && (pop_child(w, t, child, &nr_run) || descend(w, t))) {
			spins = 0;
			if (unlikely(rest.nap_ns))
				end_rest(w, &rest);
			continue;
		}
		if (w && completion_poll(w))
			continue;
		if (w && worker_has_private(w))
			worker_offer(w, false, 0);
		if (++spins < SPINS)
			a_pause();
		else if (!sched_tick(&t->kind->rt->sched, t->kind->rt) &&
			 (!w || !descend_slowly(w, t)))
			rest_once(w, t, &rest);
	}
	if (unlikely(rest.nap_ns))
		end_rest(w, &rest);
	return nr_run;
}

/* A thread of the program, or of the blocking pool, runs none of them. */
static __attribute__((noinline)) void await_children(struct task *t)
{
	run_children(NULL, t, NULL);
}

static inline __attribute__((always_inline)) void await_all(struct executor *ex,
							    struct task *t)
{
	struct lkdf_ctx child = { .ex = ex }, *outer;
	struct worker *w = ex->worker;

	if (unlikely(!w)) {
		await_children(t);
	} else {
		if (worker_has_clock(w))
			worker_tick_rarely(w);
		outer = current_set(ex, &child);
		/* Those that ran here, counted together. */
		counter_add(ex->counters, COUNTER_TASKS,
			    run_children(w, t, &child));
		current_restore(ex, outer);
	}
	if (unlikely(t->kind->rt->check != NULL))
		checked_joined(t);
}

int task_join_on(struct executor *ex, struct task *t)
{
	await_all(ex, t);
	if (unlikely(a_load(&t->child_err, relaxed)))
		return task_forget_children(t);
	task_count_anew(t);
	return 0;
}

__attribute__((noinline)) void task_await_children(struct executor *ex,
						   struct task *t)
{
	await_all(ex, t);
}

int task_join_told(struct lkdf_ctx *c, struct failure **f)
{
	int rc;

	*f = NULL;
	if (!c->task)
		return 0;
	task_await_children(c->ex, c->task);
	rc = complete_take_child_error(c->task, f);
	task_count_anew(c->task);
	return rc ? tell_child(rc, *f) : 0;
}

int task_join(struct lkdf_ctx *c)
{
	return c->task ? task_join_on(c->ex, c->task) : 0;
}
