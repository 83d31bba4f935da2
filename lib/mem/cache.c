/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/cache.h"

#include "mem/heap.h"

const struct bin cache_no_bins[NR_CLASSES];

/* Blocks that a bin starts with. */
#define BIN_START 4

#define BINS_SIZE (NR_CLASSES * sizeof(struct bin))

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

/* Doubles the bin's room, as far as its class and the thread may. */
static void grow(struct cache *c, struct bin *b, unsigned class)
{
	const struct size_class *k = &c->heap->class[class];
	uint64_t more = b->max ? b->max : BIN_START;

	more = min_u64(more, k->bin_max - b->max);
	more = min_u64(more, c->room / k->size);
	b->max += (uint32_t)more;
	c->room -= more * k->size;
}

void *cache_refill(struct cache *c, unsigned memory, unsigned class, int *error)
{
	struct depot *d = &c->heap->memory[memory]->depot[class];
	struct bin *b;
	void *block;
	unsigned got;

	if (!meet_memory(c, memory))
		return depot_take(d, &block, 1, error) ? block : NULL;
	b = cache_bin(c, memory, class);
	grow(c, b, class);
	if (b->max < 2)
		return depot_take(d, &block, 1, error) ? block : NULL;
	got = depot_take(d, b->slot, b->max / 2, error);
	if (!got)
		return NULL;
	a_store(&b->nr, got - 1, relaxed);
	return b->slot[got - 1];
}

void cache_spill(struct cache *c, unsigned memory, unsigned class, void *block)
{
	struct memory *m = c->heap->memory[memory];
	struct depot *d = &m->depot[class];
	bool is_remote = cache_is_remote(c, m);
	uint32_t nr, half;
	struct bin *b;

	if (!meet_memory(c, memory)) {
		depot_give(d, &block, 1, is_remote);
		return;
	}
	b = cache_bin(c, memory, class);
	nr = a_load(&b->nr, relaxed);
	if (nr >= b->max)
		grow(c, b, class);
	if (!b->max) {
		depot_give(d, &block, 1, is_remote);
		return;
	}
	if (nr >= b->max) {
		half = (b->max + 1) / 2;
		nr -= half;
		a_store(&b->nr, nr, relaxed);
		depot_give(d, &b->slot[nr], half, is_remote);
	}
	b->slot[nr] = block;
	/* [cache.fork] the slot; pairs with [cache.child]. */
	a_store(&b->nr, nr + 1, release);
}

static void flush_bin(struct cache *c, unsigned memory, unsigned class)
{
	struct memory *m = c->heap->memory[memory];
	bool is_remote = cache_is_remote(c, m);
	struct bin *b = cache_bin(c, memory, class);
	/* [cache.child] slots of a thread gone in fork(): [cache.fork]. */
	uint32_t nr = a_load(&b->nr, acquire);

	a_store(&b->nr, 0, relaxed);
	if (nr)
		depot_give(&m->depot[class], b->slot, nr, is_remote);
}

void cache_flush(struct cache *c)
{
	unsigned memory, class;
	struct bin *bins;

	for (memory = 0; memory < c->heap->nr_memories; memory++) {
		bins = a_load(&c->bins[memory], relaxed);
		if (bins == cache_no_bins)
			continue;
		for (class = 0; class < NR_CLASSES; class ++)
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
