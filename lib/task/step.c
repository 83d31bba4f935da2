/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All but the plain case: from the inputs of a task to the end of its body. The
 * steps when body and children are gone are in complete.c.
 */
#include "task/step.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/failure.h"
#include "core/home.h"
#include "core/note_error.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "mechanism/part/part.h"
#include "mechanism/team/team.h"
#include "sched/tick.h"
#include "scope/deadline.h"
#include "task/after.h"
#include "task/again.h"
#include "task/body.h"
#include "task/checked.h"
#include "task/complete.h"
#include "task/gate.h"
#include "task/group.h"
#include "task/then.h"
#include "task/traced.h"
#include "task/uses.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>

void task_fail(struct task *t, int returned, const char *why, int worker)
{
	struct lkdf_error e = {
		.id = -1,
		.worker = worker,
		.nr_failed = 1,
	};
	int error;

	check(returned < 0);
	if (t->link.flags & TASK_FAILED)
		return;
	/*
	 * The body returned -ECANCELED; the scope knows the error that it was
	 * cancelled with.
	 */
	if (scope_explains(t->scope, returned)) {
		complete_cancelled(&t->kind->rt->executors[worker], t,
				   scope_cancelled(t->scope));
		return;
	}
	error = failure_errno(returned);
	complete_failed(t, ENDED_FAILED, error, NULL);
	if (t->link.flags & TASK_OWNED) {
		t->owner->failed(t, returned, why, worker);
		return;
	}
	runtime_note_error(t->kind->rt, worker, error, NO_TASK_NUMBER);
	task_text(t, e.task, sizeof(e.task));
	failure_tell(&e, returned, why);
	t->failure = failure_create(&e, t->kind->name);
}

enum task_end task_after(struct lkdf_ctx *c, int rc)
{
	struct task *t = c->task;
	enum task_end end;

	if (unlikely(c->has_groups))
		group_leave_all(c, c->leaves && !t->then_on_event);
	else
		t->groups = NULL;
	if (unlikely(again_looks(c, rc)) && again_ended(c, &rc))
		return then_leave(c->ex, t);
	if (t->link.flags & TASK_OWNED && rc >= 0 && !c->leaves)
		rc = t->owner->returned(c, rc);
	if (rc < 0)
		task_fail(t, rc, c->has_why ? err_text() : NULL, c->ex->id);
	if (c->leaves && t->then_on_event)
		return then_leave(c->ex, t);
	if (c->leaves && rc >= 0)
		t->link.flags |= TASK_AFTER_CHILDREN;
	else
		then_arm_hold(t);
	end = task_end_body(t);
	if (end == TASK_COMPLETE && t->link.flags & TASK_AFTER_CHILDREN) {
		then_continue(c->ex, t);
		return TASK_PENDING;
	}
	return end;
}

/*
 * A body that spawned has made its children public, and its time is theirs:
 * it counts as short.
 */
static void sample_body(struct lkdf_ctx *c, struct lkdf_kind *k, uint64_t ticks)
{
	if (c->has_spawned)
		kind_sample_spawner(k);
	else
		kind_sample(k, ticks);
	if (ticks >= k->spin_ticks && c->ex->worker)
		worker_look_soon(c->ex->worker);
}

/* Not of a kind that is known to be short and that nobody traces. */
static inline bool is_timed(const struct task *t)
{
	return a_load(&t->kind->slow, relaxed) & ~(SLOW_GENERAL | SLOW_GATED) ||
	       (t->link.flags & TASK_EXTRA && t->is_profiled);
}

static int call_timed(struct lkdf_ctx *c, struct task *t, lkdf_fn fn)
{
	struct lkdf_kind *k = t->kind;
	bool is_traced = a_load(&k->slow, relaxed) & SLOW_TRACED;
	uint64_t number = is_traced ? traced_begin_body(c->ex, k) : 0;
	uint64_t start = clock_ticks(), end;
	int rc = kind_call(k, c, fn, t->arg);

	if (kind_is_noted_only(k) && !(t->link.flags & TASK_EXTRA))
		return rc;
	end = clock_ticks();
	sample_body(c, k, end - start);
	if (is_traced)
		traced_task(c, t, number, start, end);
	if (a_load(&k->slow, relaxed) & SLOW_PROFILED)
		t->owner->took(t->frame, t->index, end - start);
	if (t->link.flags & TASK_EXTRA && t->is_profiled)
		trace_event(c->ex->ring, EVENT_TASK, k->trace_name,
			    (end - start) * 1024 /
				    k->rt->sched.ticks_per_1024ns);
	return rc;
}

