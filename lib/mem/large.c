/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/large.h"

#include "mem/heap.h"

#include <errno.h>
#include <sys/mman.h>

/* Cached ones of a size that are looked at for an alignment. */
#define LOOK_AT 8

/* For huge pages. */
#define ALIGN_MIN ((size_t)2 << 20)

/* The list for a size above 2 MiB. */
static unsigned list_of(size_t size)
{
	unsigned log = 63u - (unsigned)__builtin_clzl(size - 1);

	return (log - 21) * 8 + (unsigned)(((size - 1) >> (log - 3)) & 7);
}

/* Locked memory is never rounded and never cached: it is scarce. */
static size_t mapped_size(const struct memory *m, size_t size)
{
	unsigned log = 63u - (unsigned)__builtin_clzl(size - 1);

	if (m->policy.is_locked)
		return round_up(size, HEAP_PAGE);
	return round_up(size, (size_t)1 << (log - 3));
}

/* Under lock. */
static void uncache_block(struct memory *m, struct span *s)
{
	lock_assert_held(&m->lock);
	check(a_load(&s->is_cached, relaxed));
	check((s->is_dirty ? m->large_cached : m->large_clean) >= s->size);
	list_del(&s->list);
	list_del(&s->age);
	a_store(&s->is_cached, false, relaxed);
	*(s->is_dirty ? &m->large_cached : &m->large_clean) -= s->size;
}

/* Not cached, in no list. */
static void destroy_span(struct memory *m, struct span *s)
{
	check(!a_load(&s->is_cached, relaxed));
	index_del(&m->heap->index, s->base, 1);
	label_forget(s);
	os_unmap(s->base, s->size);
	meta_free(&m->meta, s, sizeof(*s));
}

/* Under lock. */
static void drop_oldest(struct memory *m)
{
	struct span *s = container_of(m->large_age.next, struct span, age);

	lock_assert_held(&m->lock);
	uncache_block(m, s);
	m->mapped -= s->size;
	destroy_span(m, s);
}

void large_trim(struct memory *m, int64_t before_ns)
{
	struct span *s;

	while (!list_is_empty(&m->large_age)) {
		s = container_of(m->large_age.next, struct span, age);
		if (s->idle_since_ns > before_ns)
			return;
		drop_oldest(m);
	}
}

/* Under lock. NULL: none fits. */
static struct span *find_cached(struct memory *m, size_t size, size_t align)
{
	struct list *head = &m->large[list_of(size)], *l;
	struct span *s;
	int i = 0;

	lock_assert_held(&m->lock);
	for (l = head->next; l != head && i < LOOK_AT; l = l->next, i++) {
		s = container_of(l, struct span, list);
		if ((uintptr_t)s->base % align)
			continue;
		uncache_block(m, s);
		return s;
	}
	return NULL;
}

/* Without lock; m->mapped counts it already. */
static struct span *map_new(struct memory *m, size_t size, size_t align,
			    bool is_huge, int *error)
{
	struct span *s = meta_alloc(&m->meta, sizeof(*s));
	struct os_policy policy = m->policy;
	int bind_error = 0;

	*error = ENOMEM;
	if (!s)
		return NULL;
	if (is_huge && policy.huge == OS_HUGE_DEFAULT)
		policy.huge = OS_HUGE_ALWAYS;
	s->base = os_map(size, align, &policy, error, &bind_error);
	if (!s->base) {
		meta_free(&m->meta, s, sizeof(*s));
		return NULL;
	}
	if (bind_error)
		a_store(&m->bind_error, bind_error, relaxed);
	if (m->heap->is_strict && !heap_claim(m, s->base, size)) {
		*error = ENOSPC;
		os_unmap(s->base, size);
		meta_free(&m->meta, s, sizeof(*s));
		return NULL;
	}
	s->memory = m;
	s->class = CLASS_LARGE;
	s->memory_index = (uint16_t)m->index;
	s->size = size;
	s->inverse = 0;
	s->nr_blocks = 1;
	s->is_huge = is_huge;
	list_init(&s->list);
	list_init(&s->age);
	list_init(&s->all);
	return s;
}

/* Without lock; m->mapped counts it already. */
static struct span *map_counted(struct memory *m, size_t size, size_t align,
				bool is_huge, int *error)
{
	struct span *s = map_new(m, size, align, is_huge, error);

	if (s && index_add(&m->heap->index, s->base, 1, s))
		return s;
	if (s) {
		*error = ENOMEM;
		os_unmap(s->base, s->size);
		meta_free(&m->meta, s, sizeof(*s));
	}
	lock_take(&m->lock);
	m->mapped -= size;
	lock_give(&m->lock);
	return NULL;
}

