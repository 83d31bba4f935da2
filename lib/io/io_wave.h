/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The outcome of an operation that comes again and again, until the run or the
 * task that it starts has ended; and the operation's state.
 */
#ifndef IO_IO_WAVE_H
#define IO_IO_WAVE_H

#include "base/lock.h"
#include "core/runtime.h"
#include "io/io_multi.h"
#include "mem/heap.h"

enum multi_state {
	MULTI_RESTS,
	MULTI_ARMED,
	MULTI_OVER,
};

struct io_multi {
	/* Set at create, constant afterwards. */
	struct task *task;
	struct lkdf_io_feed feed;
	bool has_messages; /* nothing is a message, too */

	/* Used by the holder of the operation: a buffer of the pool's. */
	char *room;

	/* The task's body. */
	bool is_guarded; /* guard is queued, or has fired and is_due */
	int64_t guard_ns; /* its time */
	uint64_t seen_waves; /* that had come when it was added */
	struct timer guard; /* silent for so long; as the other one */
	int error; /* why a wave could not start */
	int64_t again_ns;
	struct timer timer; /* its end; fires under the timers' lock */

	/* Under lock. */
	struct lock lock;
	enum multi_state state;
	int64_t result; /* once it is over */
	struct list waves; /* that wait */
	uint64_t nr_waves; /* that came */
	uint32_t nr_waiting, nr_runs;
	bool is_asleep; /* the task, until somebody wakes it, once */
	bool is_stalled; /* a wave could not start */
	bool must_poll; /* before it is tried again */
	bool is_due; /* to be looked after */
};

struct wave {
	struct lkdf_io_wave wave;
	struct io_multi *multi;
	struct list list;
	struct event_waiter waiter;
	_Atomic(int) fd; /* that nobody has taken; -1: none */
	char bytes[];
};

static inline struct lkdf *multi_rt(const struct io_multi *m)
{
	return m->task->kind->rt;
}

static inline struct io_req *multi_req(const struct io_multi *m)
{
	return m->task->away.io;
}

static inline void *multi_alloc(struct lkdf *rt, size_t size)
{
	return heap_new(rt->heap, heap_thread_cache(rt->heap), size);
}

static inline void multi_free(struct lkdf *rt, void *p)
{
	if (p)
		heap_free(rt->heap, heap_thread_cache(rt->heap), p);
}

/* Under lock. True: the caller wakes it, and until then it does not end. */
static inline bool multi_wakes(struct io_multi *m)
{
	bool was_asleep = m->is_asleep;

	m->is_asleep = false;
	return was_asleep;
}

/* Nobody wants it, or it has ended: what nobody has taken is closed. */
void wave_drop(struct lkdf *rt, struct wave *v);

/* Did something come, and not only why it ends? */
bool wave_is_one(const struct io_req *r, int64_t res);

/* Starts its run or its task; nr_runs counts it. On the operation's task. */
void wave_start(struct lkdf_ctx *c, struct io_multi *m, struct wave *v);

/*
 * In rings that several threads enter the kernel (6.1 to 6.18 at least) now and
 * then forgets to tell an operation that its stream has ended. So what has been
 * silent for so long, and longer each time, is looked after: what has something
 * to be taken is cancelled, and begins anew.
 */
#define GUARD_NS 5000000
#define GUARD_MAX_NS 1000000000

/* A wave that could not start is tried again after, and at most after. */
#define WAVE_AGAIN_NS 500000
#define WAVE_AGAIN_MAX_NS 16000000

#endif
