/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"
#include "mem/large.h"

#include <string.h>

/* A label of one memory. */
struct leak {
	uint64_t nr, bytes;
};

struct leaks {
	struct heap *heap;
	uint32_t nr_labels; /* and 0, for those without */
	struct leak *leak; /* by label */
};

static void add_leak(struct leaks *k, uint32_t label, uint64_t bytes)
{
	struct leak *l = &k->leak[label <= k->nr_labels ? label : 0];

	l->nr++;
	l->bytes += bytes;
}

/* Blocks handed out at least once that do not say they are free. */
static void look_at_span(struct leaks *k, struct span *s)
{
	uint64_t *p;
	uint32_t i;

	if (s->class == CLASS_LARGE) {
		add_leak(k, label_get(s, 0), s->size);
		return;
	}
	for (i = 0; i < s->nr_blocks - s->nr_fresh; i++) {
		p = (uint64_t *)(void *)(s->base + (size_t)i * s->block_size);
		if (p[1] != heap_mark(k->heap, p))
			add_leak(k, label_get(s, i), s->block_size);
	}
}

static void give_back_caches(struct heap *h)
{
	struct list *l;

	for (l = h->caches.next; l != &h->caches; l = l->next)
		cache_flush(container_of(l, struct cache, list));
}

static void look_at_memory(struct leaks *k, struct memory *m)
{
	struct list *l;

	memset(k->leak, 0, (k->nr_labels + 1) * sizeof(*k->leak));
	for (l = m->spans.next; l != &m->spans; l = l->next)
		look_at_span(k, container_of(l, struct span, all));
}

void heap_leaks(struct heap *h,
		void (*fn)(void *u, unsigned memory, const char *label,
			   uint64_t nr, uint64_t bytes),
		void *u)
{
	struct leaks k = { .heap = h,
			   .nr_labels = a_load(&h->labels.nr, relaxed) };
	size_t size = (k.nr_labels + 1) * sizeof(*k.leak);
	unsigned memory;
	char text[LABEL_MAX + 1];
	uint32_t i;

	k.leak = meta_alloc(&h->meta, size);
	if (!k.leak)
		return;
	give_back_caches(h);
	heap_trim(h, true);
	for (memory = 0; memory < h->nr_memories; memory++) {
		look_at_memory(&k, h->memory[memory]);
		for (i = 0; i <= k.nr_labels; i++) {
			if (!k.leak[i].nr)
				continue;
			label_text(&h->labels, i, text);
			fn(u, memory, text, k.leak[i].nr, k.leak[i].bytes);
		}
	}
	meta_free(&h->meta, k.leak, size);
}
