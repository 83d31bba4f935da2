/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * In serial mode a program may repeat a call that answers "not now" until the
 * answer changes. No other thread runs bodies, fires timers or polls
 * descriptors meanwhile, so the call does that before it returns. On a thread
 * of the program it runs all bodies that are ready. In a body it runs one other
 * body on the same stack, as a join does, but only after GIVE_WAY_AFTER calls
 * in vain: a body that asks once may hold a lock that the other body needs.
 * Virtual time advances after as many calls in vain.
 */
#ifndef TASK_GIVE_WAY_H
#define TASK_GIVE_WAY_H

#include "core/runtime.h"

#define GIVE_WAY_AFTER 16

void give_way_slowly(struct lkdf *rt);

/* Keeps the error text of this thread. Call it without a lock of the library.
 */
static inline void give_way(struct lkdf *rt)
{
	if (unlikely(rt->sched.is_serial))
		give_way_slowly(rt);
}

/* Gives way if rc is that: -EAGAIN, or 1 of a call that looks. */
static inline int give_way_if(struct lkdf *rt, int rc, int that)
{
	if (unlikely(rc == that))
		give_way(rt);
	return rc;
}

#endif
