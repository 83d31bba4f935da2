/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/drop.h"

#include "tests/oracle/data_model.h"

#include <lkdf/data.h>
#include <string.h>

/* ---- programs ----------------------------------------------------------- */

uint32_t program_nr_parts(const struct program *p)
{
	return p->nr_calls + p->nr_nodes + p->nr_edges;
}

/* From those that have the range first .. *first + *nr - 1. */
static void cut_range(uint32_t *first, uint32_t *nr, uint32_t at, uint32_t cut)
{
	if (at >= *first && at - *first < *nr)
		*nr -= cut;
	else if (*first > at)
		*first -= cut;
}

static void cut_nodes(struct program *p, uint32_t at, uint32_t cut)
{
	uint32_t i;

	memmove(&p->node[at], &p->node[at + cut],
		(p->nr_nodes - at - cut) * sizeof(*p->node));
	p->nr_nodes -= cut;
	for (i = 0; i < p->nr_nodes; i++)
		cut_range(&p->node[i].below, &p->node[i].nr_below, at, cut);
	for (i = 0; i < p->nr_calls; i++)
		cut_range(&p->call[i].first, &p->call[i].nr, at, cut);
	for (i = 0; i < p->nr_nodes; i++)
		if (!p->node[i].nr_below && p->node[i].mode == MODE_THEN_DONE)
			p->node[i].mode = MODE_PLAIN;
}

static void drop_edge(struct program *p, uint32_t i)
{
	p->nr_edges--;
	memmove(&p->edge[2 * i], &p->edge[2 * i + 2],
		(p->nr_edges - i) * 2 * sizeof(*p->edge));
}

/* Edges that have lost a task, and the numbers of those behind it. */
static void forget_task(struct program *p, uint32_t task)
{
	uint32_t i, at = 0;

	for (i = p->nr_edges; i--;)
		if (p->edge[2 * i] == task || p->edge[2 * i + 1] == task)
			drop_edge(p, i);
	for (i = 0; i < 2 * p->nr_edges; i++)
		p->edge[i] -= p->edge[i] > task;
	for (i = 0; i < p->nr_tasks; i++)
		if (p->order[i] != task)
			p->order[at++] = p->order[i] - (p->order[i] > task);
	p->nr_tasks--;
}

static bool is_first_of_call(const struct program *p, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < p->nr_calls; i++)
		if (p->call[i].is_submit && p->call[i].first == node)
			return true;
	return false;
}

static void drop_node(struct program *p, uint32_t node)
{
	const struct node *n = &p->node[node];

	if (node >= p->nr_tasks) {
		if (!is_first_of_call(p, node))
			cut_nodes(p, node, 1 + n->nr_below);
		return;
	}
	if (n->nr_below)
		cut_nodes(p, n->below, n->nr_below);
	cut_nodes(p, node, 1);
	forget_task(p, node);
}

static void drop_call(struct program *p, uint32_t call)
{
	struct call *c = &p->call[call];
	struct node *n;

	if (p->nr_calls == 1)
		return;
	if (c->is_submit)
		cut_nodes(p, c->first, c->nr);
	p->nr_calls--;
	memmove(c, c + 1, (p->nr_calls - call) * sizeof(*c));
	for (n = p->node; n < p->node + p->nr_nodes; n++) {
		if (n->fail_call == call)
			n->fail_call = MAX_CALLS;
		else if (n->fail_call > call && n->fail_call < MAX_CALLS)
			n->fail_call--;
	}
}

/* From behind, so that the numbers of those before stay. */
void program_drop(struct program *p, const bool *is_dropped)
{
	const bool *node = is_dropped + p->nr_calls;
	const bool *edge = node + p->nr_nodes;
	uint32_t i;

	for (i = p->nr_edges; i--;)
		if (edge[i])
			drop_edge(p, i);
	for (i = p->nr_nodes; i--;)
		if (node[i])
			drop_node(p, i);
	for (i = p->nr_calls; i--;)
		if (is_dropped[i])
			drop_call(p, i);
	program_index_edges(p);
}

/* ---- programs with data ------------------------------------------------- */

uint32_t d_program_nr_parts(const struct d_program *p)
{
	return p->nr_ops + p->nr_nodes;
}

static bool uses_var(const struct d_task *t, uint32_t var, unsigned modes)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++)
		if (t->use[i].var == var && t->use[i].mode & modes)
			return true;
	return false;
}

/* It produces for another one of its graph what has no other value. */
static bool produces(const struct d_program *p, const struct d_graph *g,
		     uint32_t node)
{
	uint32_t var, i;

	for (var = 0; var < p->nr_vars; var++) {
		if (!p->var[var].is_once ||
		    !uses_var(&p->node[node], var, LKDF_WRITE))
			continue;
		for (i = g->first; i < g->first + g->nr; i++)
			if (i != node && uses_var(&p->node[i], var, ~0u))
				return true;
	}
	return false;
}

