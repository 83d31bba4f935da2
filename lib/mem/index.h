/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From an address to the span that it lies in: a radix tree over pages of
 * 64 KiB in two levels, so that free() needs two loads to know class and
 * memory, and a foreign address is found out without touching it.
 *
 * An entry is the span's address. Entries are written before the first block
 * of the span is handed out and cleared after the last came back; who frees
 * got the block's address from who allocated it, and with it the entry.
 */
#ifndef MEM_INDEX_H
#define MEM_INDEX_H

#include "base/atomic.h"
#include "base/util.h"
#include "mem/class.h"

#include <stdbool.h>

#define INDEX_ADDRESS_BITS 47
#define INDEX_LEAF_BITS 18 /* a leaf covers 16 GiB */
#define INDEX_LEAF ((size_t)1 << INDEX_LEAF_BITS)
#define INDEX_ROOT \
	((size_t)1 << (INDEX_ADDRESS_BITS - HEAP_PAGE_SHIFT - INDEX_LEAF_BITS))

struct span;

struct index {
	_Atomic(_Atomic(uint64_t) *) root[INDEX_ROOT];
};

void index_fini(struct index *x);

/* False: no memory. nr_pages entries from at on are span's. */
bool index_add(struct index *x, const char *at, size_t nr_pages,
	       struct span *span);
void index_del(struct index *x, const char *at, size_t nr_pages);

/* The entry of the page that holds p; 0: the page is not the heap's. */
static inline uint64_t index_entry(struct index *x, const void *p)
{
	uintptr_t page = (uintptr_t)p >> HEAP_PAGE_SHIFT;
	_Atomic(uint64_t) *leaf;

	if (unlikely(page >> INDEX_LEAF_BITS >= INDEX_ROOT))
		return 0;
	/* [index.leaf] its zeroes; pairs with [index.new]. */
	leaf = a_load(&x->root[page >> INDEX_LEAF_BITS], acquire);
	if (unlikely(!leaf))
		return 0;
	return a_load(&leaf[page & (INDEX_LEAF - 1)], relaxed);
}

static inline struct span *entry_span(uint64_t entry)
{
	return (struct span *)(uintptr_t)entry;
}

#endif
