/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread's cache of a heap: for every memory it has met and every class a bin
 * of free blocks. Blocks lie in the bin of the memory they belong to, whoever
 * frees them, so a thread never gets memory of another node than it asked for.
 * Bins change hands with depots in halves. A bin starts without room and gets
 * more each time it runs empty or full, so a thread keeps much of what it uses
 * much.
 *
 * Owner only, but tops: statistics read them, and the child of a fork empties
 * the bins of threads that it does not have. At each moment a block is in at
 * most one place, therefore, in program order.
 */
#ifndef MEM_CACHE_H
#define MEM_CACHE_H

#include "mem/label.h"
#include "mem/memory.h"

#define MAX_MEMORIES 256

/*
 * Bins of one memory, by class. A bin is empty when its top is a multiple of
 * its slots' size: so it never fills them all. Until it is first used its top
 * and end are NULL, which says that it is empty, and full.
 */
struct bins {
	_Atomic(void **) top[NR_SIZES]; /* first free slot */
	void **end[NR_SIZES]; /* owner only: behind the last one to use */
	_Alignas(BIN_SLOTS * sizeof(void *)) void *slot[NR_SIZES][BIN_SLOTS];
};

/* Not known which: its bins have no room. */
#define CACHE_NO_MEMORY MAX_MEMORIES

struct cache {
	/* Owner writes; any thread reads. First: its index is its address. */
	_Alignas(CACHE_LINE) _Atomic(struct bins *) bins[CACHE_NO_MEMORY + 1];

	/* Set when made, constant afterwards. */
	struct heap *heap;
	uint64_t owner; /* pthread_self() */

	/* Under the heap's lock. */
	struct list list;

	/* Owner only. */
	int node; /* where the thread runs, as known */
	unsigned memory; /* of that node, or of the nearest that has any */
	struct bins *local; /* of that memory */
	uint64_t room; /* bytes by which all bins may still grow */
	uint32_t label_number; /* of label_text, a memo */
	char label_text[LABEL_MAX + 1];
};

/* Bins of a memory never met: nothing in them, and no room. */
extern const struct bins cache_no_bins;

/* The thread runs on that node from now on; -1: on none of the heap's. */
void cache_set_node(struct cache *c, int node);

/* A block of the class for a thread whose bin is empty; NULL: *error why. */
void *cache_refill(struct cache *c, unsigned memory, unsigned class,
		   int *error);

/* A block for a thread whose bin is full. */
void cache_overflow(struct cache *c, const struct span *s, uint64_t *block,
		    uint64_t mark);

/* Gives all blocks back. */
void cache_flush(struct cache *c);

/* The bins themselves go; they are empty, or their blocks go, too. */
void cache_unmap_bins(struct cache *c);

/* The thread and the memory are on different nodes, both known. */
static inline bool cache_is_remote(const struct cache *c,
				   const struct memory *m)
{
	return m->node >= 0 && c->node >= 0 && m->node != c->node;
}

static inline struct bins *cache_bins(struct cache *c, unsigned memory)
{
	return a_load(&c->bins[memory], relaxed);
}

/* False: no room, and nothing was done. mark: its second word from now on. */
static inline bool cache_push_class(struct cache *c, unsigned memory,
				    size_t class, uint64_t *block,
				    uint64_t mark)
{
	struct bins *b = cache_bins(c, memory);
	void **top = a_load(&b->top[class], relaxed);

	if (unlikely(top >= b->end[class]))
		return false;
	block[1] = mark;
	*top = block;
	/* [cache.push] the slot; pairs with [cache.child]. */
	a_store(&b->top[class], top + 1, release);
	return true;
}

static inline bool cache_push(struct cache *c, const struct span *s,
			      uint64_t *block, uint64_t mark)
{
	return cache_push_class(c, s->memory_index, s->class, block, mark);
}

/* Blocks in a bin; racy but for the owner. */
static inline uint32_t bins_nr(struct bins *b, unsigned class)
{
	/* [cache.child] slots of a thread gone in fork(): [cache.push]. */
	void **top = a_load(&b->top[class], acquire);

	return top ? (uint32_t)(top - b->slot[class]) : 0;
}

#endif
