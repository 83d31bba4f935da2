/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/cache.h"

#include "mem/heap.h"

const struct bin cache_no_bins[NR_SIZES];

#define BINS_SIZE (NR_SIZES * sizeof(struct bin))

/* False: no memory for bins: the depot serves block by block. */
static bool meet_memory(struct cache *c, unsigned memory)
{
	static const struct os_policy first_touch;
	int error, bind_error;
	struct bin *bins;

	if (a_load(&c->bins[memory], relaxed) != cache_no_bins)
		return true;
	bins = os_map(BINS_SIZE, 4096, &first_touch, &error, &bind_error);
	if (!bins)
		return false;
	/* [cache.new] its zeroes; pairs with [cache.seen]. */
	a_store(&c->bins[memory], bins, release);
	return true;
}

void *cache_refill(struct cache *c, unsigned memory, unsigned class, int *error)
{
	struct depot *d = &c->heap->memory[memory]->depot[class];
	unsigned max = c->max[class], got;
	struct bin *b;
	void *block;

	if (max < 2 || !meet_memory(c, memory))
		return depot_take(d, &block, 1, error) ? block : NULL;
	b = cache_bin(c, memory, class);
	got = depot_take(d, b->slot, max / 2, error);
	if (!got)
		return NULL;
	a_store(&b->nr, got - 1, relaxed);
	return b->slot[got - 1];
}

void cache_spill(struct cache *c, unsigned memory, unsigned class, void *block)
{
	struct memory *m = c->heap->memory[memory];
	struct depot *d = &m->depot[class];
	bool is_remote = m->node >= 0 && c->node >= 0 && m->node != c->node;
	unsigned max = c->max[class], half = (max + 1) / 2;
	struct bin *b;
	uint64_t nr;

	if (!max || !meet_memory(c, memory)) {
		depot_give(d, &block, 1, is_remote);
		return;
	}
	b = cache_bin(c, memory, class);
	nr = a_load(&b->nr, relaxed);
	if (nr >= max) {
		nr -= half;
		a_store(&b->nr, nr, relaxed);
		depot_give(d, &b->slot[nr], half, is_remote);
	}
	b->slot[nr] = block;
	a_store(&b->nr, nr + 1, relaxed);
}

static void flush_bin(struct cache *c, unsigned memory, unsigned class)
{
	struct memory *m = c->heap->memory[memory];
	bool is_remote = m->node >= 0 && c->node >= 0 && m->node != c->node;
	struct bin *b = cache_bin(c, memory, class);
	uint64_t nr = a_load(&b->nr, relaxed);

	a_store(&b->nr, 0, relaxed);
	if (nr)
		depot_give(&m->depot[class], b->slot, (unsigned)nr, is_remote);
}

void cache_flush(struct cache *c)
{
	unsigned memory, class;
	struct bin *bins;

	for (memory = 0; memory < c->heap->nr_memories; memory++) {
		bins = a_load(&c->bins[memory], relaxed);
		if (bins == cache_no_bins)
			continue;
		for (class = 0; class < NR_SIZES; class ++)
			flush_bin(c, memory, class);
	}
}

void cache_unmap_bins(struct cache *c)
{
	unsigned memory;
	struct bin *bins;

	for (memory = 0; memory < c->heap->nr_memories; memory++) {
		bins = a_load(&c->bins[memory], relaxed);
		if (bins != cache_no_bins)
			os_unmap(bins, BINS_SIZE);
	}
}
