/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"

#include <pthread.h>

/* Bytes that all bins of a thread may hold. */
#define CACHE_BYTES ((uint64_t)32 << 20)

int heap_current_node(const struct heap *h)
{
	int os, i;

	if (!h->is_bound)
		return 0;
	os = os_current_node();
	for (i = 0; i < h->nr_nodes; i++)
		if (h->os_node[i] == os)
			return i;
	return -1;
}

unsigned heap_near_memory(const struct heap *h, int node)
{
	const int *near = h->near + (node > 0 ? node : 0) * h->nr_nodes;
	int i;

	for (i = 0; i < h->nr_nodes; i++)
		if (h->memory[near[i]]->is_present)
			return (unsigned)near[i];
	return 0;
}

struct cache *heap_cache_create(struct heap *h, int node)
{
	struct cache *c = meta_alloc(&h->meta, sizeof(*c));
	unsigned i;

	if (!c)
		return NULL;
	c->heap = h;
	c->owner = (uint64_t)pthread_self();
	c->room = CACHE_BYTES;
	for (i = 0; i <= CACHE_NO_MEMORY; i++)
		a_store(&c->bins[i], (struct bins *)&cache_no_bins, relaxed);
	cache_set_node(c, node);
	lock_take(&h->lock);
	list_push(&h->caches, &c->list);
	lock_give(&h->lock);
	return c;
}

void heap_cache_destroy(struct cache *c)
{
	struct heap *h;

	if (!c)
		return;
	h = c->heap;
	cache_flush(c);
	label_put(&h->labels, c->label_number);
	lock_take(&h->lock);
	list_del(&c->list);
	lock_give(&h->lock);
	cache_unmap_bins(c);
	meta_free(&h->meta, c, sizeof(*c));
}
