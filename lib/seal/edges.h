/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * State that the makers of a graph's edges share while it is sealed.
 *
 * An edge says why it is there, since that decides whether the failure of the
 * one skips the other: hard ones do, those for the order only do not, and those
 * of a use with LKDF_MAYBE only where it was touched.
 */
#ifndef SEAL_EDGES_H
#define SEAL_EDGES_H

#include "graph/access.h"

struct edge_maker {
	struct lkdf_graph *g;
	struct access_table *w;
	uint32_t *next; /* lists of uses, by use */
	/* By task: the last it has an edge to, plus 1, and STAMP_HARD. */
	uint32_t *stamp;
	size_t nr_stamps;
	struct array
		hard; /* struct access_pair, sorted: not ours, or of ONCE */
	struct lkdf_kind *combine, *meet;
	bool makes_once; /* edges of LKDF_DATA_ONCE are being made */
	int rc;
};

/* Or else the var of which it may be left untouched. */
#define WHY_HARD (UINT32_MAX - 1)
#define WHY_ORDER_ONLY UINT32_MAX

static inline struct access_use *use_at(struct edge_maker *r, uint32_t i)
{
	check(i < r->w->uses.nr);
	return (struct access_use *)r->w->uses.items + i;
}

/* First thing of seal: edges, tasks that combine. */
int edges_make(struct lkdf_graph *g, struct lkdf_diag *why);

/* Later, wrap.c: kinds that see to bytes, where uses ask for them. */
int wrap_kinds(struct lkdf_graph *g);

void edge_no_memory(struct edge_maker *r);

#define STAMP_HARD (1u << 31)

/* Calls go task by task: to is the same until the next one's turn. */
void edge_add(struct edge_maker *r, uint32_t from, uint32_t to, uint32_t why);

/* The use reads what the writer of the var writes. */
void edge_note_input(struct edge_maker *r, const struct access_use *u,
		     uint32_t var);

/* First who produces what, or that two do; later the edges. */
void once_find_producers(struct edge_maker *r, struct lkdf_diag *why);
void once_edges(struct edge_maker *r, struct lkdf_diag *why);

/* Which edges are hard, whatever else they are. */
void order_only_collect(struct edge_maker *r);

/* Notes a further reason of an edge; says that it is hard after all. */
void order_only_note(struct edge_maker *r, uint32_t from, uint32_t to,
		     uint32_t why);
void order_only_forget(struct edge_maker *r, uint32_t from, uint32_t to);

#endif
