/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/doacross.h"

#include "gomp/loop.h"

#include "base/futex.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

#define SPINS 1000

/* So many slots have a line of cache each. */
#define MANY_SLOTS 4096
#define LINE (CACHE_LINE / sizeof(uint64_t))

/* ---- slots -------------------------------------------------------------- */

static struct doacross *doacross_make(const uint64_t *count, unsigned nr,
				      uint64_t chunk)
{
	uint64_t nr_slots = count[0] / chunk + (count[0] % chunk != 0);
	unsigned stride = nr_slots <= MANY_SLOTS ? LINE : 1, i;
	struct doacross *d;

	d = calloc(1,
		   sizeof(*d) + (nr_slots * stride + nr) * sizeof(d->slot[0]));
	if (!d)
		gomp_die("no memory for an ordered loop");
	d->nr = nr;
	d->stride = stride;
	d->chunk = chunk;
	d->count = (uint64_t *)&d->slot[nr_slots * stride];
	for (i = 0; i < nr; i++)
		d->count[i] = count[i];
	return d;
}

/*
 * Iterations of the slot before one, from loop to loop inwards. They are
 * counted modulo 2^64: a loop of more does not end.
 */
static uint64_t add_level(const struct doacross *d, uint64_t before,
			  unsigned level, uint64_t at)
{
	return level ? before * d->count[level] + at : at % d->chunk;
}

static _Atomic(uint64_t) *slot_of(struct doacross *d, uint64_t at)
{
	return &d->slot[at / d->chunk * d->stride];
}

static void post_slot(struct doacross *d, _Atomic(uint64_t) *slot, uint64_t nr)
{
	/* [gomp.post] what the iteration has done; pairs with [gomp.sink] and
	 * [gomp.drop]. */
	a_store(slot, nr, seq_cst);
	/* [gomp.asleep] after it; pairs with [gomp.doze]. */
	if (likely(!a_load(&d->nr_asleep, seq_cst)))
		return;
	/* [gomp.wake] pairs with [gomp.calls]. */
	a_add(&d->nr_calls, 1, release);
	futex_wake(&d->nr_calls, INT_MAX);
}

static void sleep_once(struct doacross *d, const _Atomic(uint64_t) *slot,
		       uint64_t nr)
{
	uint32_t calls;

	/* [gomp.doze] before the look; pairs with [gomp.asleep]. */
	a_add(&d->nr_asleep, 1, seq_cst);
	/* [gomp.calls] before the look, too; pairs with [gomp.wake]. */
	calls = a_load(&d->nr_calls, acquire);
	/* [gomp.drop] pairs with [gomp.post]. */
	if (a_load(slot, seq_cst) < nr)
		futex_wait(&d->nr_calls, calls, -1);
	a_sub(&d->nr_asleep, 1, relaxed);
}

static void await_slot(struct doacross *d, const _Atomic(uint64_t) *slot,
		       uint64_t nr)
{
	unsigned spins = 0;

	/* [gomp.sink] what the iteration has done; pairs with [gomp.post]. */
	while (a_load(slot, acquire) < nr) {
		if (++spins < SPINS)
			a_pause();
		else
			sleep_once(d, slot, nr);
	}
}

/* ---- calls in an iteration ---------------------------------------------- */

static void post_at(const uint64_t *at)
{
	struct doacross *d = gomp_self.share->work.doacross;
	uint64_t nr = 0;
	unsigned i;

	for (i = 0; i < d->nr; i++)
		nr = add_level(d, nr, i, at[i]);
	post_slot(d, slot_of(d, at[0]), nr + 1);
}

void GOMP_doacross_post(long *at)
{
	post_at((uint64_t *)at);
}

void GOMP_doacross_ull_post(ull *at)
{
	post_at((uint64_t *)at);
}

/* Both families pass words. */
static void await_at(uint64_t first, va_list more)
{
	struct doacross *d = gomp_self.share->work.doacross;
	uint64_t nr = add_level(d, 0, 0, first);
	unsigned i;

	for (i = 1; i < d->nr; i++)
		nr = add_level(d, nr, i, va_arg(more, uint64_t));
	await_slot(d, slot_of(d, first), nr + 1);
}

void GOMP_doacross_wait(long first, ...)
{
	va_list more;

	va_start(more, first);
	await_at((uint64_t)first, more);
	va_end(more);
}

void GOMP_doacross_ull_wait(ull first, ...)
{
	va_list more;

	va_start(more, first);
	await_at(first, more);
	va_end(more);
}

/* ---- begin of a loop ---------------------------------------------------- */

/*
 * Chunks of one size: guided ones are as small as they may get, and the one of
 * each thread as large as the largest.
 */
static struct work deal_chunks(const uint64_t *count, unsigned nr,
			       unsigned schedule, uint64_t chunk)
{
	struct bounds b = { .end = count[0], .step = 1, .nr = count[0] };
	struct work w = loop_work(&b, schedule, chunk, false);
	unsigned nr_threads = team_self()->nr;

	if (w.schedule != SCHEDULE_STATIC)
		w.schedule = SCHEDULE_DYNAMIC;
	else if (!w.chunk)
		w.chunk = w.nr / nr_threads + (w.nr % nr_threads != 0);
	if (!w.chunk)
		w.chunk = 1;
	w.doacross = doacross_make(count, nr, w.chunk);
	return w;
}

#define LOOP(name, schedule)                                                   \
	bool GOMP_loop_doacross_##name##_start(                                \
		unsigned nr, long *count, long chunk, long *first, long *last) \
	{                                                                      \
		return GOMP_loop_doacross_start(nr, count, schedule, chunk,    \
						first, last, NULL, NULL);      \
	}                                                                      \
	bool GOMP_loop_ull_doacross_##name##_start(                            \
		unsigned nr, ull *count, ull chunk, ull *first, ull *last)     \
	{                                                                      \
		return GOMP_loop_ull_doacross_start(                           \
			nr, count, schedule, chunk, first, last, NULL, NULL);  \
	}

LOOP(static, SCHEDULE_STATIC)
LOOP(dynamic, SCHEDULE_DYNAMIC)
LOOP(guided, SCHEDULE_GUIDED)

bool GOMP_loop_doacross_runtime_start(unsigned nr, long *count, long *first,
				      long *last)
{
	return GOMP_loop_doacross_start(nr, count, SCHEDULE_RUNTIME, 0, first,
					last, NULL, NULL);
}

bool GOMP_loop_ull_doacross_runtime_start(unsigned nr, ull *count, ull *first,
					  ull *last)
{
	return GOMP_loop_ull_doacross_start(nr, count, SCHEDULE_RUNTIME, 0,
					    first, last, NULL, NULL);
}

bool GOMP_loop_doacross_start(unsigned nr, long *count, long schedule,
			      long chunk, long *first, long *last,
			      uintptr_t *reductions, void **mem)
{
	struct work like =
		deal_chunks((uint64_t *)count, nr, (unsigned)schedule,
			    chunk_of_call(chunk));

	return loop_start_long(&like, first, last, reductions, mem);
}

bool GOMP_loop_ull_doacross_start(unsigned nr, ull *count, long schedule,
				  ull chunk, ull *first, ull *last,
				  uintptr_t *reductions, void **mem)
{
	struct work like =
		deal_chunks((uint64_t *)count, nr, (unsigned)schedule, chunk);

	return loop_start_ull(&like, first, last, reductions, mem);
}