/* A call needs a task, a graph too. */
static bool is_needed(const struct d_program *p, uint32_t node)
{
	uint32_t nr = 1 + p->node[node].nr_below, i;

	for (i = 0; i < p->nr_ops; i++)
		if (p->op[i].nr && p->op[i].nr <= nr && node == p->op[i].first)
			return true;
	for (i = 0; i < p->nr_graphs; i++)
		if ((p->graph[i].nr <= nr && node == p->graph[i].first) ||
		    (node - p->graph[i].first < p->graph[i].nr &&
		     produces(p, &p->graph[i], node)))
			return true;
	return false;
}

static void forget_order(struct d_task *t, uint32_t task)
{
	uint32_t i, at = 0;

	for (i = 0; i < t->nr_orders; i++)
		if (t->order[i] != task)
			t->order[at++] =
				(uint8_t)(t->order[i] - (t->order[i] > task));
	t->nr_orders = (uint8_t)at;
}

/* Tasks of graphs have none below them. */
static void forget_graph_task(struct d_program *p, struct d_graph *g,
			      uint32_t task)
{
	uint32_t i, at = 0;

	for (i = 0; i < g->nr; i++)
		if (g->add[i] != task)
			g->add[at++] =
				(uint8_t)(g->add[i] - (g->add[i] > task));
	for (i = 0; i < g->nr; i++)
		forget_order(&p->node[g->first + i], task);
}

static void d_cut_nodes(struct d_program *p, uint32_t at, uint32_t cut)
{
	uint32_t i;

	memmove(&p->node[at], &p->node[at + cut],
		(p->nr_nodes - at - cut) * sizeof(*p->node));
	p->nr_nodes -= cut;
	for (i = 0; i < p->nr_nodes; i++)
		cut_range(&p->node[i].below, &p->node[i].nr_below, at, cut);
	for (i = 0; i < p->nr_ops; i++)
		cut_range(&p->op[i].first, &p->op[i].nr, at, cut);
	for (i = 0; i < p->nr_graphs; i++)
		cut_range(&p->graph[i].first, &p->graph[i].nr, at, cut);
}

static void d_drop_node(struct d_program *p, uint32_t node)
{
	struct d_graph *g;
	uint32_t i;

	if (is_needed(p, node))
		return;
	for (i = 0; i < p->nr_graphs; i++) {
		g = &p->graph[i];
		if (node - g->first < g->nr)
			forget_graph_task(p, g, node - g->first);
	}
	d_cut_nodes(p, node, 1 + p->node[node].nr_below);
}

/* It gives a variable its first value, which others read. */
static bool writes_first(const struct d_program *p, uint32_t op)
{
	const struct d_op *o = &p->op[op];
	const struct d_task *t = &p->node[o->first];
	uint32_t var, i;

	if (o->what != D_SUBMIT || o->nr != 1 || t->nr_uses != 1 ||
	    t->use[0].mode != LKDF_WRITE)
		return false;
	var = t->use[0].var;
	if (p->var[var].start != D_EMPTY)
		return false;
	for (i = 0; i < p->nr_nodes; i++)
		if (&p->node[i] != t && uses_var(&p->node[i], var, ~0u))
			return true;
	for (i = 0; i < p->nr_ops; i++)
		if ((p->op[i].what == D_ACQUIRE || p->op[i].what == D_CANCEL) &&
		    p->op[i].var == var)
			return true;
	return false;
}

static void forget_op(struct d_program *p, uint32_t op)
{
	struct d_task *t;

	for (t = p->node; t < p->node + p->nr_nodes; t++) {
		if (t->fail_op == D_ANY_OP || t->fail_op < op)
			continue;
		if (t->fail_op == op)
			t->error = D_NO_ERROR;
		else
			t->fail_op--;
	}
}

static void d_drop_op(struct d_program *p, uint32_t op)
{
	struct d_op *o;
	uint32_t i;

	/* The last one waits for all. */
	if (op + 1 == p->nr_ops || writes_first(p, op))
		return;
	for (i = 0; i < op; i++) {
		o = &p->op[i];
		if (o->what == D_ACQUIRE && i + o->nr_held >= op)
			o->nr_held--;
	}
	if (p->op[op].nr)
		d_cut_nodes(p, p->op[op].first, p->op[op].nr);
	p->nr_ops--;
	memmove(&p->op[op], &p->op[op + 1], (p->nr_ops - op) * sizeof(*p->op));
	forget_op(p, op);
}

bool d_program_drop(struct d_program *p, const bool *is_dropped)
{
	struct d_expect e = { 0 };
	uint32_t i;

	for (i = p->nr_nodes; i--;)
		if (is_dropped[p->nr_ops + i])
			d_drop_node(p, i);
	for (i = p->nr_ops; i--;)
		if (is_dropped[i])
			d_drop_op(p, i);
	d_model_run(p, &e);
	d_expect_free(&e);
	return !e.is_racy;
}
