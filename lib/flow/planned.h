/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the runs of a planned graph tell the scheduler: how many bytes its
 * tasks have still to touch on each node, and how long that takes there. From
 * that a node knows whether it may take work from another one.
 */
#ifndef FLOW_PLANNED_H
#define FLOW_PLANNED_H

#include "flow/frame.h"

/* Of one graph; all set at seal, constant afterwards. */
struct planned {
	int64_t *bytes, *nr_tasks; /* by node, of one run */
	uint32_t *kib; /* by task: what it touches */
};

/* Empty; NULL: no memory. */
struct planned *planned_create(const struct lkdf_graph *g);
void planned_free(struct planned *p);

/* At seal: the task is planned for that node. */
void planned_add(struct planned *p, uint32_t task, int node, uint64_t bytes);

/* A run begins. */
void planned_begin(const struct frame *f);

/* A task is decided that never started. */
void planned_skip(const struct frame *f, uint32_t index);

/* Calls the body of a task that is starting now. */
int planned_call(struct lkdf_ctx *c, lkdf_fn body, void *arg);

#endif
