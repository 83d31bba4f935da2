/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime: all state hangs off this struct. Everything that runs lives in
 * its root scope; everything that a user holds counts in nr_handles.
 */
#ifndef CORE_RUNTIME_H
#define CORE_RUNTIME_H

#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "core/failure.h"
#include "core/handle.h"
#include "core/poller.h"
#include "core/stock.h"
#include "mem/pool.h"
#include "ring/blocking.h"
#include "sched/sched.h"
#include "signal/listen.h"
#include "signal/windows.h"
#include "signal/workers.h"
#include "trace/hooks.h"
#include "trace/trace.h"

#include <sched.h>

#define FN_KINDS 64 /* buckets */

/* Frames of sealed graphs are found by number: two levels of 256. */
#define FRAME_CHUNK 256

struct after;
struct ask;
struct board;
struct completion_ops;
struct devices;
struct event_shard;
struct fixes;
struct fn_kind;
struct frame;
struct io_rings;
struct io_wait;
struct lkdf_data;
struct lkdf_kind;
struct lkdf_limit;
struct lkdf_place;
struct lkdf_scope;
struct lkdf_thread;
struct narrowing;
struct runtime_parts;
struct seal_pass;
struct task;
struct urgent;
struct watch;

/* See threads.h. */
struct thread_wish {
	char name[8]; /* "": lkdf */
	void (*begins)(void *u, const struct lkdf_thread *t); /* or NULL */
	void *u;
};

struct lkdf {
	/* Set at open, constant afterwards. */
	struct log log;
	struct thread_wish thread_wish;
	struct options *options; /* constant too; of lib/api */
	struct fixes *fixes; /* the same, see api/fixes.h; NULL: none */
	struct topo *topo;
	struct heap *heap;
	struct board *board; /* where bytes are, see facts.h */
	struct lkdf_place *places; /* by node */
	const struct completion_ops *const *completions; /* NULL ends it */
	const struct seal_pass *const *seal_passes; /* NULL ends it */
	/*
	 * Serial mode: nothing is ready or under way, there is no timer, and
	 * this thread is about to wait for ever. It comes back where somebody
	 * else may yet do something.
	 */
	void (*stuck)(struct lkdf *rt);
	bool has_membarrier; /* where there are several workers */
	int bind_error; /* why memory cannot be bound to nodes, or 0 */
	struct executor *executors; /* workers, then the blocking pool */
	/* Stands for threads of the program in contexts of loops' blocks: it
	 * has a runtime and an id, and no thread. */
	struct executor *outside;
	struct trace trace;
	struct hooks hooks;
	struct runtime_parts *parts; /* what these point into: rt/open.c */
	struct lkdf_scope *root;
	struct lkdf_scope *fds; /* see event_poll.h */
	struct event_shard *event_shards; /* EVENT_SHARDS */
	struct io_wait *io_wait;
	struct io_rings *io_rings;
	struct devices *devices; /* see offload/devices.h */
	struct urgent *urgent; /* see task/urgent.h */
	struct watch *watch; /* see core/watch.h; NULL: nobody watches */
	struct notes *notes; /* see check/notes.h; NULL: nobody reads them */
	struct check *check; /* see check/fiber.h; NULL: nobody checks */
	struct ask *ask; /* see rt/ask.h; NULL: nobody answers */
	int nr_executors, nr_workers, nr_blocking;
	int nr_regular; /* of the workers; the others are substitutes */
	uint32_t spin_ticks; /* a body shorter than this is short */
	uint32_t clock_ticks; /* two reads of the clock, see clock_cost_ticks()
			       */
	/* 1; the kernel makes it 0 in a forked child. */
	_Atomic(uint32_t) *is_alive;

