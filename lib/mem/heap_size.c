/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"
#include "mem/large.h"

#include <errno.h>
#include <string.h>

int heap_memory_of(struct heap *h, const void *p)
{
	uint64_t entry = index_entry(&h->index, p);

	return entry ? (int)entry_memory(entry) : -1;
}

size_t heap_size(struct heap *h, void *p)
{
	uint64_t entry = index_entry(&h->index, p);
	struct span *s = entry_span(entry);

	if (!entry)
		return 0;
	if (entry_class(entry) == CLASS_LARGE)
		return p == s->base && !a_load(&s->is_cached, relaxed) ? s->size
								       : 0;
	if (!is_block(entry, p) || ((uint64_t *)p)[1] == heap_mark(h, p))
		return 0;
	return s->block_size;
}

/* A block keeps its place while it wastes less than half of it. */
static bool is_good_size(size_t have, size_t size)
{
	return size <= have && (size >= have / 2 || have <= 64);
}

static void *resize_large(struct span *s, size_t size)
{
	if (size <= CLASS_MAX_SIZE || size > HEAP_SIZE_MAX)
		return NULL;
	return large_resize(s->memory, s, size) ? s->base : NULL;
}

void *heap_resize(struct heap *h, struct cache *c, void *p, size_t size,
		  int *error)
{
	uint64_t entry = index_entry(&h->index, p);
	struct heap_want w = { .size = size, .align = 16 };
	size_t have = heap_size(h, p);
	bool is_zero;
	void *to;

	*error = EINVAL;
	if (!have)
		return NULL;
	w.memory = entry_memory(entry);
	if (is_good_size(have, size))
		return p;
	if (entry_class(entry) == CLASS_LARGE) {
		to = resize_large(entry_span(entry), size);
		if (to)
			return to;
	}
	to = heap_alloc_slow(h, c, &w, &is_zero, error);
	if (!to)
		return NULL;
	memcpy(to, p, have < size ? have : size);
	heap_free(h, c, p);
	return to;
}
