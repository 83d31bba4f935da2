/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pools are opened when a region needs one, and closed when a larger one takes
 * their place, or at exit. In between they are a thread's own, or idle. A
 * forked child has none of its parent's.
 */
#include "gomp/gomp.h"
#include "gomp/places.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	pthread_key_t key; /* of a thread's own pool, for its end */

	/* Under lock. */
	struct pool *idle;
	bool has_failed; /* that no runtime opens was told */
} pools = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

/* Workers that lkdf has by default; 0: no runtime has been opened so yet. */
static _Atomic(uint32_t) nr_default;

static __thread struct pool *own __attribute__((tls_model("initial-exec")));

static void pool_close(struct pool *p)
{
	kinds_put(p);
	lkdf_gang_put(p->gang);
	lkdf_close(p->rt);
	free(p->tally);
	free(p);
}

void pool_return(struct pool *p)
{
	pthread_mutex_lock(&pools.lock);
	p->next = pools.idle;
	pools.idle = p;
	pthread_mutex_unlock(&pools.lock);
}

/* A thread that had one ends. */
static void thread_ends(void *p)
{
	own = NULL;
	pool_return(p);
}

static void before_fork(void)
{
	pthread_mutex_lock(&pools.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&pools.lock);
}

/* Threads of the parent's pools are not here, so nothing of them is freed. */
static void after_fork_child(void)
{
	pools.idle = NULL;
	own = NULL;
	if (gomp_self.team && gomp_self.team->level == 0)
		pthread_setspecific(pools.key, NULL);
	pthread_mutex_unlock(&pools.lock);
}

static void watch_ends(void)
{
	pthread_key_create(&pools.key, thread_ends);
	pthread_atfork(before_fork, after_fork, after_fork_child);
}

/* Under lock: the smallest that is large enough, else NULL. */
static struct pool *find_idle(unsigned nr)
{
	struct pool **at, **best = NULL, *p;

	for (at = &pools.idle; *at; at = &(*at)->next)
		if ((*at)->nr >= nr && (!best || (*at)->nr < (*best)->nr))
			best = at;
	if (!best)
		return NULL;
	p = *best;
	*best = p->next;
	return p;
}

static void tell_failure(void)
{
	bool has_failed;

	pthread_mutex_lock(&pools.lock);
	has_failed = pools.has_failed;
	pools.has_failed = true;
	pthread_mutex_unlock(&pools.lock);
	if (!has_failed)
		gomp_say("regions have one thread: %s", lkdf_errmsg());
}

static int open_gang(struct pool *p)
{
	if (p->nr > 1 && lkdf_gang_create(p->rt, &p->gang))
		return -1;
	p->tally = aligned_alloc(CACHE_LINE, p->nr * sizeof(*p->tally));
	if (!p->tally || kinds_make(p))
		return -1;
	return 0;
}

/* nr 0: as lkdf has workers by default. */
static struct pool *open_here(unsigned nr)
{
	struct pool *p = calloc(1, sizeof(*p));
	char options[600];
	uint64_t nr_more = 0;
	int rc;

	if (!p)
		return NULL;
	snprintf(options, sizeof(options), "workers=%u,%s%s", nr,
		 settings_get()->options,
		 places_nr() || places_failed() ? ",pin=no"
						: settings_get()->binding);
	places_widen();
	rc = lkdf_open(options, &p->rt);
	places_narrow();
	if (rc) {
		tell_failure();
		free(p);
		return NULL;
	}
	lkdf_stat(p->rt, "lkdf.substitutes", &nr_more);
	p->nr = (unsigned)lkdf_nr_workers(p->rt) - (unsigned)nr_more;
	if (!nr)
		a_store(&nr_default, p->nr, relaxed);
	if (!open_gang(p))
		return p;
	tell_failure();
	pool_close(p);
	return NULL;
}

static void *open_there(void *u)
{
	unsigned *nr = u;

	return open_here(*nr);
}

/*
 * A body may not wait for a runtime to open, and a region inside another one is
 * in a body: a thread that is in none does it.
 */
static struct pool *pool_open(unsigned nr)
{
	pthread_t thread;
	void *p = NULL;

	if (!gomp_self.c)
		return open_here(nr);
	if (!pthread_create(&thread, NULL, open_there, &nr))
		pthread_join(thread, &p);
	return p;
}

struct pool *pool_borrow(unsigned nr)
{
	struct pool *p;

	pthread_once(&pools.once, watch_ends);
	pthread_mutex_lock(&pools.lock);
	p = find_idle(nr);
	pthread_mutex_unlock(&pools.lock);
	return p ? p : pool_open(nr);
}

static void close_own(void)
{
	struct pool *p = own;

	own = NULL;
	pthread_setspecific(pools.key, NULL);
	pool_close(p);
}

/* LKDF_WORKERS may have it that a larger one is not to be had. */
struct pool *pool_own(unsigned nr)
{
	if (own && own->nr < nr && !secure_getenv("LKDF_WORKERS"))
		close_own();
	if (own)
		return own;
	own = pool_borrow(nr);
	if (own)
		pthread_setspecific(pools.key, own);
	return own;
}

/* For others: it lies idle until a region needs one. */
static unsigned open_default(void)
{
	struct pool *p;

	pthread_once(&pools.once, watch_ends);
	p = pool_open(0);
	if (!p)
		return 1;
	pool_return(p);
	return p->nr;
}

/* The first one is this thread's own: a region is likely to come next. */
unsigned pool_default(void)
{
	uint32_t nr = a_load(&nr_default, relaxed);

	if (likely(nr))
		return nr;
	if (!own && !gomp_self.c) {
		pool_own(0);
		nr = a_load(&nr_default, relaxed);
	}
	return nr ? nr : open_default();
}

static void close_idle(void)
{
	struct pool *p;

	pthread_mutex_lock(&pools.lock);
	while ((p = pools.idle) != NULL) {
		pools.idle = p->next;
		pthread_mutex_unlock(&pools.lock);
		pool_close(p);
		pthread_mutex_lock(&pools.lock);
	}
	pthread_mutex_unlock(&pools.lock);
}

void pool_pause(void)
{
	if (own)
		close_own();
	close_idle();
}

/*
 * The file of a recording is written at close. Where a region is under way,
 * or a thread other than this one has a pool, that one is left alone.
 */
__attribute__((destructor)) static void close_all(void)
{
	if (!gomp_self.team || !gomp_self.team->level)
		pool_pause();
	else
		close_idle();
}
