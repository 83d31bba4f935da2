/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/planned.h"

#include "base/clock.h"
#include "base/options.h"
#include "core/runtime.h"
#include "core/seen.h"
#include "data/data.h"
#include "data/facts.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "policy/plan.h"
#include "run/rehome.h"
#include "task/ctx.h"

#include <stdlib.h>
#include <string.h>

/* The writer of a block counts a little more than its readers. */
#define OWN_PERCENT 101

static bool allocate_tasks(struct planned *p, size_t nr_tasks)
{
	size_t nr_nodes = (size_t)p->nr_nodes, nr_vars = p->nr_vars;

	p->kib = calloc(nr_tasks, sizeof(*p->kib));
	p->own = calloc(nr_tasks, sizeof(*p->own));
	p->partner = calloc(nr_vars, sizeof(*p->partner));
	p->plan = calloc(nr_vars, sizeof(*p->plan));
	p->node = calloc(nr_nodes, sizeof(*p->node));
	p->reader = calloc(nr_nodes, sizeof(*p->reader));
	p->var = calloc(nr_vars, sizeof(*p->var));
	p->home = calloc(nr_vars, sizeof(*p->home));
	p->remaining = calloc(nr_vars, sizeof(*p->remaining));
	p->past = calloc(nr_vars, sizeof(*p->past));
	return p->kib && p->own && p->partner && p->plan && p->node &&
	       p->reader && p->var && p->home && p->remaining && p->past;
}

struct planned *planned_create(const struct lkdf_graph *g,
			       const struct plan *plan)
{
	struct planned *p = calloc(1, sizeof(*p));
	uint32_t i;

	check(!g->is_sealed);
	if (!p)
		return NULL;
	p->nr_vars = (uint32_t)g->accesses->vars.nr;
	p->nr_nodes = g->rt->sched.nr_nodes;
	if (!allocate_tasks(p, g->nr_tasks)) {
		planned_free(p);
		return NULL;
	}
	memcpy(p->own, plan->own, g->nr_tasks * sizeof(*p->own));
	memcpy(p->partner, plan->partner, p->nr_vars * sizeof(*p->partner));
	memcpy(p->plan, plan->block, p->nr_vars * sizeof(*p->plan));
	for (i = 0; i < p->nr_vars; i++)
		a_store(&p->home[i], p->plan[i], relaxed);
	return p;
}

void planned_free(struct planned *p)
{
	if (!p)
		return;
	free(p->kib);
	free(p->own);
	free(p->partner);
	free(p->plan);
	free(p->node);
	free(p->reader);
	free(p->var);
	free((void *)(uintptr_t)p->home);
	free((void *)(uintptr_t)p->remaining);
	free(p->past);
	free(p);
}

static void add_bytes(struct work *w, int64_t bytes)
{
	w->bytes += bytes;
	w->nr_tasks++;
}

void planned_add(struct planned *p, uint32_t task, struct planned_task t)
{
	uint64_t kib = max_u64(1, min_u64(t.bytes / 1024, UINT32_MAX));

	p->kib[task] = (uint32_t)kib;
	if (t.is_member)
		return;
	add_bytes(&p->node[t.node], (int64_t)kib * 1024);
	if (p->own[task] == PLAN_NO_BLOCK)
		add_bytes(&p->reader[t.node], (int64_t)kib * 1024);
	else
		add_bytes(&p->var[p->own[task]], (int64_t)kib * 1024);
}

/* ---- accounts ----------------------------------------------------------- */

static struct load *load_of(const struct frame *f, int node)
{
	return &f->graph->rt->sched.nodes[node].load;
}

/* On the node's account, and on that of the run, which ends at nothing. */
static void put_down(struct frame *f, int node, int64_t bytes, int64_t nr_tasks)
{
	a_add(&f->planned[node].bytes, bytes, relaxed);
	a_add(&f->planned[node].nr_tasks, nr_tasks, relaxed);
	load_add(load_of(f, node), bytes, nr_tasks);
}

static void begin_var(struct frame *f, uint32_t var)
{
	struct planned *p = f->graph->planned;
	const struct work *w = &p->var[var];

	check(var < f->graph->planned->nr_vars);
	if (!w->nr_tasks)
		return;
	/* Made anew in each run. */
	if (access_var(f->graph->accesses, var)->is_transient)
		a_store(&p->home[var], p->plan[var], relaxed);
	put_down(f, a_load(&p->home[var], relaxed), w->bytes, w->nr_tasks);
}

/* A block that the kernel has moved meanwhile has its home there. */
static void follow_board(struct lkdf_graph *g, struct executor *ex)
{
	struct planned *p = g->planned;
	const struct access_var *v;
	uint32_t i, nr;
	int node, home;

	board_pass(g->rt->board, BOARD_NOW);
	nr = board_changes(g->rt->board);
	if (nr == a_load(&p->nr_changes, relaxed))
		return;
	a_store(&p->nr_changes, nr, relaxed);
	for (i = 0; i < p->nr_vars; i++) {
		v = access_var(g->accesses, i);
		node = v->is_transient ? -1 : facts_node(v->data, v->part);
		if (node < 0)
			continue;
		home = a_load(&p->home[i], relaxed);
		/* A node without memory has them as near as they can be. */
		if (home >= 0 &&
		    heap_near_memory(g->rt->heap, home) == (unsigned)node)
			continue;
		node = facts_home(g->rt, node);
		a_store(&p->home[i], node, relaxed);
		a_store(&p->has_moved, 1, relaxed);
		facts_followed(ex, v->data, node);
	}
}

