/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/depot.h"

#include "mem/heap.h"

#include <string.h>

/* How often the clock is looked at, in operations. */
#define OPS_PER_LOOK 64

void depot_init(struct depot *d, struct memory *m, unsigned class)
{
	d->memory = m;
	d->class = class;
	list_init(&d->partial);
}

/* Under lock: the newest batch has room. False: no memory for another. */
static bool make_room(struct depot *d)
{
	struct batch *b = d->batches;

	lock_assert_held(&d->lock);
	if (b && b->nr < BATCH_MAX)
		return true;
	b = meta_alloc(&d->memory->meta, sizeof(*b));
	if (!b)
		return false;
	b->next = d->batches;
	d->batches = b;
	return true;
}

/* Under lock: as many as may be cached; their number. */
static unsigned cache_blocks(struct depot *d, void *const *from, unsigned nr)
{
	uint32_t max = d->memory->heap->class[d->class].depot_max;
	unsigned done = 0, step;
	struct batch *b;

	lock_assert_held(&d->lock);
	check(d->nr_cached <= max);
	nr = (unsigned)min_u64(nr, max - d->nr_cached);
	while (done < nr && make_room(d)) {
		b = d->batches;
		step = (unsigned)min_u64(nr - done, BATCH_MAX - b->nr);
		memcpy(&b->block[b->nr], &from[done], step * sizeof(*from));
		b->nr += step;
		done += step;
	}
	d->nr_cached += done;
	return done;
}

/* Under lock: up to nr, newest first. */
static unsigned take_cached(struct depot *d, void **to, unsigned nr)
{
	unsigned got = 0, step;
	struct batch *b;

	lock_assert_held(&d->lock);
	while (got < nr && d->batches) {
		b = d->batches;
		step = (unsigned)min_u64(nr - got, b->nr);
		b->nr -= step;
		memcpy(&to[got], &b->block[b->nr], step * sizeof(*to));
		got += step;
		if (b->nr)
			break;
		d->batches = b->next;
		meta_free(&d->memory->meta, b, sizeof(*b));
	}
	check(got <= d->nr_cached);
	d->nr_cached -= got;
	return got;
}

/* Under lock. */
static void give_to_span(struct depot *d, void *block)
{
	struct index *x = &d->memory->heap->index;
	struct span *s = entry_span(index_entry(x, block));

	lock_assert_held(&d->lock);
	memcpy(block, &s->free, sizeof(s->free));
	s->free = block;
	s->nr_free++;
	check(s->nr_free + s->nr_fresh <= s->nr_blocks);
	if (s->nr_free + s->nr_fresh == s->nr_blocks) {
		list_del(&s->list);
		memory_span_free(d->memory, s);
	} else if (list_is_empty(&s->list)) {
		list_push(&d->partial, &s->list);
	}
}

/* Under lock: down into the spans, until nr are left. */
static void shrink_depot(struct depot *d, uint32_t nr)
{
	void *block;

	lock_assert_held(&d->lock);
	while (d->nr_cached > nr && take_cached(d, &block, 1))
		give_to_span(d, block);
	d->low = (uint32_t)min_u64(d->low, d->nr_cached);
}

/* Under lock. True: it is time to look at the clock. */
static bool note_op(struct depot *d)
{
	lock_assert_held(&d->lock);
	d->low = (uint32_t)min_u64(d->low, d->nr_cached);
	return ++d->nr_ops % OPS_PER_LOOK == 0;
}

/* Under lock: a block that nobody had says it is free, as all others do. */
static void *cut_fresh(struct span *s)
{
	uint32_t end = a_load(&s->end, relaxed);
	uint64_t *p = (uint64_t *)(void *)(s->base + end);

	p[1] = heap_mark(s->memory->heap, p);
	s->nr_fresh--;
	/*
	 * A thread can free only a block that it was given, so it has seen this
	 * store.
	 */
	a_store(&s->end, end + s->block_size, relaxed);
	return p;
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
	while (got < nr && s->nr_fresh)
		to[got++] = cut_fresh(s);
	check(got && !s->free == !s->nr_free);
	if (!s->nr_free && !s->nr_fresh)
		list_del(&s->list);
	return got;
}

/* Under lock. */
static unsigned take_from_spans(struct depot *d, void **to, unsigned nr,
				int *error)
{
	struct span *s;

	lock_assert_held(&d->lock);
	if (list_is_empty(&d->partial)) {
		s = memory_span(d->memory, d->class, error);
		if (!s)
			return 0;
		list_push(&d->partial, &s->list);
	}
	s = container_of(d->partial.next, struct span, list);
	return cut_span(s, to, nr);
}

unsigned depot_take(struct depot *d, void **to, unsigned nr, int *error)
{
	bool must_look;
	unsigned got;

	lock_take(&d->lock);
	got = take_cached(d, to, nr);
	if (!got)
		got = take_from_spans(d, to, nr, error);
	must_look = note_op(d);
	lock_give(&d->lock);
	memory_count_out(d->memory,
			 (int64_t)got * d->memory->heap->class[d->class].size);
	if (unlikely(must_look))
		memory_sweep(d->memory);
	return got;
}

void depot_give(struct depot *d, void *const *from, unsigned nr, bool is_remote)
{
	const struct size_class *c = &d->memory->heap->class[d->class];
	bool must_look;
	unsigned i;

	lock_take(&d->lock);
	for (i = cache_blocks(d, from, nr); i < nr; i++)
		give_to_span(d, from[i]);
	d->nr_remote += is_remote ? nr : 0;
	must_look = note_op(d);
	lock_give(&d->lock);
	memory_count_out(d->memory, -(int64_t)nr * c->size);
	if (unlikely(must_look))
		memory_sweep(d->memory);
}

void depot_trim(struct depot *d, bool all)
{
	lock_take(&d->lock);
	shrink_depot(d, all ? 0 : d->nr_cached - (d->low + 1) / 2);
	d->low = d->nr_cached;
	lock_give(&d->lock);
}
