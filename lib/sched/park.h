/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Spinners, sleepers, and the one futex on which all sleepers sleep.
 *
 * A 64-bit word holds four counts, so every move is one compare-and-swap:
 *
 *	tokens    wake-ups given and not yet taken
 *	calls     of park_call(), modulo 2^16; with tokens the futex word
 *	sleepers  workers that have said they sleep
 *	spinners  workers that look for work
 *
 *	       spin            announce         token (sleeps, wakes)
 *	busy ------> spinner ----------> sleeper ----------> spinner ---> busy
 *
 * No wake-up is lost:
 *
 *	waker                            sleeper
 *	(A) makes work public            (C) sleepers + 1
 *	(B) looks at the word            (D) looks at all public work
 *
 * All four are seq_cst. Either B sees C and gives a token, or D sees A. A
 * waker that sees a spinner gives no token: the spinner has (C, D) ahead of it.
 * A woken worker counts as a spinner from the moment it is given the token, so
 * makers of a burst of work wake one at a time. The one that finds work wakes
 * the next (park_found), or up to four (park_wake_some): a burst to N sleepers
 * takes log4 N wake-ups in a row, not N.
 *
 * Chance decides which worker takes a token. A certain sleeper is called: it
 * says in a word of its own that it may sleep on, the caller clears that,
 * counts a call and wakes all. The others sleep on at once. The callee reads
 * the futex word before its own, so a call that it did not see keeps it from
 * sleeping.
 *
 * A waker goes on, so a worker that is bound to the waker's CPU would wait for
 * it: a token goes to a sleeper that is bound elsewhere, if there is one. For
 * the same reason the only spinner is no help where it is on the waker's CPU.
 */
#ifndef SCHED_PARK_H
#define SCHED_PARK_H

#include "base/atomic.h"
#include "base/util.h"

struct park {
	/* Any thread. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) word;

	/* Spinners, each when it begins to look: its CPU + 1. A hint. */
	_Atomic(uint32_t) spins_at;

	/* Set once, by the layer above: a bell's descriptor + 1. */
	_Atomic(int) bell;

	/* Any thread: 1: a sleeper sleeps on the bell. */
	_Atomic(uint32_t) is_watched;
};

static inline uint32_t park_spinners(uint64_t word)
{
	return (uint32_t)(word >> 48);
}

static inline uint32_t park_sleepers(uint64_t word)
{
	return (uint32_t)(word >> 32) & 0xffff;
}

void park_init(struct park *p);

/* A sleeper's CPU, for park_sleep_uncalled(); -1: bound to none. */
static inline uint32_t park_bits(int cpu)
{
	return cpu < 0 ? UINT32_MAX : 1u << ((unsigned)cpu & 31);
}

/* Busy -> spinner: the worker looks for work. */
void park_spin(struct park *p);

/* Spinner -> sleeper; after it look at all public work once more. */
void park_announce(struct park *p);

/* Sleeper -> spinner without sleeping: there was work after all. */
void park_retract(struct park *p);

/*
 * From now on one of the sleepers sleeps on the bell, which may ring at any
 * time. Those that sleep already do not: wake one.
 */
void park_set_bell(struct park *p, int fd);

/* -1: there is none. */
static inline int park_bell(struct park *p)
{
	/* [park.bell] that it is open; pairs with [park.hang]. */
	return a_load(&p->bell, acquire) - 1;
}

static inline bool park_is_watched(struct park *p)
{
	/* [park.left] who has seen it watched sleeps by now; pairs with
	 * [park.watch]. */
	return a_load(&p->is_watched, seq_cst) != 0;
}

/*
 * Sleeper -> spinner by the bell, by a token, once *uncalled is 0, see
 * park_call(), or, with a timeout >= 0, -ETIMEDOUT, which may come early. bits:
 * see park_bits().
 */
int park_sleep_uncalled(struct park *p, int64_t timeout_ns,
			const _Atomic(uint32_t) *uncalled, uint32_t bits);

/* For a sleeper that nobody calls. */
static inline int park_sleep(struct park *p, int64_t timeout_ns)
{
	return park_sleep_uncalled(p, timeout_ns, NULL, UINT32_MAX);
}

/* Sleepers whose words the caller has cleared wake. */
void park_call(struct park *p);

/*
 * Spinner -> busy. True: nobody of these looks for work any more; if there is
 * more, tell somebody.
 */
bool park_found(struct park *p);

/* Wakes one sleeper unless somebody spins; true if it did. */
bool park_wake(struct park *p);

/*
 * There are so many public items: gives a token for each that no spinner will
 * take, see policy_nr_wakes(). How many sleepers it woke.
 */
uint32_t park_wake_some(struct park *p, uint32_t nr_public, uint32_t most);

/* The spinner of this word is on the caller's CPU, where it does not spin. */
bool park_is_displaced(struct park *p, uint64_t word);

/* Wakes all, whoever spins: for stopping and for news that all must see. */
void park_wake_all(struct park *p);

/* Public work was made: one look, rarely more. True if a sleeper was woken. */
static inline bool park_notify(struct park *p)
{
	/* [park.b] after the work is public; pairs with [park.c]. */
	uint64_t word = a_load(&p->word, seq_cst);

	if (likely(park_spinners(word) || !park_sleepers(word)))
		return false;
	return park_wake(p);
}

#endif
