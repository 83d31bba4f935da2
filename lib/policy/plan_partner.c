/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Partners: pairs of blocks that have more to do with each other than each has
 * with all others, as the two buffers have that sweeps write in turn.
 */
#include "policy/plan_work.h"

/* Boyer and Moore 1981: who could have more than half of the block's edges. */
static uint32_t candidate_partner(const struct plan_work *w, uint32_t block,
				  double *all)
{
	uint32_t i, candidate = PLAN_NO_BLOCK;
	double lead = 0, bytes;

	*all = 0;
	for (i = w->first_edge[block]; i < w->first_edge[block + 1]; i++) {
		bytes = (double)w->edge[i].bytes;
		*all += bytes;
		if (w->edge[i].other >> 1 == candidate) {
			lead += bytes;
		} else if (bytes > lead) {
			candidate = w->edge[i].other >> 1;
			lead = bytes - lead;
		} else {
			lead -= bytes;
		}
	}
	return candidate;
}

/* The block that has more than half of this one's edges. */
static uint32_t likely_partner(const struct plan_work *w, uint32_t block)
{
	double all, both = 0;
	uint32_t i, partner = candidate_partner(w, block, &all);

	for (i = w->first_edge[block]; i < w->first_edge[block + 1]; i++)
		if (w->edge[i].other >> 1 == partner)
			both += (double)w->edge[i].bytes;
	return 2 * both > all ? partner : PLAN_NO_BLOCK;
}

void plan_find_partners(const struct plan_work *w, uint32_t *partner)
{
	uint32_t nr = w->g->nr_blocks, b;

	for (b = 0; b < nr; b++)
		partner[b] = likely_partner(w, b);
	/* The later one of two decides for both. */
	for (b = 0; b < nr; b++)
		if (partner[b] != PLAN_NO_BLOCK && partner[b] < b &&
		    partner[partner[b]] != b)
			partner[b] = PLAN_NO_BLOCK;
	for (b = 0; b < nr; b++)
		if (partner[b] != PLAN_NO_BLOCK && partner[partner[b]] != b)
			partner[b] = PLAN_NO_BLOCK;
}
