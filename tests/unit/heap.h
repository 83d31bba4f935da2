/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of the allocator share: heaps of made-up machines, on which
 * nothing is bound, and blocks that know what was written into them.
 */
#ifndef TESTS_UNIT_HEAP_H
#define TESTS_UNIT_HEAP_H

#include "mem/heap.h"
#include "tests/tap.h"

#include <errno.h>

#define NR_NODES 4
#define MIB ((size_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

static const struct heap_node test_node[NR_NODES] = {
	{ 0, true }, { 1, true }, { 2, true }, { 3, true }
};

__attribute__((unused)) static struct heap *heap_of(const struct heap_attr *a)
{
	struct heap_attr attr = *a;
	struct heap *h = NULL;

	if (!attr.node) {
		attr.node = test_node;
		attr.nr_nodes = NR_NODES;
	}
	if (heap_create(&attr, &h)) {
		ok(false, "a heap is made");
		exit(tap_end());
	}
	return h;
}

__attribute__((unused)) static struct heap *plain_heap(void)
{
	return heap_of(&(struct heap_attr){ .limit = 0 });
}

/* As a user of the library would: the bins first. */
__attribute__((unused)) static void *take(struct heap *h, struct cache *c,
					  unsigned memory, size_t size)
{
	struct heap_want w = { .memory = memory, .size = size, .align = 16 };
	bool is_zero;
	void *p = NULL;
	int error;

	if (c && size && size <= CLASS_MAX_SIZE)
		p = heap_alloc_class(c, memory, class_of(size));
	return p ? p : heap_alloc_slow(h, c, &w, &is_zero, &error);
}

/* The error of an allocation that must fail; 0: it did not. */
__attribute__((unused)) static int take_error(struct heap *h, struct cache *c,
					      unsigned memory, size_t size)
{
	struct heap_want w = { .memory = memory, .size = size, .align = 16 };
	bool is_zero;
	int error = 0;
	void *p = heap_alloc_slow(h, c, &w, &is_zero, &error);

	if (!p)
		return error;
	heap_free(h, c, p);
	return 0;
}

__attribute__((unused)) static unsigned char byte_of(const void *p, size_t at,
						     unsigned seed)
{
	return (unsigned char)((uintptr_t)p / 16 + at * 7 + seed);
}

/* Every byte of a small block, the edges and one per page of a large one. */
static inline size_t next_byte(size_t at, size_t size)
{
	return at < 1024 || at + 1024 > size ? at + 1 : at + 511;
}

__attribute__((unused)) static void fill(void *p, size_t size, unsigned seed)
{
	unsigned char *b = p;
	size_t i;

	for (i = 0; i < size; i = next_byte(i, size))
		b[i] = byte_of(p, i, seed);
}

__attribute__((unused)) static bool
is_filled(const void *p, const void *as, size_t size, size_t had, unsigned seed)
{
	const unsigned char *b = p;
	size_t i;

	for (i = 0; i < had && i < size; i = next_byte(i, had))
		if (b[i] != byte_of(as, i, seed))
			return false;
	return true;
}

__attribute__((unused)) static struct heap_stat stat_of(struct heap *h,
							unsigned memory)
{
	struct heap_stat s;

	heap_stat(h, memory, &s);
	return s;
}

__attribute__((unused)) static uint64_t mapped_in_all(struct heap *h)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < h->nr_memories; i++)
		sum += stat_of(h, i).mapped;
	return sum;
}

__attribute__((unused)) static uint64_t used_in_all(struct heap *h)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < h->nr_memories; i++)
		sum += stat_of(h, i).used;
	return sum;
}

#endif
