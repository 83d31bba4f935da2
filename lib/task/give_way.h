/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Serial mode: a call says "not now", and the program may repeat it until it
 * says something else. Meanwhile nobody else runs bodies, keeps the time or
 * looks at descriptors, so such a call gives way before it returns. A thread of
 * the program runs what is ready. A body runs one other body on top of its own,
 * as a join does, but only when it has asked in vain GIVE_WAY_AFTER times: a
 * body that asks once may hold what the other one needs. As often virtual time
 * stands still.
 */
#ifndef TASK_GIVE_WAY_H
#define TASK_GIVE_WAY_H

#include "core/runtime.h"

#define GIVE_WAY_AFTER 16

void give_way_slowly(struct lkdf *rt);

/* The error text of this thread stays. Outside of the library's locks. */
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
