/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A loop's way from gcc's call to iterations, for calls of several files. */
#ifndef GOMP_LOOP_H
#define GOMP_LOOP_H

#include "gomp/calls.h"
#include "gomp/gomp.h"

/* A loop, as a call says it. */
struct bounds {
	uint64_t begin, end, step;
	bool is_down;
	uint64_t nr;
};

/* In the calls for long; none is 0 or less. */
static inline uint64_t chunk_of_call(long chunk)
{
	return chunk > 0 ? (uint64_t)chunk : 0;
}

struct bounds loop_bounds(long begin, long end, long step);

/* Sections are iterations that a thread takes one by one. */
struct work loop_sections(unsigned nr);

/* schedule: of gcc's calls, with a bit that asks for nothing here. */
struct work loop_work(const struct bounds *b, unsigned schedule, uint64_t chunk,
		      bool is_ordered);

/*
 * To the loop, and its first iterations; first NULL: they are asked for later,
 * or come out of the thread's number. reductions: of its tasks, or NULL. mem:
 * NULL, or where the number of bytes stands that all threads of the construct
 * get, zeroed. False: this thread has none.
 */
bool loop_start_long(const struct work *like, long *first, long *last,
		     uintptr_t *reductions, void **mem);
bool loop_start_ull(const struct work *like, ull *first, ull *last,
		    uintptr_t *reductions, void **mem);

#endif
