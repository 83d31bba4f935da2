/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Edges of random graphs. A shape speaks of ranks, and every edge goes from a
 * lower rank to a higher one; which task has which rank is shuffled, so edges
 * go from high numbers to low ones as well.
 */
#include "tests/oracle/program.h"

#include <stdlib.h>

#define MAX_IN 4

static void add(struct program *p, uint32_t from, uint32_t to)
{
	uint32_t *e = &p->edge[2 * p->nr_edges++];

	e[0] = p->order[from];
	e[1] = p->order[to];
}

static void chains(struct program *p, struct rng *r)
{
	uint32_t nr = rng_range(r, 1, 8), i;

	for (i = nr; i < p->nr_tasks; i++)
		add(p, i - nr, i);
}

static void tree_out(struct program *p, struct rng *r)
{
	uint32_t fan = rng_range(r, 2, 8), i;

	for (i = 1; i < p->nr_tasks; i++)
		add(p, (i - 1) / fan, i);
}

static void tree_in(struct program *p, struct rng *r)
{
	uint32_t fan = rng_range(r, 2, 8), last = p->nr_tasks - 1, i;

	for (i = 1; i < p->nr_tasks; i++)
		add(p, last - i, last - (i - 1) / fan);
}

/* One to many to one. */
static void fan(struct program *p, struct rng *r)
{
	uint32_t every = rng_range(r, 3, 40), hub = 0, i;

	for (i = 1; i < p->nr_tasks; i++) {
		if (i % every) {
			add(p, hub, i);
			continue;
		}
		for (hub = i + 1 - every; hub < i; hub++) {
			if (hub)
				add(p, hub, i);
		}
		hub = i;
	}
}

static void layers(struct program *p, struct rng *r)
{
	uint32_t width = rng_range(r, 2, 24), in = rng_range(r, 1, MAX_IN);
	uint32_t i, j, layer, nr;

	for (i = width; i < p->nr_tasks; i++) {
		layer = i / width * width;
		nr = rng_range(r, 1, in);
		for (j = 0; j < nr; j++)
			add(p, rng_range(r, layer - width, layer - 1), i);
	}
}

static void series_parallel(struct program *p, struct rng *r)
{
	uint32_t i = 0, nr, j;

	while (i + 2 < p->nr_tasks) {
		nr = rng_range(r, 1, 5);
		if (i + nr + 1 >= p->nr_tasks)
			nr = p->nr_tasks - i - 2;
		for (j = 1; j <= nr; j++) {
			add(p, i, i + j);
			add(p, i + j, i + nr + 1);
		}
		i += nr + 1;
	}
}

static void sparse(struct program *p, struct rng *r)
{
	uint32_t i, j, nr;

	for (i = 1; i < p->nr_tasks; i++) {
		nr = rng_range(r, 0, 2);
		for (j = 0; j < nr; j++)
			add(p, rng_range(r, 0, i - 1), i);
	}
}

/* Up to a cell from the left and from above. */
static void wavefront(struct program *p, struct rng *r)
{
	uint32_t width = rng_range(r, 2, 16), i;

	for (i = 0; i < p->nr_tasks; i++) {
		if (i % width)
			add(p, i - 1, i);
		if (i >= width)
			add(p, i - width, i);
	}
}

static const struct {
	const char *name;
	void (*fn)(struct program *p, struct rng *r);
} shapes[] = {
	{ "chains", chains },	  { "tree", tree_out },
	{ "reduction", tree_in }, { "fan", fan },
	{ "layers", layers },	  { "series-parallel", series_parallel },
	{ "sparse", sparse },	  { "wavefront", wavefront },
};

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t x = *a;

	*a = *b;
	*b = x;
}

static void shuffle_edges(struct program *p, struct rng *r)
{
	uint32_t i, j;

	for (i = p->nr_edges; i > 1; i--) {
		j = rng_range(r, 0, i - 1);
		swap(&p->edge[2 * i - 2], &p->edge[2 * j]);
		swap(&p->edge[2 * i - 1], &p->edge[2 * j + 1]);
	}
}

void shape_create(struct program *p, struct rng *r)
{
	uint32_t i = rng_range(r, 0, sizeof(shapes) / sizeof(shapes[0]) - 1);
	uint32_t task;

	p->shape = shapes[i].name;
	p->order = malloc((p->nr_tasks + 1) * sizeof(*p->order));
	p->edge = malloc((p->nr_tasks + 1) * MAX_IN * 2 * sizeof(*p->edge));
	if (!p->order || !p->edge)
		abort();
	for (task = 0; task < p->nr_tasks; task++)
		p->order[task] = task;
	if (rng_one_in(r, 2)) {
		for (task = p->nr_tasks; task > 1; task--)
			swap(&p->order[task - 1],
			     &p->order[rng_range(r, 0, task - 1)]);
	}
	if (p->nr_tasks)
		shapes[i].fn(p, r);
	shuffle_edges(p, r);
}
