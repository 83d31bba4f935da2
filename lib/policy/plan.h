/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the blocks of a sealed graph should lie and its tasks should run,
 * from the accesses alone: chunks of each level in the order of submission,
 * then a few passes that move single blocks while a model of the time gets
 * better. Pure functions: plain arrays in, plain arrays out, the same every
 * time. No clock, nothing shared.
 *
 * The model: a task takes as long as the bytes it touches; those on another
 * node take longer, by its distance. A node's work counts within each bucket,
 * a stretch of levels with enough tasks for all workers, by its square, so
 * that no node gets much more than others at about the same time.
 */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define PLAN_NONE (-1) /* no node: unknown, anywhere */
#define PLAN_NO_BLOCK UINT32_MAX /* no partner; the task only reads */

/* The part of a body's time that it waits for memory. */
#define PLAN_MEMORY_SHARE 0.6
#define PLAN_PASSES 3

struct plan_machine {
	int nr_nodes; /* 1 .. 32767 */
	const int *nr_workers; /* by node; 0: runs no tasks; one has some */
	const int *distance; /* nr_nodes * nr_nodes, row is the reader */
};

/* A task has one for each block. */
struct plan_access {
	uint32_t block;
	uint8_t reads, writes; /* how often each byte is: 0, 1, .. */
	uint16_t share; /* of the block's bytes, in 65536ths; 0: all */
};

/* Everything is borrowed; tasks are in the order of submission. */
struct plan_graph {
	uint32_t nr_tasks, nr_blocks; /* below 2^31 */
	const uint32_t *level; /* by task, see plan_levels() */
	const uint32_t *first_access; /* nr_tasks + 1 */
	const struct plan_access *access; /* fewer than 2^31 */
	const uint64_t *bytes; /* by block; 0 is taken as 1 */
	const int16_t *fixed; /* by block: it lies there; NULL: none does */
};

/* Filled in; the arrays are the caller's. */
struct plan {
	int16_t *block; /* node; PLAN_NONE: no task has it, and not fixed */
	int16_t *task; /* node with workers; PLAN_NONE: it has no accesses */
	/* Each NULL: not wanted. */
	uint32_t *partner; /* by block */
	uint32_t *own; /* by task: the block it writes most of */
	double *est; /* by task: bytes it touches */
	double objective; /* of the model, in bytes; after the last pass */
};

/*
 * Longest path from a task without predecessors, in tasks, for each task.
 * first_succ has nr + 1 entries. Fast where all successors come later.
 * Return: 0; -ELOOP; -ENOMEM.
 */
int plan_levels(uint32_t nr, const uint32_t *first_succ, const uint32_t *succ,
		uint32_t *level);

/*
 * passes: PLAN_PASSES; 0: the chunks only. A block is moved to a node with
 * workers, never a fixed one. A task's node is that of the block it writes most
 * of (of several that are equal not always the first), its own, or, where that
 * node has no workers, the nearest that has; of a task that only reads, where
 * most of its bytes are.
 *
 * Partners are two blocks of which most tasks make each from the other, as the
 * two buffers of a sweep are; a task makes its block from what it reads most
 * of, of several that are equal the first. PLAN_NO_BLOCK: none.
 *
 * Time and memory: O(tasks + (blocks * (nodes + partners) + accesses)
 * * passes). Return: 0; -ENOMEM.
 */
int plan_make(const struct plan_machine *m, const struct plan_graph *g,
	      int passes, struct plan *p);

/* How much longer an access takes at a distance; 1 at 10, which is local. */
double plan_penalty(int distance);

/* The part of the block's bytes that an access touches, each once. */
static inline double plan_part(const struct plan_access *a, uint64_t bytes)
{
	double all = bytes ? (double)bytes : 1;

	return a->share ? all * a->share / 65536 : all;
}

/* The bytes of it that a task touches: the unit of all estimates. */
static inline double plan_touched(const struct plan_access *a, uint64_t bytes)
{
	return plan_part(a, bytes) * (a->reads + a->writes);
}

#endif
