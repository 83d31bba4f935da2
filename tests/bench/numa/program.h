/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Task programs whose remote traffic is counted, the same for all runtimes: a
 * table of tasks with the blocks they use, their predecessors, the node that
 * owns what they write, and the words they walk through. Memory is fresh in
 * each round, so pages follow whoever writes first, if nobody places them.
 *
 * stencil  64 blocks of 512 KiB twice, a task for each block to write it
 *          first and 20 sweeps; a task reads its block and 512 words of each
 *          neighbour and writes the other copy of its block
 * skewed   the same, but the bodies of a quarter of the blocks walk three
 *          times, which nobody has said before; bodies are timed
 * tree     255 tasks: each but the 128 leaves writes 512 KiB, each but the
 *          root reads what its parent wrote
 * wave     16 by 16 tasks, each writes 512 KiB and reads what its neighbours
 *          above and to the left wrote
 * chol     Cholesky of 12 by 12 tiles of 128 KiB, 364 tasks, 5 runs; a task
 *          reads each word of its operands once and writes those of the tile
 *          that it changes. 78 tasks before write one word of each page
 * reduce   128 tasks write 512 KiB each and 127 add them up in pairs, in
 *          place, 3 runs over the same memory
 * local    64 chains of 8 tasks that read and write a block of 256 KiB of
 *          their own; counted only while all nodes have plenty of tasks
 */
#ifndef TESTS_BENCH_NUMA_PROGRAM_H
#define TESTS_BENCH_NUMA_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROGRAM_NODES 4
#define PROGRAM_WORKERS 8 /* two on each node */
#define TASK_MAX_PREDS 3
#define TASK_MAX_USES 4
#define TASK_MAX_SPANS 4

struct block_use {
	uint32_t block;
	uint16_t is_read, is_written;
};

struct span {
	uint16_t use, is_written;
	uint32_t first, nr_words, step; /* in words */
};

struct task {
	struct program *program;
	uint32_t id, nr_preds, nr_spans, nr_uses;
	uint32_t owner; /* worker; its node is owner / 2 */
	uint32_t nr_walks; /* of its spans */
	uint32_t pred[TASK_MAX_PREDS];
	struct span span[TASK_MAX_SPANS];
	struct block_use use[TASK_MAX_USES];
	uint64_t *at[TASK_MAX_USES]; /* in the arena */
};

struct program {
	const char *name;
	struct task *task; /* predecessors have lower numbers */
	uint32_t nr_tasks;
	uint32_t nr_repeats; /* one run after another, over the same memory */
	uint32_t nr_blocks, block_words;
	uint32_t is_fresh; /* a block has one writer and no value afterwards */
	uint64_t nr_bytes; /* that all bodies touch */

	/* By bodies. */
	uint32_t *nr_runs; /* of each task */
	uint32_t nr_too_early; /* predecessor had not run */

	/* Bodies are timed: ns by node. */
	uint32_t is_timed;
	uint64_t time[PROGRAM_NODES];

	/* Bodies set the marks; how many tasks each node has run. */
	uint32_t is_gated;
	uint32_t nr_done[PROGRAM_NODES], gate; /* 0 shut, 1 open, 2 shut */
	uint32_t nr_tasks_counted;
};

static inline int task_node(const struct task *t)
{
	return (int)(t->owner * PROGRAM_NODES / PROGRAM_WORKERS);
}

/* NULL after a line on stderr; memory is in the counter's arena. */
struct program *program_create(const char *name);
void program_destroy(struct program *p);

/* The body of every task in every runtime; at: the blocks of its uses. */
void program_body(struct task *t, uint64_t *const *at);

/* After a run: 0, or -1 and a line on stderr: order or number was wrong. */
int program_check(const struct program *p);

#ifdef __cplusplus
}
#endif
#endif
