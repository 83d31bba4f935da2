/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events, taps and one of several: event.c, event_tap.c and event_any.c as they
 * are shipped. Who waits is told, and sees what was done before; a tap is
 * called once or taken off, never both or neither; one event of several fires
 * with the error of one that has, and everything is given back, whoever comes
 * first: who fires, who adds or who lets go.
 */
#include "scope/event_any.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "core/failure.h"
#include "io/event_poll.h"
#include "mc.h"
#include "mem/heap.h"
#include "scope/deadline.h"

#include <errno.h>

#define NR_EVENTS 4

static struct lkdf rt;
static struct heap heap;
static struct event slots[NR_EVENTS];
static _Atomic(uint32_t) nr_taken, nr_given, nr_blocks;
static _Atomic(uint32_t) nr_calls, is_off;
static struct event_tap tap;
static struct lkdf_event a, b, any;
static struct event_waiter waiter;
/* plain: the protocol must order them */
static int done, asked, used[NR_EVENTS];

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

/* One look and the time to spin is over. */
int clock_gettime(clockid_t id, struct timespec *ts)
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

__thread struct thread *thread_record;

struct thread *thread_record_create(void)
{
	static struct thread self;

	return &self;
}

int err(int rc, const char *fmt, ...)
{
	return rc;
}

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

void event_poll_leave(struct event_any *x)
{
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
NOT_REACHED(void, magazine_spill, struct magazine *m)
NOT_REACHED(uint64_t, pool_nr_objects, struct pool *p)
NOT_REACHED(int, failure_copy, const struct lkdf_error *e,
	    struct lkdf_error *out)
NOT_REACHED(void, event_poll_for, struct lkdf *r, int64_t timeout_ns)
NOT_REACHED(void, scope_put, struct lkdf_scope *s)
#pragma GCC diagnostic pop

/* ---- an event alone ----------------------------------------------------- */

static void begin(void)
{
	int i;

	rt.heap = &heap;
	heap.id = 1;
	event_shards_init(rt.event_shards);
	for (i = 0; i < EVENT_SHARDS; i++)
		a_store(&rt.event_shards[i].lock.word, 0, relaxed);
	for (i = 0; i < NR_EVENTS; i++) {
		a_store(&slots[i].word, 0, relaxed);
		a_store(&slots[i].nr_sleepers, 0, relaxed);
		mc_name(&slots[i].word, "word");
		mc_name(&slots[i].taps, "taps");
	}
	a_store(&nr_taken, 0, relaxed);
	a_store(&nr_given, 0, relaxed);
	a_store(&nr_blocks, 0, relaxed);
	a_store(&nr_calls, 0, relaxed);
	a_store(&is_off, 0, relaxed);
	done = asked = 0;
}

static void begin_one(void)
{
	begin();
	event_create(&rt, NULL, 1, 2, &a);
}

static void fire_done(struct lkdf_event e)
{
	plain_store(&done, 1);
	event_finish(e, -EIO, NULL);
}

static void wait_beside(int id)
{
	if (id == 0) {
		fire_done(a);
		return;
	}
	mc_assert(event_wait(a, -1) == -EIO);
	mc_assert(plain_load(&done) == 1);
}

static void given_back(void)
{
	mc_assert(a_load(&nr_given, relaxed) == 1);
}

static void told(struct event_waiter *w, int error)
{
	(void)w;
	mc_assert(error == -EIO && plain_load(&done) == 1);
	mc_assert(plain_load(&asked) == 1);
	a_add(&nr_calls, 1, relaxed);
}

static void give_beside(int id)
{
	if (id == 0) {
		fire_done(a);
		return;
	}
	plain_store(&asked, 1);
	waiter.fn = told;
	event_call_give(a, &waiter);
}

static void told_once(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 1);
	given_back();
}

/* Both have used it: whoever gives it back comes after that. */
static void put_beside(int id)
{
	if (id == 0)
		(void)plain_load(&used[0]);
	event_put(a);
}

/* ---- a tap -------------------------------------------------------------- */

static void called(struct event_tap *t, int error)
{
	mc_assert(error == -EIO);
	a_add(&nr_calls, 1, relaxed);
	event_put(t->event);
}

/* One that fires once; the user's reference is the tap's. */
static void begin_tap(void)
{
	begin();
	event_create(&rt, NULL, 1, 2, &a);
	tap = (struct event_tap){ .event = a, .fn = called };
}

static void begin_added(void)
{
	begin_tap();
	event_tap_add(&tap);
}

static void add_beside(int id)
{
	if (id == 0)
		event_finish(a, -EIO, NULL);
	else
		event_tap_add(&tap);
}

