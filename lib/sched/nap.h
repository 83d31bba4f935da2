/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How long a sleeper sleeps at most, in ns, where nobody wakes it; -1 is for
 * ever. The reasons to come back by itself are rows of mechanism.h: each is a
 * function that is asked before the sleep, and the least answer counts.
 */
#ifndef SCHED_NAP_H
#define SCHED_NAP_H

#include "base/util.h"

static inline int64_t nap_min(int64_t a, int64_t b)
{
	return (int64_t)min_u64((uint64_t)a, (uint64_t)b);
}

/* The next nap of one that has found nothing: so many times the last one. */
static inline int64_t nap_grow(int64_t *last, int times, int64_t least,
			       int64_t most)
{
	int64_t ns = *last * times;

	if (ns < least)
		ns = least;
	*last = ns < most ? ns : most;
	return *last;
}

/*
 * The nap of a join that finds nothing below it. Nobody wakes it for new work,
 * which waits that long: so it comes back soon, and ten thousand times a second
 * at most.
 */
#define NAP_JOIN_MIN_NS 20000
#define NAP_JOIN_MAX_NS 100000

static inline int64_t nap_join(int64_t *last)
{
	return nap_grow(last, 2, NAP_JOIN_MIN_NS, NAP_JOIN_MAX_NS);
}

#endif
