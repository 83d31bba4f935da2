/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that start after events. A task starts when two have arrived: its data
 * and its events. It is listed until then, and if it is cancelled it does not
 * wait for its events any more; what they still need stays until they fire.
 *
 * The first event by number that has an error makes the task skipped.
 */
#ifndef TASK_AFTER_H
#define TASK_AFTER_H

#include "scope/event.h"
#include "task/task.h"

struct after_input {
	struct event_waiter waiter;
	struct after *after;
	struct lkdf_event event;
	struct failure *failure; /* of error, one reference */
	int error;
};

struct after {
	/* Any thread. */
	_Atomic(uint32_t) nr_refs; /* the task, who arms it, events to come */
	_Atomic(uint32_t) nr_left; /* events to come, 1 who arms it */
	_Atomic(uint32_t) nr_arrivals; /* 2: it starts */

	/* Set before it is armed, constant afterwards. */
	struct task *task;
	struct lkdf *rt;
	uint32_t nr;
	bool is_listed;

	/* The thread that starts the task, then the body's. */
	bool came_last; /* the events did, after the data */

	/* Under the runtime's after_lock. */
	struct after *next, **prev; /* prev NULL: not in the list */
	bool is_over; /* the events, or the waiting for them */
	int cancel_err; /* is_over before they fired */
	struct after *late; /* of those that one cancel ends */

	struct after_input input[];
};

/* Takes references. -ESTALE; -EINVAL; -ENOMEM. */
int after_create(struct task *t, const struct lkdf_event *e, unsigned nr);

/* The task never started. */
void after_destroy(struct task *t);

/* The task has ended. */
void after_end(struct task *t);

/* Once its place among the uses is taken; has_data: and its data is there. */
void after_start(struct executor *ex, struct task *t, bool has_data);

/* Its data is there, or its events. */
void after_arrive(struct executor *ex, struct task *t);

/* Before the body: 0, or an errno > 0 and what failed, borrowed. */
int after_begin(struct task *t, struct failure **failure);

/* The error of an event; 0: no such, or none. */
int after_error(const struct task *t, unsigned index);

/* Something was cancelled: whoever waits in it goes on. */
void after_cancel(struct lkdf *rt);

/* The runtime closes: events that never fired. */
void after_close(struct lkdf *rt);

/* 0, or the error of the cancel that ended its waiting. */
static inline int after_cancelled(const struct after *x)
{
	return x->cancel_err;
}

#endif
