/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/rehome.h"

#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "policy/plan.h"
#include "run/planned.h"
#include "sched/far.h"

/* Runs to come that count, at most: who knows whether the user goes on. */
#define MAX_RUNS_AHEAD 8

static void add_block(struct deficit_block *b, const struct frame *f,
		      uint32_t var)
{
	const struct access_var *v = access_var(f->graph->accesses, var);
	const struct planned *p = f->graph->planned;
	uint64_t ahead = min_u64(f->times - 1, MAX_RUNS_AHEAD);
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

void rehome(struct executor *ex, struct frame *f, uint32_t var)
{
	const struct planned *p = f->graph->planned;
	int node = ex->node, from = a_load(&p->home[var], relaxed);
	uint32_t partner = p->partner[var];
	const struct far *far;
	struct deficit_block b = { .remaining = 0 };

	if (!f->graph->rt->options->rehome || !ex->worker || from < 0 ||
	    !is_movable(f, var))
		return;
	far = ex->worker->far;
	if (partner != PLAN_NO_BLOCK &&
	    (a_load(&p->home[partner], relaxed) != from ||
	     !is_movable(f, partner)))
		partner = PLAN_NO_BLOCK;
	add_block(&b, f, var);
	if (partner != PLAN_NO_BLOCK)
		add_block(&b, f, partner);
	b.extra = far->extra[from];
	if (!deficit_moves(&far->node[node], &far->node[from], &b))
		return;
	move_pages_of(ex, f, var, node);
	if (partner != PLAN_NO_BLOCK)
		move_pages_of(ex, f, partner, node);
}
