/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The state of a body while it runs. It lies on the stack of the run loop: one
 * for a whole chain of a graph's tasks, one for each dynamic task.
 *
 * after is negative when more than the return value has to be looked at after
 * the body: children, a continuation, a text. So one test covers both.
 */
#ifndef TASK_CTX_H
#define TASK_CTX_H

#include "sched/executor.h"

#include <lkdf/kind.h>

#define AFTER_LOOK INT32_MIN
#define CTX_NR_BYTES 16

struct owner_ops;

struct lkdf_ctx {
	/* The body's own thread only. */
	struct executor *ex;
	struct task *task; /* NULL: a graph's task without a task of its own */
	const struct owner_ops *owner; /* where frame is set, or may be */
	struct frame *frame; /* NULL: a dynamic task */
	uint32_t index; /* in frame */
	int32_t after;
	int32_t input_err;
	uint32_t nr_bytes;
	void **bytes; /* of each use; nr_bytes 0: not so simple; NULL: no room
		       */
	bool leaves; /* by then */
	bool has_spawned; /* or left, or holds: has a task of its own */
	bool in_order; /* of a run that goes by its static order */
	bool put_off; /* not started: somebody else has its tokens */
	bool is_told; /* by a channel that it must wait, see again.h */
	bool has_groups; /* its task's groups are set, see group.h */
	bool has_why; /* the thread's error text says why it failed */
	bool pad; /* without it gcc calls memset() for each new context */
};

#endif
