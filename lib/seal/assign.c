/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/assign.h"

#include "base/err.h"
#include "base/options.h"
#include "core/home.h"
#include "core/runtime.h"
#include "core/seen.h"
#include "data/data.h"
#include "data/facts.h"
#include "graph/access.h"
#include "graph/control.h"
#include "mem/region.h"
#include "policy/plan.h"
#include "run/planned.h"
#include "run/values.h"
#include "task/task.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdlib.h>

/* Tasks a level: with fewer there is nothing to spread. */
#define MIN_WIDTH 2

/* Everything the plan needs and gives, in one piece of memory. */
struct planner {
	struct lkdf_graph *g;
	struct plan_machine machine;
	int *nr_workers;
	uint32_t nr_tasks, nr_vars, nr_succ, nr_uses;
	uint32_t *first_succ, *succ, *level, *first_access;
	struct plan_access *access;
	uint64_t *bytes;
	int16_t *fixed, *block, *task;
	uint32_t *own, *partner;
};

static bool is_wanted(const struct lkdf_graph *g)
{
	const struct lkdf *rt = g->rt;

	return g->accesses && rt->options->placement &&
	       rt->sched.nr_worker_nodes > 1 && !rt->sched.is_serial &&
	       g->nr_tasks;
}

/* ---- edges -------------------------------------------------------------- */

typedef void (*edge_fn)(struct planner *p, uint32_t from, uint32_t to);

static void for_plain(struct planner *p, uint32_t t, edge_fn fn)
{
	const uint32_t *succ;
	uint32_t nr, i;

	succ = graph_succ(p->g, &p->g->recs[t], &nr);
	for (i = 0; i < nr; i++)
		fn(p, t, succ[i]);
}

/* Edges that leave a loop come after its members: see for_edges(). */
static void for_control(struct planner *p, uint32_t t, edge_fn fn)
{
	const struct rec *r = &p->g->recs[t];
	const struct control_edge *e = p->g->control->out + r->succ[0];
	uint32_t i;

	for (i = 0; i < r->succ[1]; i++)
		if (!(e[i].flags & (CONTROL_EXIT | CONTROL_BACK)))
			fn(p, t, e[i].to);
}

/* For one iteration of each loop: a task weighs as much as in one call. */
static void for_edges(struct planner *p, edge_fn fn)
{
	const struct control *c = p->g->control;
	uint32_t i;

	for (i = 0; i < p->nr_tasks; i++)
		if (p->g->recs[i].nr_succ == REC_CONTROL)
			for_control(p, i, fn);
		else
			for_plain(p, i, fn);
	for (i = 0; c && i < c->nr_exits; i++)
		if (!(c->exits[i].flags & CONTROL_BACK))
			fn(p, c->exits[i].from, c->exits[i].to);
}

static void count_all(struct planner *p, uint32_t from, uint32_t to)
{
	(void)from;
	(void)to;
	p->nr_succ++;
}

static void count_edge(struct planner *p, uint32_t from, uint32_t to)
{
	check(from < p->g->nr_tasks && to < p->g->nr_tasks);
	(void)to;
	p->first_succ[from + 1]++;
}

/* first_succ[from] moves on to where the next task's begin. */
static void add_edge(struct planner *p, uint32_t from, uint32_t to)
{
	check(from < p->g->nr_tasks && to < p->g->nr_tasks);
	p->succ[p->first_succ[from]++] = to;
}

static void describe_edges(struct planner *p)
{
	uint32_t t;

	for_edges(p, count_edge);
	for (t = 0; t < p->nr_tasks; t++)
		p->first_succ[t + 1] += p->first_succ[t];
	for_edges(p, add_edge);
	for (t = p->nr_tasks; t; t--)
		p->first_succ[t] = p->first_succ[t - 1];
	p->first_succ[0] = 0;
}

/* ---- memory ------------------------------------------------------------- */

static bool allocate_plan(struct planner *p)
{
	p->first_succ = calloc(p->nr_tasks + 1ul, sizeof(*p->first_succ));
	p->succ = calloc(p->nr_succ + 1ul, sizeof(*p->succ));
	p->level = calloc(p->nr_tasks, sizeof(*p->level));
	p->first_access = calloc(p->nr_tasks + 1ul, sizeof(*p->first_access));
	p->access = calloc(p->nr_uses + 1ul, sizeof(*p->access));
	p->bytes = calloc(p->nr_vars, sizeof(*p->bytes));
	p->fixed = calloc(p->nr_vars, sizeof(*p->fixed));
	p->block = calloc(p->nr_vars, sizeof(*p->block));
	p->task = calloc(p->nr_tasks, sizeof(*p->task));
	p->own = calloc(p->nr_tasks, sizeof(*p->own));
	p->partner = calloc(p->nr_vars, sizeof(*p->partner));
	p->nr_workers = calloc((size_t)p->machine.nr_nodes, sizeof(int));
	return p->first_succ && p->succ && p->level && p->first_access &&
	       p->access && p->bytes && p->fixed && p->block && p->task &&
	       p->own && p->partner && p->nr_workers;
}

static void release_plan(struct planner *p)
{
	free(p->first_succ);
	free(p->succ);
	free(p->level);
	free(p->first_access);
	free(p->access);
	free(p->bytes);
	free(p->fixed);
	free(p->block);
	free(p->task);
	free(p->own);
	free(p->partner);
	free(p->nr_workers);
}

static void describe_machine(struct planner *p)
{
	const struct lkdf *rt = p->g->rt;
	int i;

	for (i = 0; i < p->machine.nr_nodes; i++)
		p->nr_workers[i] = rt->sched.nodes[i].nr_workers;
	p->machine.nr_workers = p->nr_workers;
	p->machine.distance = rt->topo->distance;
}

