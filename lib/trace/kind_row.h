/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies by kind without a recording, option kinds: each executor counts the
 * bodies of its own, and times one of about 64, which stands for those since
 * the one before. Long bodies are all timed, for the clock is cheap beside
 * them. Where the next one comes is made up anew each time, so that no pattern
 * of a graph is met again and again.
 */
#ifndef TRACE_KIND_ROW_H
#define TRACE_KIND_ROW_H

#include "trace/ring.h"

/* Its executor only. */
struct kind_row {
	struct lkdf_stats_kind told; /* what tools read */
	_Atomic(uint64_t) next; /* the number of the next body that is timed */
	uint64_t last; /* of the last one */
	uint64_t random;
	uint64_t reserved[2];
};

_Static_assert(sizeof(struct kind_row) == CACHE_LINE, "a line for each kind");

/* A body begins. True: it is to be timed, between the next two. */
static inline bool kind_row_count(struct kind_row *r)
{
	uint64_t bodies = a_load(trace_word(&r->told.bodies), relaxed) + 1;

	a_store(trace_word(&r->told.bodies), bodies, relaxed);
	return unlikely(bodies >= a_load(&r->next, relaxed));
}

/*
 * The body was put off, it will begin again. stands_for: where it was to be
 * timed; or 0.
 */
static inline void kind_row_uncount(struct kind_row *r, uint64_t stands_for)
{
	_Atomic(uint64_t) *word = trace_word(&r->told.bodies);

	a_store(word, a_load(word, relaxed) - 1, relaxed);
	r->last -= stands_for;
}

/* Before a body that is timed: for how many it stands. */
uint64_t kind_row_begin(struct kind_row *r);

/* It took so long. is_long: the next one is timed as well. */
void kind_row_end(struct kind_row *r, uint64_t stands_for, uint64_t ticks,
		  bool is_long);

#endif
