/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From ready to the end of the body. What happens when body and children are
 * gone is complete.c.
 */
#include "task/task.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/home.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "run/frame.h"
#include "run/inner.h"
#include "run/static_run.h"
#include "sched/keep.h"
#include "sched/tick.h"
#include "task/after.h"
#include "task/complete.h"
#include "task/step.h"
#include "task/uses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Shorter than a call of memcpy for what fits inline: two overlapping pieces
 * for what ends between two sizes.
 */
static inline void copy_inline(char *to, const char *from, uint32_t size)
{
	uint32_t i;

	if (likely(size >= 16)) {
		for (i = 0; i + 16 < size; i += 16)
			memcpy(to + i, from + i, 16);
		memcpy(to + size - 16, from + size - 16, 16);
	} else if (size >= 8) {
		memcpy(to, from, 8);
		memcpy(to + size - 8, from + size - 8, 8);
	} else {
		for (i = 0; i < size; i++)
			to[i] = from[i];
	}
}

static int copy_far(struct task *t, const void *arg, uint32_t size)
{
	struct heap *h = t->kind->rt->heap;

	t->arg = heap_new(h, heap_thread_cache(h), size);
	if (!t->arg)
		return err(-ENOMEM, "task: no memory for %u bytes of argument",
			   size);
	memcpy(t->arg, arg, size);
	t->link.flags |= TASK_FAR_ARG;
	return 0;
}

static inline void set_arg(struct task *t, struct lkdf_kind *k, const void *arg)
{
	if (k->arg_size) {
		t->arg = t->inline_arg;
		copy_inline(t->inline_arg, arg, k->arg_size);
	} else {
		t->arg = (void *)(uintptr_t)arg;
	}
}

/* All fields but the argument and the parent. */
static inline void init_task(struct task *t, struct lkdf_kind *k)
{
	t->link.type = LINK_TASK;
	t->link.class = CLASS_NORMAL;
	t->link.flags = k->task_flags;
	t->kind = k;
	t->nr_spawned = 0;
	t->nr_local = 0;
	a_store(&t->live, 0, relaxed);
	a_store(&t->child_err, 0, relaxed);
}

static inline struct task *new_task(struct lkdf *rt, struct executor *ex,
				    struct lkdf_kind *k)
{
	struct task *t = runtime_alloc(rt, ex, POOL_TASK);

	if (unlikely(!t)) {
		err(-ENOMEM, "task: no memory for a task of kind %s", k->name);
		return NULL;
	}
	init_task(t, k);
	return t;
}

void task_free_arg(struct task *t)
{
	struct heap *h = t->kind->rt->heap;

	if (t->link.flags & TASK_FAR_ARG)
		heap_free(h, heap_thread_cache(h), t->arg);
}

struct task *task_create(struct lkdf *rt, struct executor *ex,
			 struct lkdf_kind *k, const void *arg, int prio)
{
	struct task *t = new_task(rt, ex, k);

	if (!t)
		return NULL;
	a_store(&t->link.depth, 0, relaxed);
	t->link.class = kind_class(k, prio);
	a_store(&t->parent, NULL, relaxed);
	if (k->arg_size <= INLINE_ARG) {
		set_arg(t, k, arg);
	} else if (copy_far(t, arg, k->arg_size)) {
		runtime_free(rt, ex, POOL_TASK, t);
		return NULL;
	}
	return t;
}

struct task *task_create_group(struct lkdf *rt, struct executor *ex,
			       struct lkdf_kind *k)
{
	struct task *t = new_task(rt, ex, k);

	if (!t)
		return NULL;
	t->link.flags = 0;
	t->arg = NULL;
	a_store(&t->link.depth, 0, relaxed);
	a_store(&t->parent, NULL, relaxed);
	task_init_limits(t);
	return t;
}

void task_destroy(struct lkdf *rt, struct executor *ex, struct task *t)
{
	task_free_arg(t);
	runtime_free(rt, ex, POOL_TASK, t);
}

struct task *task_create_for(struct executor *ex, struct frame *f,
			     uint32_t index)
{
	const struct rec *r = &f->recs[index];
	struct task *t = new_task(ex->rt, ex, r->kind);

	if (!t)
		return NULL;
	/* The graph keeps the argument and drops it. */
	t->link.flags = (t->link.flags & ~TASK_HAS_DROP) | TASK_OF_FRAME;
	a_store(&t->link.depth, 0, relaxed);
	t->link.class = r->flags & REC_CLASS;
	a_store(&t->parent, NULL, relaxed);
	t->scope = f->scope;
	t->arg = r->arg;
	t->frame = f;
	t->index = index;
	t->is_dead = false;
	t->io_home = HOME_NONE;
	if (r->flags & REC_PLACED) {
		t->link.flags |= TASK_PLACED;
		t->home = settle_home(f->graph, index);
	}
	task_init_limits(t);
	return t;
}

