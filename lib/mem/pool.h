/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Objects of one size in memory that stays what it is until the pool ends
 * (type-stable: a stale pointer reads an object of the same type, never
 * something else). Each executor has a magazine of free objects, taken and
 * given without a lock; full and empty magazines go through the pool's depot
 * in batches (Bonwick and Adams, "Magazines and vmem", 2001).
 */
#ifndef MEM_POOL_H
#define MEM_POOL_H

#include "base/atomic.h"
#include "base/util.h"

#define POOL_BATCH 64

/* First 8 bytes of a free object; the first of a batch uses its last 8 too. */
struct pool_free {
	_Atomic(struct pool_free *) next;
};

struct pool {
	/* Set at init, constant afterwards. */
	size_t object_size;
	uint64_t max_objects;
	void (*object_init)(void *object); /* once, when memory is new */

	/* Under lock. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) lock;
	struct pool_batch *full; /* batches of POOL_BATCH */
	struct pool_chunk *chunks;
	uint64_t nr_objects;
};

/* This executor only. */
struct magazine {
	struct pool_free *free;
	uint32_t nr;
	struct pool *pool;
};

/* object_size: a multiple of 64, at least 64. */
void pool_init(struct pool *p, size_t object_size, uint64_t max_objects,
	       void (*object_init)(void *object));

/* Frees all memory, whatever is still out. */
void pool_fini(struct pool *p);

/* All objects ever made, free or not; nobody takes or gives meanwhile. */
void pool_each(struct pool *p, void (*fn)(void *u, void *object), void *u);

/* Objects ever made; those free are among them. */
uint64_t pool_nr_objects(struct pool *p);

void magazine_init(struct magazine *m, struct pool *p);

/* Gives what it holds back to the pool. */
void magazine_fini(struct magazine *m);

/* The slow halves: a batch in, a batch out. False: no memory or the cap. */
bool magazine_fill(struct magazine *m);
void magazine_overflow(struct magazine *m);

/* The two halves of magazine_get(), for who must not call anything. */
static inline bool magazine_has(const struct magazine *m)
{
	return m->free != NULL;
}

static inline void *magazine_take(struct magazine *m)
{
	struct pool_free *f = m->free;

	m->free = a_load(&f->next, relaxed);
	m->nr--;
	return f;
}

/* Contents as left by the last user but for the first 8 bytes; NULL: none. */
static inline void *magazine_get(struct magazine *m)
{
	if (unlikely(!m->free) && !magazine_fill(m))
		return NULL;
	return magazine_take(m);
}

static inline void magazine_put(struct magazine *m, void *object)
{
	struct pool_free *f = object;

	a_store(&f->next, m->free, relaxed);
	m->free = f;
	if (unlikely(++m->nr >= 2 * POOL_BATCH))
		magazine_overflow(m);
}

#endif
