/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task program as plain arrays, for the tests of the plan and of the steals:
 * a list of tasks with their accesses, in the order of submission. Who comes
 * after whom follows from that: a reader after the last writer, a writer after
 * the last writer and all readers since.
 */
#ifndef TESTS_UNIT_PLAN_PROGRAM_H
#define TESTS_UNIT_PLAN_PROGRAM_H

#include "base/util.h"
#include "policy/plan.h"
#include "tests/tap.h"

#define PROGRAM_KIB 1024ull

struct program {
	char name[32];
	struct plan_graph g;
	uint32_t cap_tasks, cap_accesses, cap_blocks, cap_edges;
	uint32_t *first_access, *level, *first_succ, *succ, *nr_pred;
	struct plan_access *access;
	uint64_t *bytes;
	double *weight; /* by task: body time / bytes touched; NULL: all 1 */
	/* For building: who is after whom. */
	uint32_t *edge; /* pairs */
	uint32_t nr_edges, *last_writer;
};

static void *program_grow(void *array, uint32_t nr, uint32_t *cap, size_t size)
{
	if (nr < *cap)
		return array;
	*cap = *cap ? 2 * *cap : 64;
	array = realloc(array, *cap * size);
	if (!array)
		exit(99);
	return array;
}

static struct program *program_new(const char *name)
{
	struct program *p = calloc(1, sizeof(*p));

	if (!p)
		exit(99);
	p->cap_tasks = 64;
	p->first_access = calloc(p->cap_tasks, sizeof(*p->first_access));
	if (!p->first_access)
		exit(99);
	snprintf(p->name, sizeof(p->name), "%s", name);
	return p;
}

static void program_free(struct program *p)
{
	free(p->first_access);
	free(p->level);
	free(p->first_succ);
	free(p->succ);
	free(p->nr_pred);
	free(p->access);
	free(p->bytes);
	free(p->weight);
	free(p->edge);
	free(p->last_writer);
	free(p);
}

/* Blocks are numbered from 0; the first of nr new ones. */
static uint32_t program_blocks(struct program *p, uint32_t nr, uint64_t bytes)
{
	uint32_t first = p->g.nr_blocks, i;

	for (i = 0; i < nr; i++) {
		p->bytes = program_grow(p->bytes, p->g.nr_blocks,
					&p->cap_blocks, sizeof(*p->bytes));
		p->bytes[p->g.nr_blocks++] = bytes;
	}
	return first;
}

static void program_task(struct program *p)
{
	uint32_t nr = p->g.nr_tasks;

	p->first_access = program_grow(p->first_access, nr + 1, &p->cap_tasks,
				       sizeof(*p->first_access));
	p->first_access[nr + 1] = p->first_access[nr];
	p->g.nr_tasks++;
}

/* Of the last task; share: 0 all. */
static void program_use(struct program *p, uint32_t block, const char *mode,
			uint16_t share)
{
	uint32_t nr = p->first_access[p->g.nr_tasks]++;

	p->access = program_grow(p->access, nr, &p->cap_accesses,
				 sizeof(*p->access));
	p->access[nr] =
		(struct plan_access){ block, strchr(mode, 'r') != NULL,
				      strchr(mode, 'w') != NULL, share };
}

static void program_edge(struct program *p, uint32_t from, uint32_t to)
{
	p->edge = program_grow(p->edge, 2 * p->nr_edges + 1, &p->cap_edges,
			       sizeof(*p->edge));
	p->edge[2 * p->nr_edges] = from;
	p->edge[2 * p->nr_edges++ + 1] = to;
}

/* The accesses to a block in their order: edges of the last one. */
static void program_order_block(struct program *p, const uint32_t *task,
				const bool *writes, uint32_t nr)
{
	uint32_t i, j, writer = 0;
	bool has_writer = false;

	for (i = 0; i < nr; i++) {
		if (has_writer && (!writes[i] || writer + 1 == i))
			program_edge(p, task[writer], task[i]);
		if (!writes[i])
			continue;
		for (j = has_writer ? writer + 1 : 0; j < i; j++)
			program_edge(p, task[j], task[i]);
		writer = i;
		has_writer = true;
	}
}

static void program_edges(struct program *p)
{
	uint32_t nr = p->first_access[p->g.nr_tasks], b, t, i, end, *first;
	uint32_t *task = malloc((nr + 1) * sizeof(*task));
	bool *writes = malloc((nr + 1) * sizeof(*writes));

	first = calloc(p->g.nr_blocks + 2, sizeof(*first));
	if (!first || !task || !writes)
		exit(99);
	for (i = 0; i < nr; i++)
		first[p->access[i].block + 2]++;
	for (b = 2; b < p->g.nr_blocks + 2; b++)
		first[b] += first[b - 1];
	for (t = 0; t < p->g.nr_tasks; t++) {
		end = p->first_access[t + 1];
		for (i = p->first_access[t]; i < end; i++) {
			b = first[p->access[i].block + 1]++;
			task[b] = t;
			writes[b] = p->access[i].writes;
		}
	}
	for (b = 0; b < p->g.nr_blocks; b++)
		program_order_block(p, task + first[b], writes + first[b],
				    first[b + 1] - first[b]);
	free(first);
	free(task);
	free(writes);
}

/* After the last task. */
static struct program *program_end(struct program *p)
{
	uint32_t nr = p->g.nr_tasks, t, i;

	program_edges(p);
	p->first_succ = calloc(nr + 2, sizeof(*p->first_succ));
	p->succ = calloc(p->nr_edges + 1, sizeof(*p->succ));
	p->nr_pred = calloc(nr + 1, sizeof(*p->nr_pred));
	p->level = calloc(nr + 1, sizeof(*p->level));
	if (!p->first_succ || !p->succ || !p->nr_pred || !p->level)
		exit(99);
	for (i = 0; i < p->nr_edges; i++) {
		p->first_succ[p->edge[2 * i] + 2]++;
		p->nr_pred[p->edge[2 * i + 1]]++;
	}
	for (t = 2; t < nr + 2; t++)
		p->first_succ[t] += p->first_succ[t - 1];
	for (i = 0; i < p->nr_edges; i++)
		p->succ[p->first_succ[p->edge[2 * i] + 1]++] =
			p->edge[2 * i + 1];
	if (plan_levels(nr, p->first_succ, p->succ, p->level))
		exit(99);
	p->g.level = p->level;
	p->g.first_access = p->first_access;
	p->g.access = p->access;
	p->g.bytes = p->bytes;
	return p;
}

#endif