/* Where the bytes are, or will be if the user has said so. */
static int fixed_node(const struct access_var *v)
{
	const struct lkdf_data *d = v->data;
	int node = v->is_transient ? -1 : facts_node(d, v->part);

	if (node >= 0)
		return node;
	if (v->is_transient || d->is_mapped)
		return PLAN_NONE;
	if (a_load(&d->domain.at, relaxed))
		return a_load(&d->node, relaxed);
	return d->home;
}

static void describe_data(struct planner *p)
{
	const struct access_table *w = p->g->accesses;
	const struct access_use *u = w->uses.items;
	struct plan_access *a = p->access;
	struct access_var *v;
	uint32_t i, t = 0;

	for (i = 0; i < p->nr_vars; i++) {
		v = access_var(w, i);
		p->bytes[i] = data_size(v->data, v->part);
		p->fixed[i] = (int16_t)fixed_node(v);
	}
	for (i = 0; i < p->nr_uses; i++) {
		while (t <= u[i].task)
			p->first_access[t++] = (uint32_t)(a - p->access);
		if (u[i].flags & ACCESS_MERGED)
			continue;
		a->block = u[i].var;
		a->reads = (u[i].flags & ACCESS_READS) != 0;
		a->writes = (u[i].flags & ACCESS_WRITES) != 0;
		a++;
	}
	while (t <= p->nr_tasks)
		p->first_access[t++] = (uint32_t)(a - p->access);
}

/* Large tasks, and enough of them at a time? */
static bool is_worth_it(const struct planner *p)
{
	uint32_t t, nr_levels = 0, i;
	uint64_t bytes = 0;

	for (t = 0; t < p->nr_tasks; t++)
		if (p->level[t] >= nr_levels)
			nr_levels = p->level[t] + 1;
	for (i = 0; i < p->first_access[p->nr_tasks]; i++)
		bytes += p->bytes[p->access[i].block];
	return p->nr_tasks / MIN_WIDTH >= nr_levels &&
	       bytes / p->nr_tasks >= HOME_MIN_BYTES;
}

static uint64_t bytes_of_task(const struct planner *p, uint32_t t)
{
	const struct plan_access *a;
	uint64_t sum = 0;
	uint32_t i;

	check(graph_has(p->g, t));
	for (i = p->first_access[t]; i < p->first_access[t + 1]; i++) {
		a = &p->access[i];
		sum += p->bytes[a->block] * (unsigned)(a->reads + a->writes);
	}
	return sum;
}

/* It goes to the node of the plan, where somebody sees to how it does. */
static int apply_task(struct planner *p, uint32_t t)
{
	struct lkdf_graph *g = p->g;
	struct rec *r = &g->recs[t];
	struct lkdf_kind *k = r->kind;
	int rc;

	check(graph_has(p->g, t));
	if (p->task[t] < 0 || r->flags & REC_PLACED)
		return 0;
	rc = graph_place(g, t, home_make(p->task[t], false));
	if (!rc && !k->inner[AROUND_BYTES])
		k = kind_around(k, AROUND_BYTES, transient_body);
	if (rc || !k)
		return -ENOMEM;
	r->kind = k;
	planned_add(g->planned, t,
		    (struct planned_task){
			    .node = p->task[t],
			    .bytes = bytes_of_task(p, t),
			    .is_member = r->flags & REC_MEMBER,
		    });
	return 0;
}

static int apply_plan(struct planner *p, const struct plan *plan)
{
	struct lkdf_graph *g = p->g;
	uint32_t t, i;
	int rc = 0;

	g->planned = planned_create(g, plan);
	if (!g->planned)
		return -ENOMEM;
	for (i = 0; i < p->nr_vars; i++)
		access_var(g->accesses, i)->home = p->block[i];
	for (t = 0; t < p->nr_tasks && !rc; t++)
		rc = apply_task(p, t);
	return rc;
}

static int plan_parts(struct planner *p)
{
	struct plan_graph graph = {
		.nr_tasks = p->nr_tasks,
		.nr_blocks = p->nr_vars,
		.level = p->level,
		.first_access = p->first_access,
		.access = p->access,
		.bytes = p->bytes,
		.fixed = p->fixed,
	};
	struct plan out = { .block = p->block,
			    .task = p->task,
			    .own = p->own,
			    .partner = p->partner };
	int rc;

	describe_machine(p);
	describe_edges(p);
	describe_data(p);
	rc = plan_levels(p->nr_tasks, p->first_succ, p->succ, p->level);
	if (!rc && !is_worth_it(p))
		return 0;
	if (!rc)
		rc = plan_make(&p->machine, &graph, PLAN_PASSES, &out);
	return rc ? rc : apply_plan(p, &out);
}

int assign_plan(struct lkdf_graph *g)
{
	struct planner p = { .g = g };
	int rc;

	check(!g->is_sealed);
	if (!is_wanted(g))
		return 0;
	p.machine.nr_nodes = g->rt->topo->nr_nodes;
	p.nr_tasks = g->nr_tasks;
	p.nr_vars = (uint32_t)g->accesses->vars.nr;
	p.nr_uses = (uint32_t)g->accesses->uses.nr;
	for_edges(&p, count_all);
	rc = allocate_plan(&p) ? plan_parts(&p) : -ENOMEM;
	release_plan(&p);
	if (rc)
		return err(rc, "graph %s: no memory to plan %u tasks", g->name,
			   g->nr_tasks);
	return 0;
}
