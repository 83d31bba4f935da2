/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Edges over which a failure does not pass, as pairs in an array: they only
 * keep two uses apart, or the use that failed was left untouched. An edge that
 * has a hard reason besides, of the program's own edges or a dataflow variable,
 * is not among them.
 */
#include "seal/edges.h"

#include "graph/pairs.h"

#include <stdlib.h>

/* ---- what is hard ------------------------------------------------------- */

static void add_hard(struct edge_maker *r, uint32_t from, uint32_t to)
{
	struct access_pair *p = r->rc ? NULL : array_add(&r->hard);

	if (p)
		*p = (struct access_pair){ .from = from, .to = to };
	else
		edge_no_memory(r);
}

/* The program's own edges, from tasks that have uses. */
static void collect_given(struct edge_maker *r)
{
	const struct spilled_edge *e = r->g->edges.items;
	const struct rec *rec;
	uint32_t i, task, nr;
	size_t j;

	for (i = 0; i < r->w->uses.nr; i++) {
		task = use_at(r, i)->task;
		if (r->stamp[task] == WHY_HARD)
			continue;
		r->stamp[task] = WHY_HARD; /* no task's number plus 1 */
		rec = &r->g->recs[task];
		nr = rec->nr_succ == REC_SPILLED ? 2 : rec->nr_succ;
		while (nr--)
			add_hard(r, task, rec->succ[nr]);
	}
	for (j = 0; j < r->g->edges.nr; j++)
		if (r->stamp[e[j].from] == WHY_HARD)
			add_hard(r, e[j].from, e[j].to);
}

void order_only_collect(struct edge_maker *r)
{
	const struct access_use *u;
	const struct access_var *v;
	uint32_t i;

	r->hard.item_size = sizeof(struct access_pair);
	collect_given(r);
	for (i = 0; i < r->w->uses.nr; i++) {
		u = use_at(r, i);
		v = access_var(r->w, u->var);
		if (v->is_once && v->writer != NO_TASK &&
		    !(u->flags & ACCESS_WRITES))
			add_hard(r, v->writer, u->task);
	}
	if (r->hard.nr)
		qsort(r->hard.items, r->hard.nr, sizeof(struct access_pair),
		      pairs_compare);
}

/* ---- what is not -------------------------------------------------------- */

void order_only_note(struct edge_maker *r, uint32_t from, uint32_t to,
		     uint32_t why)
{
	struct access_pair key = {
		.from = from,
		.to = to,
		.var = why == WHY_ORDER_ONLY ? NO_VAR : why,
	};
	const struct array *hard = &r->hard;
	struct access_pair *p;

	check(from != to);
	if (hard->nr &&
	    bsearch(&key, hard->items, hard->nr, sizeof(key), pairs_compare))
		return;
	p = array_add(&r->w->order_only);
	if (p)
		*p = key;
	else
		edge_no_memory(r);
}

/* All of one task lie together. */
void order_only_forget(struct edge_maker *r, uint32_t from, uint32_t to)
{
	struct array *a = &r->w->order_only;
	struct access_pair *p = a->items;
	size_t i;

	check(from != to);
	for (i = a->nr; i && p[i - 1].to == to; i--)
		if (p[i - 1].from == from)
			p[i - 1] = p[--a->nr];
}