/* To its own node, first or always. */
static __attribute__((noinline)) void
push_placed(struct lkdf *rt, struct executor *ex, struct task *t)
{
	struct worker *w = ex ? ex->worker : NULL;
	int node = home_node(t->home);
	bool is_bound = home_is_bound(t->home);
	bool is_home = w && (ex->node == node || rt->sched.is_serial);

	if (is_home && worker_push(w, is_bound ? DEQUE_BOUND : t->link.class,
				   link_item(&t->link)))
		return;
	if (is_bound)
		sched_push_bound(&rt->sched, node, &t->link);
	else
		sched_push(&rt->sched, node, &t->link);
}

/* To a deque, or where there is none to the node's inbox. */
static void push(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (unlikely(t->link.flags & TASK_PLACED))
		push_placed(rt, ex, t);
	else if (!ex || !ex->worker ||
		 !worker_push(ex->worker, (enum sched_class)t->link.class,
			      link_item(&t->link)))
		runtime_push(rt, ex, &t->link);
}

/* Its body, or its operation, may block. */
static bool wants_pool(const struct lkdf *rt, const struct task *t)
{
	const struct lkdf_kind *k = t->kind;

	if (likely(!(k->flags & LKDF_BLOCKING || k->is_io)) ||
	    rt->sched.is_serial)
		return false;
	return !k->is_io || (a_load(&rt->io_rings.error, relaxed) &&
			     !(t->link.flags & TASK_CONTINUES));
}

void task_start(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (!wants_pool(rt, t)) {
		push(rt, ex, t);
	} else if (complete_take_limits(ex, t)) {
		t->blocking_item.is_io = false;
		blocking_push(&rt->blocking, &t->blocking_item);
	}
}

/* Nothing is public: half of what we have gets so, and a sleeper is woken. */
static __attribute__((noinline)) int share_child(struct worker *w)
{
	worker_share(w, CLASS_NORMAL);
	return 0;
}

/*
 * A child goes to our deque, and if nothing of it is public, half of it is
 * made so: the body may go on for long, or until the child has run.
 */
static void push_child(struct worker *w, struct task *t)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (!deque_push(d, link_item(&t->link)))
		runtime_push(w->executor->rt, w->executor, &t->link);
	else if (!deque_has_public(d))
		share_child(w);
}

struct task *task_of_ctx(struct lkdf_ctx *c)
{
	if (unlikely(!c->task)) {
		if (unlikely(c->in_order))
			static_run_leave_ctx(c);
		/* What comes of it is not what the run was measured with. */
		if (c->ex->worker)
			keep_end(c->ex->worker);
		c->task = task_create_for(c->ex, c->frame, c->index);
		c->after = AFTER_LOOK;
		c->nr_bytes = 0;
	}
	c->has_spawned = true;
	return c->task;
}

/* First child of a graph's task, a kind with extras, no room, no worker. */
static __attribute__((noinline)) int
spawn_slowly(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg)
{
	bool is_first = !c->task;
	struct task *parent = task_of_ctx(c), *t;
	struct executor *ex = c->ex;

	if (!parent)
		return -ENOMEM;
	t = task_create(ex->rt, ex, k, arg, 0);
	if (!t)
		return -ENOMEM;
	task_init_limits(t);
	task_adopt(parent, t);
	if (k->is_plain && ex->worker)
		push_child(ex->worker, t);
	else
		task_start(ex->rt, ex, t);
	/* The graph's body was taken for a short one, but it may wait now. */
	if (is_first && ex->worker)
		worker_share_all(ex->worker);
	return 0;
}

/* The plain case has no call in it, so it needs no stack. */
int task_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg)
{
	struct executor *ex = c->ex;
	struct worker *w = ex->worker;
	struct task *t;
	struct deque *d;

	if (unlikely(!c->task || !w || !k->is_plain ||
		     !magazine_has(&ex->magazine[POOL_TASK])))
		return spawn_slowly(c, k, arg);
	d = &w->deque[CLASS_NORMAL];
	if (unlikely(deque_is_full(d)))
		return spawn_slowly(c, k, arg);
	t = magazine_take(&ex->magazine[POOL_TASK]);
	init_task(t, k);
	set_arg(t, k, arg);
	task_adopt(c->task, t);
	c->has_spawned = true;
	deque_put(d, link_item(&t->link));
	return likely(deque_has_public(d)) ? 0 : share_child(w);
}

void task_fail(struct task *t, int returned, const char *why, int worker)
{
	struct lkdf_error e = {
		.id = -1,
		.worker = worker,
		.nr_failed = 1,
	};
	int error;

	if (t->link.flags & TASK_FAILED)
		return;
	error = failure_errno(returned);
	t->link.flags |= TASK_FAILED;
	t->error = error;
	t->failure = NULL;
	if (t->link.flags & TASK_OF_FRAME) {
		frame_fail(t->frame, t->index, returned, why, worker);
		return;
	}
	runtime_note_error(t->kind->rt, worker, error, NO_TASK_NUMBER);
	scope_count(t->scope, 1, 0, 0);
	snprintf(e.task, sizeof(e.task), "%s", t->kind->name);
	failure_tell(&e, returned, why);
	t->failure = failure_create(&e);
}

enum task_end task_after(struct lkdf_ctx *c, int rc)
{
	struct task *t = c->task;
	enum task_end end;

