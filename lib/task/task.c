/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How a task is made and where it goes when it is ready. Its body is step.c,
 * what comes after that complete.c.
 */
#include "task/task.h"

#include "base/err.h"
#include "core/forked.h"
#include "core/home.h"
#include "core/item.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "mechanism/part/part.h"
#include "mem/heap.h"
#include "task/checked.h"
#include "task/complete.h"
#include "task/step.h"
#include "task/traced.h"
#include "task/urgent.h"
#include "trace/counters.h"

#include <errno.h>
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

/* Another one than its kind's. */
static __attribute__((noinline)) void set_prio(struct task *t, int prio)
{
	t->link.class = kind_class(t->kind, prio);
	t->link.flags &= (uint16_t)~TASK_URGENT;
	if (t->link.class == CLASS_URGENT && t->kind->is_anywhere)
		t->link.flags |= TASK_URGENT;
}

struct task *task_create(struct lkdf *rt, struct executor *ex,
			 struct lkdf_kind *k, const void *arg, int prio)
{
	struct task *t = new_task(rt, ex, k);

	if (!t)
		return NULL;
	a_store(&t->link.depth, 0, relaxed);
	t->link.class = k->class;
	if (unlikely(prio != LKDF_PRIO_DEFAULT))
		set_prio(t, prio);
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
	check(t->kind);
	task_free_arg(t);
	runtime_free(rt, ex, POOL_TASK, t);
}

/* To its part, first or always. */
static void push_to_part(struct lkdf *rt, struct executor *ex, struct task *t)
{
	struct worker *w = ex ? ex->worker : NULL;
	bool is_bound = home_is_bound(t->home);
	unsigned part = home_part(t->home);

	if (w && !is_bound && part_has(part_in(&rt->sched)->parts[part], w) &&
	    worker_push(w, t->link.class, link_item(&t->link)))
		return;
	if (part_push(&rt->sched, part, w, &t->link, is_bound))
		runtime_has_woken(rt, ex);
}

/* To its own node, first or always. */
static __attribute__((noinline)) void
push_placed(struct lkdf *rt, struct executor *ex, struct task *t)
{
	struct worker *w = ex ? ex->worker : NULL;
	int node = home_node(t->home);
	bool is_bound = home_is_bound(t->home);
	bool is_home = w && (ex->node == node || rt->sched.is_serial);
	bool has_woken;

	if (unlikely(home_is_part(t->home))) {
		push_to_part(rt, ex, t);
		return;
	}
	/* Serial mode; or the device has no launcher, which the task tells. */
	if (unlikely(home_is_device(t->home))) {
		runtime_push(rt, ex, &t->link);
		return;
	}
	if (is_home && worker_push(w, is_bound ? DEQUE_BOUND : t->link.class,
				   link_item(&t->link)))
		return;
	has_woken = is_bound ? sched_push_bound(&rt->sched, node, &t->link)
			     : sched_push(&rt->sched, node, &t->link);
	if (has_woken)
		runtime_has_woken(rt, ex);
}

/*
 * Its deque is full. Joins search for children, so those stay with the worker,
 * though not those that are to wait for all others.
 */
static __attribute__((noinline)) void push_over(struct executor *ex,
						struct task *t)
{
	struct worker *w = ex->worker;

	counter_add(ex->counters, COUNTER_OVERFLOWS, 1);
	if (t->link.class < CLASS_NORMAL || !a_load(&t->parent, relaxed) ||
	    !worker_push(w, DEQUE_CHILDREN, link_item(&t->link)))
		runtime_push(ex->rt, ex, &t->link);
	else if (!deque_has_public(&w->deque[DEQUE_CHILDREN]))
		worker_share(w, DEQUE_CHILDREN);
}

static void push_anywhere(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (!ex || !ex->worker)
		runtime_push(rt, ex, &t->link);
	else if (!worker_push(ex->worker, (enum sched_class)t->link.class,
			      link_item(&t->link)))
		push_over(ex, t);
}

/* May a spare thread run it, if no worker does? */
static bool may_be_spared(const struct lkdf *rt, const struct task *t)
{
	const uint16_t away = HOME_PART | HOME_DEVICE;

	if (!(t->link.flags & TASK_URGENT) || rt->sched.is_serial)
		return false;
	return !(t->link.flags & TASK_PLACED) ||
	       !(home_is_bound(t->home) || t->home & away);
}

