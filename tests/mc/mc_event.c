/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events, taps and one of several: event.c, event_tap.c and event_any.c as they
 * are shipped. Who waits is told, and sees what was done before; a tap is
 * called once or taken off, never both or neither; one event of several fires
 * with the error of one that has, and everything is given back, whoever comes
 * first: who fires, who adds or who lets go.
 */
#include "scope/event_any.h"

#include "event_below.h"

static _Atomic(uint32_t) is_off;
static struct event_tap tap;
static struct lkdf_event a, b, any;
static struct event_waiter waiter;
static int done, asked; /* plain: the protocol must order them */

/* ---- an event alone ----------------------------------------------------- */

static void begin(void)
{
	begin_events_anew();
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

/* ---- all of several ----------------------------------------------------- */

static void begin_all(void)
{
	struct lkdf_event v[2];

	begin_events();
	v[0] = a;
	v[1] = b;
	mc_assert(!event_all(&rt, v, 2, &any));
}

/* Whoever waits sees what was done before each of them. */
static void both_fire_one_waits(int id)
{
	if (id == 0) {
		plain_store(&done, 1);
		fire(a, 0);
		return;
	}
	if (id == 1) {
		plain_store(&asked, 1);
		fire(b, 0);
		return;
	}
	mc_assert(!event_wait(any, -1));
	mc_assert(plain_load(&done) == 1 && plain_load(&asked) == 1);
}

static void all_have_gone(void)
{
	mc_assert(a_load(&nr_given, relaxed) == 3);
	mc_assert(!a_load(&nr_blocks, relaxed));
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
	{ .name = "all fire while a thread waits",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_all,
	  .thread = both_fire_one_waits,
	  .final = all_have_gone },
};

MC_MAIN(table)
