/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"

#include "mem/large.h"
#include "mem/registry.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* Segments of one node must not make the machine swap: kept free. */
#define NODE_RESERVE ((int64_t)16 << 20)

static const struct os_policy unbound;

static void set_policy(struct memory *m, const struct heap_attr *a)
{
	struct os_policy *p = &m->policy;
	int i, os;

	p->is_bound = a->is_bound;
	p->is_interleaved = m->kind == MEMORY_INTERLEAVED;
	p->is_locked = m->kind == MEMORY_PINNED;
	p->huge = a->huge;
	for (i = 0; i < a->nr_nodes; i++) {
		os = a->node[i].os_node;
		if ((m->node >= 0 && m->node != i) || !a->node[i].has_memory)
			continue;
		m->is_present = true;
		p->nodes[os / 64] |= 1ul << os % 64;
	}
}

static bool add_memory(struct heap *h, const struct heap_attr *a, int node,
		       enum memory_kind kind)
{
	struct memory *m = meta_alloc(&h->meta, sizeof(*m));

	if (!m)
		return false;
	m->heap = h;
	m->index = h->nr_memories;
	m->node = node;
	m->kind = kind;
	set_policy(m, a);
	os_bind(m, round_up(sizeof(*m), 4096), &m->policy);
	memory_init(m);
	h->memory[h->nr_memories++] = m;
	return true;
}

static bool add_memories(struct heap *h, const struct heap_attr *a)
{
	int i;

	for (i = 0; i < a->nr_nodes; i++)
		if (!add_memory(h, a, i, MEMORY_NODE))
			return false;
	if (!add_memory(h, a, -1, MEMORY_INTERLEAVED))
		return false;
	for (i = 0; i < a->nr_nodes; i++)
		if (!add_memory(h, a, i, MEMORY_PINNED))
			return false;
	return true;
}

/* How far: by distance, then by number. */
static int64_t rank_of(const struct heap_attr *a, int from, int to)
{
	int d = a->distance ? a->distance[from * a->nr_nodes + to] : 20;

	return from == to ? -1 : (int64_t)d * 65536 + to;
}

static void sort_near(struct heap *h, const struct heap_attr *a, int from)
{
	int *near = h->near + from * h->nr_nodes, i, j;

	for (i = 0; i < h->nr_nodes; i++) {
		for (j = i; j > 0 &&
			    rank_of(a, from, near[j - 1]) > rank_of(a, from, i);
		     j--)
			near[j] = near[j - 1];
		near[j] = i;
	}
}

static bool add_nodes(struct heap *h, const struct heap_attr *a)
{
	size_t n = (size_t)a->nr_nodes;
	int i;

	h->os_node = meta_alloc(&h->meta, n * sizeof(int));
	h->near = meta_alloc(&h->meta, n * n * sizeof(int));
	if (!h->os_node || !h->near)
		return false;
	for (i = 0; i < h->nr_nodes; i++) {
		h->os_node[i] = a->node[i].os_node;
		sort_near(h, a, i);
	}
	return true;
}

int heap_create(const struct heap_attr *a, struct heap **out)
{
	int error = 0, bind_error;
	struct heap *h;

	if (2 * a->nr_nodes + 1 > MAX_MEMORIES)
		return -EINVAL;
	h = os_map(round_up(sizeof(*h), 4096), 4096, &unbound, &error,
		   &bind_error);
	if (!h)
		return -ENOMEM;
	if (getrandom(&h->key, sizeof(h->key), GRND_NONBLOCK) != sizeof(h->key))
		h->key = (uintptr_t)h * 2685821657736338717ull;
	h->nr_nodes = a->nr_nodes;
	h->limit = a->limit;
	h->is_strict = a->is_strict;
	h->is_bound = a->is_bound;
	h->node_free = a->is_bound ? a->node_free : NULL;
	h->huge = a->huge;
	list_init(&h->caches);
	list_init(&h->all);
	meta_init(&h->meta, &h->policy);
	h->labels.meta = &h->meta;
	class_table_init(h->class, a->limit);
	if (!add_nodes(h, a) || !add_memories(h, a)) {
		heap_destroy(h);
		return -ENOMEM;
	}
	registry_add(h);
	*out = h;
	return 0;
}

static void destroy_caches(struct heap *h)
{
	struct cache *c;
	struct list *l;

	for (l = h->caches.next; l != &h->caches; l = l->next) {
		c = container_of(l, struct cache, list);
		cache_unmap_bins(c);
	}
}

void heap_destroy(struct heap *h)
{
	unsigned i;

	if (!h)
		return;
	registry_del(h);
	destroy_caches(h);
	for (i = 0; i < h->nr_memories; i++) {
		memory_fini(h->memory[i]);
		meta_free(&h->meta, h->memory[i], sizeof(struct memory));
	}
	meta_free(&h->meta, h->near,
		  (size_t)h->nr_nodes * (size_t)h->nr_nodes * sizeof(int));
	index_fini(&h->index);
	meta_fini(&h->meta);
	os_unmap(h, round_up(sizeof(*h), 4096));
}

static bool fits_limit(const struct memory *m, size_t size)
{
	uint64_t limit = m->heap->limit;

	return !limit || (size <= limit && m->mapped <= limit - size);
}

