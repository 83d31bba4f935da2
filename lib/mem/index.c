/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/index.h"

#include "mem/memory.h"
#include "mem/os.h"

#define LEAF_SIZE (INDEX_LEAF * sizeof(uint64_t))

void index_fini(struct index *x)
{
	size_t i;

	for (i = 0; i < INDEX_ROOT; i++)
		if (a_load(&x->root[i], relaxed))
			os_unmap((void *)(uintptr_t)a_load(&x->root[i],
							   relaxed),
				 LEAF_SIZE);
}

static _Atomic(uint64_t) *leaf_of(struct index *x, uintptr_t page)
{
	_Atomic(_Atomic(uint64_t) *) *slot = &x->root[page >> INDEX_LEAF_BITS];
	static const struct os_policy anywhere;
	_Atomic(uint64_t) *leaf, *other = NULL;
	int error, bind_error;

	/* [index.seen] its zeroes; pairs with [index.new]. */
	leaf = a_load(slot, acquire);
	if (leaf)
		return leaf;
	leaf = os_map(LEAF_SIZE, 4096, &anywhere, &error, &bind_error);
	if (!leaf)
		return NULL;
	/* [index.new] pairs with [index.leaf] and [index.seen]. */
	if (a_cas(slot, &other, leaf, acq_rel, acquire))
		return leaf;
	os_unmap((void *)(uintptr_t)leaf, LEAF_SIZE);
	return other;
}

bool index_add(struct index *x, const char *at, size_t nr_pages,
	       struct span *span)
{
	uint64_t entry = (uintptr_t)span;
	uintptr_t page = (uintptr_t)at >> HEAP_PAGE_SHIFT;
	_Atomic(uint64_t) *leaf;
	size_t i;

	if (page >> (INDEX_ADDRESS_BITS - HEAP_PAGE_SHIFT))
		return false;
	for (i = 0; i < nr_pages; i++, page++) {
		leaf = leaf_of(x, page);
		if (!leaf) {
			index_del(x, at, i);
			return false;
		}
		a_store(&leaf[page & (INDEX_LEAF - 1)], entry, relaxed);
	}
	return true;
}

void index_del(struct index *x, const char *at, size_t nr_pages)
{
	uintptr_t page = (uintptr_t)at >> HEAP_PAGE_SHIFT;
	size_t i;

	for (i = 0; i < nr_pages; i++, page++)
		a_store(&leaf_of(x, page)[page & (INDEX_LEAF - 1)], 0, relaxed);
}
