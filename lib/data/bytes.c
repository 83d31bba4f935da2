/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The bytes of a data: where they come from, and where parts lie in them.
 */
#include "data/data.h"

#include "base/err.h"
#include "core/runtime.h"
#include "data/block.h"
#include "data/facts.h"
#include "mem/heap.h"
#include "mem/region.h"
#include "topo/topo.h"

#include <errno.h>
#include <string.h>

#define PAGE 4096

/* Without a home: pages, or those of each part, come where they are used. */
static bool wants_map(const struct lkdf_data *d, int node)
{
	bool is_split = d->domain.nr_parts > 1;
	uint64_t piece = is_split ? d->stride : d->bytes;

	return d->home < 0 && (is_split || node == DATA_FIRST_TOUCH) &&
	       piece >= 2 * (uint64_t)PAGE && d->align <= PAGE &&
	       d->rt->topo->nr_nodes > 1;
}

static void *take_block(struct lkdf_data *d, unsigned memory, int *error)
{
	struct heap *h = d->rt->heap;
	struct cache *c = heap_thread_cache(h);
	struct heap_want w = { memory, d->bytes, d->align,
			       d->flags & LKDF_DATA_HUGE };
	bool is_zero;
	void *p = heap_alloc_slow(h, c, &w, &is_zero, error);

	if (p && d->name[0])
		block_set_label(h, c, p, d->name);
	return p;
}

void *data_block(struct lkdf_data *d, int node)
{
	struct heap *h = d->rt->heap;
	void *p = NULL;
	int error;

	if (h->memory[node]->is_present)
		p = take_block(d, (unsigned)node, &error);
	if (!p || heap_memory_of(h, p) == node)
		return p;
	data_free_block(d, p);
	return NULL;
}

void data_free_block(struct lkdf_data *d, void *p)
{
	struct heap *h = d->rt->heap;

	heap_free(h, heap_thread_cache(h), p);
}

/* Calling thread's node where node is -1. */
static void *allocate_bytes(struct lkdf_data *d, int node)
{
	struct heap *h = d->rt->heap;
	struct cache *c = heap_thread_cache(h);
	unsigned memory = heap_near_memory(h, node);
	int error = ENOMEM;
	void *p;

	if (wants_map(d, node)) {
		p = region_map(d->bytes);
		d->is_mapped = p != NULL;
		if (p)
			a_store(&d->domain.whole.is_plain, false, relaxed);
		if (p && d->flags & LKDF_DATA_HUGE)
			os_huge(p, d->bytes, h->huge);
	} else {
		p = take_block(d, node < 0 && c ? c->memory : memory, &error);
		if (p)
			a_store(&d->node, heap_memory_of(h, p), relaxed);
	}
	if (!p)
		err(-ENOMEM, "data: no memory for \"%s\", %llu bytes: %s",
		    d->name, (unsigned long long)d->bytes, strerror(error));
	return p;
}

void *data_bytes(struct lkdf_data *d, int node)
{
	/* [data.look] pairs with [data.at]. */
	void *p = a_load(&d->domain.at, acquire);

	if (likely(p != NULL))
		return p;
	lock_take(&d->domain.lock);
	p = a_load(&d->domain.at, relaxed);
	if (!p) {
		p = allocate_bytes(d, d->home >= 0 ? d->home : node);
		if (p)
			facts_watch(d, p, false);
		/* [data.at] what allocate_bytes() noted; pairs with
		 * [data.look]. */
		a_store(&d->domain.at, p, release);
	}
	lock_give(&d->domain.lock);
	return p;
}

/* The whole ones. */
static void forget_pages(void *at, uint64_t bytes)
{
	uintptr_t first = round_up((uintptr_t)at, PAGE);
	uintptr_t end = ((uintptr_t)at + bytes) / PAGE * PAGE;

	if (first < end)
		os_decommit((void *)first, end - first);
}

void data_free_own(struct lkdf_data *d, void *p)
{
	/* The heap's next one shall find its own node's pages there. */
	if (a_load(&d->has_strays, relaxed))
		forget_pages(p, d->bytes);
	a_store(&d->has_strays, false, relaxed);
	data_free_block(d, p);
}

void data_free_bytes(struct lkdf_data *d)
{
	void *p = a_load(&d->domain.at, relaxed);

	if (!p)
		return;
	facts_forget(d);
	if (d->drop)
		d->drop(p);
	if (d->is_wrapped)
		return;
	if (d->is_mapped)
		region_unmap(p, d->bytes);
	else
		data_free_own(d, p);
}

uint64_t data_offset(const struct lkdf_data *d, uint32_t part)
{
	return part ? (part - 1) * d->stride : 0;
}

uint64_t data_size(const struct lkdf_data *d, uint32_t part)
{
	if (!part)
		return d->bytes;
	return min_u64(d->stride, d->bytes - data_offset(d, part));
}
