/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A runtime of a few events for the scenarios of mc_event.c, mc_then.c and
 * mc_channel.c, and what event.c, event_tap.c and event_any.c call besides.
 */
#ifndef MC_EVENT_BELOW_H
#define MC_EVENT_BELOW_H

#include "base/clock.h"
#include "base/futex.h"
#include "check_below.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "core/waits.h"
#include "mc.h"
#include "mem/heap.h"
#include "scope/deadline.h"
#include "scope/event_tap.h"
#include "thread_below.h"

#include <errno.h>

#ifndef NR_SLOTS
#define NR_SLOTS 4
#endif

static struct lkdf rt;
static struct event_shard shards[EVENT_SHARDS];
static struct heap heap;
static struct event slots[NR_SLOTS];
static _Atomic(uint32_t) nr_taken, nr_given, nr_blocks, nr_calls;
static int used[NR_SLOTS]; /* plain: the protocol must order them */

/* Slots that are never used again in an execution. */
void *stock_get(struct lkdf *r, enum executor_pool pool)
{
	(void)r;
	(void)pool;
	return &slots[a_add(&nr_taken, 1, relaxed)];
}

void stock_put(struct lkdf *r, enum executor_pool pool, void *object)
{
	(void)r;
	(void)pool;
	plain_store(&used[(struct event *)object - slots], 1);
	a_add(&nr_given, 1, relaxed);
}

void *heap_new_slow(struct heap *h, struct cache *c, size_t size)
{
	(void)h;
	(void)c;
	a_add(&nr_blocks, 1, relaxed);
	return mc_alloc(size);
}

int heap_free_slow(struct heap *h, struct cache *c, void *p)
{
	(void)h;
	(void)c;
	a_sub(&nr_blocks, 1, relaxed);
	mc_free(p);
	return 0;
}

int mc_clock_gettime(clockid_t id, struct timespec *ts);

/* One look and the time to spin is over. */
int mc_clock_gettime(clockid_t id, struct timespec *ts)
{
	static long now;

	(void)id;
	*ts = (struct timespec){ .tv_sec = ++now };
	return 0;
}

void deadline_sleep(struct lkdf *r, _Atomic(uint32_t) *word, uint32_t expect,
		    int64_t timeout_ns)
{
	(void)r;
	futex_wait(word, expect, timeout_ns);
}

/* What they call besides: nothing to do here, or not reached. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

void failure_observe(struct failure *f)
{
}

struct failure *failure_get(struct failure *f)
{
	return f;
}

void failure_put(struct failure *f, const struct log *log)
{
}

/* Nobody puts twice here: the memory goes at once. */
void handle_bury(struct lkdf *r, void *memory)
{
	mc_free(memory);
}

void label_text(struct labels *l, uint32_t number, char text[LABEL_MAX + 1])
{
	text[0] = 0;
}

struct cache *heap_thread_cache(struct heap *h)
{
	return NULL;
}

unsigned heap_near_memory(const struct heap *h, int node)
{
	return 0;
}

#define NOT_REACHED(type, name, ...)                  \
	type name(__VA_ARGS__)                        \
	{                                             \
		mc_fail("event.c has called " #name); \
	}

NOT_REACHED(bool, magazine_fill, struct magazine *m)
NOT_REACHED(void, magazine_overflow, struct magazine *m)
NOT_REACHED(uint64_t, pool_nr_objects, struct pool *p)
NOT_REACHED(int, failure_copy, const struct lkdf_error *e,
	    struct lkdf_error *out)
NOT_REACHED(void, sched_drain, struct sched *s)
NOT_REACHED(bool, completion_sleep, struct lkdf *r, int64_t timeout_ns)
NOT_REACHED(void, wait_tell, struct lkdf *r, const char *call, uint64_t begin)
NOT_REACHED(void, wait_tell_room, struct lkdf *r, const char *place,
	    uint64_t fits, uint64_t begin)
NOT_REACHED(void, scope_put, struct lkdf_scope *s)
NOT_REACHED(uint32_t, label_take, struct labels *l, const char *text)
NOT_REACHED(void, label_put, struct labels *l, uint32_t number)
#pragma GCC diagnostic pop

static void begin_events_anew(void)
{
	int i;

	rt.heap = &heap;
	heap.id = 1;
	rt.event_shards = shards;
	event_shards_init(shards);
	for (i = 0; i < EVENT_SHARDS; i++)
		a_store(&rt.event_shards[i].lock.word, 0, relaxed);
	for (i = 0; i < NR_SLOTS; i++) {
		a_store(&slots[i].word, 0, relaxed);
		a_store(&slots[i].nr_sleepers, 0, relaxed);
		mc_name(&slots[i].word, "word");
		mc_name(&slots[i].taps, "taps");
	}
	a_store(&nr_taken, 0, relaxed);
	a_store(&nr_given, 0, relaxed);
	a_store(&nr_blocks, 0, relaxed);
	a_store(&nr_calls, 0, relaxed);
}

#endif
