/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/crew/crew.h"

#include "base/futex.h"

#include <stdlib.h>
#include <string.h>

static inline uint64_t make_range(uint32_t begin, uint32_t end)
{
	return (uint64_t)begin << 32 | end;
}

static inline uint32_t range_begin(uint64_t range)
{
	return (uint32_t)(range >> 32);
}

static inline uint32_t range_size(uint64_t range)
{
	return (uint32_t)range - range_begin(range);
}

struct crew *crew_create(uint32_t nr_workers)
{
	uint32_t nr_groups = nr_workers / CREW_GROUP + 1;
	size_t seats = (nr_workers + 1) * sizeof(struct crew_seat);
	size_t bytes = sizeof(struct crew) + seats +
		       nr_groups * sizeof(struct crew_group);
	struct crew *c = aligned_alloc(CACHE_LINE, bytes);

	if (!c)
		return NULL;
	memset((void *)c, 0, bytes);
	c->seat = (struct crew_seat *)(c + 1);
	c->group = (struct crew_group *)(c->seat + nr_workers + 1);
	c->nr_seats = nr_workers + 1;
	c->nr_groups = nr_groups;
	return c;
}

void crew_destroy(struct crew *c)
{
	if (c)
		free(c->items);
	free(c);
}

/* ---- leader ------------------------------------------------------------- */

bool crew_claim(struct crew *c)
{
	uint32_t state = CREW_FREE;

	/* [crew.claim] the last leader is through; pairs with [crew.free]. */
	return a_load(&c->state, relaxed) == CREW_FREE &&
	       a_cas(&c->state, &state, CREW_SET, acquire, relaxed);
}

void crew_deal(struct crew *c, uint32_t nr, uint32_t last)
{
	uint32_t i, begin = 0, end, parts = last + 1;

	check(a_load(&c->state, relaxed) == CREW_SET && last < c->nr_seats);
	for (i = 0; i < c->nr_seats; i++) {
		end = i >= last ? nr
				: (uint32_t)((uint64_t)nr * (i + 1) / parts);
		a_store(&c->seat[i].range, make_range(begin, end), relaxed);
		begin = end;
	}
}

void crew_open(struct crew *c, uint32_t leader, void *work)
{
	check(leader < c->nr_seats);
	plain_store(&c->work, work);
	a_store(&c->leader, leader, relaxed);
	/* [crew.open] seats and work; before we look who sleeps. Pairs with
	 * [crew.look] and [crew.b]. */
	a_store(&c->state, CREW_OPEN, seq_cst);
}

void crew_close(struct crew *c)
{
	/* [crew.c] before we look who is in; pairs with [crew.b]. */
	a_store(&c->state, CREW_SET, seq_cst);
}

bool crew_is_out(struct crew *c)
{
	uint32_t i;

	for (i = 0; i < c->nr_groups; i++)
		/* [crew.d] what they did, and after the close; pairs with
		 * [crew.a] and [crew.leave]. */
		if (a_load(&c->group[i].nr_in, seq_cst))
			return false;
	return true;
}

void crew_is_awaited(struct crew *c)
{
	/* [crew.wait] before we look who is in; pairs with [crew.leave]. */
	a_store(&c->is_waited, 1, seq_cst);
}

void crew_free(struct crew *c)
{
	check(a_load(&c->state, relaxed) == CREW_SET);
	a_store(&c->is_waited, 0, relaxed);
	/* [crew.free] we are through; pairs with [crew.claim]. */
	a_store(&c->state, CREW_FREE, release);
}

/* ---- workers ------------------------------------------------------------ */

bool crew_enter(struct crew *c, uint32_t seat)
{
	struct crew_group *g = &c->group[seat / CREW_GROUP];
	uint32_t state;

	/* [crew.a] before we look at the state; pairs with [crew.d]. */
	a_add(&g->nr_in, 1, seq_cst);
	/* [crew.b] seats and work; pairs with [crew.open] and [crew.c]. */
	state = a_load(&c->state, seq_cst);
	if (state == CREW_OPEN && a_load(&c->leader, relaxed) != seat)
		return true;
	crew_leave(c, seat);
	return false;
}

void crew_leave(struct crew *c, uint32_t seat)
{
	/* [crew.leave] what we did, before we look who waits; pairs with
	 * [crew.d] and [crew.wait]. */
	a_sub(&c->group[seat / CREW_GROUP].nr_in, 1, seq_cst);
	if (unlikely(a_load(&c->is_waited, seq_cst))) {
		a_store(&c->is_waited, 0, relaxed);
		futex_wake(&c->is_waited, 1);
	}
}

/* ---- members and the leader --------------------------------------------- */

uint32_t crew_take(struct crew *c, uint32_t seat, uint32_t most,
		   uint32_t *begin)
{
	_Atomic(uint64_t) *at = &c->seat[seat].range;
	uint64_t range = a_load(at, relaxed);
	uint32_t nr;

	check(most);
	do {
		nr = range_size(range);
		if (!nr)
			return 0;
		if (nr > most)
			nr = most;
		*begin = range_begin(range);
		/* Relaxed: the numbers are all that it carries. */
	} while (!a_cas(at, &range, range + make_range(nr, 0), relaxed,
			relaxed));
	return nr;
}

/* From the back of one range; an empty one: there was nothing. */
static uint64_t rob_seat(struct crew_seat *s, uint32_t few)
{
	uint64_t range = a_load(&s->range, relaxed);
	uint32_t nr;

	do {
		nr = range_size(range);
		if (!nr)
			return 0;
		if (nr > few)
			nr -= nr / 2;
		/* Relaxed: the numbers are all that it carries. */
	} while (!a_cas(&s->range, &range, range - nr, relaxed, relaxed));
	return make_range((uint32_t)range - nr, (uint32_t)range);
}

bool crew_steal(struct crew *c, uint32_t seat, uint32_t few)
{
	uint32_t state = CREW_OPEN, victim = seat, i;
	uint64_t range;

	for (i = 1; i < c->nr_seats; i++) {
		victim = victim + 1 == c->nr_seats ? 0 : victim + 1;
		range = rob_seat(&c->seat[victim], few);
		if (!range)
			continue;
		/* Nobody robs an empty seat, so this is ours to store. */
		a_store(&c->seat[seat].range, range, relaxed);
		return true;
	}
	/* Relaxed: idle workers need not come; what is left has its member. */
	a_cas(&c->state, &state, CREW_DRY, relaxed, relaxed);
	return false;
}

uint32_t crew_take_wakes(struct crew *c, uint32_t most)
{
	int32_t left = a_load(&c->nr_wakes, relaxed);

	if (left <= 0)
		return 0;
	left = a_sub(&c->nr_wakes, (int32_t)most, relaxed);
	if (left <= 0)
		return 0;
	return (uint32_t)left < most ? (uint32_t)left : most;
}
