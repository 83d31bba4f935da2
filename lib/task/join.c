/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waiting for children inside a body: runs own descendants, from the own
 * deque, the inbox or a thief's deque, and nothing else, so that a join never
 * nests foreign work on this stack. When there is none left to take it spins
 * with a pace, then sleeps on the task's live count.
 *
 * The sleep is cut short now and then: a descendant may have come into the
 * inbox meanwhile, and it may be that nobody but us can run it.
 */
#include "task/task.h"

#include "base/err.h"
#include "base/futex.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/forked.h"
#include "core/item.h"
#include "core/runtime.h"
#include "data/claim.h"
#include "sched/expose.h"
#include "sched/part.h"
#include "sched/tick.h"
#include "task/body.h"
#include "task/step.h"

#include <errno.h>
#include <limits.h>
#include <lkdf/runtime.h>
#include <string.h>

#define SPINS 200
#define NAP_NS 500000
#define NAPS_TOLD 2000 /* a second or more */

/*
 * Children that found no room lie first in a backlog. Before a nap a join turns
 * through more of each, some at a time, for others wait for the lock.
 */
#define BACKLOG_LOOK 4
#define BACKLOG_TURN 64
#define BACKLOG_TURNS 16

static bool has_children(struct task *t)
{
	/* [task.join] what the children did; pairs with [task.child]. */
	return t->nr_spawned - t->nr_local +
		       (uint32_t)a_load(&t->live, acquire) !=
	       0;
}

int task_forget_children(struct task *t)
{
	int rc = a_load(&t->child_err, relaxed);

	t->nr_spawned = t->nr_local = 0;
	a_store(&t->live, 0, relaxed);
	if (!rc)
		return 0;
	a_store(&t->child_err, 0, relaxed);
	failure_observe(t->child_failure);
	err(rc, "%s",
	    t->child_failure ? t->child_failure->error.why : strerror(-rc));
	failure_put(t->child_failure, &t->kind->rt->log);
	return rc;
}

void task_wake_join(struct task *t)
{
	futex_wake((_Atomic(uint32_t) *)(void *)&t->live, INT_MAX);
}

/* Sleeps until a child is gone or the nap is over. */
static void nap(struct task *t)
{
	uint32_t live;

	/* [join.c] before we look; pairs with [task.child]. */
	live = (uint32_t)a_add(&t->live, TASK_JOINING, seq_cst) + TASK_JOINING;
	if (t->nr_spawned - t->nr_local + live != TASK_JOINING)
		futex_wait((_Atomic(uint32_t) *)(void *)&t->live, live, NAP_NS);
	a_sub(&t->live, TASK_JOINING, relaxed);
}

/* In serial mode nobody else waits for what is under way. */
static void rest(struct worker *w, struct task *t)
{
	if (!w || !w->sched->is_serial || !w->sched->ops.wait(w))
		nap(t);
}

bool task_is_below(struct task *t, const struct task *parent)
{
	uint32_t depth = a_load(&parent->link.depth, relaxed);

	while (t && a_load(&t->link.depth, relaxed) > depth)
		t = a_load(&t->parent, relaxed);
	return t == parent;
}

static struct task *task_of_item(uint64_t item)
{
	if (item & ITEM_OF_FRAME || LINK_TYPE(item) != LINK_TASK)
		return NULL;
	return task_of(link_of_item(item));
}

/*
 * The item may be a stale one: that it is a task stands in the item, and the
 * memory of a task stays one.
 */
static bool is_descendant(uint64_t item, const struct task *parent)
{
	struct task *t = task_of_item(item);

	return t && task_is_below(t, parent);
}

/* Back to where others find it: it came from such a deque, ours or another. */
static void put_back(struct worker *w, unsigned deque, uint64_t item)
{
	struct lkdf *rt = w->executor->rt;
	struct link *link = link_of_item(item);

	if (worker_push(w, deque, item))
		return;
	if (item & ITEM_OF_FRAME)
		w->sched->ops.spill(w, item);
	else if (deque == DEQUE_BOUND)
		(void)sched_push_bound(w->sched, w->executor->node, link);
	else
		runtime_push(rt, w->executor, link);
}

/*
 * The same for a plain child that needs nothing before its body. The context
 * is the join's own: its fields come back as they were.
 */
static inline void run_plain_child(struct worker *w, struct task *t,
				   struct task *parent, struct lkdf_ctx *c)
{
	int rc;

	c->task = t;
	rc = body_call(t->kind->fn, c, t->arg);
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
static inline bool pop_child(struct worker *w, struct task *parent,
			     struct lkdf_ctx *c, uint32_t *nr_run)
{
	struct deque *d = &w->deque[CLASS_NORMAL];
	uint32_t head = deque_head(d);
	struct task *t;

