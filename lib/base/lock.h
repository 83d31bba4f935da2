/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A mutual exclusion lock of four bytes for sections of a few hundred
 * nanoseconds: one locked operation each way, a short spin, then a futex
 * (Drepper, "Futexes Are Tricky", 2011, mutex2). Zeroed memory is an open
 * lock. Not recursive, not fair.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/atomic.h"
#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

/* 0: open; 1: taken; 2: taken and somebody may sleep. */
struct lock {
	_Atomic(uint32_t) word;
};

void lock_wait(struct lock *l);
void lock_wake(struct lock *l);

static inline void lock_take(struct lock *l)
{
	uint32_t open = 0;

	/* [lock.take] the last holder's writes; pairs with [lock.give]. */
	if (unlikely(!a_cas(&l->word, &open, 1, acquire, relaxed)))
		lock_wait(l);
}

/* Some thread has it: all that the word tells. */
static inline bool lock_is_held(const struct lock *l)
{
	return a_load(&l->word, relaxed) != 0;
}

/* First line of a function that runs under a lock; of a mutex as well. */
#define lock_assert_held(l) check(lock_is_held(l))
#define mutex_assert_held(m) check(pthread_mutex_trylock(m) == EBUSY)

static inline void lock_give(struct lock *l)
{
	lock_assert_held(l);
	/* [lock.give] our writes for the next; pairs with [lock.take]. */
	if (unlikely(a_xchg(&l->word, 0, release) == 2))
		lock_wake(l);
}

#endif
