/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * State that the parts of the planner share while they make one plan.
 */
#ifndef POLICY_PLAN_WORK_H
#define POLICY_PLAN_WORK_H

#include "base/util.h"
#include "policy/plan.h"

/* An edge between two blocks. */
struct plan_edge {
	uint32_t other; /* block, + 1 bit: it is the one that is written */
	float bytes;
};

/* Work of the tasks that write a block, in one bucket. */
struct plan_share {
	uint32_t bucket;
	float est;
};

struct plan_work {
	const struct plan_machine *m;
	const struct plan_graph *g;
	int16_t *home; /* by block */
	uint32_t nr_levels, nr_buckets;
	double nr_workers;

	/* By task. */
	double *est;
	uint32_t *own; /* block it writes most of */
	uint32_t *order; /* tasks by level */

	/* By level. */
	uint32_t *first; /* in order */
	double *level_est;
	uint32_t *bucket;

	/* By bucket. */
	double *inv_est; /* 1 / its work */
	double *load; /* by node, too: work of the tasks there */

	/* By block. */
	uint32_t *first_edge, *first_share, *nr_share;
	struct plan_edge *edge;
	struct plan_share *share;

	/* By node. */
	double *inv_workers; /* 1 / its workers */
	double *cost; /* of one block there */
	double *pull; /* on one block, by column: read there, written there */
	uint32_t *pulling; /* columns that do */
	double *extra; /* by column and the block's node: per byte */
	int16_t *runs; /* the nearest with workers */
};

static inline bool plan_is_fixed(const struct plan_graph *g, uint32_t block)
{
	return g->fixed && g->fixed[block] >= 0;
}

/* Up to so many passes over the blocks, from where they lie now. */
void plan_refine(struct plan_work *w, int passes);

/* The value of the model, for where the blocks lie now; after
 * plan_refine(). */
double plan_objective(struct plan_work *w);

/* After plan_refine(), whose shares it overwrites. */
void plan_find_partners(struct plan_work *w, uint32_t *partner);

#endif
