/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/heap.h"
#include "mem/registry.h"

#include "base/thread.h"

#include <string.h>

static void thread_end(struct thread *t)
{
	unsigned i;

	for (i = 0; i < THREAD_MEMORIES; i++)
		if (t->memory[i].id)
			registry_cache_end(t->memory[i].id, t->memory[i].cache);
	memset(t->memory, 0, sizeof(t->memory));
	t->keeps_first = false;
}

/* The slot of the heap first; a thread of many runtimes loses the oldest. */
static void remember_thread(struct thread *t, struct heap *h, struct cache *c)
{
	unsigned first = t->keeps_first, last = THREAD_MEMORIES - 1;

	if (t->memory[last].id)
		registry_cache_end(t->memory[last].id, t->memory[last].cache);
	memmove(&t->memory[first + 1], &t->memory[first],
		(last - first) * sizeof(t->memory[0]));
	t->memory[first].id = h->id;
	t->memory[first].cache = c;
	t->memory_end = thread_end;
}

static struct cache *find_cache(struct thread *t, uint64_t id)
{
	unsigned i;

	for (i = 1; i < THREAD_MEMORIES; i++)
		if (t->memory[i].id == id)
			return t->memory[i].cache;
	return NULL;
}

struct cache *heap_thread_cache(struct heap *h)
{
	struct thread *t = thread_self();
	struct cache *c;

	if (likely(t->memory[0].id == h->id))
		return t->memory[0].cache;
	if (thread_is_shared(t))
		return NULL;
	c = find_cache(t, h->id);
	if (c)
		return c;
	c = heap_cache_create(h, heap_current_node(h));
	if (c)
		remember_thread(t, h, c);
	return c;
}

struct cache *heap_thread_keep(struct heap *h, struct thread *self)
{
	struct cache *c = NULL;
	unsigned i = 0;

	if (thread_self() == self)
		c = heap_thread_cache(h);
	if (!c || (self->keeps_first && self->memory[0].id != h->id))
		return NULL;
	while (self->memory[i].id != h->id)
		i++;
	self->memory[i] = self->memory[0];
	self->memory[0].id = h->id;
	self->memory[0].cache = c;
	self->keeps_first = true;
	return c;
}
