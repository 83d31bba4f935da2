/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A mutual exclusion lock of four bytes for sections of a few hundred
 * nanoseconds: one locked operation each way, a short spin, then a futex
 * (Drepper, "Futexes Are Tricky", 2011, mutex2). Zeroed memory is an open
 * lock. Not recursive, not fair.
 *
 * While a thread holds the lock, the word has the thread's number, so that
 * tools name the holder; the lock itself compares it with nothing.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/atomic.h"
#include "base/lock_owner.h"
#include "base/util.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>

/*
 * 0: open; else the holder's number as in the words of PI futexes, and
 * FUTEX_WAITERS where somebody may sleep. FUTEX_WAITERS alone: the holder is
 * about to write its number.
 */
struct lock {
	_Atomic(uint32_t) word;
};

void lock_wait(struct lock *l);
void lock_wake(struct lock *l);

static inline void lock_take(struct lock *l)
{
	uint32_t open = 0;

	/* [lock.take] the last holder's writes; pairs with [lock.give]. */
	if (unlikely(!a_cas(&l->word, &open, lock_owner(), acquire, relaxed)))
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
	if (unlikely(a_xchg(&l->word, 0, release) & FUTEX_WAITERS))
		lock_wake(l);
}

#endif
