/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/gomp.h"

#include "base/futex.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SPINS 1000

/* Chunks of a lot; less where each thread has few left. */
#define LOT 16
#define LOTS_LEFT 4

void share_free_work(const struct work *w)
{
	free(w->memory);
	free(w->doacross);
}

/* A team of one has one construct at a time, and nobody else sees it. */
static bool enter_alone(struct team *t, const struct work *work)
{
	share_free_work(&t->first.work);
	memset(&t->first, 0, sizeof(t->first));
	t->first.work = *work;
	gomp_self.share = &t->first;
	return true;
}

static void share_free(struct team *t, struct share *s)
{
	share_free_work(&s->work);
	if (s != &t->first)
		free(s);
}

/* This thread needs it no more. The team's own, with no memory, just ends. */
static void share_go(struct team *t, struct share *s)
{
	if (s == &t->first && !s->work.memory && !s->work.doacross)
		return;
	/* [gomp.gone] what it did there; pairs with itself. */
	if (a_add(&s->nr_gone, 1, acq_rel) + 1 == t->nr)
		share_free(t, s);
}

/* Out of memory there is no way to go on. */
static struct share *share_make(const struct work *work)
{
	struct share *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		gomp_refuse("a construct without memory");
	memset(s, 0, sizeof(*s));
	s->work = *work;
	return s;
}

/* The one after s; *is_first: this thread has made it. */
static struct share *share_after(struct share *s, const struct work *work,
				 bool *is_first)
{
	/* [gomp.next] what it is; pairs with itself. */
	struct share *next = a_load(&s->next, acquire), *made;

	*is_first = false;
	if (next)
		return next;
	made = share_make(work);
	made->number = s->number + 1;
	/* [gomp.next] as above. */
	*is_first = a_cas(&s->next, &next, made, acq_rel, acquire);
	if (*is_first)
		return made;
	free(made);
	return next;
}

bool share_enter(const struct work *work)
{
	struct team *t = team_self();
	struct share *before = gomp_self.share;
	bool is_first;

	gomp_self.trip = 0;
	gomp_self.chunk_begin = gomp_self.chunk_end = 0;
	if (t->nr == 1)
		return enter_alone(t, work);
	gomp_self.share = share_after(before, work, &is_first);
	share_go(t, before);
	return is_first;
}

void share_leave(void)
{
	share_go(gomp_self.team, gomp_self.share);
}

/* Chunk after chunk, each thread's by its number. */
static bool take_static(const struct work *w, uint64_t *begin, uint64_t *end)
{
	struct self *self = &gomp_self;
	uint64_t nr = self->team->nr, num = self->num, chunk = w->chunk, more;

	if (!chunk) {
		if (self->trip++)
			return false;
		chunk = w->nr / nr;
		more = w->nr % nr;
		*begin = chunk * num + (num < more ? num : more);
		*end = *begin + chunk + (num < more);
		return *begin < *end;
	}
	/* Whether so many chunks lie before, without a product too large. */
	if (self->trip * nr + num >= w->nr / chunk + (w->nr % chunk != 0))
		return false;
	*begin = (self->trip++ * nr + num) * chunk;
	*end = w->nr - *begin < chunk ? w->nr : *begin + chunk;
	return true;
}

static uint64_t chunk_of(const struct work *w, uint64_t left)
{
	uint64_t nr = gomp_self.team->nr, chunk = w->chunk ? w->chunk : 1;

	if (w->schedule == SCHEDULE_GUIDED && (left + nr - 1) / nr > chunk)
		chunk = (left + nr - 1) / nr;
	return chunk < left ? chunk : left;
}

bool share_take(struct share *s, uint64_t *begin, uint64_t *end)
{
	const struct work *w = &s->work;
	uint64_t at = a_load(&s->at, relaxed), chunk;

	if (w->schedule == SCHEDULE_STATIC)
		return take_static(w, begin, end);
	do {
		if (at >= w->nr)
			return false;
		chunk = chunk_of(w, w->nr - at);
	} while (!a_cas(&s->at, &at, at + chunk, relaxed, relaxed));
	*begin = at;
	*end = at + chunk;
	return true;
}

