/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/ranks/shape.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 20
#define SIDE 1024 /* of a block, doubles */
#define TILE 256 /* of Cholesky, doubles */
#define FLOPS_PER_NS 20.0 /* of a core */
#define BYTES_PER_NS 5.0 /* that a stencil moves on a core */
#define TREE_BYTES 8192

const char *const shape_names[] = { "stencil", "whole", "cholesky", "tree",
				    NULL };

enum {
	INNER,
	NORTH,
	SOUTH,
	WEST,
	EAST,
	PARTS
};

/* Ranks stand in a grid that is at most twice as wide as high. */
static void cut_grid(uint32_t nr, uint32_t *rows, uint32_t *cols)
{
	for (*rows = 1; *rows * *rows * 4 <= nr; *rows *= 2)
		;
	*cols = nr / *rows;
}

static bool make_data(struct shape *s, uint32_t nr)
{
	s->nr_data = nr;
	s->owner = calloc(nr, sizeof(*s->owner));
	s->bytes = calloc(nr, sizeof(*s->bytes));
	return s->owner && s->bytes;
}

static struct shape_task *add_task(struct shape *s, uint32_t rank,
				   double cost_ns)
{
	uint32_t room = s->room ? 2 * s->room : 1024;
	struct shape_task *grown;

	if (s->nr_tasks == s->room) {
		grown = realloc(s->task, room * sizeof(*grown));
		if (!grown)
			return NULL;
		s->task = grown;
		s->room = room;
	}
	grown = &s->task[s->nr_tasks++];
	grown->rank = rank;
	grown->cost_ns = cost_ns;
	grown->nr_uses = 0;
	return grown;
}

static void add_use(struct shape_task *t, uint32_t data, uint32_t mode)
{
	t->use[t->nr_uses++] = (struct shape_use){ data, mode };
}

/* Data of block b in the grid of one of the two times. */
static uint32_t part_of(const struct shape *s, uint32_t nr_parts, int time,
			uint32_t b, uint32_t part)
{
	return ((uint32_t)time * s->nr_ranks + b) * nr_parts + part;
}

/* What block b reads of its neighbour in a direction, if there is one. */
static void add_neighbour(const struct shape *s, struct shape_task *t,
			  uint32_t nr_parts, int time, uint32_t b, int part)
{
	static const int row[PARTS] = { 0, -1, 1, 0, 0 };
	static const int col[PARTS] = { 0, 0, 0, -1, 1 };
	static const uint32_t facing[PARTS] = { INNER, SOUTH, NORTH, EAST,
						WEST };
	uint32_t rows, cols, at;
	int r, c;

	cut_grid(s->nr_ranks, &rows, &cols);
	r = (int)(b / cols) + row[part];
	c = (int)(b % cols) + col[part];
	if (r < 0 || c < 0 || r >= (int)rows || c >= (int)cols)
		return;
	at = (uint32_t)r * cols + (uint32_t)c;
	add_use(t,
		part_of(s, nr_parts, time, at, nr_parts > 1 ? facing[part] : 0),
		SHAPE_READ);
}

static bool make_stencil(struct shape *s, uint32_t nr_parts)
{
	const uint64_t bytes = (uint64_t)SIDE * SIDE * sizeof(double);
	struct shape_task *t;
	uint32_t b, i;
	int step, part;

	if (!make_data(s, 2 * s->nr_ranks * nr_parts))
		return false;
	for (i = 0; i < s->nr_data; i++) {
		s->owner[i] = i / nr_parts % s->nr_ranks;
		s->bytes[i] = i % nr_parts ? SIDE * sizeof(double) : bytes;
	}
	for (step = 0; step < STEPS; step++)
		for (b = 0; b < s->nr_ranks; b++) {
			t = add_task(s, b, 2.0 * (double)bytes / BYTES_PER_NS);
			if (!t)
				return false;
			for (i = 0; i < nr_parts; i++) {
				add_use(t, part_of(s, nr_parts, step % 2, b, i),
					SHAPE_READ);
			}
			for (part = NORTH; part < PARTS; part++)
				add_neighbour(s, t, nr_parts, step % 2, b,
					      part);
			for (i = 0; i < nr_parts; i++) {
				add_use(t,
					part_of(s, nr_parts, !(step % 2), b, i),
					SHAPE_WRITE);
			}
		}
	return true;
}

