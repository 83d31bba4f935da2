/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs within graphs. The tasks of the part are copied behind those of the
 * graph, with their edges, uses, ports, places and labels; so seal and runs see
 * one flat graph. Two tasks of our own stand around them:
 *
 *	begin		number, of the whole; what leads to it leads here
 *	tasks		number + 1 ...
 *	end		behind them; what leaves the whole leaves here
 *
 * Begin leads to each task that nothing in the part leads to, and each that
 * leads to nothing leads to the end, over an edge that passes what was not
 * chosen: so the end runs unless one of those failed, or begin was not chosen.
 */
#ifndef GRAPH_INCLUDE_H
#define GRAPH_INCLUDE_H

#include "graph/graph.h"

/* In the order of their numbers; one within another comes after it. */
struct graph_include {
	uint32_t begin, end; /* tasks */
	char name[NAME_SIZE]; /* "a/b", what its tasks' names begin with */
	struct lkdf_graph *part; /* kept, as it keeps arguments; or NULL */
};

/* part: checked, not sealed, not g. The number of the whole, or -errno. */
int graph_include(struct lkdf_graph *g, struct lkdf_graph *part);

/* Lets go of what is kept. */
void include_free(struct lkdf_graph *g);

/* The innermost around the task, itself not among its tasks; NULL: none. */
const struct graph_include *include_around(const struct lkdf_graph *g,
					   uint32_t task);

/* With this number; NULL: it is a task. */
const struct graph_include *include_at(const struct lkdf_graph *g,
				       uint32_t task);

/* Where an edge from the task begins. */
static inline uint32_t include_from(const struct lkdf_graph *g, uint32_t task)
{
	const struct graph_include *x =
		unlikely(g->includes.nr) ? include_at(g, task) : NULL;

	return x ? x->end : task;
}

#endif