	if (!deque_has_private(d))
		return false;
	t = deque_lower(d, head - 1) ? task_of_item(deque_at(d, head - 1))
				     : NULL;
	if (!t || !a_load(&t->link.depth, relaxed) ||
	    a_load(&t->parent, relaxed) != parent) {
		deque_raise(d, head);
		return false;
	}
	if (unlikely(!task_is_plain(t) || t->link.flags & TASK_ENDS_SLOWLY)) {
		task_run_child(w->executor, t, parent);
		return true;
	}
	run_plain_child(w, t, parent, c);
	(*nr_run)++;
	return true;
}

/* Only what lies on top. */
static __attribute__((noinline)) bool pop_descendant(struct worker *w,
						     struct task *parent)
{
	uint64_t item;
	int level;

	for (level = NR_DEQUES - 1; level >= 0; level--) {
		if (!deque_pop(&w->deque[level], &item))
			continue;
		if (is_descendant(item, parent)) {
			task_run_child(w->executor, task_of_item(item), parent);
			return true;
		}
		put_back(w, (unsigned)level, item);
	}
	return false;
}

/* any: what is not ours comes to our deque, so that we see what is behind. */
static bool steal_descendant(struct worker *w, struct task *parent, bool any)
{
	struct deque *d;
	uint64_t item;
	int i, level;

	for (i = 0; i < w->sched->nr_workers - 1; i++) {
		for (level = i < w->nr_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
		     level >= 0; level--) {
			d = &w->sched->workers[w->victims[i]].deque[level];
			if (!deque_peek(d, &item) ||
			    (!any && !is_descendant(item, parent)) ||
			    deque_steal(d, &item) != DEQUE_TAKEN)
				continue;
			if (is_descendant(item, parent)) {
				task_run_child(w->executor, task_of_item(item),
					       parent);
				return true;
			}
			put_back(w, (unsigned)level, item);
			worker_offer(w, false, 0);
		}
	}
	return false;
}

/* Owner only. The youngest descendant of the deque, wherever it lies in it. */
static bool deque_dig(struct deque *d, struct task *parent, uint64_t *item)
{
	_Atomic(uint64_t) *slot, *top;
	uint32_t head, i;

	while (deque_reclaim(d))
		;
	if (!deque_hold(d, &head))
		return false;
	for (i = head; i != d->split; i--) {
		slot = &d->slot[(i - 1) & d->mask];
		*item = a_load(slot, relaxed);
		if (!is_descendant(*item, parent))
			continue;
		top = &d->slot[(head - 1) & d->mask];
		a_store(slot, a_load(top, relaxed), relaxed);
		deque_raise(d, head - 1);
		return true;
	}
	deque_raise(d, head);
	return false;
}

static bool is_mine(struct limit_waiter *w, const void *parent)
{
	return task_is_below(container_of(w, struct task, limit_waiter),
			     parent);
}

/* A descendant that waits for tokens nobody holds. */
static bool dig_limits(struct worker *w, struct task *parent)
{
	struct lkdf *rt = w->executor->rt;
	struct limit_waiter *waiter = NULL;
	struct lkdf_limit *l;
	struct task *t;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->limits; l && !waiter; l = l->next)
		waiter = limit_dig(l, is_mine, parent);
	pthread_mutex_unlock(&rt->lock);
	if (!waiter)
		return false;
	t = container_of(waiter, struct task, limit_waiter);
	t->limit_woken = true;
	task_start(rt, w->executor, t);
	return true;
}

/*
 * Work that is bound to this node while all its workers wait in joins: nobody
 * else may run it, and their children may wait for it. This alone nests
 * foreign work on the stack of a join; not above a task that holds limits, for
 * what is nested might wait for those.
 */
static bool run_bound(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t item;
	int i;

	if (w->nr_holding)
		return false;
	if (deque_pop(&w->deque[DEQUE_BOUND], &item) ||
	    part_pop(w, true, &item)) {
		s->ops.run_one(w, item);
		return true;
	}
	for (i = 0; i < w->nr_near; i++) {
		if (deque_steal(&s->workers[w->victims[i]].deque[DEQUE_BOUND],
				&item) != DEQUE_TAKEN)
			continue;
		s->ops.run_one(w, item);
		return true;
	}
	return false;
}

static bool is_mine_too(const struct link *link, const void *parent)
{
	return is_descendant(link_item(link), parent);
}

/*
 * What was more than fits into a deque, of other nodes what may run here; the
 * first nr of each backlog, which come last then if turns.
 */
static bool dig_backlog(struct worker *w, struct task *parent, uint32_t nr,
			bool turns)
{
	struct sched *s = w->sched;
	struct link *link = part_dig(w, nr, turns, is_mine_too, parent);
	struct sched_node *node;
	int i;

	for (i = 0; !link && i < s->nr_nodes * NR_DEQUES; i++) {
		node = &s->nodes[i / NR_DEQUES];
		if (node != w->node && i % NR_DEQUES == DEQUE_BOUND)
			continue;
		link = backlog_dig(&node->backlog[i % NR_DEQUES], nr, turns,
				   is_mine_too, parent);
	}
	if (link)
		task_run_child(w->executor, task_of(link), parent);
	return link != NULL;
}

