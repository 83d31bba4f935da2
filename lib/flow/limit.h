/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A limit is a number of tokens. A task takes those of its kind before it
 * starts and gives them back when it is complete, however it ends.
 *
 * Whoever finds too few waits in a queue, oldest first; tokens given back go
 * straight to the head of the queue, so nobody is overtaken. Several limits
 * are taken in the order of their addresses, so waiting has no cycle.
 */
#ifndef FLOW_LIMIT_H
#define FLOW_LIMIT_H

#include "base/atomic.h"

#include <lkdf/kind.h>
#include <pthread.h>

/* Embedded in what waits. */
struct limit_waiter {
	struct limit_waiter *next;
	uint32_t tokens;
};

struct lkdf_limit {
	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	uint32_t nr_tokens;

	/* Any thread. */
	_Atomic(uint32_t) nr_refs;

	/* Under lock. */
	pthread_mutex_t lock;
	uint32_t nr_free;
	struct limit_waiter *first, **last;
};

int limit_create(struct lkdf *rt, uint32_t tokens, struct lkdf_limit **out);
void limit_get(struct lkdf_limit *l);
void limit_put(struct lkdf_limit *l);

/* True: taken. False: queued, and limit_give() will hand it out. */
bool limit_take(struct lkdf_limit *l, struct limit_waiter *w, uint32_t tokens);

/*
 * Gives tokens back. Returns the waiters that now have theirs, linked by next,
 * oldest first; the caller lets them go on.
 */
struct limit_waiter *limit_give(struct lkdf_limit *l, uint32_t tokens);

#endif