bool heap_may_map(struct memory *m, size_t size, int *error)
{
	struct heap *h = m->heap;
	int64_t free_bytes;

	*error = EDQUOT;
	if (!fits_limit(m, size)) {
		memory_drop_idle(m);
		if (!fits_limit(m, size))
			return false;
	}
	if (!h->is_strict || !h->node_free || m->node < 0)
		return true;
	*error = ENOSPC;
	free_bytes = h->node_free(h->os_node[m->node]);
	return free_bytes < 0 || (int64_t)size + NODE_RESERVE <= free_bytes;
}

/* A few pages of what was claimed are asked for. */
#define NR_ASKED 16

bool heap_claim(struct memory *m, void *at, size_t size)
{
	int status[NR_ASKED], os, i;
	void *page[NR_ASKED];

	if (m->node < 0 || !m->policy.is_bound)
		return true;
	if (!os_populate(at, size))
		return false;
	os = m->heap->os_node[m->node];
	for (i = 0; i < NR_ASKED; i++)
		page[i] =
			(char *)at + size / NR_ASKED * (size_t)i / 4096 * 4096;
	if (!os_where(page, NR_ASKED, status))
		return true;
	for (i = 0; i < NR_ASKED; i++)
		if (status[i] >= 0 && status[i] != os)
			return false;
	return true;
}

static void *alloc_block(struct heap *h, struct cache *c, unsigned memory,
			 unsigned class, int *error)
{
	uint64_t *p = c ? heap_alloc_class(c, memory, class) : NULL;
	void *block;

	if (p)
		return p;
	if (c)
		p = cache_refill(c, memory, class, error);
	else if (depot_take(&h->memory[memory]->depot[class], &block, 1, error))
		p = block;
	if (p)
		p[1] = 0;
	return p;
}

static void *alloc_in(struct heap *h, struct cache *c,
		      const struct heap_want *w, bool *is_zero, int *error)
{
	struct memory *m = h->memory[w->memory];
	unsigned class = CLASS_LARGE;
	struct span *s;

	*is_zero = false;
	*error = ENXIO;
	if (!m->is_present)
		return NULL;
	*error = ENOMEM;
	if (w->size > HEAP_SIZE_MAX)
		return NULL;
	if (w->size <= CLASS_MAX_SIZE && w->align <= HEAP_PAGE)
		class = class_of_aligned(w->size ? w->size : 1, w->align);
	if (class < NR_SIZES)
		return alloc_block(h, c, w->memory, class, error);
	s = memory_large(m, max_u64(w->size, CLASS_MAX_SIZE + 1), w->align,
			 w->is_huge && w->size > CLASS_MAX_SIZE, is_zero,
			 error);
	return s ? s->base : NULL;
}

/* Perhaps the memory has free bytes in other sizes. */
static void *alloc_hard(struct heap *h, struct cache *c,
			const struct heap_want *w, bool *is_zero, int *error)
{
	void *p;

	if (unlikely(h->fresh != NULL)) {
		*is_zero = false;
		*error = ENOMEM;
		return h->fresh(w->align, w->size);
	}
	p = alloc_in(h, c, w, is_zero, error);
	if (p || *error == ENXIO || w->size > HEAP_SIZE_MAX)
		return p;
	if (c)
		cache_flush(c);
	memory_trim(h->memory[w->memory], true);
	return alloc_in(h, c, w, is_zero, error);
}

void *heap_alloc_slow(struct heap *h, struct cache *c,
		      const struct heap_want *w, bool *is_zero, int *error)
{
	void *p = alloc_hard(h, c, w, is_zero, error);
	struct heap_want again = *w;
	unsigned first = 0;
	int i, *near, ignored;

	if (p || h->is_strict || w->memory == heap_interleaved(h))
		return p;
	if (w->memory > heap_interleaved(h))
		first = heap_pinned(h, 0);
	near = h->near + (int)(w->memory - first) * h->nr_nodes;
	for (i = 1; i < h->nr_nodes && !p; i++) {
		again.memory = first + (unsigned)near[i];
		p = alloc_in(h, c, &again, is_zero, &ignored);
	}
	return p;
}

void *heap_new_slow(struct heap *h, struct cache *c, size_t size)
{
	struct heap_want w = {
		.memory = c ? c->memory : heap_near_memory(h, -1),
		.size = size,
		.align = HEAP_ALIGN,
	};
	bool is_zero;
	int error;

	return heap_alloc_slow(h, c, &w, &is_zero, &error);
}

static int free_large(struct cache *c, struct span *s, void *p)
{
	struct memory *m = s->memory;

	if (p != s->base)
		return -EINVAL;
	return memory_large_free(m, s, c && cache_is_remote(c, m));
}

int heap_free_slow(struct heap *h, struct cache *c, void *p)
{
	uint64_t entry = index_entry(&h->index, p), *words = p;
	struct span *s = entry_span(entry);

	if (entry && s->class == CLASS_LARGE)
		return free_large(c, s, p);
	if (unlikely(h->forget != NULL)) {
		h->forget(p);
		return 0;
	}
	if (!is_block(entry, p))
		return -EINVAL;
	if (words[1] == heap_mark(h, p))
		return -EALREADY;
	if (c) {
		cache_overflow(c, s, p, heap_mark(h, p));
	} else {
		words[1] = heap_mark(h, p);
		depot_give(&s->memory->depot[s->class], &p, 1, false);
	}
	return 0;
}
