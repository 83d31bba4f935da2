/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/park.h"

#include "base/bell.h"
#include "base/futex.h"
#include "policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>

#define TOKEN 1ull
#define CALL (1ull << 16)
#define CALLS (0xffffull << 16)
#define SLEEPER (1ull << 32)
#define SPINNER (1ull << 48)

static uint32_t tokens_of(uint64_t word)
{
	return (uint32_t)word & 0xffff;
}

/*
 * The moves of park.h, as differences of the word: but for calls nothing else
 * may be done to it. Tokens belong to spinners, so there are never more of
 * them.
 */
enum park_move {
	PARK_SPIN,
	PARK_ANNOUNCE,
	PARK_RETRACT,
	PARK_TAKE,
	PARK_FOUND,
	PARK_GIVE,
	NR_PARK_MOVES,
};

static const uint64_t park_moves[NR_PARK_MOVES] = {
	[PARK_SPIN] = SPINNER,
	[PARK_ANNOUNCE] = SLEEPER - SPINNER,
	[PARK_RETRACT] = SPINNER - SLEEPER,
	[PARK_TAKE] = -TOKEN,
	[PARK_FOUND] = -SPINNER,
	[PARK_GIVE] = SPINNER - SLEEPER + TOKEN,
};

CHECK_ONLY static inline bool is_sane(uint64_t word)
{
	return tokens_of(word) <= park_spinners(word);
}

/* The word after nr moves of that sort. */
static inline uint64_t park_move(uint64_t word, enum park_move move,
				 uint64_t nr)
{
	uint64_t next = word + nr * park_moves[move];

	check(is_sane(word) && is_sane(next));
	check(move != PARK_FOUND || park_spinners(word));
	check(move != PARK_ANNOUNCE || park_spinners(word));
	check(move != PARK_RETRACT || park_sleepers(word));
	check(move != PARK_GIVE || park_sleepers(word) >= nr);
	check(move != PARK_TAKE || tokens_of(word));
	return next;
}

/* Tokens and calls are the half of the word that the kernel compares. */
static _Atomic(uint32_t) *futex_of(struct park *p)
{
	_Atomic(uint32_t) *half = (_Atomic(uint32_t) *)(void *)&p->word;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	half++;
#endif
	return half;
}

void park_init(struct park *p)
{
	a_store(&p->word, 0, relaxed);
	a_store(&p->spins_at, 0, relaxed);
	a_store(&p->bell, 0, relaxed);
	a_store(&p->is_watched, 0, relaxed);
}

void park_spin(struct park *p)
{
	a_store(&p->spins_at, (uint32_t)sched_getcpu() + 1, relaxed);
	park_move(a_add(&p->word, park_moves[PARK_SPIN], relaxed), PARK_SPIN,
		  1);
}

void park_announce(struct park *p)
{
	/* [park.c] before we look for the last time; pairs with [park.b]. */
	park_move(a_add(&p->word, park_moves[PARK_ANNOUNCE], seq_cst),
		  PARK_ANNOUNCE, 1);
}

/* Takes a token if there is one. */
static bool take_token(struct park *p)
{
	uint64_t word = a_load(&p->word, relaxed);

	while (tokens_of(word)) {
		/* [park.token] what the waker did; pairs with [park.wake]. */
		if (a_cas(&p->word, &word, park_move(word, PARK_TAKE, 1),
			  acquire, relaxed))
			return true;
	}
	return false;
}

void park_retract(struct park *p)
{
	uint64_t word = a_load(&p->word, relaxed), next;

	do {
		/* With a token about, one of us was made a spinner already. */
		next = park_move(word,
				 tokens_of(word) ? PARK_TAKE : PARK_RETRACT, 1);
		/* [park.retract] as [park.token]; pairs with [park.wake]. */
	} while (!a_cas(&p->word, &word, next, acquire, relaxed));
}

void park_set_bell(struct park *p, int fd)
{
	/* [park.hang] it is open; pairs with [park.bell]. */
	a_store(&p->bell, fd + 1, release);
}

/* A worker that sleeps on the bell does not hear the futex. */
static void ring_bell(struct park *p)
{
	/* [park.ring] after the token; pairs with [park.watch]. */
	if (a_load(&p->is_watched, seq_cst))
		bell_ring(park_bell(p));
}

/* False: there is no bell, or somebody watches it, which is enough. */
static bool watch_bell(struct park *p)
{
	uint32_t nobody = 0;

	if (park_bell(p) < 0)
		return false;
	/* [park.watch] before we look for a token; pairs with [park.ring] and
	 * with [park.left]. */
	return a_cas(&p->is_watched, &nobody, 1, seq_cst, seq_cst);
}

