/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/depot.h"

#include "mem/heap.h"

#include <string.h>

/* How often the clock is looked at, in operations; how long is a while. */
#define OPS_PER_LOOK 64
#define AGE_NS ((int64_t)250000000)

void depot_init(struct depot *d, struct memory *m, unsigned class)
{
	d->memory = m;
	d->class = class;
	list_init(&d->partial);
}

/* Under lock. False: no memory for a batch. */
static bool cache_block(struct depot *d, void *block)
{
	struct batch *b = d->batches;

	if (!b || b->nr == BATCH_MAX) {
		b = meta_alloc(&d->memory->meta, sizeof(*b));
		if (!b)
			return false;
		b->next = d->batches;
		d->batches = b;
	}
	b->block[b->nr++] = block;
	d->nr_cached++;
	return true;
}

/* Under lock, nr_cached > 0. */
static void *uncache_block(struct depot *d)
{
	struct batch *b = d->batches;
	void *block = b->block[--b->nr];

	d->nr_cached--;
	if (!b->nr) {
		d->batches = b->next;
		meta_free(&d->memory->meta, b, sizeof(*b));
	}
	return block;
}

/* Under lock. */
static void give_to_span(struct depot *d, void *block)
{
	struct index *x = &d->memory->heap->index;
	struct span *s = entry_span(index_entry(x, block));

	memcpy(block, &s->free, sizeof(s->free));
	s->free = block;
	s->nr_free++;
	if (s->nr_free + s->nr_fresh == s->nr_blocks) {
		list_del(&s->list);
		memory_span_free(d->memory, s);
	} else if (list_is_empty(&s->list)) {
		list_push(&d->partial, &s->list);
	}
}

void depot_shrink(struct depot *d, uint32_t nr)
{
	while (d->nr_cached > nr)
		give_to_span(d, uncache_block(d));
	d->low = (uint32_t)min_u64(d->low, d->nr_cached);
}

/* Under lock: half of what was never needed goes, twice a second. */
static void age(struct depot *d)
{
	int64_t now;

	d->low = (uint32_t)min_u64(d->low, d->nr_cached);
	if (likely(++d->nr_ops < OPS_PER_LOOK))
		return;
	d->nr_ops = 0;
	now = os_coarse_ns();
	if (now - d->age_ns < AGE_NS)
		return;
	depot_shrink(d, d->nr_cached - (d->low + 1) / 2);
	d->age_ns = now;
	d->low = d->nr_cached;
}

/* Under lock: up to nr blocks of a span that has some. */
static unsigned cut_span(struct span *s, void **to, unsigned nr)
{
	unsigned got = 0;

	while (got < nr && s->free) {
		to[got++] = s->free;
		memcpy(&s->free, s->free, sizeof(s->free));
		s->nr_free--;
	}
	while (got < nr && s->nr_fresh) {
		to[got++] = s->base + (size_t)(s->nr_blocks - s->nr_fresh) *
					      s->block_size;
		s->nr_fresh--;
	}
	if (!s->nr_free && !s->nr_fresh)
		list_del(&s->list);
	return got;
}

/* Under lock. */
static unsigned take_from_spans(struct depot *d, void **to, unsigned nr,
				int *error)
{
	struct span *s;

	if (list_is_empty(&d->partial)) {
		s = memory_span(d->memory, d->class, error);
		if (!s)
			return 0;
		list_push(&d->partial, &s->list);
	}
	s = container_of(d->partial.next, struct span, list);
	return cut_span(s, to, nr);
}

/* Under lock: the newest batch, or a part of it. */
static unsigned take_cached(struct depot *d, void **to, unsigned nr)
{
	struct batch *b = d->batches;

	nr = (unsigned)min_u64(nr, b->nr);
	b->nr -= nr;
	memcpy(to, &b->block[b->nr], nr * sizeof(*to));
	d->nr_cached -= nr;
	if (!b->nr) {
		d->batches = b->next;
		meta_free(&d->memory->meta, b, sizeof(*b));
	}
	return nr;
}

unsigned depot_take(struct depot *d, void **to, unsigned nr, int *error)
{
	unsigned got;

	lock_take(&d->lock);
	if (d->batches)
		got = take_cached(d, to, nr);
	else
		got = take_from_spans(d, to, nr, error);
	d->nr_out += got;
	age(d);
	lock_give(&d->lock);
	memory_count_out(d->memory,
			 (int64_t)got * d->memory->heap->class[d->class].size);
	return got;
}

void depot_give(struct depot *d, void *const *from, unsigned nr, bool is_remote)
{
	const struct size_class *c = &d->memory->heap->class[d->class];
	unsigned i;

	lock_take(&d->lock);
	for (i = 0; i < nr; i++)
		if (d->nr_cached >= c->depot_max || !cache_block(d, from[i]))
			give_to_span(d, from[i]);
	d->nr_out -= nr;
	d->nr_remote += is_remote ? nr : 0;
	age(d);
	lock_give(&d->lock);
	memory_count_out(d->memory, -(int64_t)nr * c->size);
}

void depot_trim(struct depot *d, bool all)
{
	lock_take(&d->lock);
	depot_shrink(d, all ? 0 : d->nr_cached - (d->low + 1) / 2);
	d->low = d->nr_cached;
	lock_give(&d->lock);
}
