/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/blocking.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/thrown.h"
#include "base/util.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINGER_NS 20000

/*
 * A thread that gets the CPU back as late competes with strangers, and for so
 * long.
 */
#define CROWDED_NS 1000000
#define CROWD_LASTS_NS 100000000

struct blocking_thread {
	struct blocking *pool;
	pthread_t thread;
	int id;
};

int blocking_init(struct blocking *b, const struct blocking_attr *a)
{
	memset(b, 0, sizeof(*b));
	b->attr = *a;
	b->last = &b->first;
	b->threads = calloc((size_t)a->max, sizeof(*b->threads));
	if (!b->threads)
		return err(-ENOMEM, "blocking: no memory for %d threads",
			   a->max);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->wake, NULL);
	return 0;
}

static int add_thread(struct blocking *b);

/* Under lock. */
static void count_threads(_Atomic(int) *nr, int by)
{
	a_store(nr, a_load(nr, relaxed) + by, relaxed);
}

/*
 * Under lock: another thread for what is queued. A single thread is on its way
 * at a time, and calls the next when it is there: what a thread that is awake
 * does meanwhile wakes nobody. True: the caller is to wake it, when it has
 * given the lock back, as the first thing it wants is the lock.
 */
static bool call_one(struct blocking *b)
{
	mutex_assert_held(&b->lock);
	if (b->is_coming || !b->first)
		return false;
	if (b->nr_idle) {
		b->is_coming = true;
		return true;
	}
	/* Without a further thread it waits for one of those. */
	if (b->nr_threads < b->attr.max)
		b->is_coming = !add_thread(b);
	return false;
}

/* Gives the lock back. */
static void leave_pool(struct blocking *b, bool wakes)
{
	pthread_mutex_unlock(&b->lock);
	if (wakes)
		pthread_cond_signal(&b->wake);
}

/* Returns the time. */
static int64_t yield_thread(struct blocking *b)
{
	int64_t start = clock_now_ns(), now;

	sched_yield();
	now = clock_now_ns();
	if (now - start > CROWDED_NS)
		a_store(&b->crowded_until, now + CROWD_LASTS_NS, relaxed);
	return now;
}

void blocking_make_room(struct blocking *b)
{
	if (clock_now_ns() > a_load(&b->crowded_until, relaxed))
		yield_thread(b);
}

/*
 * Under lock: waits for the next item for a moment awake, since it often
 * follows what this thread has just done. A thread that does so is on its way.
 */
static void linger_idle(struct blocking *b)
{
	int64_t now = clock_now_ns(), end = now + LINGER_NS;

	mutex_assert_held(&b->lock);
	if (now < a_load(&b->crowded_until, relaxed))
		return;
	b->is_coming = true;
	pthread_mutex_unlock(&b->lock);
	do
		now = yield_thread(b);
	while (!a_load(&b->nr_queued, relaxed) && now < end);
	pthread_mutex_lock(&b->lock);
	b->is_coming = false;
}

/* Under lock. The oldest item, or NULL when the pool stops. */
static struct blocking_item *take_item(struct blocking *b)
{
	struct blocking_item *item;

	mutex_assert_held(&b->lock);
	if (!b->first && !b->is_coming && !b->is_stopping)
		linger_idle(b);
	while (!b->first) {
		if (b->is_stopping)
			return NULL;
		b->nr_idle++;
		pthread_cond_wait(&b->wake, &b->lock);
		b->nr_idle--;
		b->is_coming = false;
	}
	item = b->first;
	b->first = item->next;
	if (!b->first)
		b->last = &b->first;
	count_threads(&b->nr_queued, -1);
	count_threads(&b->nr_running, 1);
	return item;
}

static void *thread_main(void *arg)
{
	struct blocking_thread *t = arg;
	struct blocking *b = t->pool;
	struct blocking_item *item;
	char name[16];
	void *with;

	THROWN_ENDS_HERE;
	snprintf(name, sizeof(name), "lkdf/b%d", t->id);
	pthread_setname_np(pthread_self(), name);
	with = b->attr.start(b->attr.u, t->id);
	pthread_mutex_lock(&b->lock);
	b->is_coming = false;
	while ((item = take_item(b))) {
		leave_pool(b, call_one(b));
		item->run(with, item);
		pthread_mutex_lock(&b->lock);
		count_threads(&b->nr_running, -1);
	}
	pthread_mutex_unlock(&b->lock);
	thread_retire();
	return NULL;
}

/* Under lock. The new thread starts with all signals blocked. */
static int add_thread(struct blocking *b)
{
	struct blocking_thread *t = &b->threads[b->nr_threads];
	pthread_attr_t attr;
	int rc;

	mutex_assert_held(&b->lock);
	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	if (b->attr.stack_kib)
		pthread_attr_setstacksize(&attr,
					  (size_t)b->attr.stack_kib * 1024);
	t->pool = b;
	t->id = b->nr_threads;
	rc = helper_start(&t->thread, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	if (rc)
		return err(-rc, "blocking: cannot start thread %d: %s", t->id,
			   strerror(rc));
	b->nr_threads++;
	return 0;
}

int blocking_require(struct blocking *b)
{
	int rc = 0;

	pthread_mutex_lock(&b->lock);
	if (!b->nr_threads)
		rc = add_thread(b);
	pthread_mutex_unlock(&b->lock);
	return rc;
}

void *blocking_enter(struct blocking *b, int id)
{
	return b->attr.start(b->attr.u, id);
}

void blocking_push(struct blocking *b, struct blocking_item *item)
{
	item->next = NULL;
	pthread_mutex_lock(&b->lock);
	*b->last = item;
	b->last = &item->next;
	count_threads(&b->nr_queued, 1);
	leave_pool(b, call_one(b));
}

void blocking_stop(struct blocking *b)
{
	int i;

	pthread_mutex_lock(&b->lock);
	b->is_stopping = true;
	pthread_mutex_unlock(&b->lock);
	pthread_cond_broadcast(&b->wake);
	for (i = 0; i < b->nr_threads; i++)
		pthread_join(b->threads[i].thread, NULL);
	b->nr_threads = 0;
}

void blocking_fini(struct blocking *b)
{
	if (!b->threads)
		return;
	pthread_cond_destroy(&b->wake);
	pthread_mutex_destroy(&b->lock);
	free(b->threads);
	b->threads = NULL;
}

void blocking_abandon(struct blocking *b)
{
	free(b->threads);
	b->threads = NULL;
}