	if (rc < 0)
		task_fail(t, rc, c->has_why ? err_text() : NULL, c->ex->id);
	if (c->leaves && t->then_on_event)
		return complete_leave(c->ex, t);
	if (c->leaves && rc >= 0)
		t->link.flags |= TASK_AFTER_CHILDREN;
	else
		complete_arm_hold(t);
	end = task_end_body(t);
	if (end == TASK_COMPLETE && t->link.flags & TASK_AFTER_CHILDREN) {
		complete_continue(c->ex, t);
		return TASK_PENDING;
	}
	return end;
}

/*
 * A body that spawned has made its children public, and its time is theirs:
 * it counts as short.
 */
static void sample(struct lkdf_ctx *c, struct lkdf_kind *k, uint64_t ticks)
{
	kind_sample(k, c->has_spawned ? 0 : ticks);
	if (ticks >= k->spin_ticks && c->ex->worker)
		worker_look_soon(c->ex->worker);
}

/* Not of a kind that is known to be short and that nobody traces. */
static inline bool is_timed(const struct task *t)
{
	return a_load(&t->kind->slow, relaxed) & ~SLOW_GENERAL ||
	       (t->link.flags & TASK_EXTRA && t->is_profiled);
}

static int call_timed(struct lkdf_ctx *c, struct task *t, lkdf_fn fn)
{
	struct lkdf_kind *k = t->kind;
	uint64_t start = clock_ticks(), end;
	int rc = kind_call(k, c, fn, t->arg);

	end = clock_ticks();
	sample(c, k, end - start);
	trace_slice(c->ex->ring, k->trace_name,
		    t->link.flags & TASK_OF_FRAME ? t->index : NO_TASK_NUMBER,
		    start, end);
	if (t->link.flags & TASK_EXTRA && t->is_profiled)
		trace_event(c->ex->ring, EVENT_TASK, k->trace_name,
			    (end - start) * 1024 /
				    k->rt->sched.ticks_per_1024ns);
	return rc;
}

static __attribute__((noinline)) void lacks_inputs(struct lkdf_ctx *c,
						   struct task *t, int rc,
						   struct failure *failure)
{
	if (rc > 0)
		complete_skipped(c->ex, t, -rc, failure);
	else
		task_fail(t, rc, err_text(), c->ex->id);
}

/* 0: the inputs are there. Else it fails, or does not start. */
static int take_inputs(struct lkdf_ctx *c, struct task *t)
{
	struct failure *failure = NULL;
	int rc = 0;

	if (t->link.flags & TASK_EXTRA && t->after)
		rc = after_begin(t, &failure);
	if (!rc && t->link.flags & TASK_HAS_DATA)
		rc = t->link.flags & TASK_OF_FRAME
			     ? inner_begin(t, &failure)
			     : uses_begin(c->ex, t, &failure);
	if (unlikely(rc))
		lacks_inputs(c, t, rc, failure);
	return rc;
}

/* Uses of data and nothing else, of a kind that is known to be short. */
static bool has_uses_only(const struct task *t)
{
	const uint32_t flags = TASK_GENERAL | TASK_CONTINUES | TASK_OF_FRAME |
			       TASK_HAS_DATA | TASK_EXTRA;

	return (t->link.flags & flags) == TASK_HAS_DATA &&
	       !(a_load(&t->kind->slow, relaxed) |
		 (uint32_t)scope_cancelled(t->scope));
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
	rc = t->kind->fn(c, t->arg);
	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	if (rc >= 0 && !c->leaves)
		uses_end_body(c->ex, t);
	return unlikely((rc | c->after) < 0) ? task_after(c, rc)
					     : task_end_body(t);
}

enum task_end task_step_slowly(struct lkdf_ctx *c, struct task *t)
{
	bool continues = t->link.flags & TASK_CONTINUES;
	struct lkdf_kind *k = t->kind;
	lkdf_fn fn = continues ? t->then_fn : k->fn;
	int cancelled, rc;
	bool may_go;

	if (has_uses_only(t))
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
		return complete_cancelled(c->ex, t, cancelled);
	if (t->link.flags & TASK_OF_FRAME) {
		c->frame = t->frame;
		c->index = t->index;
	}
	if (t->link.flags & TASK_CONTINUES)
		c->input_err = t->then_err;
	if (c->ex->worker &&
	    (a_load(&k->slow, relaxed) & ~SLOW_SAMPLED) != SLOW_TRACED)
		worker_offer(c->ex->worker, false, 0);
	rc = is_timed(t) ? call_timed(c, t, fn) : fn(c, t->arg);
	complete_end(t);
	counter_add(c->ex->counters, COUNTER_TASKS, 1);
	if (!c->ex->worker)
		counter_add(c->ex->counters, COUNTER_BLOCKING, 1);
	if (t->link.flags & TASK_HAS_DATA && rc >= 0 && !c->leaves)
		uses_end_body(c->ex, t);
	return task_after(c, rc);
}

void task_run(struct executor *ex, struct task *t)
{
	if (task_step(ex, t) == TASK_COMPLETE)
		task_complete(ex, t);
}
