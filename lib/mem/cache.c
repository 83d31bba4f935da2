/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/cache.h"

#include "mem/heap.h"

const struct bins cache_no_bins;

/* Blocks that a bin starts with. */
#define BIN_START 4

#define BINS_SIZE round_up_const(sizeof(struct bins), 4096)

void cache_set_node(struct cache *c, int node)
{
	c->node = node;
	c->memory = heap_near_memory(c->heap, node);
	c->local = cache_bins(c, c->memory);
}

/* False: no memory for bins: the depot serves block by block. */
static bool meet_memory(struct cache *c, unsigned memory)
{
	static const struct os_policy first_touch;
	int error, bind_error;
	struct bins *bins;

	if (a_load(&c->bins[memory], relaxed) != &cache_no_bins)
		return true;
	bins = os_map(BINS_SIZE, 4096, &first_touch, &error, &bind_error);
	if (!bins)
		return false;
	/* [cache.new] its zeroes; pairs with [cache.seen]. */
	a_store(&c->bins[memory], bins, release);
	cache_set_node(c, c->node);
	return true;
}

/* Doubles the bin's room, as far as its class and the thread may. */
static uint32_t grow_bins(struct cache *c, struct bins *b, unsigned class)
{
	const struct size_class *k = &c->heap->class[class];
	uint64_t max = 0, more = BIN_START;

	if (b->end[class]) {
		max = (uint64_t)(b->end[class] - b->slot[class]);
		more = max;
	} else {
		a_store(&b->top[class], b->slot[class], relaxed);
	}
	more = min_u64(more ? more : BIN_START, k->bin_max - max);
	more = min_u64(more, c->room / k->size);
	c->room -= more * k->size;
	max += more;
	b->end[class] = b->slot[class] + max;
	return (uint32_t)max;
}

void *cache_refill(struct cache *c, unsigned memory, unsigned class, int *error)
{
	struct depot *d = &c->heap->memory[memory]->depot[class];
	uint32_t max = 0, got;
	struct bins *b = NULL;
	void *block;

	if (meet_memory(c, memory)) {
		b = cache_bins(c, memory);
		max = grow_bins(c, b, class);
	}
	if (max < 2)
		return depot_take(d, &block, 1, error) ? block : NULL;
	got = depot_take(d, b->slot[class], max / 2, error);
	if (!got)
		return NULL;
	/* [cache.refill] as [cache.push]; pairs with [cache.child]. */
	a_store(&b->top[class], &b->slot[class][got - 1], release);
	return b->slot[class][got - 1];
}

void cache_overflow(struct cache *c, const struct span *s, uint64_t *block,
		    uint64_t mark)
{
	unsigned memory = s->memory_index, class = s->class;
	struct memory *m = s->memory;
	struct depot *d = &m->depot[class];
	bool is_remote = cache_is_remote(c, m);
	uint32_t max = 0, half;
	struct bins *b = NULL;
	void **top;

	if (meet_memory(c, memory)) {
		b = cache_bins(c, memory);
		max = grow_bins(c, b, class);
	}
	if (!max) {
		block[1] = mark;
		depot_give(d, (void **)&block, 1, is_remote);
		return;
	}
	if (cache_push(c, s, block, mark))
		return;
	half = (max + 1) / 2;
	top = a_load(&b->top[class], relaxed) - half;
	a_store(&b->top[class], top, relaxed);
	depot_give(d, top, half, is_remote);
	cache_push(c, s, block, mark);
}

static void flush_bin(struct cache *c, unsigned memory, unsigned class)
{
	struct memory *m = c->heap->memory[memory];
	struct bins *b = cache_bins(c, memory);
	uint32_t nr = bins_nr(b, class);

	if (!nr)
		return;
	a_store(&b->top[class], b->slot[class], relaxed);
	depot_give(&m->depot[class], b->slot[class], nr, cache_is_remote(c, m));
}

void cache_flush(struct cache *c)
{
	unsigned memory, class;
	struct bins *bins;

	for (memory = 0; memory < c->heap->nr_memories; memory++) {
		bins = a_load(&c->bins[memory], relaxed);
		if (bins == &cache_no_bins)
			continue;
		for (class = 0; class < NR_SIZES; class ++)
			flush_bin(c, memory, class);
	}
}

void cache_unmap_bins(struct cache *c)
{
	unsigned memory;
	struct bins *bins;

	for (memory = 0; memory < c->heap->nr_memories; memory++) {
		bins = a_load(&c->bins[memory], relaxed);
		if (bins != &cache_no_bins)
			os_unmap(bins, BINS_SIZE);
	}
}
