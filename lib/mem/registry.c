/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/registry.h"

#include "base/lock_owner.h"
#include "mem/heap.h"

#include <pthread.h>

static struct lock lock;
static struct list heaps = { &heaps, &heaps };
static uint64_t last_id;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void each_memory_lock(struct heap *h, void (*fn)(struct lock *l))
{
	struct memory *m;
	unsigned i, class;

	for (i = 0; i < h->nr_memories; i++) {
		m = h->memory[i];
		for (class = 0; class < NR_SIZES; class ++)
			fn(&m->depot[class].lock);
	}
	for (i = 0; i < h->nr_memories; i++)
		fn(&h->memory[i]->lock);
	for (i = 0; i < h->nr_memories; i++)
		fn(&h->memory[i]->meta.lock);
}

static void each_lock(void (*fn)(struct lock *l))
{
	struct heap *h;
	struct list *l;

	for (l = heaps.next; l != &heaps; l = l->next) {
		h = container_of(l, struct heap, all);
		fn(&h->lock);
		each_memory_lock(h, fn);
		fn(&h->labels.lock);
		fn(&h->meta.lock);
	}
}

static void take_lock(struct lock *l)
{
	lock_take(l);
}

static void give_lock(struct lock *l)
{
	lock_give(l);
}

static void before_fork(void)
{
	lock_take(&lock);
	each_lock(take_lock);
}

static void after_fork(void)
{
	each_lock(give_lock);
	lock_give(&lock);
}

/* Blocks in bins of threads that are not here would be lost. */
static void empty_caches(struct heap *h)
{
	uint64_t me = (uint64_t)pthread_self();
	struct cache *c;
	struct list *l;

	for (l = h->caches.next; l != &h->caches; l = l->next) {
		c = container_of(l, struct cache, list);
		if (c->owner != me)
			cache_flush(c);
	}
}

static void after_fork_child(void)
{
	struct heap *h;
	struct list *l;

	lock_owner_learn();
	after_fork();
	for (l = heaps.next; l != &heaps; l = l->next) {
		h = container_of(l, struct heap, all);
		/* The blocks that are listed there are the parent's. */
		h->labels.listing.address = NULL;
		empty_caches(h);
	}
}

static void watch_fork(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_child);
}

void registry_add(struct heap *h)
{
	pthread_once(&once, watch_fork);
	lock_take(&lock);
	h->id = ++last_id;
	list_push(&heaps, &h->all);
	lock_give(&lock);
}

void registry_del(struct heap *h)
{
	lock_take(&lock);
	list_del(&h->all);
	lock_give(&lock);
}

void registry_cache_end(unsigned long id, struct cache *c)
{
	struct heap *h;
	struct list *l;

	lock_take(&lock);
	for (l = heaps.next; l != &heaps; l = l->next) {
		h = container_of(l, struct heap, all);
		if (h->id == id) {
			heap_cache_destroy(c);
			break;
		}
	}
	lock_give(&lock);
}
