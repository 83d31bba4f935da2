/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory for the allocator's own records, apart from what it hands out: a
 * write past a block never reaches a record. Records are cut from chunks and
 * come back to a list of their size; a chunk goes when the heap goes.
 */
#ifndef MEM_META_H
#define MEM_META_H

#include "base/lock.h"
#include "mem/os.h"

#define META_UNIT 64
#define META_MAX 4096 /* larger ones are mappings of their own */

struct meta_free {
	struct meta_free *next;
};

struct meta {
	const struct os_policy *policy;

	/* Under lock. */
	struct lock lock;
	struct meta_free *free[META_MAX / META_UNIT + 1];
	char *at, *end; /* what is left of the newest chunk */
	struct meta_chunk *chunks;
	size_t bytes; /* mapped */
};

void meta_init(struct meta *m, const struct os_policy *policy);
void meta_fini(struct meta *m);

/* Zeroed, on a multiple of 64; NULL: no memory. */
void *meta_alloc(struct meta *m, size_t size);
void meta_free(struct meta *m, void *record, size_t size);

#endif
