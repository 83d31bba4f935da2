/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/stock.h"

#include "base/err.h"
#include "base/lock.h"
#include "base/lock_owner.h"
#include "base/thread.h"
#include "core/forked.h"
#include "core/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A thread's free tasks and events of one runtime. */
struct stock {
	struct list list; /* under the lock of all stocks */
	bool is_spare; /* memory of the runtime's; constant */
	struct magazine magazine[NR_POOLS]; /* the thread only */
};

/*
 * Nothing is allocated or freed under it: fork takes it, and the allocator's
 * locks before or after.
 */
static struct lock lock;
static struct list runtimes = { &runtimes, &runtimes };
static uint64_t last_id;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	lock_take(&lock);
}

static void after_fork(void)
{
	lock_give(&lock);
}

static void after_fork_child(void)
{
	lock_owner_learn();
	after_fork();
	forked_child();
}

static void watch_fork(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_child);
}

/* In a forked child others may hold the locks of the pools for ever. */
static bool is_alive(const struct lkdf *rt)
{
	return a_load(rt->is_alive, relaxed) != 0;
}

/* So that a thread's first call in a warm runtime allocates nothing. */
static int make_spares(struct stocks *s)
{
	int i;

	list_init(&s->spares);
	s->memory = calloc(STOCK_SPARES, sizeof(*s->memory));
	if (!s->memory)
		return err(-ENOMEM, "runtime: no memory for stocks of threads");
	for (i = 0; i < STOCK_SPARES; i++) {
		s->memory[i].is_spare = true;
		list_push(&s->spares, &s->memory[i].list);
	}
	return 0;
}

int stocks_open(struct lkdf *rt)
{
	struct stocks *s = &rt->stocks;
	int p, rc = make_spares(s);

	if (rc)
		return rc;
	for (p = 0; p < NR_POOLS; p++)
		magazine_init(&s->rest[p], &rt->pool[p]);
	list_init(&s->threads);
	pthread_once(&once, watch_fork);
	lock_take(&lock);
	s->id = ++last_id;
	list_push(&runtimes, &s->all);
	lock_give(&lock);
	return 0;
}

struct list *stocks_lock(void)
{
	lock_take(&lock);
	return &runtimes;
}

void stocks_unlock(void)
{
	lock_give(&lock);
}

static void free_stock(struct stock *s)
{
	if (!s->is_spare)
		free(s);
}

void stocks_close(struct lkdf *rt)
{
	struct stocks *s = &rt->stocks;
	struct list *l, *next;

	if (!s->id)
		return;
	lock_take(&lock);
	list_del(&s->all);
	lock_give(&lock);
	/* Now no thread that ends finds them. */
	for (l = s->threads.next; l != &s->threads; l = next) {
		next = l->next;
		free_stock(container_of(l, struct stock, list));
	}
	free(s->memory);
}

/* Under lock. NULL: it has closed. */
static struct lkdf *runtime_of(uint64_t id)
{
	struct list *l;
	struct lkdf *rt;

	lock_assert_held(&lock);
	for (l = runtimes.next; l != &runtimes; l = l->next) {
		rt = container_of(l, struct lkdf, stocks.all);
		if (rt->stocks.id == id)
			return rt;
	}
	return NULL;
}

/* Under lock. A magazine gives whole batches only: the last ones one by one. */
static void return_magazines(struct lkdf *rt, struct stock *s)
{
	int p;

	lock_assert_held(&lock);
	for (p = 0; p < NR_POOLS; p++)
		while (magazine_has(&s->magazine[p]))
			magazine_put(&rt->stocks.rest[p],
				     magazine_take(&s->magazine[p]));
}

/* The thread keeps it no longer. */
static void stock_end(uint64_t id, struct stock *s)
{
	bool is_ours = false;
	struct lkdf *rt;

	lock_take(&lock);
	rt = runtime_of(id);
	if (rt) {
		list_del(&s->list);
		if (is_alive(rt))
			return_magazines(rt, s);
		if (s->is_spare)
			list_push(&rt->stocks.spares, &s->list);
		else
			is_ours = true;
	}
	lock_give(&lock);
	if (is_ours)
		free(s);
}

static void thread_end(struct thread *t)
{
	unsigned i;

	for (i = 0; i < THREAD_STOCKS; i++)
		if (t->stock[i].id)
			stock_end(t->stock[i].id, t->stock[i].stock);
	memset(t->stock, 0, sizeof(t->stock));
}

static struct stock *take_spare(struct stocks *all)
{
	struct stock *s = NULL;
	struct list *l;

	lock_take(&lock);
	l = all->spares.next;
	if (l != &all->spares) {
		list_del(l);
		s = container_of(l, struct stock, list);
	}
	lock_give(&lock);
	return s;
}

static struct stock *new_stock(struct stocks *all)
{
	struct stock *s = take_spare(all);

	if (s)
		return s;
	s = malloc(sizeof(*s));
	if (s)
		s->is_spare = false;
	return s;
}

/* The newest first; a thread of many runtimes loses the oldest. */
static struct stock *create_stock(struct thread *t, struct lkdf *rt)
{
	struct stock *s = new_stock(&rt->stocks);
	unsigned last = THREAD_STOCKS - 1;
	int p;

	if (!s)
		return NULL;
	for (p = 0; p < NR_POOLS; p++)
		magazine_init(&s->magazine[p], &rt->pool[p]);
	if (t->stock[last].id)
		stock_end(t->stock[last].id, t->stock[last].stock);
	memmove(&t->stock[1], &t->stock[0], last * sizeof(t->stock[0]));
	t->stock[0].id = rt->stocks.id;
	t->stock[0].stock = s;
	t->stock_end = thread_end;
	lock_take(&lock);
	list_push(&rt->stocks.threads, &s->list);
	lock_give(&lock);
	return s;
}

static __attribute__((noinline)) struct stock *find_stock(struct thread *t,
							  struct lkdf *rt)
{
	unsigned i;

	if (thread_is_shared(t))
		return NULL;
	for (i = 1; i < THREAD_STOCKS; i++)
		if (t->stock[i].id == rt->stocks.id)
			return t->stock[i].stock;
	return create_stock(t, rt);
}

/* This thread's; NULL: no memory for one. */
static inline struct stock *stock_of(struct lkdf *rt)
{
	struct thread *t = thread_self();

	return likely(t->stock[0].id == rt->stocks.id) ? t->stock[0].stock
						       : find_stock(t, rt);
}

void *stock_get(struct lkdf *rt, enum executor_pool pool)
{
	struct stock *s = stock_of(rt);
	struct magazine *m = s ? &s->magazine[pool] : NULL;
	void *object = m ? magazine_get(m) : NULL;

	if (likely(object != NULL)) {
		/* A worker has used the next one last: it comes until then. */
		if (pool == POOL_TASK && m->free)
			stock_expect(m->free);
		return object;
	}
	lock_take(&lock);
	object = magazine_get(&rt->stocks.rest[pool]);
	lock_give(&lock);
	return object;
}

void stock_put(struct lkdf *rt, enum executor_pool pool, void *object)
{
	struct stock *s;

	if (unlikely(!is_alive(rt)))
		return;
	s = stock_of(rt);
	if (likely(s != NULL)) {
		magazine_put(&s->magazine[pool], object);
		return;
	}
	lock_take(&lock);
	magazine_put(&rt->stocks.rest[pool], object);
	lock_give(&lock);
}
