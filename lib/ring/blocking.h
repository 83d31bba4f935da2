/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads for bodies that block, so that no worker ever does. They are made
 * when work finds none idle, up to a maximum, and stay until the end; each
 * runs one item at a time, oldest first.
 */
#ifndef RING_BLOCKING_H
#define RING_BLOCKING_H

#include "base/atomic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Embedded in what is queued. */
struct blocking_item {
	struct blocking_item *next;
	/* The pusher says how it is run; thread: what start() gave. */
	void (*run)(void *thread, struct blocking_item *item);
};

struct blocking_attr {
	/*
	 * On thread number 0 .. max - 1, before its first item: what its items
	 * are run with.
	 */
	void *(*start)(void *u, int thread);
	void *u;
	int max; /* threads, >= 1 */
	int stack_kib; /* 0: the system's default */
};

struct blocking {
	/* Set at init, constant afterwards. */
	struct blocking_attr attr;
	struct blocking_thread *threads;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct blocking_item *first, **last;
	int nr_threads, nr_idle;
	bool is_coming; /* a thread, for what is queued */
	bool is_stopping;

	/* Any thread reads; under lock. */
	_Atomic(int) nr_queued, nr_running;

	/* Any thread: until then nobody gives its CPU away; ns. */
	_Atomic(int64_t) crowded_until;
};

int blocking_init(struct blocking *b, const struct blocking_attr *a);

/* Makes sure of one thread. -EAGAIN: no threads to be had. */
int blocking_require(struct blocking *b);

/*
 * First on a thread that somebody else makes, with a number of its own, >= max:
 * what its items are run with.
 */
void *blocking_enter(struct blocking *b, int id);

/* Any thread. Needs one thread, see blocking_require(). */
void blocking_push(struct blocking *b, struct blocking_item *item);

/* Is there something that wants a CPU, or will soon? A moment's truth. */
static inline bool blocking_is_busy(const struct blocking *b)
{
	return a_load(&b->nr_queued, relaxed) ||
	       a_load(&b->nr_running, relaxed);
}

/*
 * For a thread that spins: gives its CPU to those that wait for it, unless
 * strangers took it for long when somebody did that lately.
 */
void blocking_make_room(struct blocking *b);

/*
 * Joins the threads; the queue is empty. The thread that has pushed last may
 * still be about to wake one, until blocking_fini().
 */
void blocking_stop(struct blocking *b);

/* Without threads. Accepts a zeroed struct. */
void blocking_fini(struct blocking *b);

/* In a forked child: there is nobody to join. */
void blocking_abandon(struct blocking *b);

#endif