	/* Any thread. */
	struct sched sched;
	struct blocking blocking;
	struct listener listener; /* see facts.h */
	struct pollers pollers; /* see lkdf_poll_add() */
	struct workers signals; /* how the workers fare */
	struct windows windows; /* and where their time went lately */
	struct narrowing *narrowing; /* see task/narrowing.h; NULL: none */
	struct pool pool[NR_POOLS];
	struct stocks stocks; /* for threads of the user */
	_Atomic(uint64_t) nr_handles;
	_Atomic(uint32_t) nr_callers; /* user threads inside a signal */
	_Atomic(uint32_t) has_gang; /* it has worker 0, see task/gang.h */
	_Atomic(uint32_t) nr_seats; /* tasks that only hold a worker for it */
	_Atomic(uint32_t) next_spread; /* nodes of first values, in turn */
	_Atomic(struct lkdf_kind *) move_kind; /* see task/move.h */
	_Atomic(struct lkdf_kind *) poll_kind; /* see io/event_poll.h */
	_Atomic(uint32_t) nr_polled; /* serial mode; under poll_lock */
	_Atomic(bool)
		has_copies; /* a kernel has used data, see data/offhost.h */

	/* Under stocks_lock(): CPUs that one worker each is bound to. */
	cpu_set_t cpus;

	/* Under scope_lock: the tree of scopes. */
	pthread_mutex_t scope_lock;

	/* Under data_lock: all data, and those with names. */
	pthread_mutex_t data_lock;
	struct list all_data;
	void *data_names;

	/* Under kick_lock: running bodies with an on_cancel. */
	pthread_mutex_t kick_lock;
	struct task *kickable;
	_Atomic(uint32_t) nr_kicks; /* asked for, see task_kick() */

	/* Under poll_lock: serial mode, who waits for a descriptor. */
	struct lock poll_lock;
	struct list polled;

	/* Under after_lock: tasks that wait for events. */
	struct lock after_lock;
	struct after *waiting;

	/* Under failed_lock: what tasks keep of their children's errors. */
	struct lock failed_lock;

	/* Any thread: see core/failure.h. */
	struct told_errors told;

	/* Under lock. */
	pthread_mutex_t lock;
	struct lkdf_limit *limits;
	struct list handles; /* see handle.h */
	struct graves graves;
	uint32_t nr_frames; /* slots ever used */
	uint32_t free_frame; /* first free slot + 1 */
	struct lkdf_place *part_places; /* all parts; they stay until close */
	struct list kinds; /* all that tasks may have, the library's too */
	bool notes_kinds; /* see kind_note_all() */
	struct lkdf_kind *dead_kinds; /* see kind_put() */
	struct lkdf_kind *loop_kind; /* of pieces; made by the first loop */

	/* Changed under lock; any thread looks: see task/fn_kind.h. */
	_Atomic(struct fn_kind *) fn_kinds[FN_KINDS];

	/* Slots are set under lock before anybody knows their number. */
	struct frame **frames[FRAME_CHUNK];
};

/* This thread's executor in this runtime; NULL: a thread of the user. */
static inline struct executor *runtime_executor(struct lkdf *rt)
{
	struct executor *ex = thread_self()->executor;

	return ex && ex->rt == rt ? ex : NULL;
}

/* After a call of the user's that may have made work; ex may be NULL. */
static inline void runtime_show(struct executor *ex)
{
	if (ex && ex->worker)
		worker_show(ex->worker);
}

#define OUTSIDE_ID (-1) /* of lkdf.outside */

/* As which an executor allocates and pushes; NULL: a thread of the user. */
static inline struct executor *runtime_inside(struct executor *ex)
{
	return likely(ex->id != OUTSIDE_ID) ? ex : NULL;
}

/* An object of a pool; ex may be NULL. NULL: no memory or the cap. */
static inline void *runtime_alloc(struct lkdf *rt, struct executor *ex,
				  enum executor_pool pool)
{
	return likely(ex != NULL) ? magazine_get(&ex->magazine[pool])
				  : stock_get(rt, pool);
}

static inline void runtime_free(struct lkdf *rt, struct executor *ex,
				enum executor_pool pool, void *object)
{
	if (likely(ex != NULL))
		magazine_put(&ex->magazine[pool], object);
	else
		stock_put(rt, pool, object);
}

/* A task failed on this executor. */

/* This thread has woken a worker; ex may be NULL. */
void runtime_has_woken(struct lkdf *rt, struct executor *ex);

/* The thread has woken so many workers at once for a burst, beside the first.
 */
void runtime_count_wakes(struct lkdf *rt, struct executor *ex, uint32_t nr);

/* New work from outside a worker, or from a full deque. */
void runtime_push(struct lkdf *rt, struct executor *ex, struct link *link);

#endif
