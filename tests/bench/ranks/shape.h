/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs of several ranks as lists of tasks, in the order in which every rank
 * submits them. A task runs where the data is that it writes: "owner computes".
 *
 * stencil   a grid of blocks, one a rank, 20 steps of five points; a block is
 * its inner part and four edges, and a task reads the facing edges of its four
 * neighbours whole     the same, where a block is one data: neighbours read all
 * of it cholesky  right-looking, 48 x 48 tiles for 16 ranks, 96 for 256, 128
 * for 1,024, dealt to a grid of ranks cyclically in both directions tree      a
 * sum over all ranks by pairs, and its result back to all
 */
#ifndef TESTS_BENCH_RANKS_SHAPE_H
#define TESTS_BENCH_RANKS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_MAX_USES 14

enum {
	SHAPE_READ = 1,
	SHAPE_WRITE = 2,
	SHAPE_BOTH = 3
};

struct shape_use {
	uint32_t data;
	uint32_t mode;
};

struct shape_task {
	uint32_t rank; /* it runs there */
	uint32_t nr_uses;
	struct shape_use use[SHAPE_MAX_USES];
	double cost_ns; /* of its body, on one core */
};

struct shape {
	const char *name;
	uint32_t nr_ranks, nr_data, nr_tasks, room;
	uint32_t *owner; /* of each data */
	uint64_t *bytes; /* of each data */
	struct shape_task *task;
};

/* The names; NULL ends them. */
extern const char *const shape_names[];

/* nr_ranks: a power of two. Return: false: no such shape, or no memory. */
bool shape_make(struct shape *s, const char *name, uint32_t nr_ranks);
void shape_fini(struct shape *s);

#endif
