/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The order of a run of serial mode, chosen by a seed: who picks among things
 * that are ready asks here, and so one seed repeats a run exactly. The numbers
 * are those of splitmix64, which needs one word of state and no table.
 */
#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "base/util.h"

#include <stdbool.h>
#include <stdint.h>

struct order {
	/* Set at start, constant afterwards. */
	bool is_on;

	/* The thread that drains. */
	uint64_t state;
};

/* Seed 0 has no order of its own: who asks gets what it would have had. */
static inline void order_init(struct order *o, uint64_t seed)
{
	o->is_on = seed != 0;
	o->state = seed;
}

static inline uint64_t order_next(struct order *o)
{
	uint64_t x = o->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A number below nr, which is no 0; the first ones are as likely as all. */
static inline uint64_t order_below(struct order *o, uint64_t nr)
{
	check(nr);
	return order_next(o) % nr;
}

/* True one time in nr. */
static inline bool order_once_in(struct order *o, uint64_t nr)
{
	return !order_below(o, nr);
}

#endif
