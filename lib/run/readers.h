/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes end with the last of their readers: who is it? Readers on the worker
 * that made the bytes count in a word of that worker's, without a locked
 * operation, all others in one that they share (Choi, Shull and Torrellas,
 * "Biased Reference Counting", PACT 2018; there the count is not known before).
 *
 * At most one is told that it is the last. Where the last two leave at the same
 * moment, one on that worker and one elsewhere, neither may see the other, and
 * nobody is told: the bytes are left over, for whoever makes the next ones, or
 * ends the frame. Words that have told somebody are 0 again; others are not,
 * and must be set so before the next round.
 */
#ifndef RUN_READERS_H
#define RUN_READERS_H

#include "base/atomic.h"
#include "base/util.h"

#include <stdbool.h>
#include <stdint.h>

#define READERS_MAX (UINT16_MAX - 1)

struct readers {
	_Atomic(uint16_t) own; /* the maker's worker writes */
	_Atomic(uint16_t) others; /* any reader */
};

/* The count begins: no reader has left yet. */
static inline void readers_reset(struct readers *r)
{
	a_store(&r->own, 0, relaxed);
	a_store(&r->others, 0, relaxed);
}

/*
 * A reader of nr leaves, each once; is_own: it runs on the maker's worker.
 * True: it is the last, sees what all others did, and the words are 0.
 */
static inline bool readers_leave(struct readers *r, uint32_t nr, bool is_own)
{
	/* [readers.own] what the maker's worker read; pairs with
	 * [readers.left]. */
	uint32_t own = a_load(&r->own, acquire);
	/* [readers.others] what others read; pairs with [readers.leave]. */
	uint32_t others = a_load(&r->others, acquire);

	if (own + others + 1 == nr) {
		if (others)
			a_store(&r->others, 0, relaxed);
		a_store(&r->own, 0, relaxed);
		return true;
	}
	if (is_own) {
		/* [readers.left] what we read; pairs with [readers.own] and
		 * [readers.last]. */
		a_store(&r->own, (uint16_t)(own + 1), release);
		return false;
	}
	/* [readers.leave] what we read; pairs with itself and
	 * [readers.others]. */
	others = a_add(&r->others, 1, acq_rel) + 1u;
	/* [readers.last] as [readers.own]. */
	own = a_load(&r->own, acquire);
	if (own + others != nr)
		return false;
	readers_reset(r);
	return true;
}

#endif
