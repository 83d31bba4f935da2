/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/lock.h"

#include "base/futex.h"

/* About what a section takes: most waits end in here. */
#ifndef LOCK_SPINS
#define LOCK_SPINS 100
#endif

void lock_wait(struct lock *l)
{
	uint32_t open;
	int i;

	for (i = 0; i < LOCK_SPINS; i++) {
		a_pause();
		open = 0;
		/* [lock.spin] as [lock.take]; pairs with [lock.give]. */
		if (!a_load(&l->word, relaxed) &&
		    a_cas(&l->word, &open, 1, acquire, relaxed))
			return;
	}
	/* [lock.sleep] as [lock.take]; pairs with [lock.give]. */
	while (a_xchg(&l->word, 2, acquire))
		futex_wait(&l->word, 2, -1);
}

void lock_wake(struct lock *l)
{
	futex_wake(&l->word, 1);
}
