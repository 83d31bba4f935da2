/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/limits.h"

void limits_begin(struct limits *l, uint64_t begin, uint64_t end)
{
	struct limit_place *p = l->place;
	uint64_t none;

	for (; p < l->place + LIMIT_PLACES; p++) {
		none = 0;
		/* [limits.take] the end of the one before is gone; pairs with
		 * [limits.free]. */
		if (a_load(&p->begin, relaxed) ||
		    !a_cas(&p->begin, &none, begin, acquire, relaxed))
			continue;
		a_store(&p->end, end, relaxed);
		a_add(&l->nr, 1, relaxed);
		return;
	}
}

bool limits_end(struct limits *l, uint64_t begin)
{
	struct limit_place *p = l->place;
	bool was_told;

	if (!a_load(&l->nr, relaxed))
		return false;
	while (p < l->place + LIMIT_PLACES &&
	       a_load(&p->begin, relaxed) != begin)
		p++;
	if (p == l->place + LIMIT_PLACES)
		return false;
	was_told = !a_xchg(&p->end, 0, relaxed);
	a_sub(&l->nr, 1, relaxed);
	/* [limits.free] it has no end; pairs with [limits.take]. */
	a_store(&p->begin, 0, release);
	return was_told;
}

bool limits_look(struct limits *l, uint64_t now)
{
	struct limit_place *p = l->place;
	bool is_late = false;
	uint64_t end;

	if (!a_load(&l->nr, relaxed))
		return false;
	for (; p < l->place + LIMIT_PLACES; p++) {
		end = a_load(&p->end, relaxed);
		if (!end || now <= end)
			continue;
		/* The thread that ends it meanwhile tells it. */
		is_late |= a_cas(&p->end, &end, 0, relaxed, relaxed);
	}
	return is_late;
}
