/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A pass over the tasks in the order of their levels collects all that the
 * refinement needs, by block: its edges, that is what tasks that write it read
 * elsewhere and the other way round, and its shares, the work of its writers by
 * bucket. A pass over the blocks is then linear in edges and shares.
 *
 * Read-only tasks have no weight in the objective: they follow their data.
 */
#include "policy/plan.h"

#include "base/err.h"
#include "mem/region.h"
#include "policy/plan_work.h"

#include <errno.h>
#include <string.h>

/* A bucket has so many average tasks for each worker. */
#define BUCKET_TASKS 2

double plan_penalty(int distance)
{
	static const struct {
		int distance;
		double penalty;
	} known[] = { { 10, 1 }, { 16, 1.5 }, { 20, 2 }, { 22, 2.2 } };
	size_t i = 1;
	double slope;

	if (distance <= known[0].distance)
		return known[0].penalty;
	while (i < ARRAY_SIZE(known) - 1 && distance > known[i].distance)
		i++;
	slope = (known[i].penalty - known[i - 1].penalty) /
		(known[i].distance - known[i - 1].distance);
	return known[i].penalty + slope * (distance - known[i].distance);
}

/* From counts to offsets; the last entry becomes the sum. */
static void counts_to_starts(uint32_t *count, uint32_t nr)
{
	uint32_t i, sum = 0, here;

	for (i = 0; i <= nr; i++) {
		here = count[i];
		count[i] = sum;
		sum += here;
	}
}

/* After each start was moved to its end: back again. */
static void ends_to_starts(uint32_t *end, uint32_t nr)
{
	memmove(end + 1, end, nr * sizeof(*end));
	end[0] = 0;
}

struct carver {
	char *base;
	size_t used;
};

static void *carve_part(struct carver *c, size_t nr, size_t size)
{
	size_t at = c->used;

	c->used = round_up(at + nr * size, CACHE_LINE);
	return c->base ? c->base + at : NULL;
}

static uint32_t max_buckets(const struct plan_work *w)
{
	return (uint32_t)(w->g->nr_tasks / (BUCKET_TASKS * w->nr_workers)) + 2;
}

/* For zeroed memory; base NULL: only how much. */
static size_t lay_out(struct plan_work *w, char *base)
{
	uint32_t tasks = w->g->nr_tasks, blocks = w->g->nr_blocks;
	size_t nodes = (size_t)w->m->nr_nodes, buckets = max_buckets(w);
	size_t accesses = w->g->first_access[tasks];
	struct carver c = { base, 0 };

	w->est = carve_part(&c, tasks, sizeof(*w->est));
	w->own = carve_part(&c, tasks, sizeof(*w->own));
	w->order = carve_part(&c, tasks, sizeof(*w->order));
	w->first = carve_part(&c, w->nr_levels + 1, sizeof(*w->first));
	w->level_est = carve_part(&c, w->nr_levels, sizeof(*w->level_est));
	w->bucket = carve_part(&c, w->nr_levels, sizeof(*w->bucket));
	w->inv_est = carve_part(&c, buckets, sizeof(*w->inv_est));
	w->load = carve_part(&c, buckets * nodes, sizeof(*w->load));
	w->first_edge = carve_part(&c, blocks + 1, sizeof(*w->first_edge));
	w->first_share = carve_part(&c, blocks + 1, sizeof(*w->first_share));
	w->nr_share = carve_part(&c, blocks, sizeof(*w->nr_share));
	w->edge = carve_part(&c, 2 * accesses, sizeof(*w->edge));
	w->share = carve_part(&c, tasks, sizeof(*w->share));
	w->inv_workers = carve_part(&c, nodes, sizeof(*w->inv_workers));
	w->cost = carve_part(&c, nodes, sizeof(*w->cost));
	w->pull = carve_part(&c, 2 * nodes, sizeof(*w->pull));
	w->pulling = carve_part(&c, 2 * nodes, sizeof(*w->pulling));
	w->extra = carve_part(&c, 2 * nodes * nodes, sizeof(*w->extra));
	w->runs = carve_part(&c, nodes, sizeof(*w->runs));
	return c.used;
}

/* The nearest with workers, seen from there; the node itself if it has any. */
static int nearest_with_workers(const struct plan_machine *m, int node)
{
	int best = -1, n, nr = m->nr_nodes;

	if (m->nr_workers[node])
		return node;
	for (n = 0; n < nr; n++) {
		if (!m->nr_workers[n])
			continue;
		if (best < 0 ||
		    m->distance[n * nr + node] < m->distance[best * nr + node])
			best = n;
	}
	return best;
}

