/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that are operations. The task's first body starts the operation and
 * leaves, as lkdf_then() does; when the operation is over the second of both
 * (complete.c) goes on: as the user's function, or with the end of the task.
 *
 * Without a ring the operation is tried on a thread of the blocking pool. An
 * operation that would wait long for somebody else (a pipe, a socket, a
 * timeout) lies with one thread that polls, and comes back to the pool when it
 * is ready. In serial mode the thread that drains does all of it.
 */
#ifndef IO_IO_H
#define IO_IO_H

#include "base/list.h"
#include "base/own_fd.h"
#include "io/io_fixed.h"
#include "ring/io_op.h"
#include "scope/scope.h"
#include "task/task.h"

#include <poll.h>
#include <pthread.h>

struct io_multi;
struct io_ring;

struct io_req {
	struct io_op op;
	struct task *task;
	int64_t end_ns; /* of a timeout that lies in the list; -1: never */
	struct list list; /* of those that wait, or of a ring */
	struct io_req *next; /* of those that a ring has no room for */
	struct blocking_item item;
	struct io_multi *multi; /* see io_multi.h; NULL: it comes once */
	_Atomic(bool) is_stopping; /* not wanted, whatever its scope says */

	struct io_ring *ring; /* the last that had it; NULL: none */

	/* Under the ring's lock, while it is under way there: slots; < 0. */
	int8_t fixed[IO_NR_FIXED];

	/* See io_chain.h. */
	struct io_req *head; /* of its chain; NULL: it is in none */
	struct io_req *behind; /* next of the chain, or done ahead */
	_Atomic(uint32_t) nr_to_come; /* the head's: of the chain */
	uint32_t index; /* one behind: of its task in the frame */
	int32_t came; /* in a chain */
	enum io_next how; /* one done ahead */

	/* The body that began it, while recording; 0: nobody records. */
	uint64_t begin_ticks, begin_by;
};

/* Those that wait for a descriptor or a time, and who polls. */
struct io_wait {
	/* Set with the thread, constant afterwards. */
	pthread_t thread;

	/* The polling thread only. */
	struct pollfd *fds;
	size_t nr_fds;

	/* Around a poll and the accept that follows. */
	pthread_mutex_t accept_lock;

	/* Any thread; a guess: the last that was peeked at in vain, or -1. */
	_Atomic(int) blind_fd;

	/* Under lock. */
	pthread_mutex_t lock;
	struct list list;
	struct own_fd wake; /* an eventfd: the list has changed */
	bool is_started, is_stopping;
	bool has_thread; /* else a thread of the user polls; constant then */
	bool has_missed; /* see io_wait_again() */
};

enum io_mode {
	IO_STEAL,
	IO_THREADS,
};

#define IO_UNKNOWN 1

/* See io_ring.h. */
struct io_rings {
	/* Set at open, constant afterwards. */
	int mode;
	_Atomic(struct io_ring *) *ring; /* by worker; NULL: none yet */
	struct io_unattended *unattended; /* by node: see io_far.h */
	size_t nr_nodes; /* that unattended has room for */

	/* Any thread; set under the runtime's lock. */
	_Atomic(int) error; /* why there are none, 0, or IO_UNKNOWN */
	_Atomic(uint32_t) nr;
	_Atomic(int) lacks; /* a worker that has none: id and why; or 0 */
	_Atomic(int) threads_error; /* why the kernel's are not as told */
	int *bell; /* under lock: of each node; < 0: none */
	struct io_fixed
		fixed[IO_NR_FIXED]; /* under lock: what users register */
};

/* The sort of kinds whose tasks are operations. */
extern const struct kind_ops io_kinds;

/* On a worker: to its ring, else to the pool. */
void io_issue(struct worker *w, struct io_req *r);

/* Gives the operation to the pool; any thread of the runtime's. */
void io_issue_call(struct executor *ex, struct io_req *r);

/* On a thread of the pool, or the one that drains: as far as it goes. */
void io_run(struct executor *ex, struct io_req *r);
void io_run_in_pool(void *executor, struct blocking_item *item);

/* For io_kinds, see core/ops.h. */
int io_begin(struct lkdf_ctx *c, void *arg);
bool io_ended(struct executor *ex, struct task *t);
bool io_goes_home(struct executor *ex, struct task *t);

/* The operation is over, with op.result: the task goes on when it leaves. */
void io_is_over(struct task *t);

/* The rings of all workers, and who waits for a descriptor. */
extern const struct completion_ops io_completions;

/* mode: enum io_mode. -ENOMEM. */
int io_init(struct lkdf *rt, int mode);

/* Joins the thread; nothing is under way. */
void io_stop(struct lkdf *rt);

/* After it, when no worker is left that could wake the thread. */
void io_fini(struct lkdf *rt);

/* In a forked child. */
void io_abandon(struct lkdf *rt);

/* Is it not wanted any more? */
static inline bool io_cancelled(const struct io_req *r)
{
	return a_load(&r->is_stopping, relaxed) ||
	       (!(r->task->kind->flags & LKDF_ALWAYS) &&
		scope_cancelled(r->task->scope));
}

/* ---- io_wait.c ---------------------------------------------------------- */

void io_wait_init(struct io_wait *q);

/* Makes sure of the thread that polls. -EAGAIN: no thread to be had. */
int io_wait_require(struct lkdf *rt);

/* -EAGAIN: no thread to be had, and the caller keeps it. */
int io_wait_add(struct lkdf *rt, struct io_req *r);

/* Cancels in the rings until nothing is left that was missed. */
void io_wait_again(struct lkdf *rt);

bool io_wait_has_some(struct io_wait *q);

/* Looks at once whose scope is cancelled. */
void io_wait_wake(struct io_wait *q);

/*
 * Polls for at most so long. Those that are ready leave the list for *ready;
 * the thread that polls only.
 */
void io_wait_poll(struct io_wait *q, int64_t timeout_ns, struct list *ready);

/* The thread ends; whoever wakes it later wakes nobody. */
void io_wait_stop(struct io_wait *q, bool has_thread);

/* After it; no other thread knows of q any more. */
void io_wait_fini(struct io_wait *q);

#endif
