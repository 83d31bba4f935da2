/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counting, for headers that nearly every file includes: what a counter is
 * called and how many there are is in counters.h, so that a new one compiles
 * those files again that name one.
 */
#ifndef TRACE_COUNTER_H
#define TRACE_COUNTER_H

#include "base/atomic.h"

#include <stdint.h>

/* Bodies that were called: the first row of the table. */
#define COUNTER_BODIES 0u

/* A row has one word for each counter. */
struct counters;

static inline _Atomic(uint64_t) *counter_word(struct counters *c, unsigned i)
{
	return (_Atomic(uint64_t) *)(void *)c + i;
}

/* The executor itself calls it. */
static inline void counter_add(struct counters *c, unsigned i, uint64_t n)
{
	_Atomic(uint64_t) *word = counter_word(c, i);

	a_store(word, a_load(word, relaxed) + n, relaxed);
}

/* The outside: any thread. */
static inline void counter_add_shared(struct counters *c, unsigned i,
				      uint64_t n)
{
	a_add(counter_word(c, i), n, relaxed);
}

#endif
