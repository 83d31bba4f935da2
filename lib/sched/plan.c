/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One pass over the tasks in the order of their levels collects what the
 * refinement needs, by block: its edges, that is what tasks that write it read
 * elsewhere and the other way round, and its shares, the work of its writers
 * by bucket. A pass over the blocks is then linear in edges and shares.
 *
 * Read-only tasks have no weight in the objective: they follow their data.
 */
#include "sched/plan.h"

#include "base/err.h"
#include "base/util.h"
#include "mem/region.h"

#include <errno.h>
#include <string.h>

/* A bucket has so many average tasks for each worker. */
#define BUCKET_TASKS 2
/* Refinement ends below this part of the blocks moved. */
#define MOVED_ENOUGH 0.005

/* What one block has to do with another. */
struct edge {
	uint32_t other; /* block, + 1 bit: it is the one that is written */
	float bytes;
};

/* Work of the tasks that write a block, in one bucket. */
struct share {
	uint32_t bucket;
	float est;
};

struct work {
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
	struct edge *edge;
	struct share *share;

	/* By node. */
	double *inv_workers; /* 1 / its workers */
	double *cost; /* of one block there */
	double *pull; /* on one block, by column: read there, written there */
	uint32_t *pulling; /* columns that do */
	double *extra; /* by column and the block's node: per byte */
	int16_t *runs; /* the nearest with workers */
};

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

/* Kahn 1962, with the levels; the number of tasks not reached. */
static uint32_t levels_any_order(uint32_t nr, const uint32_t *first,
				 const uint32_t *succ, uint32_t *level,
				 uint32_t *queue)
{
	uint32_t *nr_in = queue + nr, t, i, head, tail = 0;

	for (i = 0; i < first[nr]; i++)
		nr_in[succ[i]]++;
	for (t = 0; t < nr; t++) {
		level[t] = 0;
		if (!nr_in[t])
			queue[tail++] = t;
	}
	for (head = 0; head < tail; head++) {
		t = queue[head];
		for (i = first[t]; i < first[t + 1]; i++) {
			if (level[succ[i]] < level[t] + 1)
				level[succ[i]] = level[t] + 1;
			if (!--nr_in[succ[i]])
				queue[tail++] = succ[i];
		}
	}
	return nr - tail;
}

int plan_levels(uint32_t nr, const uint32_t *first_succ, const uint32_t *succ,
		uint32_t *level)
{
	size_t size = 2 * (size_t)nr * sizeof(uint32_t);
	bool is_backward = false;
	uint32_t *queue, t, i, left;

	memset(level, 0, nr * sizeof(*level));
	for (t = 0; t < nr; t++) {
		for (i = first_succ[t]; i < first_succ[t + 1]; i++) {
			is_backward |= succ[i] <= t;
			if (level[succ[i]] < level[t] + 1)
				level[succ[i]] = level[t] + 1;
		}
	}
	if (!is_backward)
		return 0;
	queue = region_alloc(size);
	if (!queue)
		return err(-ENOMEM, "plan: levels of %u tasks", nr);
	left = levels_any_order(nr, first_succ, succ, level, queue);
	region_free(queue, size);
	if (left)
		return err(-ELOOP, "plan: %u of %u tasks lie behind a cycle",
			   left, nr);
	return 0;
}

struct carver {
	char *base;
	size_t used;
};

static void *carve(struct carver *c, size_t nr, size_t size)
{
	size_t at = c->used;

	c->used = round_up(at + nr * size, CACHE_LINE);
	return c->base ? c->base + at : NULL;
}

static uint32_t max_buckets(const struct work *w)
{
	return (uint32_t)(w->g->nr_tasks / (BUCKET_TASKS * w->nr_workers)) + 2;
}

