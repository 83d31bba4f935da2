/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A limit is a number of tokens. A task takes those of its kind just before
 * its body starts, never while it is queued, and gives them back when it is
 * complete, however it ends. So only what has started holds tokens, and a join
 * that runs nothing but its own descendants never waits for a queued stranger.
 *
 * A task that finds too few waits in a queue, oldest first. Tokens given back
 * wake as many from its head as they would serve; the woken try again, ahead of
 * newcomers. A woken task that then takes none passes the chance on, by giving
 * back 0. Several limits are taken in the order of their addresses, all or
 * none.
 */
#ifndef CORE_LIMIT_H
#define CORE_LIMIT_H

#include "base/atomic.h"
#include "core/handle.h"

#include <lkdf/kind.h>
#include <pthread.h>

/* Embedded in what waits. */
struct limit_waiter {
	struct limit_waiter *next;
	uint32_t tokens;
	uint32_t name; /* of the limit, in a recording */
	uint64_t since; /* ticks; 0: nobody records */
};

struct lkdf_limit {
	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	uint32_t nr_tokens;
	uint32_t trace_name; /* 0: nobody records */
	char text[80]; /* limit "NAME" of N tokens, for messages */

	/* Any thread. */
	_Atomic(uint32_t) nr_refs;

	/* Under the runtime's lock: all its limits. */
	struct lkdf_limit *next, **prev;

	/* Under lock. */
	pthread_mutex_t lock;
	uint32_t nr_free;
	struct limit_waiter *first, **last;

	/* Option check, the thread that drains: its token; NULL: none yet. */
	uint64_t *check;

	struct handle handle; /* the user's */
};

/* name may be NULL or empty; it is copied. */
int limit_create(struct lkdf *rt, const char *name, uint32_t tokens,
		 struct lkdf_limit **out);
void limit_get(struct lkdf_limit *l);
void limit_put(struct lkdf_limit *l);

/* True: taken. Newcomers stand back while anybody waits. */
bool limit_take(struct lkdf_limit *l, uint32_t tokens, bool was_woken);

/*
 * True: queued, the woken at the head; w is the limit's from here on. False:
 * there are enough by now, take them.
 */
bool limit_wait(struct lkdf_limit *l, struct limit_waiter *w, uint32_t tokens,
		bool was_woken);

/*
 * Takes out the oldest waiter that there are tokens for and that belongs to
 * whoever asks; NULL: none. Its tokens may be kept for one woken earlier that
 * nobody runs: a join may have to take its own first.
 */
struct limit_waiter *limit_dig(struct lkdf_limit *l,
			       bool (*is_mine)(struct limit_waiter *w,
					       const void *asker),
			       const void *asker);

/*
 * Gives tokens back. Returns those to try again, linked by next, oldest first;
 * the caller lets them go on.
 */
struct limit_waiter *limit_give(struct lkdf_limit *l, uint32_t tokens);

#endif
