/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option stall: what the thread that watches a runtime is told, and by whom. It
 * sleeps until something is submitted, then looks now and then whether anything
 * has ended; see rt/watch.h. Without the option there is no struct watch, the
 * root is not limited and kinds are not noted, so nobody comes here.
 *
 *	submits                          the watcher
 *	(A) counts in the root           (C) clears WATCH_OPEN
 *	(B) sets WATCH_OPEN              (D) looks at the root's count, sleeps
 *
 * B and C are writes of one word: either C is the later one, and D sees A, or B
 * is, and ends the sleep.
 */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include "base/clock.h"
#include "base/futex.h"
#include "base/util.h"

#include <pthread.h>
#include <stdint.h>

struct lkdf;
struct lkdf_kind;

#define WATCH_OPEN 1u /* something has been submitted */
#define WATCH_STOP 2u

/* The body that one executor runs. */
struct watch_slot {
	/* Its thread writes; a kind is read under the runtime's lock, where it
	 * stays while a body of it runs. */
	_Alignas(CACHE_LINE) _Atomic(const struct lkdf_kind *) kind;
	_Atomic(uint64_t) begin; /* ticks */
	_Atomic(uint64_t) nr_ended; /* bodies */
};

struct watch {
	/* Any thread; a futex of the watcher. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) word;

	/* Set before the thread starts, constant afterwards. */
	_Alignas(CACHE_LINE) struct lkdf *rt;
	int64_t patience_ns;
	int nr_slots;
	pthread_t thread;

	struct watch_slot slot[]; /* by executor */
};

/*
 * A body that has begun before, and goes on when a body on top of it has ended.
 */
struct watch_body {
	const struct lkdf_kind *kind;
	uint64_t begin;
};

/* The executor's own thread: a body of the kind begins; what it is within. */
static inline struct watch_body watch_begin(struct watch *w, int executor,
					    const struct lkdf_kind *k)
{
	struct watch_slot *s = &w->slot[executor];
	struct watch_body outer = { a_load(&s->kind, relaxed),
				    a_load(&s->begin, relaxed) };

	a_store(&s->begin, clock_ticks(), relaxed);
	a_store(&s->kind, k, relaxed);
	return outer;
}

/* The executor's own thread: the body has ended, outer goes on. */
static inline void watch_end(struct watch *w, int executor,
			     struct watch_body outer)
{
	struct watch_slot *s = &w->slot[executor];

	a_store(&s->begin, outer.begin, relaxed);
	a_store(&s->kind, outer.kind, relaxed);
	a_store(&s->nr_ended, a_load(&s->nr_ended, relaxed) + 1, relaxed);
}

/* Something has been submitted, and is counted. */
static inline void watch_opened(struct watch *w)
{
	/* [watch.open] the count; pairs with [watch.look]. */
	if (!(a_or(&w->word, WATCH_OPEN, release) & WATCH_OPEN))
		futex_wake(&w->word, 1);
}

/* The watcher: it is to look at the count, then may sleep on what it gets. */
static inline uint32_t watch_clear(struct watch *w)
{
	/* [watch.look] before the count; pairs with [watch.open]. */
	return a_and(&w->word, ~WATCH_OPEN, acquire) & ~WATCH_OPEN;
}

#endif
