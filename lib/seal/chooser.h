/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * While the choices of a graph are made: choices.c finds the arms and what they
 * tell, fill_choices.c lays it out as a run needs it.
 */
#ifndef SEAL_CHOOSER_H
#define SEAL_CHOOSER_H

#include "graph/control.h"

/* No arm, and the arm above all; not known yet. */
#define NO_ARM 0u
#define UNSEEN UINT32_MAX

/* Choices in an arm of each other; deeper ones have no arms. */
#define ARM_DEPTH 64u

struct arm {
	uint32_t parent, depth;
	uint32_t task; /* an index: whose choice it is of */
	uint32_t first_pair; /* once they are sorted by arm; one more arm */
	struct choice_arm sum;
};

/* An edge from an arm to a task outside. */
struct pair {
	uint32_t arm, to;
	bool is_strong;
	uint32_t place; /* among the joins of its choice */
};

struct chooser {
	struct lkdf_graph *g;
	struct control *c;
	uint32_t nr_branches; /* edges: arms at most */

	/* By index. */
	uint32_t *arm_of, *left, *first_arm;
	uint32_t *seen, *place; /* of a join, in the choice that saw it last */
	bool *is_alone;

	uint32_t *list; /* all tasks, in their order */
	struct arm *arms; /* 0: NO_ARM */
	uint32_t nr_arms;
	struct pair *pair, *sorted;
	uint32_t nr_pairs, max_pairs;
	bool is_full; /* they would take too many bytes */

	/* Records of a run: how many there will be, then how many are made. */
	uint32_t nr_choices, nr_joins, nr_others;
};

/* The edges of one task. */
struct edges {
	struct control_edge *out; /* NULL: succ are plain ones */
	const uint32_t *succ;
	uint32_t nr;
};

static inline struct edges chooser_edges(const struct chooser *p,
					 uint32_t index)
{
	const struct rec *r = &p->g->recs[index];
	struct edges e = { .nr = r->succ[1] };

	if (r->nr_succ == REC_CONTROL)
		e.out = p->c->out + r->succ[0];
	else
		e.succ = graph_succ(p->g, r, &e.nr);
	return e;
}

/*
 * Lays out the choices, with their joins, unless they would take more than
 * CHOICE_BYTES for each task. 0 or -ENOMEM.
 */
int chooser_fill(struct chooser *p);

#endif
