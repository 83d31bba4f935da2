/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/wake_depth.h"

#define LINK_MASK ((1ull << WAKE_LINK_BITS) - 1)

static unsigned shift_of(uint32_t link)
{
	check(link >= 1 && link <= WAKE_LINKS);
	return (link - 1) * WAKE_LINK_BITS;
}

/* A burst begins; what the last one has left does not belong to it. */
static uint32_t begin_burst(struct wake_depth *d, uint32_t nr)
{
	a_store(&d->given, min_u64(nr, LINK_MASK), relaxed);
	a_store(&d->longest, 1, relaxed);
	return 1;
}

uint32_t wake_depth_give(struct wake_depth *d, uint32_t link, uint32_t nr)
{
	uint64_t given = a_load(&d->given, relaxed), room, next;
	uint32_t longest = a_load(&d->longest, relaxed);

	if (!nr)
		return 0;
	if (!link)
		return begin_burst(d, nr);
	link += link < WAKE_LINKS;
	do {
		room = LINK_MASK - (given >> shift_of(link) & LINK_MASK);
		next = given + (min_u64(nr, room) << shift_of(link));
	} while (!a_cas(&d->given, &given, next, relaxed, relaxed));
	if (link <= longest)
		return 0;
	a_store(&d->longest, link, relaxed);
	return link - longest;
}

uint32_t wake_depth_take(struct wake_depth *d)
{
	uint64_t given = a_load(&d->given, relaxed);
	uint32_t link;

	do {
		/* The waker has not counted yet. */
		if (!given)
			return 1;
		link = (uint32_t)__builtin_ctzll(given) / WAKE_LINK_BITS + 1;
	} while (!a_cas(&d->given, &given, given - (1ull << shift_of(link)),
			relaxed, relaxed));
	return link;
}
