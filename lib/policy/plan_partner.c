/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Partners: pairs of blocks of which each is made from the other, as the two
 * buffers are that sweeps write in turn. A task makes its block from what it
 * reads most of; of several that are equal from the one that it names first,
 * for neighbours come after what a block was before.
 */
#include "policy/plan_work.h"

#include <string.h>

/* The block that the task makes its own from. */
static uint32_t source_of(const struct plan_work *w, uint32_t t)
{
	const struct plan_graph *g = w->g;
	uint32_t i, source = PLAN_NO_BLOCK;
	const struct plan_access *a;
	double part, most = 0;

	for (i = g->first_access[t]; i < g->first_access[t + 1]; i++) {
		a = &g->access[i];
		part = plan_part(a, g->bytes[a->block]) * a->reads;
		if (a->block == w->own[t] || part <= most)
			continue;
		most = part;
		source = a->block;
	}
	return source;
}

/* Boyer and Moore 1981: what most of a block's tasks make it from, if any. */
static void count_vote(uint32_t *candidate, uint32_t *lead, uint32_t source)
{
	if (source == PLAN_NO_BLOCK)
		return;
	if (source == *candidate) {
		(*lead)++;
	} else if (!*lead) {
		*candidate = source;
		*lead = 1;
	} else {
		(*lead)--;
	}
}

void plan_find_partners(struct plan_work *w, uint32_t *partner)
{
	uint32_t nr = w->g->nr_blocks, *lead = w->nr_share, t, b;

	/* The shares were for the refinement. */
	memset(lead, 0, nr * sizeof(*lead));
	for (b = 0; b < nr; b++)
		partner[b] = PLAN_NO_BLOCK;
	for (t = 0; t < w->g->nr_tasks; t++)
		if (w->own[t] != PLAN_NO_BLOCK)
			count_vote(&partner[w->own[t]], &lead[w->own[t]],
				   source_of(w, t));
	/* The later one of two decides for both. */
	for (b = 0; b < nr; b++)
		if (partner[b] != PLAN_NO_BLOCK && partner[b] < b &&
		    partner[partner[b]] != b)
			partner[b] = PLAN_NO_BLOCK;
	for (b = 0; b < nr; b++)
		if (partner[b] != PLAN_NO_BLOCK && partner[partner[b]] != b)
			partner[b] = PLAN_NO_BLOCK;
}
