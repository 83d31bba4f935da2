/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap_ranges.h"

#include <errno.h>
#include <stdlib.h>

struct ranges {
	uint64_t start, end;
	struct pages_own *v; /* NULL: only count */
	size_t nr, room;
};

static void add_range(struct ranges *r, const struct memory *m,
		      const char *base, size_t size)
{
	uint64_t start = max_u64((uintptr_t)base, r->start);
	uint64_t end = min_u64((uintptr_t)base + size, r->end);

	if (start >= end)
		return;
	if (r->nr < r->room)
		r->v[r->nr] = (struct pages_own){
			.start = start,
			.end = end,
			.node = (uint32_t)m->heap->os_node[m->node],
		};
	r->nr++;
}

/* Cached large blocks have no user: nobody asks for them. */
static void add_memory(struct ranges *r, struct memory *m)
{
	struct span *s;
	struct list *l;
	unsigned i;

	lock_take(&m->lock);
	for (i = 0; i <= SEGMENT_PAGES; i++)
		for (l = m->bucket[i].next; l != &m->bucket[i]; l = l->next)
			add_range(r, m,
				  container_of(l, struct segment, bucket)->base,
				  SEGMENT_SIZE);
	for (l = m->spans.next; l != &m->spans; l = l->next) {
		s = container_of(l, struct span, all);
		if (s->class == CLASS_LARGE)
			add_range(r, m, s->base, s->size);
	}
	lock_give(&m->lock);
}

static void add_all(struct ranges *r, struct heap *h)
{
	struct memory *m;
	unsigned i;

	r->nr = 0;
	for (i = 0; i < h->nr_memories; i++) {
		m = h->memory[i];
		if (m->node >= 0 && m->policy.is_bound &&
		    !a_load(&m->bind_error, relaxed))
			add_memory(r, m);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct pages_own *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int heap_ranges(struct heap *h, uint64_t start, uint64_t end,
		struct pages_own **out, size_t *nr)
{
	struct ranges r = { .start = start, .end = end };

	*out = NULL;
	*nr = 0;
	add_all(&r, h);
	if (!r.nr)
		return 0;
	r.room = r.nr;
	r.v = malloc(r.room * sizeof(*r.v));
	if (!r.v)
		return -ENOMEM;
	/* Ranges that came meanwhile are left out. */
	add_all(&r, h);
	*nr = min_u64(r.nr, r.room);
	qsort(r.v, *nr, sizeof(*r.v), compare_ranges);
	*out = r.v;
	return 0;
}