/* NULL: nobody calls it. */
static bool is_called(const _Atomic(uint32_t) *uncalled)
{
	/* After the word, which [park.half] or [park.tokens] acquires. */
	return unlikely(uncalled && !a_load(uncalled, relaxed));
}

static int sleep_on_bell(struct park *p, int64_t timeout_ns,
			 const _Atomic(uint32_t) *uncalled)
{
	int rc = 0;

	/* [park.tokens] after is_watched; pairs with [park.wake] and
	 * [park.call]. */
	if (!tokens_of(a_load(&p->word, seq_cst)) && !is_called(uncalled))
		rc = bell_wait(park_bell(p), timeout_ns);
	park_retract(p);
	/* [park.unwatch] after we are a spinner; pairs with [park.watch]. */
	a_store(&p->is_watched, 0, seq_cst);
	return rc;
}

int park_sleep_uncalled(struct park *p, int64_t timeout_ns,
			const _Atomic(uint32_t) *uncalled, uint32_t bits)
{
	bool is_over = false;
	uint32_t half;

	if (unlikely(watch_bell(p)))
		return sleep_on_bell(p, timeout_ns, uncalled);
	while (!take_token(p)) {
		/* [park.half] that we are called, or the kernel sees another
		 * word; pairs with [park.call]. */
		half = (uint32_t)a_load(&p->word, acquire);
		if (is_called(uncalled)) {
			park_retract(p);
			return 0;
		}
		if (is_over) {
			park_retract(p);
			return -ETIMEDOUT;
		}
		if (tokens_of(half))
			continue;
		/* The rest of the time is not known here. */
		is_over = futex_wait_as(futex_of(p), half, timeout_ns, bits) ==
				  -ETIMEDOUT ||
			  timeout_ns >= 0;
	}
	return 0;
}

void park_call(struct park *p)
{
	uint64_t word = a_load(&p->word, relaxed), next;

	do {
		/* Modulo 2^16, for the sleepers are above. */
		next = (word & ~CALLS) | ((word + CALL) & CALLS);
		/* [park.call] after the callee's word; pairs with [park.half]
		 * and [park.tokens]. */
	} while (!a_cas(&p->word, &word, next, seq_cst, relaxed));
	futex_wake(futex_of(p), INT_MAX);
	ring_bell(p);
}

bool park_found(struct park *p)
{
	/* [park.found] before we look at timers, at what is under way and at
	 * who watches; pairs with [park.b], [far.word] and [publish.d]. */
	uint64_t word = a_add(&p->word, park_moves[PARK_FOUND], seq_cst);

	return !park_spinners(park_move(word, PARK_FOUND, 1));
}

bool park_is_displaced(struct park *p, uint64_t word)
{
	return park_spinners(word) == 1 &&
	       a_load(&p->spins_at, relaxed) == (uint32_t)sched_getcpu() + 1;
}

/* After their tokens: sleepers that are bound to other CPUs come first. */
static void wake_sleepers(struct park *p, int nr)
{
	nr -= futex_wake_of(futex_of(p), nr, ~park_bits(sched_getcpu()));
	if (nr && futex_wake(futex_of(p), nr) < nr)
		ring_bell(p);
}

bool park_wake(struct park *p)
{
	uint64_t word = a_load(&p->word, relaxed);

	do {
		if (park_spinners(word) || !park_sleepers(word))
			return false;
		/* [park.wake] our work before the token; pairs with
		 * [park.token] and [park.retract]. */
	} while (!a_cas(&p->word, &word, park_move(word, PARK_GIVE, 1), seq_cst,
			relaxed));
	wake_sleepers(p, 1);
	return true;
}

uint32_t park_wake_some(struct park *p, uint32_t nr_public, uint32_t most)
{
	uint64_t word = a_load(&p->word, relaxed), nr;

	do {
		nr = policy_nr_wakes(nr_public, park_spinners(word),
				     park_sleepers(word), most);
		if (!nr)
			return 0;
		/* [park.some] as [park.wake]; pairs with [park.token] and
		 * [park.retract]. */
	} while (!a_cas(&p->word, &word, park_move(word, PARK_GIVE, nr),
			seq_cst, relaxed));
	wake_sleepers(p, (int)nr);
	return (uint32_t)nr;
}

void park_wake_all(struct park *p)
{
	uint64_t word = a_load(&p->word, relaxed), nr;

	do {
		nr = park_sleepers(word);
		/* [park.all] as [park.wake]; pairs with [park.token]. */
	} while (!a_cas(&p->word, &word, park_move(word, PARK_GIVE, nr),
			seq_cst, relaxed));
	futex_wake(futex_of(p), INT_MAX);
	ring_bell(p);
}