/* Of zeroed memory; base NULL: only how much. */
static size_t lay_out(struct work *w, char *base)
{
	uint32_t tasks = w->g->nr_tasks, blocks = w->g->nr_blocks;
	size_t nodes = (size_t)w->m->nr_nodes, buckets = max_buckets(w);
	size_t accesses = w->g->first_access[tasks];
	struct carver c = { base, 0 };

	w->est = carve(&c, tasks, sizeof(*w->est));
	w->own = carve(&c, tasks, sizeof(*w->own));
	w->order = carve(&c, tasks, sizeof(*w->order));
	w->first = carve(&c, w->nr_levels + 1, sizeof(*w->first));
	w->level_est = carve(&c, w->nr_levels, sizeof(*w->level_est));
	w->bucket = carve(&c, w->nr_levels, sizeof(*w->bucket));
	w->inv_est = carve(&c, buckets, sizeof(*w->inv_est));
	w->load = carve(&c, buckets * nodes, sizeof(*w->load));
	w->first_edge = carve(&c, blocks + 1, sizeof(*w->first_edge));
	w->first_share = carve(&c, blocks + 1, sizeof(*w->first_share));
	w->nr_share = carve(&c, blocks, sizeof(*w->nr_share));
	w->edge = carve(&c, 2 * accesses, sizeof(*w->edge));
	w->share = carve(&c, tasks, sizeof(*w->share));
	w->inv_workers = carve(&c, nodes, sizeof(*w->inv_workers));
	w->cost = carve(&c, nodes, sizeof(*w->cost));
	w->pull = carve(&c, 2 * nodes, sizeof(*w->pull));
	w->pulling = carve(&c, 2 * nodes, sizeof(*w->pulling));
	w->extra = carve(&c, 2 * nodes * nodes, sizeof(*w->extra));
	w->runs = carve(&c, nodes, sizeof(*w->runs));
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

static void describe_nodes(struct work *w)
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

static double touched(const struct work *w, uint32_t i)
{
	const struct plan_access *a = &w->g->access[i];

	return plan_touched(a, w->g->bytes[a->block]);
}

/* A task's estimate and own block, and what has to be counted. */
static void measure_task(struct work *w, uint32_t t)
{
	const struct plan_graph *g = w->g;
	uint32_t i, own = PLAN_NO_BLOCK, end = g->first_access[t + 1];
	const struct plan_access *a;
	double est = 0, most = 0, part;

	for (i = g->first_access[t]; i < end; i++) {
		a = &g->access[i];
		part = plan_part(a, g->bytes[a->block]);
		est += part * (a->reads + a->writes);
		if (part * a->writes > most) {
			most = part * a->writes;
			own = a->block;
		}
	}
	w->est[t] = est;
	w->own[t] = own;
	w->level_est[g->level[t]] += est;
	w->first[g->level[t]]++;
	if (own == PLAN_NO_BLOCK)
		return;
	w->first_share[own]++;
	for (i = g->first_access[t]; i < end; i++) {
		if (g->access[i].block == own)
			continue;
		w->first_edge[own]++;
		w->first_edge[g->access[i].block]++;
	}
}

static void measure(struct work *w)
{
	const struct plan_graph *g = w->g;
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++)
		measure_task(w, t);
	counts_to_starts(w->first_edge, g->nr_blocks);
	counts_to_starts(w->first_share, g->nr_blocks);
	counts_to_starts(w->first, w->nr_levels);
	for (t = 0; t < g->nr_tasks; t++)
		w->order[w->first[g->level[t]]++] = t;
	ends_to_starts(w->first, w->nr_levels);
}

static void close_bucket(struct work *w, double est)
{
	w->inv_est[w->nr_buckets++] = est > 0 ? 1 / est : 0;
}

static void fill_buckets(struct work *w)
{
	double all = 0, enough, est = 0;
	uint32_t l;

	for (l = 0; l < w->nr_levels; l++)
		all += w->level_est[l];
	enough = BUCKET_TASKS * w->nr_workers * all / w->g->nr_tasks;
	for (l = 0; l < w->nr_levels; l++) {
		w->bucket[l] = w->nr_buckets;
		est += w->level_est[l];
		if (est < enough)
			continue;
		close_bucket(w, est);
		est = 0;
	}
	if (est > 0)
		close_bucket(w, est);
}

static void add_share(struct work *w, uint32_t own, uint32_t bucket, double est)
{
	struct share *s = &w->share[w->first_share[own]];
	uint32_t *nr = &w->nr_share[own];

	/* Buckets come in their order. */
	if (!*nr || s[*nr - 1].bucket != bucket)
		s[(*nr)++].bucket = bucket;
	s[*nr - 1].est += (float)est;
}

static void add_edges(struct work *w, uint32_t t)
{
	uint32_t own = w->own[t], i, block;
	float bytes;

	for (i = w->g->first_access[t]; i < w->g->first_access[t + 1]; i++) {
		block = w->g->access[i].block;
		if (block == own)
			continue;
		bytes = (float)touched(w, i);
		w->edge[w->first_edge[own]++] =
			(struct edge){ block << 1, bytes };
		w->edge[w->first_edge[block]++] =
			(struct edge){ own << 1 | 1, bytes };
	}
}