static uint32_t nr_tiles(uint32_t nr_ranks)
{
	return nr_ranks >= 1024 ? 128 : nr_ranks >= 256 ? 96 : 48;
}

/* Updates tile i,j by what was made in column k: gemm, or syrk on the diagonal.
 */
static bool add_update(struct shape *s, uint32_t n, uint32_t k, uint32_t i,
		       uint32_t j)
{
	double flops = (i == j ? 1.0 : 2.0) * TILE * TILE * TILE;
	struct shape_task *t =
		add_task(s, s->owner[i * n + j], flops / FLOPS_PER_NS);

	if (!t)
		return false;
	add_use(t, i * n + k, SHAPE_READ);
	if (i != j)
		add_use(t, j * n + k, SHAPE_READ);
	add_use(t, i * n + j, SHAPE_BOTH);
	return true;
}

static bool add_column(struct shape *s, uint32_t n, uint32_t k)
{
	const double cube = (double)TILE * TILE * TILE / FLOPS_PER_NS;
	struct shape_task *t = add_task(s, s->owner[k * n + k], cube / 3);
	uint32_t i, j;

	if (!t)
		return false;
	add_use(t, k * n + k, SHAPE_BOTH);
	for (i = k + 1; i < n; i++) {
		t = add_task(s, s->owner[i * n + k], cube);
		if (!t)
			return false;
		add_use(t, k * n + k, SHAPE_READ);
		add_use(t, i * n + k, SHAPE_BOTH);
	}
	for (j = k + 1; j < n; j++)
		for (i = j; i < n; i++)
			if (!add_update(s, n, k, i, j))
				return false;
	return true;
}

static bool make_cholesky(struct shape *s)
{
	uint32_t n = nr_tiles(s->nr_ranks), rows, cols, i, k;

	cut_grid(s->nr_ranks, &rows, &cols);
	if (!make_data(s, n * n))
		return false;
	for (i = 0; i < n * n; i++) {
		s->owner[i] = i / n % rows * cols + i % n % cols;
		s->bytes[i] = TILE * TILE * sizeof(double);
	}
	for (k = 0; k < n; k++)
		if (!add_column(s, n, k))
			return false;
	return true;
}

/* Pairs of a distance: up, the lower one adds; down, the higher one copies. */
static bool add_level(struct shape *s, uint32_t distance, bool is_up)
{
	struct shape_task *t;
	uint32_t b, high;

	for (b = 0; b + distance < s->nr_ranks; b += 2 * distance) {
		high = b + distance;
		t = add_task(s, is_up ? b : high, 2000);
		if (!t)
			return false;
		add_use(t, is_up ? high : b, SHAPE_READ);
		add_use(t, is_up ? b : high, is_up ? SHAPE_BOTH : SHAPE_WRITE);
	}
	return true;
}

static bool make_tree(struct shape *s)
{
	uint32_t i, distance;

	if (!make_data(s, s->nr_ranks))
		return false;
	for (i = 0; i < s->nr_data; i++) {
		s->owner[i] = i;
		s->bytes[i] = TREE_BYTES;
	}
	for (distance = 1; distance < s->nr_ranks; distance *= 2)
		if (!add_level(s, distance, true))
			return false;
	for (distance /= 2; distance; distance /= 2)
		if (!add_level(s, distance, false))
			return false;
	return true;
}

bool shape_make(struct shape *s, const char *name, uint32_t nr_ranks)
{
	*s = (struct shape){ .name = name, .nr_ranks = nr_ranks };
	if (!strcmp(name, "stencil"))
		return make_stencil(s, PARTS);
	if (!strcmp(name, "whole"))
		return make_stencil(s, 1);
	if (!strcmp(name, "cholesky"))
		return make_cholesky(s);
	return !strcmp(name, "tree") && make_tree(s);
}

void shape_fini(struct shape *s)
{
	free(s->owner);
	free(s->bytes);
	free(s->task);
	*s = (struct shape){ 0 };
}