/* With the CPUs that its kind wants. */
static int call_team(struct lkdf_ctx *c, struct task *t, lkdf_fn fn)
{
	struct worker *w = c->ex->worker;
	int rc;

	check(w);
	team_begin(w, t->kind->nr_cpus);
	rc = call_timed(c, t, fn);
	team_end(w);
	return rc;
}

static int call_any(struct lkdf_ctx *c, struct task *t, lkdf_fn fn)
{
	if (unlikely(t->kind->flags & LKDF_TEAM))
		return call_team(c, t, fn);
	return is_timed(t) ? call_timed(c, t, fn) : body_call(fn, c, t->arg);
}

static __attribute__((noinline)) void lacks_inputs(struct lkdf_ctx *c,
						   struct task *t, int rc,
						   struct failure *failure)
{
	if (rc < 0) {
		task_fail(t, rc, err_text(), c->ex->id);
		return;
	}
	if (t->kind->rt->check)
		checked_skipped(t);
	counter_add(c->ex->counters, COUNTER_SKIPPED, 1);
	complete_failed(t, ENDED_SKIPPED, -rc,
			failure_of_skipped(failure, -rc));
}

/* 0: the inputs are there. Else it fails, or does not start. */
static int take_inputs(struct lkdf_ctx *c, struct task *t)
{
	struct failure *failure = NULL;
	int rc = 0;

	if (t->link.flags & TASK_EXTRA && t->after)
		rc = after_begin(t, &failure);
	if (!rc && t->link.flags & TASK_HAS_DATA)
		rc = t->link.flags & TASK_OWNED
			     ? t->owner->begin(t, &failure)
			     : uses_begin(c->ex, t, &failure);
	if (unlikely(rc))
		lacks_inputs(c, t, rc, failure);
	return rc;
}

/* Uses of data and nothing else, of a kind that is known to be short. */
static bool has_uses_only(const struct task *t, uint32_t but)
{
	const uint32_t flags = TASK_GENERAL | TASK_CONTINUES | TASK_OWNED |
			       TASK_HAS_DATA | TASK_EXTRA;

	return (t->link.flags & flags) == TASK_HAS_DATA &&
	       !((a_load(&t->kind->slow, relaxed) & ~(SLOW_NOTES | but)) |
		 (uint32_t)scope_cancelled(t->scope));
}

static int call_plain(struct lkdf_ctx *c, const struct task *t)
{
	const struct lkdf_kind *k = t->kind;

	return noted_or_not(k, c, k->fn, t->arg);
}

/* As plain tasks it is not timed any more. */
static enum task_end step_with_uses(struct lkdf_ctx *c, struct task *t)
{
	struct failure *failure;
	int rc = uses_begin(c->ex, t, &failure);

	if (unlikely(rc)) {
		lacks_inputs(c, t, rc, failure);
		return TASK_COMPLETE;
	}
	/* It may wait for one that lies behind it. */
	if (likely(c->ex->worker != NULL))
		worker_offer(c->ex->worker, false, 0);
	rc = call_plain(c, t);
	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	if (rc >= 0 && !c->leaves)
		uses_end_body(c->ex, t);
	return unlikely((rc | c->after) < 0) ? task_after(c, rc)
					     : task_end_body(t);
}

/* A plain task of a short kind that is recorded. */
static bool is_traced_only(const struct task *t)
{
	const uint32_t flags = TASK_GENERAL | TASK_CONTINUES | TASK_OWNED |
			       TASK_HAS_DATA | TASK_EXTRA;

	return !(t->link.flags & flags) &&
	       a_load(&t->kind->slow, relaxed) == SLOW_TRACED &&
	       !scope_cancelled(t->scope);
}

static enum task_end step_traced(struct lkdf_ctx *c, struct task *t)
{
	uint64_t number = traced_begin_body(c->ex, t->kind);
	uint64_t begin = clock_ticks(), end;
	int rc = body_call(t->kind->fn, c, t->arg);

	end = clock_ticks();
	if (unlikely(end - begin >= t->kind->spin_ticks))
		sample_body(c, t->kind, end - begin);
	traced_task(c, t, number, begin, end);
	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	return unlikely((rc | c->after) < 0) ? task_after(c, rc)
					     : task_end_body(t);
}

/* A plain task of a short kind that has a gate. */
static bool is_gated_only(const struct task *t)
{
	return !(task_before(t) & ~(SLOW_NOTES | SLOW_GATED));
}

static enum task_end step_gated(struct lkdf_ctx *c, struct task *t)
{
	int rc = call_plain(c, t);

	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	return unlikely((rc | c->after) < 0) ? task_after(c, rc)
					     : task_end_body(t);
}

