/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * State that the two passes over the loops of a graph share while it is sealed.
 * The first finds the members of each loop and how loops lie in one another,
 * the second turns the edges that cross a border and lays all edges out.
 */
#ifndef SEAL_FIND_LOOPS_H
#define SEAL_FIND_LOOPS_H

#include "graph/control.h"

struct lkdf_diag;

/* By task number; all memory is from calloc(). */
struct looper {
	struct lkdf_graph *g;
	struct control *c;
	struct lkdf_diag *why;
	uint32_t nr_tasks;

	/* Edges without BACK, by task: at first[t]. */
	struct control_edge *edge;
	uint32_t nr_edges;
	uint32_t *first;
	/* While they are laid out: tasks with branches, and those branches. */
	uint32_t nr_choosing, nr_listed;

	uint32_t *position; /* in an order that all edges follow */
	uint32_t *loop_at; /* by task: the loop with this head, or NO_LOOP */
};

/* In a graph without cycles: its loops, and its edges as runs want them. */
int loops_seal(struct lkdf_graph *g, struct lkdf_diag *why);

/* A member whose run does not wait for the run before: its loop's head does. */
bool loops_has_inside(const struct lkdf_graph *g, uint32_t task);

/* loops[] and loop_of[] of the control; 0 or -errno. */
int loops_find(struct looper *p);

/* Copies that iterations combine; 0 or -ENOMEM. Edges are not turned yet. */
int folds_find(struct looper *p);

/* Edges that cross borders are turned: no loops wait for each other. */
int loops_check_waits(struct looper *p);

/* Edges as runs want them; 0 or -errno. */
int borders_lay_out(struct looper *p);

/* Is the loop, or NO_LOOP, around the other or the same? */
bool loops_has(const struct control *c, uint32_t outer, uint32_t inner);

/* "label", or "kind#number". */
struct loop_name {
	char text[NAME_SIZE];
};
struct loop_name loops_name(const struct looper *p, uint32_t task);

#endif
