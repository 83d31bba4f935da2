/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of one execution: a bump arena whose addresses are the same in every
 * execution that takes the same choices. Freed blocks are kept apart, so that
 * a late access is seen.
 */
#include "checker.h"

#include <string.h>

#define ARENA_SIZE (1u << 20)
#define SCRATCH_SIZE (8u << 20)
#define BLOCKS 1024

static struct {
	_Alignas(64) char arena[ARENA_SIZE];
	_Alignas(64) char scratch[SCRATCH_SIZE];
	size_t used, scratch_used;
	struct block {
		char *at;
		size_t size;
		bool is_freed;
	} blocks[BLOCKS];
	unsigned nr_blocks, nr_freed;
} heap;

void heap_start(void)
{
	heap.used = 0;
	heap.scratch_used = 0;
	heap.nr_blocks = 0;
	heap.nr_freed = 0;
}

/* For the checker's own views; never freed before the execution ends. */
void *heap_scratch(size_t size)
{
	void *p = heap.scratch + heap.scratch_used;

	heap.scratch_used += (size + 7) & ~(size_t)7;
	if (heap.scratch_used > SCRATCH_SIZE)
		mc_fail("checker: no memory for views");
	return p;
}

void *mc_alloc(size_t size)
{
	struct block *b = &heap.blocks[heap.nr_blocks];

	if (heap.nr_blocks == BLOCKS || size > ARENA_SIZE - heap.used)
		mc_fail("checker: mc_alloc: no memory");
	b->at = heap.arena + heap.used;
	b->size = size;
	b->is_freed = false;
	heap.nr_blocks++;
	heap.used += (size + 63) & ~(size_t)63;
	if (heap.used > ARENA_SIZE)
		heap.used = ARENA_SIZE;
	return memset(b->at, 0xa5, size);
}

static bool is_inside(const struct block *b, const volatile char *p)
{
	return p >= b->at && p < b->at + b->size;
}

static struct block *block_of(const volatile void *p)
{
	unsigned i;

	for (i = 0; i < heap.nr_blocks; i++)
		if (is_inside(&heap.blocks[i], p))
			return &heap.blocks[i];
	return NULL;
}

void heap_check(const volatile void *p)
{
	struct block *b;

	if (!heap.nr_freed)
		return;
	b = block_of(p);
	if (b && b->is_freed)
		mc_fail("use after free: %p, %td bytes into a block of %zu",
			(const void *)p, (const volatile char *)p - b->at,
			b->size);
}

void mc_free(void *p)
{
	struct block *b = p ? block_of(p) : NULL;
	unsigned i;

	if (!p)
		return;
	if (!b || b->at != p)
		mc_fail("mc_free: %p is no block", p);
	if (b->is_freed)
		mc_fail("mc_free: %p was freed before", p);
	for (i = 0; mc.cur && i < mc.nr_locs; i++)
		if (is_inside(b, mc.locs[i].addr))
			race_free(&mc.locs[i]);
	b->is_freed = true;
	heap.nr_freed++;
}

uint64_t heap_read(const volatile void *p, unsigned size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)p;
	case 2:
		return *(const volatile uint16_t *)p;
	case 4:
		return *(const volatile uint32_t *)p;
	case 8:
		return *(const volatile uint64_t *)p;
	default:
		return 0;
	}
}

void heap_write(volatile void *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(volatile uint16_t *)p = (uint16_t)v;
		break;
	case 4:
		*(volatile uint32_t *)p = (uint32_t)v;
		break;
	case 8:
		*(volatile uint64_t *)p = v;
		break;
	}
}