static bool turn_backlog(struct worker *w, struct task *parent)
{
	int i;

	for (i = 0; i < BACKLOG_TURNS; i++)
		if (dig_backlog(w, parent, BACKLOG_TURN, true))
			return true;
	return false;
}

/* Is there work that only this node's workers may run? */
static bool has_bound(struct worker *w)
{
	struct sched_node *n = w->node;
	int i;

	if (!inbox_is_empty(&n->bound) ||
	    !backlog_is_empty(&n->backlog[DEQUE_BOUND]) ||
	    deque_has_private(&w->deque[DEQUE_BOUND]) ||
	    deque_has_public(&w->deque[DEQUE_BOUND]) || part_has_bound(w))
		return true;
	for (i = 0; i < w->nr_near; i++)
		if (deque_has_public(&w->sched->workers[w->victims[i]]
					      .deque[DEQUE_BOUND]))
			return true;
	return false;
}

/* The first limit that the task or one above it holds tokens of. */
static const char *held_limit(const struct task *t)
{
	for (; t; t = a_load(&t->parent, relaxed))
		if (t->kind->nr_limits && t->nr_limits_held)
			return t->kind->limit[0].limit->text;
	return "a limit";
}

/* See run_bound(): this may be for ever, and then nobody would know why. */
static void tell_of_bound(struct worker *w, const struct task *t)
{
	if (!w || !w->nr_holding || !has_bound(w))
		return;
	log_text(&t->kind->rt->log, LKDF_LOG_ERROR,
		 "join: \"%s\" has waited for a second below tokens of %s, "
		 "and tasks pinned to node %d wait for its worker; a body that "
		 "holds limits goes on with lkdf_then()",
		 t->kind->name, held_limit(t), w->executor->node);
}

/*
 * The slow way, before a nap: foreign items may lie on top of ours, and if
 * everybody is in a join nobody takes them away.
 */
static bool dig_descendant(struct worker *w, struct task *parent)
{
	uint64_t item;
	int level;

	for (level = NR_DEQUES - 1; level >= 0; level--) {
		if (!deque_dig(&w->deque[level], parent, &item))
			continue;
		task_run_child(w->executor, task_of_item(item), parent);
		return true;
	}
	if (steal_descendant(w, parent, true) || turn_backlog(w, parent) ||
	    dig_limits(w, parent) || run_bound(w))
		return true;
	if (expose_look(w) && steal_descendant(w, parent, true))
		return true;
	/* While we sleep others may need what we have dug through. */
	worker_offer(w, false, 0);
	return false;
}

static bool run_descendant(struct worker *w, struct task *parent)
{
	if (pop_descendant(w, parent))
		return true;
	if (worker_take_new(w) && pop_descendant(w, parent))
		return true;
	if (dig_backlog(w, parent, BACKLOG_LOOK, false))
		return true;
	return steal_descendant(w, parent, false);
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

int task_join(struct lkdf_ctx *c)
{
	struct worker *w = c->ex->worker;
	struct lkdf_ctx child = { .ex = c->ex };
	struct task *t = c->task;
	uint32_t nr_run = 0;
	unsigned spins = 0, nr_naps = 0;
	bool is_holding;

	if (!t)
		return 0;
	if (w && worker_has_clock(w))
		worker_tick_rarely(w);
	is_holding = w && t->link.flags & TASK_GENERAL && t->nr_limits_held;
	if (unlikely(is_holding))
		w->nr_holding++;
	while (has_children(t)) {
		if (w && (pop_child(w, t, &child, &nr_run) ||
			  run_descendant(w, t))) {
			spins = 0;
			continue;
		}
		if (w && completion_poll(w))
			continue;
		if (w && worker_has_private(w))
			worker_offer(w, false, 0);
		if (++spins < SPINS)
			a_pause();
		else if (!sched_tick(&t->kind->rt->sched, t->kind->rt) &&
			 (!w || !dig_descendant(w, t))) {
			if (unlikely(++nr_naps == NAPS_TOLD))
				tell_of_bound(w, t);
			rest(w, t);
		}
	}
	if (unlikely(is_holding))
		w->nr_holding--;
	/* Those that ran here, counted together. */
	counter_add(c->ex->counters, COUNTER_TASKS, nr_run);
	if (unlikely(a_load(&t->child_err, relaxed)))
		return task_forget_children(t);
	t->nr_spawned = t->nr_local = 0;
	a_store(&t->live, 0, relaxed);
	return 0;
}