/* Chunks for this thread's next lot. */
static uint64_t lot_size(const struct share *s, uint64_t at)
{
	uint64_t lots = LOTS_LEFT * (uint64_t)gomp_self.team->nr;
	uint64_t nr = (s->work.nr_chunks - at) / lots;

	return nr > LOT ? LOT : nr > 1 ? nr : 1;
}

static bool lot_is_of(uint64_t word, const struct share *s)
{
	return word >> LOT_SHARE_SHIFT == lot_word(s, 0, 0) >> LOT_SHARE_SHIFT;
}

/* True: the lot was of that loop and had a chunk, the last one of which is
 * ours. */
static bool take_last(struct share *s, _Atomic(uint64_t) *lot, uint64_t *at)
{
	uint64_t word = a_load(lot, relaxed);
	unsigned spins = 0;

	while (lot_nr(word) && lot_is_of(word, s)) {
		if (lot_nr(word) == LOT_IS_MADE) {
			if (++spins % SPINS)
				a_pause();
			else
				sched_yield();
			word = a_load(lot, relaxed);
		} else if (a_cas(lot, &word, word - 1, relaxed, relaxed)) {
			*at = lot_first(word) + lot_nr(word) - 1;
			return true;
		}
	}
	return false;
}

/* From a thread that has not begun all of its own. */
static bool take_from_others(struct share *s, uint64_t *at)
{
	const struct self *self = &gomp_self;
	struct tally *tally = self->team->pool->tally;
	unsigned nr = self->team->nr, i;

	for (i = 1; i < nr; i++)
		if (take_last(s, &tally[(self->num + i) % nr].lot, at))
			return true;
	return false;
}

/*
 * A thread says that its lot is being made before it adds. So a thread that
 * finds all chunks of the loop taken sees each lot, or that it is being made,
 * and then waits for it.
 */
bool share_take_lot(struct share *s, uint64_t *at)
{
	struct self *self = &gomp_self;
	_Atomic(uint64_t) *lot = &self->team->pool->tally[self->num].lot;
	/* [gomp.taken] that lots are made; pairs with [gomp.take]. */
	uint64_t left, nr, begun = a_load(&s->at, acquire);

	if (begun >= s->work.nr_chunks)
		return take_from_others(s, at);
	nr = lot_size(s, begun);
	a_store(lot, lot_word(s, 0, LOT_IS_MADE), relaxed);
	/* [gomp.take] that our lot is made, or of those before; pairs with
	 * [gomp.taken] and itself. */
	*at = a_add(&s->at, nr, acq_rel);
	left = *at < s->work.nr_chunks ? s->work.nr_chunks - *at : 0;
	nr = left < nr ? left : nr;
	a_store(lot, nr ? lot_word(s, *at + 1, nr - 1) : 0, relaxed);
	return nr || take_from_others(s, at);
}

void share_wait_turn(struct share *s)
{
	unsigned spins = 0;
	uint32_t nr;

	for (;;) {
		/* [gomp.turns] before the look; pairs with [gomp.call]. */
		nr = a_load(&s->nr_turns, acquire);
		/* [gomp.turn] what iterations before have done; pairs with
		 * itself. */
		if (a_load(&s->turn, acquire) == gomp_self.chunk_begin)
			return;
		if (++spins < SPINS)
			a_pause();
		else
			futex_wait(&s->nr_turns, nr, -1);
	}
}

void share_pass(struct share *s)
{
	struct self *self = &gomp_self;

	if (self->chunk_begin == self->chunk_end)
		return;
	share_wait_turn(s);
	/* [gomp.turn] what ours have done; pairs with itself. */
	a_store(&s->turn, self->chunk_end, release);
	/* [gomp.call] after it; pairs with [gomp.turns]. */
	a_add(&s->nr_turns, 1, release);
	if (self->team->nr > 1)
		futex_wake(&s->nr_turns, INT_MAX);
	self->chunk_begin = self->chunk_end;
}
