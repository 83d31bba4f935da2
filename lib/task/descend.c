/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/descend.h"

#include "core/runtime.h"
#include "mechanism/gate/gate.h"
#include "mechanism/part/part.h"
#include "mechanism/publish/publish.h"
#include "task/step.h"
#include "task/task.h"

#include <lkdf/runtime.h>

/*
 * Children that found no room lie first in a backlog. Before a nap a join turns
 * through more of each, some at a time, for others wait for the lock.
 */
#define BACKLOG_LOOK 4
#define BACKLOG_TURN 64
#define BACKLOG_TURNS 16

/* So many items of a deque a join looks at before it naps. */
#define LOOK_PAST 64

bool task_is_below(struct task *t, const struct task *parent)
{
	uint32_t depth = a_load(&parent->link.depth, relaxed);

	while (t && a_load(&t->link.depth, relaxed) > depth)
		t = task_go_up(t, depth);
	return t == parent;
}

/*
 * The item may be a stale one: that it is a task stands in the item, and the
 * memory of a task stays one. Tasks of child runs that have no task of their
 * own are not found so.
 */
bool descend_may_be(uint64_t item, const void *parent)
{
	struct task *t = descend_task(item);

	return t && task_is_below(t, parent);
}

/* Nobody else can take the item: also what a run below asks for. */
static bool is_descendant(uint64_t item, const struct task *parent)
{
	struct lkdf *rt = parent->kind->rt;
	struct task *t = descend_task(item);
	struct link *above;

	if (!t) {
		above = rt->sched.ops.above(item, rt);
		t = above ? task_of(above) : NULL;
	}
	return t && task_is_below(t, parent);
}

static void run_item(struct worker *w, uint64_t item, struct task *parent)
{
	struct task *t = descend_task(item);

	if (t)
		task_run_child(w->executor, t, parent);
	else
		w->sched->ops.run_one(w, item);
}

/* Back to where others find it: it came from such a deque, ours or another. */
static void put_back(struct worker *w, unsigned deque, uint64_t item)
{
	struct lkdf *rt = w->executor->rt;
	struct link *link = link_of_item(item);

	if (worker_push(w, deque, item))
		return;
	if (item & ITEM_OF_FRAME)
		w->sched->ops.overflow(w, item);
	else if (deque == DEQUE_BOUND)
		(void)sched_push_bound(w->sched, w->executor->node, link);
	else
		runtime_push(rt, w->executor, link);
}

/* Only what lies on top. */
static bool pop_descendant(struct worker *w, struct task *parent)
{
	uint64_t item;
	int level;

	for (level = NR_DEQUES - 1; level >= 0; level--) {
		if (!deque_pop(&w->deque[level], &item))
			continue;
		if (is_descendant(item, parent)) {
			run_item(w, item, parent);
			return true;
		}
		put_back(w, (unsigned)level, item);
	}
	return false;
}

/* The deques of a victim that this worker may take from, from the last one. */
static int last_deque(const struct worker *w, int victim)
{
	return victim < w->nr_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
}

static bool steal_descendant(struct worker *w, struct task *parent)
{
	struct worker *v;
	struct deque *d;
	unsigned deques;
	uint64_t item;
	int i, level;

	for (i = 0; i < w->sched->nr_workers - 1; i++) {
		v = &w->sched->workers[w->victims[i]];
		deques = worker_deques(v);
		for (level = last_deque(w, i); level >= 0; level--) {
			d = &v->deque[level];
			if (!(deques & 1u << level) || !deque_peek(d, &item) ||
			    !descend_may_be(item, parent) ||
			    deque_steal(d, &item) != DEQUE_TAKEN)
				continue;
			if (is_descendant(item, parent)) {
				run_item(w, item, parent);
				return true;
			}
			put_back(w, (unsigned)level, item);
			worker_offer(w, false, 0);
		}
	}
	return false;
}

static bool has_descendant(struct deque *d, const struct task *parent)
{
	uint64_t item;
	uint32_t i;

	for (i = 0; i < LOOK_PAST && deque_peek_past(d, i, &item); i++)
		if (descend_may_be(item, parent))
			return true;
	return false;
}

/*
 * An item that is no task may belong to a run below, which is known once it is
 * ours. Nobody has seen what lies behind so many, nor what the owner keeps for
 * itself, which others publish where nothing public is left.
 */
static bool may_hide(struct deque *d)
{
	uint64_t item;
	uint32_t i;

	if (deque_keeps_some(d))
		return true;
	for (i = 0; i < LOOK_PAST; i++) {
		if (!deque_peek_past(d, i, &item))
			return false;
		if (!descend_task(item))
			return true;
	}
	return true;
}

/* The oldest item: run, or moved to our deque. True: it was ours to run. */
static bool steal_oldest(struct worker *w, struct task *parent, struct deque *d,
			 unsigned level)
{
	uint64_t item;

	if (deque_steal(d, &item) != DEQUE_TAKEN)
		return false;
	if (is_descendant(item, parent)) {
		run_item(w, item, parent);
		return true;
	}
	put_back(w, level, item);
	worker_offer(w, false, 0);
	return false;
}

/*
 * Foreign items come to our deque where they lie before ours; one of them at a
 * time where that is not known; else none.
 */
static bool steal_past(struct worker *w, struct task *parent, struct deque *d,
		       unsigned level)
{
	int i;

	if (may_hide(d) && steal_oldest(w, parent, d, level))
		return true;
	for (i = 0; i < LOOK_PAST && has_descendant(d, parent); i++)
		if (steal_oldest(w, parent, d, level))
			return true;
	return false;
}

