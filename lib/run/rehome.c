/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/rehome.h"

#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "mechanism/far/far.h"
#include "mem/heap.h"
#include "policy/history.h"
#include "policy/plan.h"
#include "run/planned.h"
#include "trace/counters.h"

static void add_block(struct deficit_block *b, const struct frame *f,
		      uint32_t var)
{
	const struct access_var *v = access_var(f->graph->accesses, var);
	const struct planned *p = f->graph->planned;
	uint32_t ahead = a_load(&p->nr_runs, relaxed);
	int64_t remaining = a_load(&p->remaining[var], relaxed);

	b->remaining += (double)(remaining > 0 ? remaining : 0);
	b->ahead += (double)ahead * (double)p->var[var].bytes;
	b->bytes += (double)data_size(v->data, v->part);
}

static uint64_t size_of(const struct frame *f, uint32_t var)
{
	const struct access_var *v = access_var(f->graph->accesses, var);

	return data_size(v->data, v->part);
}

/* Under a run's claim nobody else moves or frees them. */
static void move_pages_of(struct executor *ex, struct frame *f, uint32_t var,
			  int node)
{
	const struct access_var *v = access_var(f->graph->accesses, var);
	struct heap *h = f->graph->rt->heap;
	struct hooks *hooks = &f->graph->rt->hooks;
	int64_t moved = 0;
	uint64_t id;

	if (h->is_bound) {
		id = hooks_copy_begin(hooks, "move", node, size_of(f, var));
		moved = os_move(f->values.var[var].bytes, size_of(f, var),
				h->os_node[node]);
		hooks_copy_end(hooks, id);
	}
	if (moved > 0)
		counter_add(ex->counters, COUNTER_MIGRATED, (uint64_t)moved);
	trace_event(ex->ring, EVENT_REHOME, (uint32_t)node, size_of(f, var));
	a_store(&v->data->has_strays, true, relaxed);
	if (!v->part && !v->data->is_mapped)
		a_store(&v->data->node, node, relaxed);
	planned_move(f, var, node);
}

static bool is_movable(const struct frame *f, uint32_t var)
{
	const struct access_var *v = access_var(f->graph->accesses, var);

	/*
	 * Bytes that follow their tasks by themselves may have another address
	 * by then.
	 */
	return !v->is_transient && !(v->data->flags & LKDF_DATA_MIGRATE) &&
	       f->values.var[var].bytes;
}

/* A var, and its partner where that is at the same home, which move. */
struct pair {
	uint32_t var, partner; /* or PLAN_NO_BLOCK */
	uint32_t key; /* of the two the one that has their history */
	int home;
};

static struct pair pair_of(const struct frame *f, uint32_t var)
{
	const struct planned *p = f->graph->planned;
	struct pair pair = { var, p->partner[var], var,
			     a_load(&p->home[var], relaxed) };

	if (pair.partner == PLAN_NO_BLOCK)
		return pair;
	if (pair.partner < var)
		pair.key = pair.partner;
	if (a_load(&p->home[pair.partner], relaxed) != pair.home ||
	    !is_movable(f, pair.partner))
		pair.partner = PLAN_NO_BLOCK;
	return pair;
}

static void move_pair(struct executor *ex, struct frame *f,
		      const struct pair *pair)
{
	move_pages_of(ex, f, pair->var, ex->node);
	if (pair->partner != PLAN_NO_BLOCK)
		move_pages_of(ex, f, pair->partner, ex->node);
	counter_add(ex->counters, COUNTER_REHOMED, 1);
}

/* The numbers of this moment: the worker may not have looked for long. */
static bool is_due(struct executor *ex, const struct frame *f,
		   const struct pair *pair)
{
	struct far *far = far_of(ex->worker);
	struct deficit_block b = { .extra = far->extra[pair->home] };

	add_block(&b, f, pair->var);
	if (pair->partner != PLAN_NO_BLOCK)
		add_block(&b, f, pair->partner);
	far_look(ex->worker, 0);
	return deficit_moves(&far->node[ex->node], &far->node[pair->home],
			     far->mean, &b);
}

/* Its old home takes it back at once. */
static void move_back(struct executor *ex, struct frame *f,
		      const struct pair *pair)
{
	struct planned *p = f->graph->planned;

	a_add(&p->nr_undone, 1, relaxed);
	counter_add(ex->counters, COUNTER_REHOMED_BACK, 1);
	move_pair(ex, f, pair);
	a_store(&p->past[pair->key].nodes, 0, relaxed);
}

/* The history of this task's block, with this task; and what was before it. */
static uint64_t add_history(struct planned *p, uint32_t key, int node,
			    bool *was_trial)
{
	_Atomic(uint64_t) *nodes = &p->past[key].nodes;
	uint64_t old = a_load(nodes, relaxed), new = history_add(old, node);

	*was_trial = history_is_trial(old);
	if (new != old)
		a_store(nodes, new, relaxed);
	return new;
}

void rehome(struct executor *ex, struct frame *f, uint32_t var)
{
	struct planned *p = f->graph->planned;
	struct pair pair = pair_of(f, var);
	struct past *past = &p->past[pair.key];
	bool was_trial;
	uint64_t now = add_history(p, pair.key, ex->node, &was_trial);

	if (pair.home == ex->node || pair.home < 0 || !ex->worker ||
	    !is_movable(f, var))
		return;
	if (was_trial && a_load(&past->from, relaxed) == ex->node) {
		move_back(ex, f, &pair);
		return;
	}
	if (a_load(&p->nr_undone, relaxed) >= HISTORY_FAILS ||
	    !history_is_taker(now, ex->node) || !is_due(ex, f, &pair))
		return;
	move_pair(ex, f, &pair);
	a_store(&past->from, pair.home, relaxed);
	a_store(&past->nodes, history_moved(), relaxed);
}
