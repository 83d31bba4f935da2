/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/memory.h"

#include "mem/heap.h"
#include "mem/large.h"

#include <errno.h>
#include <string.h>

#define ALL_FREE UINT64_MAX

void memory_init(struct memory *m)
{
	const struct os_policy *policy = &m->policy;
	unsigned i;

	/* Descriptions of pinned blocks need not be pinned. */
	if (m->kind == MEMORY_PINNED)
		policy = &m->heap->memory[m->node]->policy;
	meta_init(&m->meta, policy);
	for (i = 0; i <= SEGMENT_PAGES; i++)
		list_init(&m->bucket[i]);
	for (i = 0; i < NR_LARGE; i++)
		list_init(&m->large[i]);
	list_init(&m->idle);
	list_init(&m->spans);
	list_init(&m->large_age);
	for (i = 0; i < NR_SIZES; i++)
		depot_init(&m->depot[i], m, i);
}

void memory_count_out(struct memory *m, int64_t bytes)
{
	uint64_t now =
		a_add(&m->out, (uint64_t)bytes, relaxed) + (uint64_t)bytes;

	/* A lower peak of another thread may win: by what is under way. */
	if (bytes > 0 && now > a_load(&m->peak, relaxed))
		a_store(&m->peak, now, relaxed);
}

/* Bit i: pages i .. i+nr-1 are all in free. */
static uint64_t runs_of(uint64_t free, unsigned nr)
{
	unsigned have = 1, step;

	while (have < nr && free) {
		step = have < nr - have ? have : nr - have;
		free &= free >> step;
		have += step;
	}
	return free;
}

