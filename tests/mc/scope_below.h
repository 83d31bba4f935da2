/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lies under scope.c, room.c and deadline.c in mc_scope.c: a runtime with
 * a root scope and one timer, failures whose text is checked for races, and
 * functions that do nothing or are not reached.
 */
#ifndef MC_SCOPE_BELOW_H
#define MC_SCOPE_BELOW_H

#include "base/clock.h"
#include "check_below.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "core/waits.h"
#include "mc.h"
#include "mechanism/client/client.h"
#include "mutex_below.h"
#include "sched/tick.h"
#include "scope/scope.h"
#include "thread_below.h"

#include <string.h>

#define SECOND 1000000000ll

static struct lkdf rt;
static struct client_sched clients;
static struct lkdf_scope root;
static pthread_mutex_t timers_lock;
static struct timer *queued; /* plain: under timers_lock */
static long looks[MC_THREADS + 1]; /* at the clock, by thread; init() first */
static _Atomic(uint32_t) nr_failures;

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	(void)a;
	a_store((_Atomic(uint32_t) *)(void *)m, 0, relaxed);
	return 0;
}

/* Nobody holds it any more. */
int pthread_mutex_destroy(pthread_mutex_t *m)
{
	mc_assert(!a_load((_Atomic(uint32_t) *)(void *)m, relaxed));
	return 0;
}

void *mc_aligned_alloc(size_t align, size_t size);
int mc_clock_gettime(clockid_t id, struct timespec *ts);

void *mc_aligned_alloc(size_t align, size_t size)
{
	mc_assert(align == CACHE_LINE);
	return mc_alloc(size);
}

/* A second goes by from a thread's look to its next; init() was before. */
int mc_clock_gettime(clockid_t id, struct timespec *ts)
{
	mc_assert(id == CLOCK_MONOTONIC);
	looks[mc_self() + 1]++;
	*ts = (struct timespec){ .tv_sec = looks[0] };
	if (mc_self() >= 0)
		ts->tv_sec += looks[mc_self() + 1];
	return 0;
}

/* The one timer is due. */
static void fire_timer(void *unused)
{
	struct timer *t;

	(void)unused;
	pthread_mutex_lock(&timers_lock);
	t = plain_load(&queued);
	if (t) {
		plain_store(&queued, NULL);
		a_store(&rt.sched.timers.earliest, TIMERS_NONE, relaxed);
		t->fire(t);
	}
	pthread_mutex_unlock(&timers_lock);
}

void sched_add_timer(struct sched *s, struct timer *t)
{
	pthread_mutex_lock(&timers_lock);
	mc_assert(!plain_load(&queued));
	plain_store(&queued, t);
	a_store(&s->timers.earliest, t->end_ns, relaxed);
	pthread_mutex_unlock(&timers_lock);
}

void sched_del_timer(struct sched *s, struct timer *t)
{
	pthread_mutex_lock(&timers_lock);
	if (plain_load(&queued) == t) {
		plain_store(&queued, NULL);
		a_store(&s->timers.earliest, TIMERS_NONE, relaxed);
	}
	pthread_mutex_unlock(&timers_lock);
}

/* Of memory that held another: what its maker has not set is junk. */
static struct failure *failure_new(void)
{
	struct failure *f = mc_alloc(sizeof(*f));

	a_store(&f->nr_refs, UINT32_MAX, relaxed);
	a_store(&f->is_observed, UINT32_MAX, relaxed);
	a_store(&f->nr_more, UINT32_MAX, relaxed);
	plain_store(&f->error.err, 0);
	f->error.size = sizeof(f->error);
	f->error.why[0] = '\0';
	return f;
}

struct failure *failure_get(struct failure *f)
{
	if (f)
		a_add(&f->nr_refs, 1, relaxed);
	return f;
}

void failure_put(struct failure *f, const struct log *log)
{
	(void)log;
	if (!f || a_sub(&f->nr_refs, 1, acq_rel) != 1)
		return;
	a_sub(&nr_failures, 1, relaxed);
	mc_free(f);
}

/* Who observes it reads the text. */
void failure_observe(struct failure *f)
{
	if (!f)
		return;
	mc_assert(plain_load(&f->error.err) < 0);
	a_store(&f->is_observed, 1, relaxed);
}

int failure_copy(const struct lkdf_error *e, struct lkdf_error *out)
{
	*out = *e;
	return 0;
}

/* What they call besides: nothing to do here, or not reached. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

void sched_look(struct sched *s)
{
}

/* Nobody puts twice here: the memory goes at once. */
void handle_bury(struct lkdf *r, void *memory)
{
	mc_free(memory);
}

#define NOT_REACHED(type, name, ...)                  \
	type name(__VA_ARGS__)                        \
	{                                             \
		mc_fail("scope.c has called " #name); \
	}

NOT_REACHED(void, wait_tell, struct lkdf *r, const char *call, uint64_t begin)
NOT_REACHED(void, wait_tell_room, struct lkdf *r, const char *place,
	    uint64_t fits, uint64_t begin)
NOT_REACHED(bool, completion_sleep, struct lkdf *r, int64_t timeout_ns)
NOT_REACHED(void, sched_drain, struct sched *s)
NOT_REACHED(bool, sched_wait, struct sched *s, int64_t *timeout_ns)
NOT_REACHED(bool, sched_pass_time, struct sched *s, int64_t timeout_ns)
#pragma GCC diagnostic pop

static void begin_runtime_anew(void)
{
	memset(looks, 0, sizeof(looks));
	pthread_mutex_init(&timers_lock, NULL);
	pthread_mutex_init(&rt.scope_lock, NULL);
	plain_store(&queued, NULL);
	rt.sched.ops.tick = fire_timer;
	rt.sched.data[SLOT_CLIENT] = &clients;
	a_store(&clients.clients, 0, relaxed);
	a_store(&rt.sched.timers.earliest, TIMERS_NONE, relaxed);
	a_store(&rt.nr_handles, 0, relaxed);
	a_store(&nr_failures, 0, relaxed);
	scope_init(&root, &rt, NULL, "root");
	rt.root = &root;
	mc_name(&rt.scope_lock, "scope_lock");
	mc_name(&root.came, "came");
	mc_name(&root.departed, "departed");
}

#endif
