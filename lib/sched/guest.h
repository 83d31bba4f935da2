/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A guest is a thread of the user's that submits. Where every CPU has a worker
 * it shares one with a worker, which may be looking for the very work that the
 * guest would submit if it had the CPU. So guests say on which CPU they are,
 * and a worker that finds nothing there steps aside (worker.c). Hints only:
 * CPUs share bits, and a guest that waits elsewhere than in a call is not seen.
 */
#ifndef SCHED_GUEST_H
#define SCHED_GUEST_H

#include "sched/sched.h"

#include <sched.h>

/* Of this CPU: a guest has submitted here, and waits for nothing. */
static inline uint64_t guest_bit(void)
{
	return (uint64_t)1 << ((unsigned)sched_getcpu() & 31);
}

/* The same, whether it waits by now or not. */
static inline uint64_t guest_trace(uint64_t bit)
{
	return bit << 32;
}

/* A guest submits. */
static inline void guest_comes(struct sched *s)
{
	uint64_t bit = guest_bit(), both = bit | guest_trace(bit);

	if ((a_load(&s->guests, relaxed) & both) != both)
		a_or(&s->guests, both, relaxed);
}

/* A guest waits, and needs no CPU. */
static inline void guest_waits(struct sched *s)
{
	uint64_t bit = guest_bit();

	if (a_load(&s->guests, relaxed) & bit)
		a_and(&s->guests, ~bit, relaxed);
}

/* Does one want this CPU? */
static inline bool guest_is_here(const struct sched *s)
{
	return a_load(&s->guests, relaxed) & guest_bit();
}

/* guest_was_here() asks from now on. */
static inline void guest_forget(struct sched *s)
{
	uint64_t bit = guest_bit();

	a_and(&s->guests, ~(bit | guest_trace(bit)), relaxed);
}

static inline bool guest_was_here(const struct sched *s)
{
	return a_load(&s->guests, relaxed) & guest_trace(guest_bit());
}

#endif
