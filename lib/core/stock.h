/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Free tasks and events that a thread of the user keeps of a runtime, so that
 * its calls need no lock: a magazine of each pool. The thread's record knows
 * them by an id of the runtime that is never used again, so a runtime may end
 * before the thread, and the thread before the runtime.
 */
#ifndef CORE_STOCK_H
#define CORE_STOCK_H

#include "base/list.h"
#include "mem/pool.h"
#include "sched/executor.h"

/* Threads at a time whose stock is there since open; more allocate theirs. */
#define STOCK_SPARES 32

struct lkdf;
struct stock;

/* The stocks of a runtime. */
struct stocks {
	/* Set at open, constant afterwards. */
	uint64_t id;
	struct stock *memory; /* STOCK_SPARES of them */

	/* Under the lock of all stocks. */
	struct list all; /* with those of the other runtimes */
	struct list threads;
	struct list spares; /* of memory: those no thread has */
	struct magazine rest[NR_POOLS]; /* of threads that have ended */
};

/* After the pools. 0; -ENOMEM. */
int stocks_open(struct lkdf *rt);

/* Before the pools; no thread is in a call. Does nothing if never opened. */
void stocks_close(struct lkdf *rt);

/*
 * The runtimes of this process between stocks_open() and stocks_close(), by
 * stocks.all; none is added or removed, and no process forks, until
 * stocks_unlock(). Nothing is allocated in between.
 */
struct list *stocks_lock(void);
void stocks_unlock(void);

/* An object of a pool; NULL: no memory or the cap. */
void *stock_get(struct lkdf *rt, enum executor_pool pool);
void stock_put(struct lkdf *rt, enum executor_pool pool, void *object);

/* Lines of a task that are used first, see task.h. */
#define STOCK_FIRST_LINE 0
#define STOCK_SECOND_LINE 2

/* A task is used soon. */
static inline void stock_expect(const void *task)
{
	__builtin_prefetch((const char *)task + STOCK_FIRST_LINE * CACHE_LINE,
			   1);
	__builtin_prefetch((const char *)task + STOCK_SECOND_LINE * CACHE_LINE,
			   1);
}

#endif