struct span *memory_large(struct memory *m, size_t size, size_t align,
			  bool is_huge, bool *is_zero, int *error)
{
	bool may_map = true;
	struct span *s;

	align = max_u64(align, ALIGN_MIN);
	size = mapped_size(m, size);
	lock_take(&m->lock);
	s = is_huge ? NULL : find_cached(m, size, align);
	if (!s) {
		may_map = heap_may_map(m, size, error);
		m->mapped += may_map ? size : 0;
	}
	lock_give(&m->lock);
	if (!may_map)
		return NULL;
	if (!s)
		s = map_counted(m, size, align, is_huge, error);
	if (!s)
		return NULL;
	*is_zero = !s->is_dirty;
	s->is_dirty = true;
	memory_count_out(m, (int64_t)s->size);
	lock_take(&m->lock);
	list_push(&m->spans, &s->all);
	lock_give(&m->lock);
	return s;
}

/* Under lock. Without pages it would have to be claimed again when strict. */
static bool may_cache(const struct memory *m, const struct span *s,
		      bool has_room)
{
	lock_assert_held(&m->lock);
	if (m->policy.is_locked || s->is_huge || s->size > LARGE_CACHED_MAX)
		return false;
	return has_room || !m->heap->is_strict;
}

/* Under lock. Those with pages are found first. */
static void cache_block(struct memory *m, struct span *s)
{
	struct list *head = &m->large[list_of(s->size)];

	lock_assert_held(&m->lock);
	check(a_load(&s->is_cached, relaxed) && m->mapped >= s->size);
	s->idle_since_ns = os_coarse_ns();
	if (s->is_dirty) {
		list_push(head, &s->list);
		m->large_cached += s->size;
	} else {
		list_append(head, &s->list);
		m->large_clean += s->size;
	}
	list_append(&m->large_age, &s->age);
	while (m->large_clean > LARGE_CLEAN_MAX)
		drop_oldest(m);
	large_trim(m, s->idle_since_ns - MEMORY_IDLE_NS);
}

int memory_large_free(struct memory *m, struct span *s, bool is_remote)
{
	bool has_room;

	lock_take(&m->lock);
	if (a_load(&s->is_cached, relaxed)) {
		lock_give(&m->lock);
		return -EALREADY;
	}
	list_del(&s->all);
	m->nr_remote += is_remote;
	memory_count_out(m, -(int64_t)s->size);
	has_room = m->large_cached + s->size <= LARGE_CACHED_MAX;
	if (!may_cache(m, s, has_room)) {
		m->mapped -= s->size;
		lock_give(&m->lock);
		destroy_span(m, s);
		return 0;
	}
	a_store(&s->is_cached, true, relaxed);
	if (!has_room) {
		/* In no list yet: nobody else finds it. */
		lock_give(&m->lock);
		os_decommit(s->base, s->size);
		s->is_dirty = false;
		lock_take(&m->lock);
	}
	cache_block(m, s);
	lock_give(&m->lock);
	return 0;
}

/*
 * Room of the new size in a place of its own; the pages move there, and the
 * rest is as they are: one mapping, which can move again.
 */
static bool move_pages_to(struct memory *m, struct span *s, char *to,
			  size_t size)
{
	struct index *x = &m->heap->index;

	if (!index_add(x, to, 1, s))
		return false;
	/* First: the old place may soon be somebody else's. */
	index_del(x, s->base, 1);
	if (mremap(s->base, s->size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	    MAP_FAILED) {
		index_del(x, to, 1);
		/* Its leaf is there: this cannot fail. */
		index_add(x, s->base, 1, s);
		return false;
	}
	return true;
}

/* Counts first, undone on failure. */
static bool count_mapped(struct memory *m, size_t old, size_t size)
{
	bool may_map;
	int error;

	lock_take(&m->lock);
	may_map = size <= old || heap_may_map(m, size - old, &error);
	m->mapped += may_map ? size - old : 0;
	lock_give(&m->lock);
	return may_map;
}

bool large_resize(struct memory *m, struct span *s, size_t size)
{
	size_t old = s->size;
	int error, bind_error;
	char *to;

	size = mapped_size(m, size);
	if (size == old)
		return true;
	/* Strict: the new pages would not be claimed. */
	if (m->policy.is_locked || (m->heap->is_strict && size > old) ||
	    !count_mapped(m, old, size))
		return false;
	to = os_map(size, ALIGN_MIN, &m->policy, &error, &bind_error);
	if (to && move_pages_to(m, s, to, size)) {
		s->base = to;
		s->size = size;
		memory_count_out(m, (int64_t)(size - old));
		return true;
	}
	if (to)
		os_unmap(to, size);
	count_mapped(m, size, old);
	return false;
}
