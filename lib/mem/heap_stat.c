/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"
#include "mem/large.h"

#include <string.h>

void heap_trim(struct heap *h, bool all)
{
	unsigned i;

	for (i = 0; i < h->nr_memories; i++)
		memory_trim(h->memory[i], all);
}

/* Under the heap's lock. Racy by what threads do meanwhile. */
static uint64_t bytes_in_bins(struct heap *h, unsigned memory)
{
	uint64_t bytes = 0;
	struct cache *c;
	struct bins *bins;
	struct list *l;
	unsigned i;

	for (l = h->caches.next; l != &h->caches; l = l->next) {
		c = container_of(l, struct cache, list);
		/* [cache.seen] its zeroes; pairs with [cache.new]. */
		bins = a_load(&c->bins[memory], acquire);
		if (bins == &cache_no_bins)
			continue;
		for (i = 0; i < NR_SIZES; i++)
			bytes += (uint64_t)bins_nr(bins, i) * h->class[i].size;
	}
	return bytes;
}

/* Free blocks below the threads: in batches and in spans. */
static uint64_t bytes_in_depots(struct memory *m)
{
	uint64_t bytes = 0, nr;
	struct depot *d;
	struct span *s;
	struct list *l;
	unsigned i;

	for (i = 0; i < NR_SIZES; i++) {
		d = &m->depot[i];
		lock_take(&d->lock);
		nr = d->nr_cached;
		for (l = d->partial.next; l != &d->partial; l = l->next) {
			s = container_of(l, struct span, list);
			nr += s->nr_free;
		}
		lock_give(&d->lock);
		bytes += nr * m->heap->class[i].size;
	}
	return bytes;
}

void heap_stat(struct heap *h, unsigned memory, struct heap_stat *out)
{
	struct memory *m = h->memory[memory];
	uint64_t in_bins, low;
	unsigned i;

	memset(out, 0, sizeof(*out));
	lock_take(&h->lock);
	in_bins = bytes_in_bins(h, memory);
	lock_give(&h->lock);
	low = bytes_in_depots(m);
	lock_take(&m->lock);
	out->mapped = m->mapped;
	out->remote_frees = m->nr_remote;
	out->cached =
		in_bins + low + m->large_cached + m->cached_pages * HEAP_PAGE;
	lock_give(&m->lock);
	out->used = a_load(&m->out, relaxed);
	out->used -= min_u64(in_bins, out->used);
	out->peak = a_load(&m->peak, relaxed);
	for (i = 0; i < NR_SIZES; i++) {
		lock_take(&m->depot[i].lock);
		out->remote_frees += m->depot[i].nr_remote;
		lock_give(&m->depot[i].lock);
	}
}