static void describe_nodes(struct plan_work *w)
{
	const struct plan_machine *m = w->m;
	int nr = m->nr_nodes, n, q;
	double *read, *written;

	for (n = 0; n < nr; n++) {
		w->runs[n] = (int16_t)nearest_with_workers(m, n);
		if (m->nr_workers[n])
			w->inv_workers[n] = 1.0 / m->nr_workers[n];
	}
	for (q = 0; q < nr; q++) {
		read = &w->extra[(size_t)q * (size_t)nr];
		written = read + (size_t)nr * (size_t)nr;
		for (n = 0; n < nr; n++) {
			read[n] = plan_penalty(m->distance[n * nr + q]) - 1;
			written[n] =
				plan_penalty(m->distance[w->runs[q] * nr + n]) -
				1;
			read[n] *= PLAN_MEMORY_SHARE / w->nr_workers;
			written[n] *= PLAN_MEMORY_SHARE / w->nr_workers;
		}
	}
}

static double bytes_touched(const struct plan_work *w, uint32_t i)
{
	const struct plan_access *a = &w->g->access[i];

	return plan_touched(a, w->g->bytes[a->block]);
}

static bool is_edge(const struct plan_access *a, uint32_t own)
{
	return a->block != own && a->reads + a->writes > 0;
}

/*
 * A task's estimate and the block it writes most of: of several that are equal
 * another one for each task, or else a node could get all of a level's tasks.
 */
static void measure_task(struct plan_work *w, uint32_t t)
{
	const struct plan_graph *g = w->g;
	uint32_t i, nr_equal = 0, end = g->first_access[t + 1];
	const struct plan_access *a;
	double est = 0, most = 0, part;

	w->own[t] = PLAN_NO_BLOCK;
	for (i = g->first_access[t]; i < end; i++) {
		a = &g->access[i];
		part = plan_part(a, g->bytes[a->block]);
		est += part * (a->reads + a->writes);
		part *= a->writes;
		if (!a->writes || part < most)
			continue;
		nr_equal = part > most ? 1 : nr_equal + 1;
		most = part;
		if (t % nr_equal == nr_equal - 1)
			w->own[t] = a->block;
	}
	w->est[t] = est;
	w->level_est[g->level[t]] += est;
	w->first[g->level[t]]++;
}

static void count_edges(struct plan_work *w, uint32_t t)
{
	uint32_t i, own = w->own[t];

	if (own == PLAN_NO_BLOCK)
		return;
	w->first_share[own]++;
	for (i = w->g->first_access[t]; i < w->g->first_access[t + 1]; i++) {
		if (!is_edge(&w->g->access[i], own))
			continue;
		w->first_edge[own]++;
		w->first_edge[w->g->access[i].block]++;
	}
}

static void measure_parts(struct plan_work *w)
{
	const struct plan_graph *g = w->g;
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++) {
		measure_task(w, t);
		count_edges(w, t);
	}
	counts_to_starts(w->first_edge, g->nr_blocks);
	counts_to_starts(w->first_share, g->nr_blocks);
	counts_to_starts(w->first, w->nr_levels);
	for (t = 0; t < g->nr_tasks; t++)
		w->order[w->first[g->level[t]]++] = t;
	ends_to_starts(w->first, w->nr_levels);
}

static void close_bucket(struct plan_work *w, double est)
{
	w->inv_est[w->nr_buckets++] = est > 0 ? 1 / est : 0;
}

static void fill_buckets(struct plan_work *w)
{
	double all = 0, enough, est = 0;
	uint32_t l;

	for (l = 0; l < w->nr_levels; l++)
		all += w->level_est[l];
	enough = BUCKET_TASKS * w->nr_workers * all / w->g->nr_tasks;
	for (l = 0; l < w->nr_levels; l++) {
		w->bucket[l] = w->nr_buckets;
		est += w->level_est[l];
		if (est <= 0 || est < enough)
			continue;
		close_bucket(w, est);
		est = 0;
	}
	if (est > 0)
		close_bucket(w, est);
}

static void add_share(struct plan_work *w, uint32_t own, uint32_t bucket,
		      double est)
{
	struct plan_share *s = &w->share[w->first_share[own]];
	uint32_t *nr = &w->nr_share[own];

	/* Buckets come in their order. */
	if (!*nr || s[*nr - 1].bucket != bucket)
		s[(*nr)++].bucket = bucket;
	s[*nr - 1].est += (float)est;
}