void planned_begin(struct frame *f, struct executor *ex)
{
	struct planned *p = f->graph->planned;
	const struct work *w;
	uint64_t now = clock_ticks();
	bool has_moved;
	uint32_t i;
	int node;

	follow_board(f->graph, ex);
	a_add(&p->nr_runs, 1, relaxed);
	for (node = 0; node < p->nr_nodes; node++)
		load_begin(load_of(f, node), now);
	has_moved = a_load(&p->has_moved, relaxed);
	w = has_moved ? p->reader : p->node;
	for (node = 0; node < p->nr_nodes; node++)
		if (w[node].nr_tasks)
			put_down(f, node, w[node].bytes, w[node].nr_tasks);
	for (i = 0; i < p->nr_vars; i++) {
		a_store(&p->remaining[i], p->var[i].bytes, relaxed);
		if (has_moved)
			begin_var(f, i);
	}
	for (node = 0; node < p->nr_nodes; node++)
		load_tell(load_of(f, node));
}

/* It settles tasks that were skipped, and moves in the middle of a start. */
void planned_end(struct frame *f)
{
	int64_t bytes, nr_tasks;
	int node;

	for (node = 0; node < f->graph->planned->nr_nodes; node++) {
		bytes = a_load(&f->planned[node].bytes, relaxed);
		nr_tasks = a_load(&f->planned[node].nr_tasks, relaxed);
		if (bytes || nr_tasks)
			put_down(f, node, -bytes, -nr_tasks);
	}
}

/* ---- where blocks are --------------------------------------------------- */

/* A block that is not made yet is where the plan will have it. */
static void see_use(struct seen *s, const struct lkdf_graph *g,
		    const struct access_use *u, uint32_t own)
{
	const struct planned *p = g->planned;
	const struct access_var *v = access_var(g->accesses, u->var);
	bool is_fresh = u->flags & ACCESS_TRANSIENT && u->flags & ACCESS_WRITES;
	int node =
		is_fresh ? p->plan[u->var] : a_load(&p->home[u->var], relaxed);
	uint64_t bytes = data_size(v->data, v->part);

	if (u->flags & ACCESS_MERGED || node < 0)
		return;
	if ((u->flags & (ACCESS_READS | ACCESS_WRITES)) ==
	    (ACCESS_READS | ACCESS_WRITES))
		bytes *= 2;
	seen_add(s, node, u->var == own ? bytes / 100 * OWN_PERCENT : bytes);
}

uint16_t planned_home(const struct frame *f, uint32_t index)
{
	const struct lkdf_graph *g = f->graph;
	uint16_t home = renumber_home(g, index);
	const struct access_use *u, *end;
	struct seen s = { .nr = 0 };
	unsigned best;
	uint32_t task;

	check(frame_has(f, index));
	if (!planned_has_moved(g))
		return home;
	task = graph_number(g, index);
	if (!g->planned->kib[task])
		return home;
	/* Ties to the plan. */
	seen_add(&s, home_node(home), 0);
	for (u = access_uses(g->accesses, index, &end); u < end; u++)
		see_use(&s, g, u, g->planned->own[task]);
	best = seen_most(&s);
	if (!sched_has_worker(&g->rt->sched, s.node[best]))
		return home;
	return home_make(s.node[best], false);
}

void planned_made(const struct frame *f, uint32_t var, int node)
{
	struct planned *p = f->graph->planned;

	check(var < f->graph->planned->nr_vars);
	if (a_load(&p->home[var], relaxed) == node)
		return;
	a_store(&p->home[var], node, relaxed);
	a_store(&p->has_moved, 1, relaxed);
}

void planned_move(struct frame *f, uint32_t var, int node)
{
	struct planned *p = f->graph->planned;
	int64_t remaining = a_load(&p->remaining[var], relaxed), nr_tasks;
	int old = a_xchg(&p->home[var], node, relaxed);
	const struct work *w = &p->var[var];

	check(var < f->graph->planned->nr_vars);
	a_store(&p->has_moved, 1, relaxed);
	if (old == node || old < 0 || remaining <= 0)
		return;
	nr_tasks = w->nr_tasks * remaining / w->bytes;
	put_down(f, old, -remaining, -nr_tasks);
	put_down(f, node, remaining, nr_tasks);
}

/* ---- tasks -------------------------------------------------------------- */

static int account_of(const struct frame *f, uint32_t index, uint32_t own)
{
	int node = own == PLAN_NO_BLOCK
			   ? -1
			   : a_load(&f->graph->planned->home[own], relaxed);

	return node < 0 ? home_node(renumber_home(f->graph, index)) : node;
}

int planned_call(struct lkdf_ctx *c, lkdf_fn body, void *arg)
{
	struct frame *f = c->frame;
	struct planned *p = f->graph->planned;
	uint32_t task = graph_number(f->graph, c->index);
	int64_t bytes = (int64_t)p->kib[task] * 1024;
	uint32_t own = p->own[task];
	uint64_t start;
	int node, rc;

	if (!bytes || f->recs[c->index].flags & REC_MEMBER)
		return body(c, arg);
	node = account_of(f, c->index, own);
	put_down(f, node, -bytes, -1);
	if (own != PLAN_NO_BLOCK)
		a_sub(&p->remaining[own], bytes, relaxed);
	if (own != PLAN_NO_BLOCK && f->graph->rt->options->rehome)
		rehome(c->ex, f, own);
	start = clock_ticks();
	rc = body(c, arg);
	if (node == c->ex->node)
		load_learn(load_of(f, node), clock_ticks() - start,
			   (uint64_t)bytes);
	return rc;
}
