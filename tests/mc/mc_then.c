/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who waits for an event in a scope, as lkdf_then() and lkdf_hold() do: a tap
 * with a scope of event_tap.c, as it is shipped. The tap is called once, by
 * whoever comes first: the event that fires, the cancel of the scope, or who
 * adds it after one of both; with the error of that one, after what was done
 * before it; and the event is given back.
 */
#include "scope/event_tap.h"

#include "event_below.h"

static struct lkdf_scope scope;
static struct event_tap tap, other;
static struct lkdf_event a, b;
static int fired, cancelled, added; /* plain: the protocol orders them */

static void called(struct event_tap *t, int error)
{
	struct lkdf_event e = t->event;

	mc_assert(error == -EIO || error == -EINTR);
	mc_assert(plain_load(error == -EIO ? &fired : &cancelled) == 1);
	mc_assert(plain_load(&added) == 1);
	mc_see(error == -EIO ? "fired" : "cancelled");
	a_add(&nr_calls, 1, relaxed);
	/* It may be anything else from here on. */
	memset(t, 0x5a, sizeof(*t));
	event_put(e);
}

static void make(struct event_tap *t, struct lkdf_event *e)
{
	event_create(&rt, NULL, 1, 2, e);
	*t = (struct event_tap){ .event = *e, .fn = called };
}

static void begin(void)
{
	begin_events_anew();
	a_store(&scope.cancel_err, 0, relaxed);
	fired = cancelled = added = 0;
	make(&tap, &a);
}

static void add(struct event_tap *t)
{
	plain_store(&added, 1);
	event_tap_add_in(t, &scope);
}

static void begin_added(void)
{
	begin();
	add(&tap);
}

static void begin_two(void)
{
	begin_added();
	make(&other, &b);
	event_tap_add_in(&other, &scope);
}

static void fire(void)
{
	plain_store(&fired, 1);
	event_finish(a, -EIO, NULL);
}

/* As scope_cancel() and after_cancel(). */
static void cancel(void)
{
	plain_store(&cancelled, 1);
	a_store(&scope.cancel_err, -EINTR, seq_cst);
	event_tap_cancel(&rt);
}

static void cancel_beside_fire(int id)
{
	if (id == 0)
		fire();
	else
		cancel();
}

static void add_beside_cancel(int id)
{
	if (id == 0)
		add(&tap);
	else
		cancel();
}

static void add_beside_both(int id)
{
	if (id == 0)
		add(&tap);
	else
		cancel_beside_fire(id - 1);
}

static void two_cancels(int id)
{
	if (id == 0)
		fire();
	else
		event_tap_cancel(&rt);
}

/* The scope is cancelled before both look. */
static void begin_cancelled(void)
{
	begin_added();
	plain_store(&cancelled, 1);
	a_store(&scope.cancel_err, -EINTR, seq_cst);
}

static void once(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 1);
	mc_assert(list_is_empty(&rt.event_shards[0].waiting));
	if (!plain_load(&fired))
		event_finish(a, 0, NULL);
	mc_assert(a_load(&nr_given, relaxed) == 1);
}

/* The other one was let go by the cancel. */
static void both_once(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 2);
	event_finish(b, 0, NULL);
	mc_assert(a_load(&nr_given, relaxed) == 2);
}

static const struct mc_scenario table[] = {
	{ .name = "an event fires while the scope is cancelled",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_added,
	  .thread = cancel_beside_fire,
	  .final = once,
	  .must_see = { "fired", "cancelled" } },
	{ .name = "a tap is added while the scope is cancelled",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin,
	  .thread = add_beside_cancel,
	  .final = once,
	  .must_see = { "cancelled" } },
	{ .name = "a tap is added while both come",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin,
	  .thread = add_beside_both,
	  .final = once,
	  .must_see = { "fired", "cancelled" } },
	{ .name = "a cancel is told twice while the event fires",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 2,
	  .timeouts = -1,
	  .init = begin_cancelled,
	  .thread = two_cancels,
	  .final = once,
	  .must_see = { "fired", "cancelled" } },
	{ .name = "two wait, one event fires, the scope is cancelled",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_two,
	  .thread = cancel_beside_fire,
	  .final = both_once,
	  .must_see = { "fired", "cancelled" } },
};

MC_MAIN(table)
