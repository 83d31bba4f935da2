/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of a graph that need more than a record: they spawn, hold, block, take
 * limits or have work done elsewhere. Such a task has an object of its own
 * (task/task.h), whose owner is its run: own_task_ops, see core/ops.h.
 */
#ifndef RUN_OWN_TASK_H
#define RUN_OWN_TASK_H

#include "core/ops.h"
#include "run/frame.h"
#include "task/task.h"

extern const struct owner_ops own_task_ops;

/* Creates a task that is ready to start. NULL: no memory. */
struct task *own_task_create(struct executor *ex, struct frame *f,
			     uint32_t index);

/* On a worker, what a link of type LINK_TASK_DONE asks for: it is resolved. */
void own_task_resolve(struct worker *w, struct task *t);

#endif
