/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Task programs whose remote traffic is counted, the same for all runtimes: a
 * table of tasks with their predecessors, the node that owns what they write,
 * and the words they walk through. Memory is fresh in each round, so pages
 * follow whoever writes first.
 *
 * stencil  64 blocks of 512 KiB twice, a task for each block to write it
 *          first and 20 sweeps; a task reads its block and 512 words of each
 *          neighbour and writes the other copy of its block
 * tree     255 tasks: each but the 128 leaves writes 512 KiB, each but the
 *          root reads what its parent wrote
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
#define TASK_MAX_SPANS 4

struct span {
	uint64_t *at;
	uint32_t nr_words, is_written;
};

struct task {
	struct program *program;
	uint32_t id, nr_preds, nr_spans;
	uint32_t owner; /* worker; its node is owner / 2 */
	uint32_t pred[TASK_MAX_PREDS];
	struct span span[TASK_MAX_SPANS];
};

struct program {
	const char *name;
	struct task *task; /* predecessors have lower numbers */
	uint32_t nr_tasks;
	uint64_t nr_bytes; /* that all bodies touch */

	/* By bodies. */
	uint32_t *nr_runs; /* of each task */
	uint32_t nr_too_early; /* predecessor had not run */

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

/* The body of every task in every runtime. */
void program_body(struct task *t);

/* After a run: 0, or -1 and a line on stderr: order or number was wrong. */
int program_check(const struct program *p);

#ifdef __cplusplus
}
#endif
#endif
