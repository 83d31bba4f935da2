/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks that have a label, listed for tools of other processes: a table by
 * address in shared memory that somebody else owns (lkdf/format.h: its
 * addresses, then its rows). A block lies in one of the places of its line, or
 * it is left out and counted. Nothing here is ever read to steer anything.
 */
#ifndef MEM_LISTING_H
#define MEM_LISTING_H

#include "base/atomic.h"

#include <lkdf/format.h>
#include <stddef.h>

struct listing {
	/* Set before there are blocks, cleared when no thread runs. */
	_Atomic(uint64_t) *address; /* NULL: nobody may look */
	struct lkdf_stats_label *row;
	uint32_t nr; /* a power of two, and a multiple of a line's */
	_Atomic(uint64_t) *left_out;
};

/* The block's owner only: it is called so from now on. */
void listing_set(const struct listing *l, const void *block, uint64_t bytes,
		 const char *text);

/* The block's owner only: it has no label any more. */
void listing_drop(const struct listing *l, const void *block);

#endif