/* The body goes on, with what it had when it left. */
static lkdf_fn take_up(struct lkdf_ctx *c, const struct task *t)
{
	c->input_err = t->then_err;
	c->has_groups = t->groups != NULL;
	return unlikely(t->kind->rt->check != NULL) ? checked_then : t->then_fn;
}

static __attribute__((noinline)) enum task_end
pass_over(struct lkdf_ctx *c, struct task *t, int error)
{
	if (t->kind->rt->check)
		checked_skipped(t);
	return complete_cancelled(c->ex, t, error);
}

/* Its gate, if it has one, has been asked. */
static __attribute__((noinline)) enum task_end step_entered(struct lkdf_ctx *c,
							    struct task *t)
{
	bool continues = t->link.flags & TASK_CONTINUES;
	struct lkdf_kind *k = t->kind;
	lkdf_fn fn = k->fn;
	int cancelled, rc;
	bool may_go;

	if (is_gated_only(t))
		return step_gated(c, t);
	if (has_uses_only(t, SLOW_GATED))
		return step_with_uses(c, t);
	sched_tick(&k->rt->sched, k->rt);
	may_go = complete_may_go(t);
	if (may_go && !complete_take_limits(c->ex, t))
		return TASK_PENDING;
	if (may_go && !continues &&
	    t->link.flags & (TASK_HAS_DATA | TASK_EXTRA) && take_inputs(c, t))
		return TASK_COMPLETE;
	cancelled = complete_begin(t);
	if (cancelled)
		return pass_over(c, t, cancelled);
	if (t->link.flags & TASK_OWNED) {
		c->owner = t->owner;
		c->frame = t->frame;
		c->index = t->index;
	}
	if (t->link.flags & TASK_CONTINUES)
		fn = take_up(c, t);
	if (c->ex->worker && (a_load(&k->slow, relaxed) &
			      ~(SLOW_SAMPLED | SLOW_WATCHED | SLOW_NOTES |
				SLOW_GATED)) != SLOW_TRACED)
		worker_offer(c->ex->worker, false, 0);
	if (!c->ex->worker)
		c->ex->scope = t->kind->flags & LKDF_ALWAYS ? NULL : t->scope;
	rc = call_any(c, t, fn);
	complete_end(t);
	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	if (!c->ex->worker) {
		c->ex->scope = NULL;
		counter_add(c->ex->counters, COUNTER_BLOCKING, 1);
	}
	if (t->link.flags & TASK_HAS_DATA && rc >= 0 && !c->leaves)
		uses_end_body(c->ex, t);
	return task_after(c, rc);
}

/* Other workers than the part's may run a task that is not bound to it. */
static int node_of_part(const struct task *t)
{
	const struct sched *s = &t->kind->rt->sched;

	return (int)(part_in(s)->parts[home_part(t->home)]->node - s->nodes);
}

/*
 * A task that is cancelled needs no token. A task with a deadline, its own or a
 * scope's, has no time to wait. A task with a place waits there.
 */
static struct gate_item item_to_wait(struct task *t)
{
	struct gate_item i = { .item = link_item(&t->link),
			       .node = GATE_HERE,
			       .ring = (enum gate_ring_id)t->link.class };

	if (scope_cancelled(t->scope))
		return (struct gate_item){ .why = GATE_PASS_CANCELLED };
	if (t->link.flags & TASK_URGENT || t->link.class > CLASS_HIGH)
		return (struct gate_item){ .why = GATE_PASS_URGENT };
	if (deadline_is_ahead(t->scope))
		return (struct gate_item){ .why = GATE_PASS_DEADLINE };
	if (!(t->link.flags & TASK_PLACED))
		return i;
	if (home_is_device(t->home) ||
	    (home_is_part(t->home) && home_is_bound(t->home)))
		return (struct gate_item){ .why = GATE_PASS_PART };
	i.node = home_is_part(t->home) ? node_of_part(t) : home_node(t->home);
	if (home_is_bound(t->home))
		i.ring = GATE_BOUND;
	return i;
}

/* PENDING, too, where it lies aside: others may have run it by now. */
enum task_end task_step_slowly(struct lkdf_ctx *c, struct task *t)
{
	struct worker *w = c->ex->worker;
	uint32_t slow;

	check(t->kind);
	if (has_uses_only(t, 0))
		return step_with_uses(c, t);
	if (is_traced_only(t))
		return step_traced(c, t);
	slow = a_load(&t->kind->slow, relaxed);
	if (w && gate_concerns(w, slow) &&
	    !gate_before(w, t->kind, slow, item_to_wait(t)))
		return TASK_PENDING;
	return step_entered(c, t);
}

void task_run(struct executor *ex, struct task *t)
{
	check(t->kind);
	if (task_step(ex, t) == TASK_COMPLETE)
		task_complete(ex, t);
}