static void add_edges(struct plan_work *w, uint32_t t)
{
	uint32_t own = w->own[t], i, block;
	float bytes;

	for (i = w->g->first_access[t]; i < w->g->first_access[t + 1]; i++) {
		if (!is_edge(&w->g->access[i], own))
			continue;
		block = w->g->access[i].block;
		bytes = (float)bytes_touched(w, i);
		w->edge[w->first_edge[own]++] =
			(struct plan_edge){ block << 1, bytes };
		w->edge[w->first_edge[block]++] =
			(struct plan_edge){ own << 1 | 1, bytes };
	}
}

/* A level's blocks that have no node yet, in chunks by the nodes' workers. */
static void place_level(struct plan_work *w, uint32_t l)
{
	const struct plan_graph *g = w->g;
	int node = 0, workers = w->m->nr_workers[0];
	uint32_t i, j, t;
	double before = 0, middle;

	for (i = w->first[l]; i < w->first[l + 1]; i++) {
		t = w->order[i];
		middle = before + w->est[t] / 2;
		while (node < w->m->nr_nodes - 1 &&
		       middle * w->nr_workers >= w->level_est[l] * workers)
			workers += w->m->nr_workers[++node];
		for (j = g->first_access[t]; j < g->first_access[t + 1]; j++)
			if (w->home[g->access[j].block] < 0)
				w->home[g->access[j].block] = w->runs[node];
		before += w->est[t];
		if (w->own[t] == PLAN_NO_BLOCK)
			continue;
		add_share(w, w->own[t], w->bucket[l], w->est[t]);
		add_edges(w, t);
	}
}

/* For a task that only reads: where most of its bytes are. */
static int node_of_reads(struct plan_work *w, uint32_t t)
{
	uint32_t first = w->g->first_access[t], end = w->g->first_access[t + 1];
	int best = PLAN_NONE, node;
	uint32_t i;

	for (i = first; i < end; i++)
		w->cost[w->runs[w->home[w->g->access[i].block]]] = 0;
	for (i = first; i < end; i++) {
		node = w->runs[w->home[w->g->access[i].block]];
		w->cost[node] += bytes_touched(w, i);
		if (best < 0 || w->cost[node] > w->cost[best])
			best = node;
	}
	return best;
}

static void init_homes(struct plan_work *w)
{
	const struct plan_graph *g = w->g;
	uint32_t block;

	for (block = 0; block < g->nr_blocks; block++)
		w->home[block] = plan_is_fixed(g, block) ? g->fixed[block]
							 : (int16_t)PLAN_NONE;
}

static void place_blocks(struct plan_work *w)
{
	uint32_t l;

	init_homes(w);
	measure_parts(w);
	fill_buckets(w);
	for (l = 0; l < w->nr_levels; l++)
		place_level(w, l);
	ends_to_starts(w->first_edge, w->g->nr_blocks);
}

static void describe_plan(struct plan_work *w, struct plan *p)
{
	const struct plan_graph *g = w->g;
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++) {
		p->task[t] = (int16_t)(w->own[t] == PLAN_NO_BLOCK
					       ? node_of_reads(w, t)
					       : w->runs[w->home[w->own[t]]]);
		check(p->task[t] == PLAN_NONE || w->m->nr_workers[p->task[t]]);
	}
	if (p->partner)
		plan_find_partners(w, p->partner);
	if (p->own)
		memcpy(p->own, w->own, g->nr_tasks * sizeof(*p->own));
	if (p->est)
		memcpy(p->est, w->est, g->nr_tasks * sizeof(*p->est));
	p->objective = plan_objective(w);
}

int plan_make(const struct plan_machine *m, const struct plan_graph *g,
	      int passes, struct plan *p)
{
	struct plan_work w = { .m = m, .g = g, .home = p->block };
	uint32_t t;
	size_t size;
	char *base;
	int n;

	for (n = 0; n < m->nr_nodes; n++)
		w.nr_workers += m->nr_workers[n];
	for (t = 0; t < g->nr_tasks; t++)
		if (w.nr_levels <= g->level[t])
			w.nr_levels = g->level[t] + 1;
	size = lay_out(&w, NULL);
	base = region_alloc(size);
	if (!base)
		return err(-ENOMEM, "plan: %zu bytes for %u tasks", size,
			   g->nr_tasks);
	lay_out(&w, base);
	describe_nodes(&w);
	place_blocks(&w);
	plan_refine(&w, passes);
	describe_plan(&w, p);
	region_free(base, size);
	return 0;
}
