/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Each shape is a function that lists the predecessors of one task. */
#include "tests/bench/shapes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8
#define RANDOM_PREDS 4
#define MAX_PREDS 5

/* What a rule may look at: the square's side and its own random numbers. */
struct drawing {
	uint32_t side;
	uint64_t random;
};

/* Writes at most MAX_PREDS predecessors; returns how many. */
typedef unsigned (*shape_rule)(struct drawing *d, uint32_t task, uint32_t *out);

static unsigned chain_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	out[0] = task - 1;
	return task > 0;
}

static unsigned tree_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	out[0] = (task - 1) / 2;
	return task > 0;
}

static unsigned wave_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	unsigned nr = 0;

	if (task >= d->side)
		out[nr++] = task - d->side;
	if (task % d->side)
		out[nr++] = task - 1;
	return nr;
}

static uint32_t next_random(struct drawing *d)
{
	d->random = d->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(d->random >> 33);
}

static bool is_listed(const uint32_t *list, unsigned nr, uint32_t what)
{
	while (nr--)
		if (list[nr] == what)
			return true;
	return false;
}

/* So many of the row before, which is @width wide. */
static unsigned pick_preds(struct drawing *d, uint32_t task, uint32_t width,
			   unsigned wanted, uint32_t *out)
{
	unsigned nr = 0;
	uint32_t row = task / width, pick;

	if (!row)
		return 0;
	while (nr < wanted && nr < width) {
		pick = (row - 1) * width + next_random(d) % width;
		if (!is_listed(out, nr, pick))
			out[nr++] = pick;
	}
	return nr;
}

static unsigned random_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	return pick_preds(d, task, d->side, RANDOM_PREDS, out);
}

static unsigned random_3_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	return pick_preds(d, task, COLUMNS, 3, out);
}

/* Those of the row before that are at most @reach columns away. */
static unsigned near_preds(uint32_t task, uint32_t reach, uint32_t *out)
{
	uint32_t column = task % COLUMNS, i;
	unsigned nr = 0;

	if (task < COLUMNS)
		return 0;
	for (i = 0; i < COLUMNS; i++)
		if (i + reach >= column && i <= column + reach)
			out[nr++] = task - COLUMNS - column + i;
	return nr;
}

static unsigned stencil_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	return near_preds(task, 1, out);
}

static unsigned nearest_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	return near_preds(task, 2, out);
}

static unsigned front_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	unsigned nr = 0;

	(void)d;
	if (task >= COLUMNS)
		out[nr++] = task - COLUMNS;
	if (task % COLUMNS)
		out[nr++] = task - 1;
	return nr;
}

static unsigned no_comm_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	out[0] = task - COLUMNS;
	return task >= COLUMNS;
}

static unsigned bcast_preds(struct drawing *d, uint32_t task, uint32_t *out)
{
	(void)d;
	out[0] = task - COLUMNS - task % COLUMNS + task % COLUMNS / 2;
	return task >= COLUMNS;
}

enum shape_size {
	SIZE_ANY,
	SIZE_TREE,
	SIZE_SQUARE,
	SIZE_COLUMNS
};

static const struct {
	const char *name;
	enum shape_size size;
	unsigned max_preds;
	shape_rule rule;
} shapes[] = {
	{ "chain", SIZE_ANY, 1, chain_preds },
	{ "tree", SIZE_TREE, 1, tree_preds },
	{ "wave", SIZE_SQUARE, 2, wave_preds },
	{ "random", SIZE_SQUARE, RANDOM_PREDS, random_preds },
	{ "stencil_1d", SIZE_COLUMNS, 3, stencil_preds },
	{ "no_comm", SIZE_COLUMNS, 1, no_comm_preds },
	{ "bcast_tree", SIZE_COLUMNS, 1, bcast_preds },
	{ "nearest", SIZE_COLUMNS, 5, nearest_preds },
	{ "random_3", SIZE_COLUMNS, 3, random_3_preds },
	{ "wavefront", SIZE_COLUMNS, 2, front_preds },
};

static uint32_t side_of(uint32_t nr)
{
	uint32_t side = 1;

	while ((uint64_t)(side + 1) * (side + 1) <= nr)
		side++;
	return side;
}

static uint32_t tasks_of(enum shape_size size, uint32_t nr)
{
	uint32_t all = 1;

	switch (size) {
	case SIZE_TREE:
		while ((uint64_t)all * 2 + 1 <= nr)
			all = all * 2 + 1;
		return all;
	case SIZE_SQUARE:
		return side_of(nr) * side_of(nr);
	case SIZE_COLUMNS:
		return nr - nr % COLUMNS;
	default:
		return nr;
	}
}

static void list_preds(struct shape *s, shape_rule rule)
{
	struct drawing d = { side_of(s->nr_tasks), 1 };
	uint32_t i;

	for (i = 0; i < s->nr_tasks; i++) {
		s->pred_at[i] = s->nr_edges;
		s->nr_edges += rule(&d, i, s->pred + s->nr_edges);
	}
	s->pred_at[s->nr_tasks] = s->nr_edges;
}

/* Counts, sums up, then puts each edge in its place. */
static void list_succs(struct shape *s)
{
	uint32_t e, i;

	for (e = 0; e < s->nr_edges; e++)
		s->succ_at[s->pred[e] + 2]++;
	for (i = 2; i < s->nr_tasks + 2; i++)
		s->succ_at[i] += s->succ_at[i - 1];
	for (i = 0; i < s->nr_tasks; i++)
		for (e = s->pred_at[i]; e < s->pred_at[i + 1]; e++)
			s->succ[s->succ_at[s->pred[e] + 1]++] = i;
}

static uint32_t *words(uint64_t nr)
{
	return (uint32_t *)calloc(nr, sizeof(uint32_t));
}

int shape_init(struct shape *s, const char *name, uint32_t nr)
{
	unsigned i, nr_shapes = sizeof(shapes) / sizeof(shapes[0]);
	uint64_t edges;

	for (i = 0; i < nr_shapes && strcmp(shapes[i].name, name); i++)
		;
	if (i == nr_shapes || !nr)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	s->nr_tasks = tasks_of(shapes[i].size, nr);
	if (!s->nr_tasks)
		return -EINVAL;
	edges = (uint64_t)s->nr_tasks * shapes[i].max_preds + MAX_PREDS;
	s->pred_at = words((uint64_t)s->nr_tasks + 1);
	s->pred = words(edges);
	s->succ_at = words((uint64_t)s->nr_tasks + 2);
	s->succ = words(edges);
	if (!s->pred_at || !s->pred || !s->succ_at || !s->succ) {
		shape_fini(s);
		return -ENOMEM;
	}
	list_preds(s, shapes[i].rule);
	list_succs(s);
	return 0;
}

void shape_fini(struct shape *s)
{
	free(s->pred_at);
	free(s->pred);
	free(s->succ_at);
	free(s->succ);
	memset(s, 0, sizeof(*s));
}

int shape_all_ran(const struct shape *s, const uint32_t *count, uint32_t want)
{
	uint32_t i;

	for (i = 0; i < s->nr_tasks; i++)
		if (count[i] != want)
			return 0;
	return 1;
}

int shape_in_order(const struct shape *s, const uint32_t *count, uint32_t task)
{
	uint32_t e, now;

	for (e = s->pred_at[task]; e < s->pred_at[task + 1]; e++) {
		now = __atomic_load_n(&count[s->pred[e]], __ATOMIC_RELAXED);
		if (now != count[task] + 1)
			return 0;
	}
	return 1;
}