/* It has a place, or is urgent. */
static __attribute__((noinline)) void
push_specially(struct lkdf *rt, struct executor *ex, struct task *t)
{
	bool is_placed = t->link.flags & TASK_PLACED;

	if (!may_be_spared(rt, t)) {
		if (is_placed)
			push_placed(rt, ex, t);
		else
			push_anywhere(rt, ex, t);
	} else {
		urgent_push(rt, ex, &t->link,
			    is_placed ? home_node(t->home)
			    : ex      ? ex->node
				      : sched_home(&rt->sched));
	}
}

/* To a deque, or where there is none to the node's inbox. */
static void push_task(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (unlikely(t->link.flags & (TASK_PLACED | TASK_URGENT)))
		push_specially(rt, ex, t);
	else
		push_anywhere(rt, ex, t);
}

void task_put_back(struct executor *ex, struct task *t)
{
	check(t->kind && ex->worker);
	push_task(ex->rt, ex, t);
}

/* Its body, or its work elsewhere, may block. */
static bool wants_pool(const struct lkdf *rt, struct task *t)
{
	const struct lkdf_kind *k = t->kind;

	if (!k->may_block || rt->sched.is_serial)
		return false;
	return k->ops->wants_pool(t);
}

static void run_in_pool(void *executor, struct blocking_item *item)
{
	task_run(executor, container_of(item, struct task, blocking_item));
}

/* Nothing that it waited for starts it: it is its creator who does. */
static bool is_made_now(const struct task *t)
{
	const uint16_t later = TASK_CONTINUES | TASK_HAS_DATA | TASK_OWNED;

	return !(t->link.flags & later) && !t->limit_woken &&
	       !(t->link.flags & TASK_EXTRA && t->after);
}

static __attribute__((noinline)) void
start_slowly(struct lkdf *rt, struct executor *ex, struct task *t)
{
	if (a_load(&t->kind->slow, relaxed) & SLOW_TRACED)
		traced_ready(ex, t);
	if (rt->check && is_made_now(t))
		checked_made(t);
	if (!wants_pool(rt, t)) {
		push_task(rt, ex, t);
		if (rt->sched.order.is_on && ex && ex->worker)
			worker_shuffle(ex->worker);
	} else if (complete_take_limits(ex, t)) {
		t->blocking_item.run = run_in_pool;
		if (t->kind->ops->push)
			t->kind->ops->push(t);
		else
			blocking_push(&rt->blocking, &t->blocking_item);
	}
}

void task_start(struct lkdf *rt, struct executor *ex, struct task *t)
{
	check(t->kind && t->scope);
	if (likely(!a_load(&t->kind->starts_slowly, relaxed)))
		push_task(rt, ex, t);
	else
		start_slowly(rt, ex, t);
}

/* Nothing is public: half of what we have gets so, and a sleeper is woken. */
static __attribute__((noinline)) int share_child(struct worker *w)
{
	worker_share(w, CLASS_NORMAL);
	return 0;
}

bool task_runs_inline(struct executor *ex, struct task *t, struct task *parent)
{
	const uint16_t special = TASK_PLACED | TASK_HAS_DATA | TASK_EXTRA;
	struct worker *w = ex->worker;

	if (!w || !t->kind->is_child || t->link.flags & special ||
	    t->link.class != CLASS_NORMAL ||
	    !deque_is_full(&w->deque[CLASS_NORMAL]) || !worker_is_crowded(w))
		return false;
	if (a_load(&t->kind->slow, relaxed) & SLOW_TRACED)
		traced_ready(ex, t);
	counter_add(ex->counters, COUNTER_INLINED, 1);
	w->depth.nr_inline++;
	task_run_child(ex, t, parent);
	w->depth.nr_inline--;
	return true;
}

/*
 * A child goes to our deque, and if nothing of it is public, half of it is
 * made so: the body may go on for long, or until the child has run. A full
 * deque has a second one above it.
 */
static void push_child(struct worker *w, struct task *t, struct task *parent)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (a_load(&t->kind->slow, relaxed) & SLOW_TRACED)
		traced_ready(w->executor, t);
	if (deque_push(d, link_item(&t->link))) {
		if (!deque_has_public(d))
			share_child(w);
		return;
	}
	if (!task_runs_inline(w->executor, t, parent))
		push_over(w->executor, t);
}