static void del_beside(int id)
{
	if (id == 0) {
		event_finish(a, -EIO, NULL);
		return;
	}
	if (!event_tap_del(&tap)) {
		mc_see("called");
		return;
	}
	mc_see("taken off");
	a_store(&is_off, 1, relaxed);
	event_put(a);
}

static void once(void)
{
	mc_assert(a_load(&nr_calls, relaxed) + a_load(&is_off, relaxed) == 1);
	mc_assert(a_load(&nr_given, relaxed) == 1);
}

/* ---- one of several ----------------------------------------------------- */

static void begin_events(void)
{
	begin();
	event_create(&rt, NULL, 1, 2, &a);
	event_create(&rt, NULL, 1, 2, &b);
	any = (struct lkdf_event){ 0 };
}

static void make_any(void)
{
	struct lkdf_event v[] = { a, b };

	mc_assert(!event_any(&rt, v, 2, &any));
}

static void begin_any(void)
{
	begin_events();
	make_any();
}

static void fire(struct lkdf_event e, int error)
{
	event_finish(e, error, NULL);
	event_put(e);
}

/* Who makes it holds both. */
static void made_while_one_fires(int id)
{
	if (id == 0)
		event_finish(b, -EIO, NULL);
	else
		make_any();
}

static void left_while_one_fires(int id)
{
	if (id == 0)
		fire(a, -EIO);
	else
		event_put(any);
}

static void both_fire(int id)
{
	if (id == 0)
		fire(a, -EIO);
	else
		fire(b, -ENOENT);
}

/* Only a look: it may have fired or not. */
static void ask_beside(int id)
{
	unsigned which;

	if (id == 0) {
		fire_done(a);
		return;
	}
	if (event_any_which(event_of(any)->any, &which)) {
		mc_see("not yet");
		return;
	}
	mc_see("which");
	mc_assert(which == 0 && plain_load(&done) == 1);
}

static void end_asked(void)
{
	event_put(any);
	event_put(a);
	fire(b, 0);
	mc_assert(a_load(&nr_given, relaxed) == 3);
	mc_assert(!a_load(&nr_blocks, relaxed));
}

/* The other one goes on and ends then. */
static void fired_with_b(void)
{
	unsigned which = 99;
	int error;

	mc_assert(event_look(event_of(any), &error) && error == -EIO);
	mc_assert(!event_any_which(event_of(any)->any, &which) && which == 1);
	event_put(any);
	event_put(b);
	fire(a, 0);
	mc_assert(a_load(&nr_given, relaxed) == 3);
	mc_assert(!a_load(&nr_blocks, relaxed));
}

static void fired_with_one(void)
{
	unsigned which = 99;
	int error;

	mc_assert(event_look(event_of(any), &error));
	mc_assert(!event_any_which(event_of(any)->any, &which));
	mc_assert(error == (which ? -ENOENT : -EIO));
	mc_see(which ? "the second" : "the first");
	event_put(any);
	mc_assert(a_load(&nr_given, relaxed) == 3);
	mc_assert(!a_load(&nr_blocks, relaxed));
}

static void all_given_back(void)
{
	mc_assert(a_load(&nr_given, relaxed) == 2);
	mc_assert(!a_load(&nr_blocks, relaxed));
	fire(b, 0);
	mc_assert(a_load(&nr_given, relaxed) == 3);
}

static const struct mc_scenario table[] = {
	{ .name = "a thread waits while the event fires",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = wait_beside,
	  .final = given_back },
	{ .name = "a waiter comes while the event fires",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = give_beside,
	  .final = told_once },
	{ .name = "the last reference of two",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = put_beside,
	  .final = given_back },
	{ .name = "a tap is added while the event fires",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_tap,
	  .thread = add_beside,
	  .final = once },
	{ .name = "a tap is taken off while the event fires",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_added,
	  .thread = del_beside,
	  .final = once,
	  .must_see = { "called", "taken off" } },
	{ .name = "one of two is made while the other fires",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin_events,
	  .thread = made_while_one_fires,
	  .final = fired_with_b },
	{ .name = "one of two is let go while one fires",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin_any,
	  .thread = left_while_one_fires,
	  .final = all_given_back },
	{ .name = "which of two is asked while one fires",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin_any,
	  .thread = ask_beside,
	  .final = end_asked,
	  .must_see = { "not yet", "which" } },
	{ .name = "both of two fire",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin_any,
	  .thread = both_fire,
	  .final = fired_with_one,
	  .must_see = { "the first", "the second" } },
};

MC_MAIN(table)
