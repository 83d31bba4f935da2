/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Spare threads: they run URGENT tasks that no worker comes for, as all are in
 * bodies. At most one a worker, in a pool of their own, so that they never take
 * a thread from kinds with LKDF_BLOCKING, for which such a body may wait.
 *
 * A task that may run there (TASK_URGENT) is public from the moment it is
 * ready. It lies in the deque of the worker that made it or in a backlog of a
 * node, in that of the class SPARE, which holds nothing else. Spare threads
 * take it there, as thieves do; workers do all that they do with other tasks,
 * and take one at a time from the backlog. So a task has one owner at any
 * time, and what is said here is only when somebody comes:
 *
 *	thread with a task                   worker
 *	(A) makes it public                  (C) leaves those who look for work
 *	(B) does anybody look, or sleep?     (D) is an urgent task left?
 *
 * If B finds nobody, the thread calls a spare one. Else a sleeper is woken,
 * which counts as one who looks, and the last of those who look comes to D:
 * either it sees the task and, as nobody else looks or sleeps, calls a spare
 * thread, or another worker has the task. A, B, C and D are seq_cst.
 *
 * A single spare thread is on its way at a time. When spin_us are over it is
 * there, and looks: what was public when somebody met it on its way, it sees.
 * Where it takes a task and leaves others it calls the next thread; where all
 * are in bodies, each looks for more behind its body. All under one lock: who
 * finds no thread to call has had the lock before the one that looks later.
 */
#ifndef TASK_URGENT_H
#define TASK_URGENT_H

#include "base/lock.h"
#include "ring/blocking.h"

#include <stdbool.h>

struct executor;
struct link;
struct lkdf;

struct urgent {
	/* Set at open, constant afterwards. */
	struct lkdf *rt;
	int max; /* threads; 0: none, serial mode */

	struct blocking pool;

	/* Under lock; nr and is_stopping are looked at without, too. */
	struct lock lock;
	bool is_coming; /* a thread, which has the item */
	_Atomic(uint32_t) nr; /* threads that come, or run tasks */
	_Atomic(uint32_t) is_stopping; /* a futex: nobody waits any more */
	struct blocking_item item;
};

/* How many there may be at most in this runtime, whose workers are counted. */
int urgent_threads(const struct lkdf *rt);

int urgent_open(struct lkdf *rt);

/* Joins the threads. No task is left; a worker may call still, in vain. */
void urgent_stop(struct lkdf *rt);
void urgent_close(struct lkdf *rt);

/* In a forked child. */
void urgent_abandon(struct lkdf *rt);

/* A task with TASK_URGENT is ready: to this worker's deque, or a backlog. */
void urgent_push(struct lkdf *rt, struct executor *ex, struct link *link,
		 int node);

/* D: calls a spare thread if nobody else comes for what is left. */
void urgent_look(void *rt);

#endif
