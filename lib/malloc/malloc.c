/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "malloc/malloc.h"

#include "base/lock_owner.h"
#include "malloc/start.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define SLOW __attribute__((noinline, cold))
#define MALLOC_ALIGN 16
#define PAGE 4096

/*
 * For a thread that has none yet, and for one that ended: no bin holds any, and
 * nothing is a block of their heap. So nobody has to ask.
 */
static struct heap no_heap;
static struct cache none = { .heap = &no_heap,
			     .local = (struct bins *)&cache_no_bins };
static struct cache gone = { .heap = &no_heap,
			     .local = (struct bins *)&cache_no_bins };

static __thread struct cache *self __attribute__((tls_model("initial-exec"))) =
	&none;

void malloc_thread_end(void *cache)
{
	check(cache && cache == self);
	self = &gone;
	heap_cache_destroy(cache);
}

/* This thread's cache, with today's node; NULL: it has none. */
static struct cache *current_heap(struct heap *h)
{
	struct cache *c = self;

	if (c == &gone)
		return NULL;
	if (c == &none) {
		c = heap_cache_create(h, heap_current_node(h));
		if (!c)
			return NULL;
		self = c;
		lock_owner_learn();
		start_watch_thread(c);
	} else if (h->nr_nodes > 1) {
		cache_set_node(c, heap_current_node(h));
	}
	return c;
}

static unsigned memory_of(const struct cache *c, const struct heap *h)
{
	return c ? c->memory : heap_near_memory(h, heap_current_node(h));
}

static SLOW void *alloc_slow(size_t size, size_t align, bool *is_zero)
{
	struct heap_want w = { .size = size, .align = align };
	struct heap *h = start_heap();
	struct cache *c;
	int error;
	void *p;

	*is_zero = true;
	if (!h)
		return start_boot_alloc(size, align);
	c = current_heap(h);
	w.memory = memory_of(c, h);
	p = heap_alloc_slow(h, c, &w, is_zero, &error);
	if (!p)
		errno = ENOMEM;
	return p;
}

static SLOW void *malloc_slow(size_t size)
{
	bool is_zero;

	return alloc_slow(size, MALLOC_ALIGN, &is_zero);
}

EXPORT void *malloc(size_t size)
{
	struct bins *b = self->local;
	void *p = NULL;

	/* Twice the same, but for what class_of() has to ask. */
	if (likely(size - 1 < CLASS_SMALL_SIZE))
		p = heap_alloc_from(b, class_of(size));
	else if (size - 1 < CLASS_MAX_SIZE)
		p = heap_alloc_from(b, class_of(size));
	return likely(p != NULL) ? p : malloc_slow(size);
}

static void free_failed(struct heap *h, int rc, void *p)
{
	if (!h || start_is_boot(p))
		return;
	if (rc == -EALREADY)
		start_die("free(): double free detected\n");
	start_die("free(): invalid pointer\n");
}

static SLOW void free_slow(void *p)
{
	int saved = errno, rc;
	struct heap *h;

	if (!p)
		return;
	h = start_heap();
	rc = h ? heap_free(h, current_heap(h), p) : 0;
	if (rc)
		free_failed(h, rc, p);
	errno = saved;
}

EXPORT void free(void *p)
{
	struct cache *c = self;

	if (unlikely(!heap_free_fast(c->heap, c, p)))
		free_slow(p);
}

EXPORT void *calloc(size_t nr, size_t size)
{
	bool is_zero = false;
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (bytes <= CLASS_MAX_SIZE)
		p = malloc(bytes);
	else
		p = alloc_slow(bytes, MALLOC_ALIGN, &is_zero);
	return p && !is_zero ? memset(p, 0, bytes) : p;
}

/* Out of boot memory, whose blocks do not know their size. */
static void *leave_boot(void *p, size_t size)
{
	size_t have = start_boot_size(p);
	void *to = malloc(size);

	return to ? memcpy(to, p, size < have ? size : have) : NULL;
}

EXPORT void *realloc(void *p, size_t size)
{
	struct heap *h;
	int error;
	void *to;

	if (!p)
		return malloc(size);
	if (!size) {
		free(p);
		return NULL;
	}
	if (start_is_boot(p))
		return leave_boot(p, size);
	h = start_heap();
	to = h ? heap_resize(h, current_heap(h), p, size, &error) : NULL;
	if (!to && h && error == EINVAL)
		start_die("realloc(): invalid pointer\n");
	if (!to)
		errno = ENOMEM;
	return to;
}

EXPORT void *reallocarray(void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

EXPORT void *memalign(size_t align, size_t size)
{
	bool is_zero;

	if (!align || align & (align - 1)) {
		errno = EINVAL;
		return NULL;
	}
	return alloc_slow(size, max_u64(align, MALLOC_ALIGN), &is_zero);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
	int saved = errno;
	void *p;

	if (align < sizeof(void *) || align & (align - 1))
		return EINVAL;
	p = memalign(align, size);
	errno = saved;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void *valloc(size_t size)
{
	return memalign(PAGE, size);
}

EXPORT void *pvalloc(size_t size)
{
	if (size > HEAP_SIZE_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return memalign(PAGE, round_up(size ? size : 1, PAGE));
}

EXPORT size_t malloc_usable_size(void *p)
{
	struct heap *h = start_heap();

	if (!p || !h)
		return 0;
	return start_is_boot(p) ? start_boot_size(p) : heap_size(h, p);
}

EXPORT int malloc_trim(size_t keep)
{
	struct heap *h = start_heap();

	(void)keep;
	if (!h)
		return 0;
	if (self->heap != &no_heap)
		cache_flush(self);
	heap_trim(h, true);
	return 1;
}