static bool steal_past_all(struct worker *w, struct task *parent)
{
	struct worker *v;
	unsigned deques;
	int i, level;

	for (i = 0; i < w->sched->nr_workers - 1; i++) {
		v = &w->sched->workers[w->victims[i]];
		deques = worker_deques(v);
		for (level = last_deque(w, i); level >= 0; level--)
			if (deques & 1u << level &&
			    steal_past(w, parent, &v->deque[level],
				       (unsigned)level))
				return true;
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

/* The task or the first above it that holds tokens of limits, else NULL. */
static const struct task *holder_of(const struct task *t)
{
	while (t && !(t->kind->nr_limits && t->nr_limits_held))
		t = a_load(&t->parent, relaxed);
	return t;
}

/* In a loop in a body that is not known: it may hold tokens as well. */
static bool is_nested(const struct task *t)
{
	while (t && t->link.type != LINK_NESTED)
		t = a_load(&t->parent, relaxed);
	return t != NULL;
}

/* A gang's member waits for others, who may wait for what is below us. */
static bool may_nest(const struct link *link, const void *u)
{
	const struct task *t = descend_task(link_item(link));

	(void)u;
	return !t || !t->kind->is_member;
}

/* An item aside at a gate, if there is a token for it: see gate.h. */
static bool run_aside(struct worker *w)
{
	const struct gate_wanted d = { .nr = 1 };
	uint64_t item;

	if (!gate_has_bound(w) || !gate_dig(w, &d, &item))
		return false;
	w->sched->ops.run_one(w, item);
	return true;
}

static bool run_part(struct worker *w)
{
	struct link *link = part_dig_bound(w, BACKLOG_TURN, may_nest);

	if (link)
		w->sched->ops.run_one(w, link_item(link));
	return link != NULL;
}

/*
 * Work that is bound to this node while all its workers wait in joins: nobody
 * else may run it, and their children may wait for it. This alone nests
 * foreign work on the stack of a join; not above a task that holds limits or
 * that lies below one, wherever that waits: what is nested might wait for those
 * tokens, or for another worker that waits for what is below the nested.
 */
static bool run_bound(struct worker *w, const struct task *parent)
{
	struct sched *s = w->sched;
	uint64_t item;
	int i;

	if (holder_of(parent) || is_nested(parent))
		return false;
	if (deque_pop(&w->deque[DEQUE_BOUND], &item)) {
		s->ops.run_one(w, item);
		return true;
	}
	if (run_part(w) || run_aside(w))
		return true;
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
 * Links that did not fit into a deque, of other nodes those that may run here;
 * the first nr of each backlog, which come last then if turns.
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
		run_item(w, link_item(link), parent);
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

static bool is_mine_aside(uint64_t item, const void *parent)
{
	return is_descendant(item, parent);
}

/* An item below that lies aside at a gate, if there is a token for it. */
static bool dig_gates(struct worker *w, struct task *parent)
{
	const struct gate_wanted d = { .fits = is_mine_aside,
				       .u = parent,
				       .nr = BACKLOG_TURN };
	uint64_t item;
	int i;

	if (!gate_is_any(w->sched))
		return false;
	for (i = 0; i < BACKLOG_TURNS; i++) {
		if (!gate_dig(w, &d, &item))
			continue;
		run_item(w, item, parent);
		return true;
	}
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
	    deque_has_public(&w->deque[DEQUE_BOUND]) || part_has_bound(w) ||
	    gate_has_bound(w))
		return true;
	for (i = 0; i < w->nr_near; i++)
		if (deque_has_public(&w->sched->workers[w->victims[i]]
					      .deque[DEQUE_BOUND]))
			return true;
	return false;
}

/* See run_bound(): this may be for ever, and then nobody would know why. */
void descend_tell(struct worker *w, const struct task *t)
{
	const struct task *holder = w ? holder_of(t) : NULL;

	if (!holder || !has_bound(w))
		return;
	log_text(&t->kind->rt->log, LKDF_LOG_ERROR,
		 "join: \"%s\" has waited one second while a body above it "
		 "holds tokens of %s, and tasks pinned to node %d wait for "
		 "its worker; a body that holds limits goes on with "
		 "lkdf_then()",
		 t->kind->name, holder->kind->limit[0].limit->text,
		 w->executor->node);
}

bool descend_slowly(struct worker *w, struct task *parent)
{
	uint64_t item;
	int level;

	for (level = NR_DEQUES - 1; level >= 0; level--) {
		if (!deque_dig(&w->deque[level], parent, &item))
			continue;
		run_item(w, item, parent);
		return true;
	}
	if (steal_past_all(w, parent) || turn_backlog(w, parent) ||
	    dig_gates(w, parent) || dig_limits(w, parent) ||
	    run_bound(w, parent))
		return true;
	if (publish_look(w) && steal_past_all(w, parent))
		return true;
	/* While we sleep others may need what we have dug through. */
	worker_offer(w, false, 0);
	return false;
}

bool descend_sees(struct worker *w, const struct task *parent)
{
	struct worker *v;
	unsigned deques;
	int i, level;

	if (!inbox_is_empty(&w->node->inbox) ||
	    !inbox_is_empty(&w->node->bound))
		return true;
	for (i = 0; i < w->sched->nr_workers - 1; i++) {
		v = &w->sched->workers[w->victims[i]];
		deques = worker_deques(v);
		for (level = last_deque(w, i); level >= 0; level--)
			if (deques & 1u << level &&
			    has_descendant(&v->deque[level], parent))
				return true;
	}
	return false;
}

bool descend(struct worker *w, struct task *parent)
{
	if (pop_descendant(w, parent))
		return true;
	if (worker_take_new(w) && pop_descendant(w, parent))
		return true;
	if (dig_backlog(w, parent, BACKLOG_LOOK, false))
		return true;
	return steal_descendant(w, parent) || dig_gates(w, parent);
}
