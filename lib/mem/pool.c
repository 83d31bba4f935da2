/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/pool.h"

#include "mem/region.h"

#include <sched.h>
#include <string.h>

/* Objects per chunk: as many as fit, at least one batch. */
#define CHUNK_SIZE 65536

/* The first object of a batch. */
struct pool_batch {
	struct pool_free first;
};

/*
 * The link to the next batch is the last word of the first object: what a
 * stale pointer may still read lies at the beginning.
 */
static struct pool_batch **batch_next(const struct pool *p,
				      struct pool_batch *b)
{
	char *end = (char *)b + p->object_size;

	return (struct pool_batch **)(void *)(end - sizeof(b));
}

/* First object of a chunk. */
struct pool_chunk {
	struct pool_chunk *next;
	size_t size;
	uint64_t nr; /* objects behind it */
};

/* A thread that waits only reads the word: it stays in all caches then. */
static void lock_pool(struct pool *p)
{
	int spins = 0;

	/* [pool.lock] the last holder's writes; pairs with [pool.unlock]. */
	while (a_xchg(&p->lock, 1, acquire)) {
		while (a_load(&p->lock, relaxed)) {
			if (++spins % 64)
				a_pause();
			else
				sched_yield();
		}
	}
}

static void unlock_pool(struct pool *p)
{
	/* [pool.unlock] our writes for the next; pairs with [pool.lock]. */
	a_store(&p->lock, 0, release);
}

void pool_init(struct pool *p, size_t object_size, uint64_t max_objects,
	       void (*object_init)(void *object))
{
	check(object_size >= CACHE_LINE && object_size % CACHE_LINE == 0);
	memset(p, 0, sizeof(*p));
	p->object_size = object_size;
	p->max_objects = max_objects;
	p->object_init = object_init;
}

void pool_fini(struct pool *p)
{
	struct pool_chunk *c, *next;

	for (c = p->chunks; c; c = next) {
		next = c->next;
		region_free(c, c->size);
	}
	p->chunks = NULL;
	p->full = NULL;
}

void pool_each(struct pool *p, void (*fn)(void *u, void *object), void *u)
{
	struct pool_chunk *c;
	uint64_t i;

	for (c = p->chunks; c; c = c->next)
		for (i = 1; i <= c->nr; i++)
			fn(u, (char *)c + i * p->object_size);
}

uint64_t pool_nr_objects(struct pool *p)
{
	uint64_t nr;

	lock_pool(p);
	nr = p->nr_objects;
	unlock_pool(p);
	return nr;
}

static size_t chunk_size(const struct pool *p)
{
	return max_u64(CHUNK_SIZE, (POOL_BATCH + 1) * p->object_size);
}

/* Links nr objects from at; the last one's next is NULL. */
static void link_batch(const struct pool *p, char *at, unsigned nr)
{
	struct pool_free *f;
	unsigned i;

	for (i = 0; i < nr; i++, at += p->object_size) {
		if (p->object_init)
			p->object_init(at);
		f = (struct pool_free *)at;
		a_store(&f->next,
			i + 1 < nr ? (struct pool_free *)(at + p->object_size)
				   : NULL,
			relaxed);
	}
}

/* Under lock. Cuts a new chunk into full batches. */
static bool grow_pool(struct pool *p)
{
	size_t size = chunk_size(p);
	uint64_t nr = size / p->object_size - 1;
	struct pool_chunk *c;
	struct pool_batch *b;
	char *at;

	nr = min_u64(nr, p->max_objects - p->nr_objects);
	nr -= nr % POOL_BATCH;
	if (!nr)
		return false;
	c = region_alloc(size);
	if (!c)
		return false;
	c->size = size;
	c->nr = nr;
	c->next = p->chunks;
	p->chunks = c;
	p->nr_objects += nr;
	for (at = (char *)c + p->object_size; nr; nr -= POOL_BATCH) {
		link_batch(p, at, POOL_BATCH);
		b = (struct pool_batch *)at;
		*batch_next(p, b) = p->full;
		p->full = b;
		at += POOL_BATCH * p->object_size;
	}
	return true;
}

void magazine_init(struct magazine *m, struct pool *p)
{
	m->free = NULL;
	m->nr = 0;
	m->pool = p;
}

bool magazine_fill(struct magazine *m)
{
	struct pool *p = m->pool;
	struct pool_batch *b;

	check(!m->free && !m->nr);
	lock_pool(p);
	if (p->full || grow_pool(p)) {
		b = p->full;
		p->full = *batch_next(p, b);
		m->free = &b->first;
		m->nr = POOL_BATCH;
	}
	unlock_pool(p);
	return m->free != NULL;
}

void magazine_overflow(struct magazine *m)
{
	struct pool *p = m->pool;
	struct pool_batch *b = (struct pool_batch *)m->free;
	struct pool_free *last = m->free;
	unsigned i;

	check(m->nr >= POOL_BATCH);
	for (i = 1; i < POOL_BATCH; i++)
		last = a_load(&last->next, relaxed);
	m->free = a_load(&last->next, relaxed);
	a_store(&last->next, NULL, relaxed);
	m->nr -= POOL_BATCH;
	check(!m->free == !m->nr);
	lock_pool(p);
	*batch_next(p, b) = p->full;
	p->full = b;
	unlock_pool(p);
}

void magazine_fini(struct magazine *m)
{
	while (m->nr >= POOL_BATCH)
		magazine_overflow(m);
	/* Less than a batch stays in its chunk until the pool ends. */
	m->free = NULL;
	m->nr = 0;
}
