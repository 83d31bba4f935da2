/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many wake-ups of a burst came one after the other: counter wake_depth. A
 * thread that was not woken itself begins a burst: the worker that it wakes is
 * link 1, whomever that one wakes is link 2, and so on. A burst of work for N
 * sleepers has N links where each wakes the next, log4 N where each wakes four.
 *
 * Tokens have no names. The word given counts those of each link that nobody
 * has taken yet, eight bits a link, and a woken worker takes one of the least
 * link. All of it is touched beside futex calls only, steers nothing and is a
 * guess where two bursts meet; so the model checker goes without.
 */
#ifndef SCHED_WAKE_DEPTH_H
#define SCHED_WAKE_DEPTH_H

#include "base/atomic.h"
#include "base/util.h"

#define WAKE_LINKS 8u /* links from the last one on count as that one */
#define WAKE_LINK_BITS 8u

/* Any thread. */
struct wake_depth {
	_Alignas(CACHE_LINE) _Atomic(uint64_t) given;
	_Atomic(uint32_t) longest; /* links of the burst so far */
};

#ifdef LKDF_MC
static inline uint32_t wake_depth_give(struct wake_depth *d, uint32_t link,
				       uint32_t nr)
{
	(void)d;
	(void)link;
	(void)nr;
	return 0;
}

static inline uint32_t wake_depth_take(struct wake_depth *d)
{
	(void)d;
	return 0;
}
#else
/*
 * A thread that is such a link, 0: none, has woken so many. Returns how many
 * links the burst has got longer by.
 */
uint32_t wake_depth_give(struct wake_depth *d, uint32_t link, uint32_t nr);

/* A worker was woken: which link it is. */
uint32_t wake_depth_take(struct wake_depth *d);
#endif

#endif
