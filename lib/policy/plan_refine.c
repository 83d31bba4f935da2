/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Moves single blocks to where they cost least. The cost of a block on a node
 * is the growth of the objective: the square of the node's work in the buckets
 * in which tasks write the block, and what crosses between the node and the
 * block's neighbours. A pass is linear in edges and shares.
 */
#include "policy/plan_work.h"

#include <string.h>

/* Done when a pass moves less than this part of the blocks. */
#define MOVED_ENOUGH 0.005

static double *load_of(struct plan_work *w, uint32_t bucket)
{
	return &w->load[(size_t)bucket * (size_t)w->m->nr_nodes];
}

/* sign 1: the block's writers run on the node; -1: no longer. */
static void add_load(struct plan_work *w, uint32_t block, int node, double sign)
{
	const struct plan_share *s = &w->share[w->first_share[block]];
	uint32_t i;

	for (i = 0; i < w->nr_share[block]; i++)
		load_of(w, s[i].bucket)[node] += sign * (double)s[i].est;
}

/* The cost of the block's neighbours on each node. */
static void add_pull(struct plan_work *w, uint32_t block)
{
	size_t nr = (size_t)w->m->nr_nodes, column, n;
	uint32_t i, nr_pulling = 0;
	const struct plan_edge *e;
	const double *extra;
	double pull;

	for (i = w->first_edge[block]; i < w->first_edge[block + 1]; i++) {
		e = &w->edge[i];
		column = (e->other & 1) * nr + (size_t)w->home[e->other >> 1];
		if (!(w->pull[column] > 0))
			w->pulling[nr_pulling++] = (uint32_t)column;
		w->pull[column] += (double)e->bytes;
	}
	for (i = 0; i < nr_pulling; i++) {
		column = w->pulling[i];
		extra = &w->extra[column * nr];
		pull = w->pull[column];
		for (n = 0; n < nr; n++)
			w->cost[n] += pull * extra[n];
		w->pull[column] = 0;
	}
}

/* The block's own work does not lie on any node now. */
static int cheapest_move(struct plan_work *w, uint32_t block, int now)
{
	const struct plan_share *s = &w->share[w->first_share[block]];
	size_t nr = (size_t)w->m->nr_nodes, n;
	double x, scale, *load;
	int best = now, m;
	uint32_t i;

	memset(w->cost, 0, nr * sizeof(*w->cost));
	add_pull(w, block);
	for (i = 0; i < w->nr_share[block]; i++) {
		x = (double)s[i].est;
		scale = x * w->inv_est[s[i].bucket];
		load = load_of(w, s[i].bucket);
		for (n = 0; n < nr; n++)
			w->cost[n] +=
				(2 * load[n] + x) * scale * w->inv_workers[n];
	}
	for (m = 0; m < w->m->nr_nodes; m++)
		if (w->m->nr_workers[m] && w->cost[m] < w->cost[best])
			best = m;
	return best;
}

/* Moves each block to where it costs least; the number moved. */
static uint32_t move_blocks(struct plan_work *w)
{
	uint32_t block, nr_moved = 0;
	int now, best;

	for (block = 0; block < w->g->nr_blocks; block++) {
		now = w->home[block];
		if (now < 0 || plan_is_fixed(w->g, block))
			continue;
		add_load(w, block, now, -1);
		best = cheapest_move(w, block, now);
		add_load(w, block, best, 1);
		check(w->m->nr_workers[best] || best == now);
		w->home[block] = (int16_t)best;
		nr_moved += best != now;
	}
	return nr_moved;
}

void plan_refine(struct plan_work *w, int passes)
{
	uint32_t block, nr_moved;
	int i;

	for (block = 0; block < w->g->nr_blocks; block++)
		if (w->nr_share[block])
			add_load(w, block, w->runs[w->home[block]], 1);
	for (i = 0; i < passes; i++) {
		nr_moved = move_blocks(w);
		if (nr_moved < MOVED_ENOUGH * w->g->nr_blocks)
			return;
	}
}

double plan_objective(struct plan_work *w)
{
	size_t nr = (size_t)w->m->nr_nodes, n;
	double sum = 0, load;
	const struct plan_edge *e;
	uint32_t k, block, i;

	for (k = 0; k < w->nr_buckets; k++) {
		for (n = 0; n < nr; n++) {
			load = load_of(w, k)[n];
			sum += load * load * w->inv_est[k] * w->inv_workers[n];
		}
	}
	for (block = 0; block < w->g->nr_blocks; block++) {
		i = w->first_edge[block];
		for (; i < w->first_edge[block + 1]; i++) {
			e = &w->edge[i];
			if (e->other & 1)
				continue;
			n = (size_t)w->home[e->other >> 1] * nr +
			    (size_t)w->runs[w->home[block]];
			sum += (double)e->bytes * w->extra[n];
		}
	}
	return sum;
}