struct task *task_of_ctx(struct lkdf_ctx *c)
{
	if (unlikely(!c->task)) {
		c->task = c->owner->create(c);
		c->after = AFTER_LOOK;
		c->nr_bytes = 0;
	}
	c->has_spawned = true;
	return c->task;
}

/* How many tokens of a limit the task and those above it hold. */
static uint64_t tokens_held(const struct task *t, const struct lkdf_limit *l)
{
	const struct lkdf_kind *k;
	uint64_t nr = 0;
	uint32_t i;

	for (; t; t = a_load(&t->parent, relaxed)) {
		k = t->kind;
		/* Not its flags: its own thread may set some meanwhile. */
		if (!k->nr_limits || !t->nr_limits_held)
			continue;
		for (i = 0; i < k->nr_limits; i++)
			if (k->limit[i].limit == l)
				nr += k->limit[i].tokens;
	}
	return nr;
}

int task_may_have_child(const struct task *parent, const struct lkdf_kind *k)
{
	uint64_t held;
	uint32_t i;

	for (i = 0; i < k->nr_limits; i++) {
		held = tokens_held(parent, k->limit[i].limit);
		if (held + k->limit[i].tokens <= k->limit[i].limit->nr_tokens)
			continue;
		return err(-EDEADLK,
			   "spawn: a child of kind %s needs %u tokens of %s, "
			   "of which task %s and those above it hold %llu "
			   "until the child has ended",
			   k->name, k->limit[i].tokens, k->limit[i].limit->text,
			   parent->kind->name, (unsigned long long)held);
	}
	return 0;
}

/* First child of a graph's task, a kind with extras, a deep one, no room, no
 * worker. */
static __attribute__((noinline)) int spawn_slowly(struct lkdf_ctx *c,
						  struct task *parent,
						  struct lkdf_kind *k,
						  const void *arg)
{
	struct executor *ex = runtime_inside(c->ex);
	struct lkdf *rt = c->ex->rt;
	struct task *t;
	bool is_first = !c->task;
	int rc = forked_refuse(rt);

	if (rc)
		return rc;
	t = task_of_ctx(c);
	if (!t)
		return -ENOMEM;
	if (!parent)
		parent = t;
	rc = task_may_have_child(parent, k);
	if (rc)
		return rc;
	t = task_create(rt, ex, k, arg, 0);
	if (!t)
		return -ENOMEM;
	task_init_limits(t);
	task_adopt(parent, t);
	if (parent != c->task)
		task_set_group(t, parent);
	if (k->is_child && ex && ex->worker)
		push_child(ex->worker, t, parent);
	else
		task_start(rt, ex, t);
	/* The graph's body was taken for a short one, but it may wait now. */
	if (is_first && ex && ex->worker)
		worker_share_all(ex->worker);
	return 0;
}

/*
 * The plain case has no call in it, so it needs no stack. parent: the body's
 * task, NULL where it has none yet, or a group.
 */
static inline __attribute__((always_inline)) int
spawn_child(struct lkdf_ctx *c, struct task *parent, struct lkdf_kind *k,
	    const void *arg)
{
	struct executor *ex = c->ex;
	struct worker *w = ex->worker;
	struct task *t;
	struct deque *d;

	if (unlikely(!parent || !w || !a_load(&k->is_plain, relaxed) ||
		     task_is_above_deep(parent) ||
		     !magazine_has(&ex->magazine[POOL_TASK])))
		return spawn_slowly(c, parent, k, arg);
	d = &w->deque[CLASS_NORMAL];
	if (unlikely(deque_is_full(d)))
		return spawn_slowly(c, parent, k, arg);
	t = magazine_take(&ex->magazine[POOL_TASK]);
	init_task(t, k);
	set_arg(t, k, arg);
	task_set_near_parent(t, parent);
	t->scope = parent->scope;
	parent->nr_spawned++;
	c->has_spawned = true;
	deque_put(d, link_item(&t->link));
	return likely(deque_has_public(d)) ? 0 : share_child(w);
}

int task_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg)
{
	return spawn_child(c, c->task, k, arg);
}

int task_spawn_below(struct lkdf_ctx *c, struct task *g, struct lkdf_kind *k,
		     const void *arg)
{
	return spawn_child(c, g, k, arg);
}