static unsigned longest_run(uint64_t free)
{
	unsigned low = 0, high = SEGMENT_PAGES, mid;

	while (low < high) {
		mid = (low + high + 1) / 2;
		if (runs_of(free, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static uint64_t page_bits(unsigned first, unsigned nr)
{
	return (nr == SEGMENT_PAGES ? ALL_FREE : ((uint64_t)1 << nr) - 1)
	       << first;
}

/* Under lock: into the bucket of its longest run. */
static void sort_in(struct memory *m, struct segment *g)
{
	unsigned old = g->run;

	lock_assert_held(&m->lock);
	list_del(&g->bucket);
	if (old && list_is_empty(&m->bucket[old]))
		m->bucket_mask &= ~((uint64_t)1 << (old - 1));
	g->run = longest_run(g->free);
	list_push(&m->bucket[g->run], &g->bucket);
	if (g->run)
		m->bucket_mask |= (uint64_t)1 << (g->run - 1);
}

/* Under lock. */
static void segment_unmap(struct memory *m, struct segment *g)
{
	lock_assert_held(&m->lock);
	list_del(&g->bucket);
	if (list_is_empty(&m->bucket[g->run]))
		m->bucket_mask &= ~((uint64_t)1 << (g->run - 1));
	list_del(&g->idle);
	m->cached_pages -= (unsigned)__builtin_popcountll(g->free & g->dirty);
	m->mapped -= SEGMENT_SIZE;
	m->nr_segments--;
	os_unmap(g->base, SEGMENT_SIZE);
	meta_free(&m->meta, g, sizeof(*g));
}

/* Under lock: the pages that are free go back to the kernel. */
static void segment_decommit(struct memory *m, struct segment *g)
{
	uint64_t bits = g->free & g->dirty;
	unsigned first, nr;

	lock_assert_held(&m->lock);
	m->cached_pages -= (unsigned)__builtin_popcountll(bits);
	g->dirty &= ~bits;
	list_del(&g->idle);
	while (bits) {
		first = (unsigned)__builtin_ctzll(bits);
		nr = ~(bits >> first)
			     ? (unsigned)__builtin_ctzll(~(bits >> first))
			     : SEGMENT_PAGES;
		os_decommit(g->base + first * HEAP_PAGE, nr * HEAP_PAGE);
		bits &= ~page_bits(first, nr);
	}
}

/* Under lock. Locked pages cannot go one by one. */
static void trim_segments(struct memory *m, int64_t before_ns)
{
	struct segment *g;

	lock_assert_held(&m->lock);
	while (!list_is_empty(&m->idle)) {
		g = container_of(m->idle.next, struct segment, idle);
		if (g->idle_since_ns > before_ns)
			return;
		if (g->free == ALL_FREE)
			segment_unmap(m, g);
		else if (!m->policy.is_locked)
			segment_decommit(m, g);
		else
			list_del(&g->idle);
	}
}

/* Under lock. */
static struct segment *segment_map(struct memory *m, int *error)
{
	struct segment *g;
	int bind_error = 0;

	lock_assert_held(&m->lock);
	if (!heap_may_map(m, SEGMENT_SIZE, error))
		return NULL;
	g = meta_alloc(&m->meta, sizeof(*g));
	if (!g) {
		*error = ENOMEM;
		return NULL;
	}
	g->base = os_map(SEGMENT_SIZE, SEGMENT_SIZE, &m->policy, error,
			 &bind_error);
	if (!g->base) {
		meta_free(&m->meta, g, sizeof(*g));
		return NULL;
	}
	if (bind_error)
		a_store(&m->bind_error, bind_error, relaxed);
	if (m->heap->is_strict && !heap_claim(m, g->base, SEGMENT_SIZE)) {
		*error = ENOSPC;
		os_unmap(g->base, SEGMENT_SIZE);
		meta_free(&m->meta, g, sizeof(*g));
		return NULL;
	}
	g->free = ALL_FREE;
	list_init(&g->bucket);
	list_init(&g->idle);
	sort_in(m, g);
	m->mapped += SEGMENT_SIZE;
	m->nr_segments++;
	return g;
}

/* Under lock: nr pages of the segment, written ones first. */
static unsigned take_pages(struct memory *m, struct segment *g, unsigned nr)
{
	uint64_t at = runs_of(g->free, nr), bits;
	unsigned first;

	lock_assert_held(&m->lock);
	first = (unsigned)__builtin_ctzll(at & g->dirty ? at & g->dirty : at);
	bits = page_bits(first, nr);
	m->cached_pages -= (unsigned)__builtin_popcountll(bits & g->dirty);
	g->free &= ~bits;
	if (!(g->free & g->dirty))
		list_del(&g->idle);
	g->dirty |= bits;
	sort_in(m, g);
	return first;
}

/* Under lock: the segment with the shortest run that is long enough. */
static struct segment *find_segment(struct memory *m, unsigned nr_pages,
				    int *error)
{
	uint64_t mask = m->bucket_mask & ~(((uint64_t)1 << (nr_pages - 1)) - 1);
	unsigned run;

	lock_assert_held(&m->lock);
	if (!mask)
		return segment_map(m, error);
	run = (unsigned)__builtin_ctzll(mask) + 1;
	return container_of(m->bucket[run].next, struct segment, bucket);
}

static void fill_span(struct span *s, struct memory *m, unsigned class)
{
	const struct size_class *c = &m->heap->class[class];

	s->memory = m;
	s->class = (uint8_t) class;
	s->memory_index = (uint16_t)m->index;
	s->inverse = c->inverse;
	s->block_size = c->size;
	s->nr_blocks = c->nr_blocks;
	s->nr_fresh = c->nr_blocks;
	s->nr_pages = c->nr_pages;
	list_init(&s->list);
}

static size_t indexed_pages(const struct span *s)
{
	return s->nr_blocks > 1 ? s->nr_pages : 1;
}

/* Under lock. */
static void give_pages(struct memory *m, struct span *s)
{
	struct segment *g = s->segment;
	unsigned first = (unsigned)((size_t)(s->base - g->base) / HEAP_PAGE);

	lock_assert_held(&m->lock);
	g->free |= page_bits(first, s->nr_pages);
	m->cached_pages += s->nr_pages;
	list_del(&g->idle);
	list_append(&m->idle, &g->idle);
	g->idle_since_ns = os_coarse_ns();
	sort_in(m, g);
	trim_segments(m, g->idle_since_ns - MEMORY_IDLE_NS);
}

struct span *memory_span(struct memory *m, unsigned class, int *error)
{
	struct span *s = meta_alloc(&m->meta, sizeof(*s));
	struct segment *g;

	*error = ENOMEM;
	if (!s)
		return NULL;
	fill_span(s, m, class);
	lock_take(&m->lock);
	g = find_segment(m, s->nr_pages, error);
	if (g) {
		s->segment = g;
		s->base = g->base + take_pages(m, g, s->nr_pages) * HEAP_PAGE;
		list_push(&m->spans, &s->all);
	}
	lock_give(&m->lock);
	if (g && index_add(&m->heap->index, s->base, indexed_pages(s), s))
		return s;
	if (g) {
		lock_take(&m->lock);
		list_del(&s->all);
		give_pages(m, s);
		lock_give(&m->lock);
	}
	meta_free(&m->meta, s, sizeof(*s));
	return NULL;
}

void memory_span_free(struct memory *m, struct span *s)
{
	index_del(&m->heap->index, s->base, indexed_pages(s));
	label_forget(s);
	lock_take(&m->lock);
	list_del(&s->all);
	give_pages(m, s);
	lock_give(&m->lock);
	meta_free(&m->meta, s, sizeof(*s));
}

void memory_drop_idle(struct memory *m)
{
	trim_segments(m, INT64_MAX);
	large_trim(m, INT64_MAX);
}

void memory_trim(struct memory *m, bool all)
{
	int64_t before = all ? INT64_MAX : os_coarse_ns() - MEMORY_IDLE_NS;
	unsigned i;

	for (i = 0; i < NR_SIZES; i++)
		depot_trim(&m->depot[i], all);
	lock_take(&m->lock);
	trim_segments(m, before);
	large_trim(m, before);
	lock_give(&m->lock);
}

void memory_sweep(struct memory *m)
{
	int64_t now = os_coarse_ns(), last = a_load(&m->swept_ns, relaxed);

	if (now - last >= MEMORY_SWEEP_NS &&
	    a_cas(&m->swept_ns, &last, now, relaxed, relaxed))
		memory_trim(m, false);
}

void memory_fini(struct memory *m)
{
	struct segment *g;
	struct span *s;
	struct list *l;
	unsigned i;

	lock_take(&m->lock);
	memory_drop_idle(m);
	lock_give(&m->lock);
	for (l = m->spans.next; l != &m->spans; l = l->next) {
		s = container_of(l, struct span, all);
		if (s->class == CLASS_LARGE)
			os_unmap(s->base, s->size);
	}
	for (i = 0; i <= SEGMENT_PAGES; i++)
		for (l = m->bucket[i].next; l != &m->bucket[i]; l = l->next) {
			g = container_of(l, struct segment, bucket);
			os_unmap(g->base, SEGMENT_SIZE);
		}
	meta_fini(&m->meta);
}
