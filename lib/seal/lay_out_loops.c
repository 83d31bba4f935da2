/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control flow at seal, from the beginning: edges are collected from where the
 * graph has them, and each gets what it is: one of the program's, of data, or
 * a branch.
 */
#include "seal/find_loops.h"

#include "base/err.h"
#include "graph/access.h"

#include <errno.h>
#include <lkdf/data.h>
#include <stdlib.h>

struct loop_name loops_name(const struct looper *p, uint32_t task)
{
	struct loop_name name;

	check(task < p->nr_tasks);
	graph_task_name(p->g, task, name.text, sizeof(name.text));
	return name;
}

bool loops_has(const struct control *c, uint32_t outer, uint32_t inner)
{
	const struct graph_loop *l = c->loops;

	if (outer == NO_LOOP || inner == NO_LOOP)
		return outer == NO_LOOP;
	return l[inner].order - l[outer].order < l[outer].nr_inside;
}

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for branches", g->name);
}

/* ---- edges -------------------------------------------------------------- */

static uint32_t count_edges(const struct lkdf_graph *g)
{
	uint32_t t, nr, sum = 0;

	for (t = 0; t < g->nr_tasks; t++) {
		graph_succ(g, &g->recs[t], &nr);
		sum += nr;
	}
	return sum;
}

/* The edges of each task: first the program's own, then those of data, then
 * branches. */
static void copy_edges(struct looper *p, uint32_t *nr_plain)
{
	const struct control_data *d = p->c->data.items;
	const struct control_edge *e = p->c->given.items;
	const uint32_t *succ;
	uint32_t t, nr, i, at = 0;
	size_t k;

	for (t = 0; t < p->nr_tasks; t++) {
		p->first[t] = at;
		succ = graph_succ(p->g, &p->g->recs[t], &nr);
		nr_plain[t] = nr;
		for (i = 0; i < nr; i++)
			p->edge[at++] = (struct control_edge){
				.from = t,
				.to = succ[i],
				.task = succ[i],
			};
	}
	p->first[t] = p->nr_edges = at;
	for (k = 0; k < p->c->data.nr; k++)
		nr_plain[d[k].from]--;
	for (k = 0; k < p->c->given.nr; k++)
		nr_plain[e[k].from] -= !(e[k].flags & CONTROL_BACK);
}

static void tell_edges(struct looper *p, uint32_t *next)
{
	const struct control_data *d = p->c->data.items;
	const struct control_edge *e = p->c->given.items;
	struct control_edge *to;
	uint32_t t;
	size_t k;

	for (t = 0; t < p->nr_tasks; t++)
		next[t] += p->first[t];
	for (k = 0; k < p->c->data.nr; k++) {
		to = &p->edge[next[d[k].from]++];
		to->flags = d[k].is_hard ? 0 : CONTROL_DATA;
	}
	for (k = 0; k < p->c->given.nr; k++) {
		if (e[k].flags & CONTROL_BACK)
			continue;
		to = &p->edge[next[e[k].from]++];
		check(to->to == e[k].to);
		to->flags = e[k].flags;
		to->branch = e[k].branch;
		to->live = e[k].live;
	}
}

static int collect_edges(struct looper *p)
{
	uint32_t *next = calloc(p->nr_tasks + 1ul, sizeof(*next));
	uint32_t nr = count_edges(p->g);
	size_t cap = nr + p->c->given.nr + p->nr_tasks + 1ul;

	p->first = calloc(p->nr_tasks + 2ul, sizeof(*p->first));
	p->edge = calloc(cap, sizeof(*p->edge));
	if (!next || !p->first || !p->edge) {
		free(next);
		return no_memory(p->g);
	}
	copy_edges(p, next);
	tell_edges(p, next);
	free(next);
	return 0;
}

/* ---- data in loops ------------------------------------------------------ */

/*
 * Uses that such a task leaves as bad as they were are noted once a run;
 * another iteration may make them good.
 */
static int refuse_use(struct looper *p, const struct access_use *u)
{
	p->why->path[0] = (int32_t)u->task;
	p->why->nr = 1;
	return err(-EOPNOTSUPP,
		   "graph %s: %s is in a loop, has LKDF_ALWAYS, and uses data "
		   "with mode %#x: errors of what MAYBE and WEAK leave "
		   "untouched are kept by run, not by iteration; use LKDF_RW",
		   p->g->name, loops_name(p, u->task).text, u->mode);
}

/* Bytes that all members of one loop use come and go in each iteration. */
static bool edge_crosses(const struct looper *p, const struct access_use *u)
{
	uint32_t writer = access_var(p->g->accesses, u->var)->writer;

	return writer == NO_TASK ||
	       p->c->loop_of[writer] != p->c->loop_of[u->task];
}

/* Others live as long as the run. */
static void keep_crossing(struct looper *p)
{
	struct access_table *w = p->g->accesses;
	struct access_use *u = w->uses.items;
	uint32_t i;

	for (i = 0; i < w->uses.nr; i++)
		if (u[i].flags & ACCESS_TRANSIENT && edge_crosses(p, &u[i]))
			access_var(w, u[i].var)->is_transient = false;
	for (i = 0; i < w->uses.nr; i++)
		if (!access_var(w, u[i].var)->is_transient)
			u[i].flags &= (uint16_t)~ACCESS_TRANSIENT;
}

static bool is_refused(const struct looper *p, const struct access_use *u)
{
	return u->mode & (LKDF_MAYBE | LKDF_WEAK) &&
	       p->c->loop_of[u->task] != NO_LOOP &&
	       graph_is_always(p->g, u->task);
}

static int check_uses(struct looper *p)
{
	const struct access_table *w = p->g->accesses;
	const struct access_use *u;
	uint32_t i;

	if (!w || !p->c->nr_loops)
		return 0;
	u = w->uses.items;
	for (i = 0; i < w->uses.nr; i++)
		if (is_refused(p, &u[i]))
			return refuse_use(p, &u[i]);
	keep_crossing(p);
	return folds_find(p);
}

/* ---- all of it ---------------------------------------------------------- */

bool loops_has_inside(const struct lkdf_graph *g, uint32_t task)
{
	const struct control *c = g->control;
	uint32_t l = c && c->loop_of ? c->loop_of[task] : NO_LOOP;

	check(graph_has(g, task));
	return l != NO_LOOP &&
	       (c->loops[l].head != task || c->loops[l].parent != NO_LOOP);
}

int loops_seal(struct lkdf_graph *g, struct lkdf_diag *why)
{
	struct looper p = {
		.g = g,
		.c = g->control,
		.why = why,
		.nr_tasks = g->nr_tasks,
	};
	int rc = collect_edges(&p);

	check(!g->is_sealed && g->control);
	if (!rc)
		rc = loops_find(&p);
	if (!rc)
		rc = check_uses(&p);
	if (!rc)
		rc = borders_lay_out(&p);
	free(p.edge);
	free(p.first);
	free(p.position);
	free(p.loop_at);
	return rc;
}
