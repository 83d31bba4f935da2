/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/lock.h"

#include "base/futex.h"

/* Pauses, as long as some sections take: most waits end in here. */
#ifndef LOCK_SPINS
#define LOCK_SPINS 255
#endif

/* Most pauses between two looks, each of which takes the line from its owner.
 */
#define LOCK_BACK_OFF 32

static void back_off(int nr)
{
	a_pause();
	while (--nr)
		a_delay();
}

void lock_wait(struct lock *l)
{
	uint32_t open, seen;
	int nr = 1, i;

	lock_owner_learn();
	for (i = 0; i < LOCK_SPINS; i += nr) {
		if (i && nr < LOCK_BACK_OFF)
			nr *= 2;
		back_off(nr);
		open = 0;
		/* [lock.spin] as [lock.take]; pairs with [lock.give]. */
		if (!a_load(&l->word, relaxed) &&
		    a_cas(&l->word, &open, lock_owner(), acquire, relaxed))
			return;
	}
	/* [lock.sleep] as [lock.take]; pairs with [lock.give]. */
	while ((seen = a_or(&l->word, FUTEX_WAITERS, acquire)))
		futex_wait(&l->word, seen | FUTEX_WAITERS, -1);
	/* Ours: others only set the bit that is set. */
	a_store(&l->word, lock_owner() | FUTEX_WAITERS, relaxed);
}

void lock_wake(struct lock *l)
{
	futex_wake(&l->word, 1);
}
