/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A guest is a thread of the program, or of another runtime, in the seat of a
 * worker whose own thread sleeps in a body for as long. Fields that are "this
 * worker only" are the guest's from guest_enter() to guest_leave(); the caller
 * orders both threads.
 */
#ifndef SCHED_GUEST_H
#define SCHED_GUEST_H

#include "sched/worker.h"

/* The thread as it was before, and the stack that the worker has. */
struct guest {
	void *executor;
	void *loop, *loop_task;
	struct depth depth;
};

void guest_enter(struct guest *g, struct worker *w);
void guest_leave(const struct guest *g, struct worker *w);

#endif
