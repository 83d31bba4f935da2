/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/kind_row.h"

/* 33 to 96: the next one, 64 on in the mean. */
static uint64_t draw_gap(struct kind_row *r)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return 33 + (r->random >> 58);
}

uint64_t kind_row_begin(struct kind_row *r)
{
	uint64_t bodies = a_load(trace_word(&r->told.bodies), relaxed);
	uint64_t stands_for = bodies - r->last;

	/* Before the body: others of its kind may run within it. */
	r->last = bodies;
	a_store(&r->next, bodies + draw_gap(r), relaxed);
	return stands_for;
}

void kind_row_end(struct kind_row *r, uint64_t stands_for, uint64_t ticks,
		  bool is_long)
{
	_Atomic(uint64_t) *sum = trace_word(&r->told.ticks);
	_Atomic(uint64_t) *timed = trace_word(&r->told.timed);

	a_store(sum, a_load(sum, relaxed) + stands_for * ticks, relaxed);
	a_store(timed, a_load(timed, relaxed) + 1, relaxed);
	if (is_long)
		a_store(&r->next, 0, relaxed);
}