/* A level's blocks that have no node yet, in chunks by the nodes' workers. */
static void place_level(struct work *w, uint32_t l)
{
	const struct plan_graph *g = w->g;
	int node = 0, workers = w->m->nr_workers[0];
	uint32_t i, j, t;
	double before = 0;

	for (i = w->first[l]; i < w->first[l + 1]; i++) {
		t = w->order[i];
		while (node < w->m->nr_nodes - 1 &&
		       before * w->nr_workers >= w->level_est[l] * workers)
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

static double *load_of(struct work *w, uint32_t bucket)
{
	return &w->load[(size_t)bucket * (size_t)w->m->nr_nodes];
}

/* sign 1: the block's writers run on the node; -1: no longer. */
static void add_load(struct work *w, uint32_t block, int node, double sign)
{
	const struct share *s = &w->share[w->first_share[block]];
	uint32_t i;

	for (i = 0; i < w->nr_share[block]; i++)
		load_of(w, s[i].bucket)[node] += sign * (double)s[i].est;
}

/* What the block's neighbours cost it on each node. */
static void add_pull(struct work *w, uint32_t block)
{
	size_t nr = (size_t)w->m->nr_nodes, column, n;
	uint32_t i, nr_pulling = 0;
	const struct edge *e;
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
static int cheapest(struct work *w, uint32_t block, int now)
{
	const struct share *s = &w->share[w->first_share[block]];
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

static bool is_fixed(const struct plan_graph *g, uint32_t block)
{
	return g->fixed && g->fixed[block] >= 0;
}

/* Moves each block to where it costs least; the number moved. */
static uint32_t refine(struct work *w)
{
	uint32_t block, nr_moved = 0;
	int now, best;

	for (block = 0; block < w->g->nr_blocks; block++) {
		now = w->home[block];
		if (now < 0 || is_fixed(w->g, block))
			continue;
		add_load(w, block, now, -1);
		best = cheapest(w, block, now);
		add_load(w, block, best, 1);
		w->home[block] = (int16_t)best;
		nr_moved += best != now;
	}
	return nr_moved;
}

static double objective(struct work *w)
{
	size_t nr = (size_t)w->m->nr_nodes, n;
	double sum = 0, load;
	const struct edge *e;
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

/* Of a task that only reads: where most of its bytes are. */
static int node_of_reads(struct work *w, uint32_t t)
{
	uint32_t first = w->g->first_access[t], end = w->g->first_access[t + 1];
	int best = PLAN_NONE, node;
	uint32_t i;

	for (i = first; i < end; i++)
		w->cost[w->runs[w->home[w->g->access[i].block]]] = 0;
	for (i = first; i < end; i++) {
		node = w->runs[w->home[w->g->access[i].block]];
		w->cost[node] += touched(w, i);
		if (best < 0 || w->cost[node] > w->cost[best])
			best = node;
	}
	return best;
}

/* Boyer and Moore 1981: who could have more than half of the block's edges. */
static uint32_t candidate_twin(const struct work *w, uint32_t block,
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
static uint32_t likely_twin(const struct work *w, uint32_t block)
{
	double all, both = 0;
	uint32_t i, twin = candidate_twin(w, block, &all);

	for (i = w->first_edge[block]; i < w->first_edge[block + 1]; i++)
		if (w->edge[i].other >> 1 == twin)
			both += (double)w->edge[i].bytes;
	return 2 * both > all ? twin : PLAN_NO_BLOCK;
}

static void find_twins(const struct work *w, uint32_t *twin)
{
	uint32_t nr = w->g->nr_blocks, b;

	for (b = 0; b < nr; b++)
		twin[b] = likely_twin(w, b);
	/* The later one of two decides for both. */
	for (b = 0; b < nr; b++)
		if (twin[b] != PLAN_NO_BLOCK && twin[b] < b &&
		    twin[twin[b]] != b)
			twin[b] = PLAN_NO_BLOCK;
	for (b = 0; b < nr; b++)
		if (twin[b] != PLAN_NO_BLOCK && twin[twin[b]] != b)
			twin[b] = PLAN_NO_BLOCK;
}

static void init_homes(struct work *w)
{
	const struct plan_graph *g = w->g;
	uint32_t block;

	for (block = 0; block < g->nr_blocks; block++)
		w->home[block] = is_fixed(g, block) ? g->fixed[block]
						    : (int16_t)PLAN_NONE;
}

static void solve(struct work *w, int passes)
{
	uint32_t l, block, nr_moved;
	int i;

	describe_nodes(w);
	init_homes(w);
	measure(w);
	fill_buckets(w);
	for (l = 0; l < w->nr_levels; l++)
		place_level(w, l);
	ends_to_starts(w->first_edge, w->g->nr_blocks);
	for (block = 0; block < w->g->nr_blocks; block++)
		if (w->nr_share[block])
			add_load(w, block, w->runs[w->home[block]], 1);
	for (i = 0; i < passes; i++) {
		nr_moved = refine(w);
		if (nr_moved < MOVED_ENOUGH * w->g->nr_blocks)
			break;
	}
}

static void describe_plan(struct work *w, struct plan *p)
{
	const struct plan_graph *g = w->g;
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++)
		p->task[t] = (int16_t)(w->own[t] == PLAN_NO_BLOCK
					       ? node_of_reads(w, t)
					       : w->runs[w->home[w->own[t]]]);
	if (p->twin)
		find_twins(w, p->twin);
	p->objective = objective(w);
}

int plan_make(const struct plan_machine *m, const struct plan_graph *g,
	      int passes, struct plan *p)
{
	struct work w = { .m = m, .g = g, .home = p->block };
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
	solve(&w, passes);
	describe_plan(&w, p);
	region_free(base, size);
	return 0;
}
