/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops may wait for each other though no task does: an edge leaves the one
 * and enters the other, and another edge goes the other way. Each loop has a
 * node for its end besides: after its members, before what its exits lead to.
 */
#include "seal/find_loops.h"

#include "base/err.h"

#include <errno.h>
#include <lkdf/graph.h>
#include <stdio.h>
#include <stdlib.h>

/* Nodes are the tasks, then the ends of the loops. */
struct waits {
	struct looper *p;
	uint32_t nr_nodes;
	uint32_t *first, *to; /* arcs by node */
	uint32_t *nr_in, *stack;
};

static uint32_t end_of(const struct waits *w, uint32_t l)
{
	return w->p->nr_tasks + l;
}

/* Calls fn for each arc. */
static void for_arcs(struct waits *w,
		     void (*fn)(struct waits *w, uint32_t from, uint32_t to))
{
	const struct control *c = w->p->c;
	const struct control_edge *e;
	uint32_t i;

	for (i = 0; i < w->p->nr_edges; i++) {
		e = &w->p->edge[i];
		if (!(e->flags & CONTROL_BACK))
			fn(w,
			   e->flags & CONTROL_EXIT ? end_of(w, e->loop)
						   : e->from,
			   e->to);
	}
	for (i = 0; i < w->p->nr_tasks; i++)
		if (c->loop_of[i] != NO_LOOP)
			fn(w, i, end_of(w, c->loop_of[i]));
	for (i = 0; i < c->nr_loops; i++)
		if (c->loops[i].parent != NO_LOOP)
			fn(w, end_of(w, i), end_of(w, c->loops[i].parent));
}

static void count_arc(struct waits *w, uint32_t from, uint32_t to)
{
	check(from < w->nr_nodes && to < w->nr_nodes);
	w->first[from + 1]++;
	w->nr_in[to]++;
}

/* first[from] moves on to where the next node's arcs begin. */
static void add_arc(struct waits *w, uint32_t from, uint32_t to)
{
	check(from < w->nr_nodes && to < w->nr_nodes);
	w->to[w->first[from]++] = to;
}

static uint32_t begin_of(const struct waits *w, uint32_t node)
{
	check(node < w->nr_nodes);
	return node ? w->first[node - 1] : 0;
}

/* Kahn 1962; how many nodes are left on cycles or behind them. */
static uint32_t remove_sources(struct waits *w)
{
	uint32_t left = w->nr_nodes, top = 0, n, i;

	for (n = 0; n < w->nr_nodes; n++)
		if (!w->nr_in[n])
			w->stack[top++] = n;
	while (top) {
		n = w->stack[--top];
		left--;
		for (i = begin_of(w, n); i < w->first[n]; i++)
			if (!--w->nr_in[w->to[i]])
				w->stack[top++] = w->to[i];
	}
	return left;
}

/* stack: of each node that is left one that it waits for, and is left, too. */
static uint32_t find_on_cycle(struct waits *w)
{
	uint32_t n, i, at = 0;

	for (n = 0; n < w->nr_nodes; n++) {
		if (!w->nr_in[n])
			continue;
		at = n;
		for (i = begin_of(w, n); i < w->first[n]; i++)
			w->stack[w->to[i]] = n;
	}
	for (i = 0; i < w->nr_nodes; i++)
		at = w->stack[at];
	return at;
}

static int refuse_wait(struct waits *w)
{
	const struct graph_loop *loops = w->p->c->loops;
	uint32_t first = find_on_cycle(w), n = first, head;
	struct lkdf_diag *why = w->p->why;
	char text[160] = "";
	size_t used = 0;

	why->nr = 0;
	do {
		if (n >= w->p->nr_tasks && used < sizeof(text)) {
			head = loops[n - w->p->nr_tasks].head;
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, "%s%s",
						 used ? " and " : "",
						 loops_name(w->p, head).text);
			if (why->nr < 16)
				why->path[why->nr++] = (int32_t)head;
		}
		n = w->stack[n];
	} while (n != first);
	return err(-ELOOP,
		   "graph %s: the loops of %s wait for each other: edges lead "
		   "from members of each to members of the other",
		   w->p->g->name, text);
}

static int check_all(struct waits *w)
{
	uint32_t n;

	for_arcs(w, count_arc);
	for (n = 0; n < w->nr_nodes; n++)
		w->first[n + 1] += w->first[n];
	for_arcs(w, add_arc);
	return remove_sources(w) ? refuse_wait(w) : 0;
}

int loops_check_waits(struct looper *p)
{
	struct waits w = {
		.p = p,
		.nr_nodes = p->nr_tasks + p->c->nr_loops,
	};
	size_t nr = w.nr_nodes + 2ul;
	int rc = -ENOMEM;

	w.first = calloc(nr, sizeof(uint32_t));
	w.nr_in = calloc(nr, sizeof(uint32_t));
	w.stack = calloc(nr, sizeof(uint32_t));
	w.to = calloc(p->nr_edges + nr + p->nr_tasks, sizeof(uint32_t));
	if (w.first && w.nr_in && w.stack && w.to)
		rc = check_all(&w);
	else
		err(rc, "graph %s: no memory for loops", p->g->name);
	free(w.first);
	free(w.nr_in);
	free(w.stack);
	free(w.to);
	return rc;
}
