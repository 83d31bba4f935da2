/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/meta.h"

#include <string.h>

#define CHUNK ((size_t)256 << 10)
#define PAGE ((size_t)4096)

/* First record of a chunk, and of a mapping of its own. */
struct meta_chunk {
	struct meta_chunk *next;
	size_t size;
};

void meta_init(struct meta *m, const struct os_policy *policy)
{
	memset(m, 0, sizeof(*m));
	m->policy = policy;
}

void meta_fini(struct meta *m)
{
	struct meta_chunk *c, *next;

	for (c = m->chunks; c; c = next) {
		next = c->next;
		os_unmap(c, c->size);
	}
	m->chunks = NULL;
}

/* Under lock. A failed bind is the memory's to report, not ours. */
static bool add_chunk(struct meta *m)
{
	struct meta_chunk *c;
	int error, bind_error;

	lock_assert_held(&m->lock);
	c = os_map(CHUNK, PAGE, m->policy, &error, &bind_error);
	if (!c)
		return false;
	c->size = CHUNK;
	c->next = m->chunks;
	m->chunks = c;
	m->bytes += CHUNK;
	m->at = (char *)c + META_UNIT;
	m->end = (char *)c + CHUNK;
	return true;
}

/* Under lock. */
static void *cut_block(struct meta *m, size_t size)
{
	void *record;

	lock_assert_held(&m->lock);
	if (!m->at || (size_t)(m->end - m->at) < size) {
		if (!add_chunk(m))
			return NULL;
	}
	record = m->at;
	m->at += size;
	return record;
}

static void *map_own(struct meta *m, size_t size)
{
	int error, bind_error;

	return os_map(round_up(size, PAGE), PAGE, m->policy, &error,
		      &bind_error);
}

void *meta_alloc(struct meta *m, size_t size)
{
	struct meta_free *f;
	size_t i;

	if (size > META_MAX)
		return map_own(m, size);
	size = round_up(size, META_UNIT);
	i = size / META_UNIT;
	lock_take(&m->lock);
	f = m->free[i];
	if (f)
		m->free[i] = f->next;
	else
		f = cut_block(m, size);
	lock_give(&m->lock);
	return f ? memset(f, 0, size) : NULL;
}

void meta_free(struct meta *m, void *record, size_t size)
{
	struct meta_free *f = record;
	size_t i;

	if (!record)
		return;
	if (size > META_MAX) {
		os_unmap(record, round_up(size, PAGE));
		return;
	}
	i = round_up(size, META_UNIT) / META_UNIT;
	lock_take(&m->lock);
	f->next = m->free[i];
	m->free[i] = f;
	lock_give(&m->lock);
}
