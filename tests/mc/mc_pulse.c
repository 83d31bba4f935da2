/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events with LKDF_EVENT_PULSE: event_pulse.c, event_tap.c and event.c as they
 * are shipped. No signal is lost to a thread that waits by number, who comes
 * beside a signal goes on with it or sees that it has counted, the signal that
 * ends the event reaches everybody, calls that stay are made once for each
 * signal and one at a time, and everything is given back.
 */
#include "scope/event_pulse.h"

#include "event_below.h"

static struct lkdf_event a;
static struct event_tap tap;
static struct event_stay stay;
static struct event_waiter waiter;
static int done[2]; /* plain: the protocol must order them */
static int is_inside; /* the same: calls of one tap */
static _Atomic(uint32_t) nr_last;

static void begin(void)
{
	begin_events_anew();
	done[0] = done[1] = is_inside = 0;
	a_store(&nr_last, 0, relaxed);
	mc_assert(!event_pulse_create(&rt, NULL, &a));
	mc_name(&event_of(a)->nr_pulses, "pulses");
	mc_name(&event_of(a)->nr_sleepers, "sleepers");
	mc_name(&event_of(a)->waiters, "waiters");
}

static void signal_done(int i)
{
	plain_store(&done[i], 1);
	mc_assert(!event_pulse(a, 0));
}

static void given_back(void)
{
	event_put(a);
	mc_assert(a_load(&nr_given, relaxed) == 1);
}

/* ---- threads ------------------------------------------------------------ */

static void wait_beside(int id)
{
	if (id == 0) {
		signal_done(0);
		return;
	}
	mc_assert(event_pulse_wait(a, 0, -1) == 0);
	mc_assert(plain_load(&done[0]) == 1);
}

static void wait_for_both(int id)
{
	if (id < 2) {
		signal_done(id);
		return;
	}
	mc_assert(event_pulse_wait(a, 1, -1) == 0);
	mc_assert(plain_load(&done[0]) == 1 && plain_load(&done[1]) == 1);
	mc_assert(event_pulses(a) == 2);
}

static void wait_for_end(int id)
{
	if (id == 0) {
		plain_store(&done[0], 1);
		mc_assert(!event_signal(a, -EIO));
		return;
	}
	mc_assert(event_pulse_wait(a, 9, -1) == -EIO);
	mc_assert(plain_load(&done[0]) == 1);
}

/* ---- who waits once ----------------------------------------------------- */

static void called(struct event_tap *t, int error)
{
	mc_assert(!error);
	a_add(&nr_calls, 1, relaxed);
	event_put(t->event);
}

static void begin_tap(void)
{
	begin();
	event_get(a);
	tap = (struct event_tap){ .event = a, .fn = called };
}

/* First it leaves, then it looks. */
static void leave_and_look(int id)
{
	if (id == 0) {
		signal_done(0);
		return;
	}
	event_tap_add(&tap);
	if (!event_pulses(a)) {
		mc_see("before the signal");
		return;
	}
	mc_see("the signal has counted");
	mc_assert(plain_load(&done[0]) == 1);
	if (event_tap_del(&tap)) {
		a_add(&nr_calls, 1, relaxed);
		event_put(a);
	}
}

static void called_once(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 1);
	given_back();
}

static void told(struct event_waiter *w, int error)
{
	(void)w;
	mc_assert(error == 0 || error == -EIO);
	mc_assert(plain_load(&done[1]) == 1);
	mc_see(error ? "ended" : "signalled");
	a_add(&nr_calls, 1, relaxed);
}

static void begin_waiter(void)
{
	begin();
	event_get(a);
	waiter.fn = told;
}

/* A waiter comes beside a signal and the end: one of them tells it. */
static void come_beside(int id)
{
	if (id == 0)
		event_pulse(a, 0);
	else if (id == 1)
		mc_assert(!event_signal(a, -EIO));
	if (id < 2)
		return;
	plain_store(&done[1], 1);
	event_call_give(a, &waiter);
}

/* ---- calls that stay ---------------------------------------------------- */

static void each(struct event_tap *t, int error)
{
	mc_assert(!plain_load(&is_inside));
	plain_store(&is_inside, 1);
	a_add(&nr_calls, 1, relaxed);
	plain_store(&is_inside, 0);
	if (!error)
		return;
	mc_assert(error == -EIO);
	a_add(&nr_last, 1, relaxed);
	event_put(t->event);
}

static void begin_stay(void)
{
	begin();
	event_get(a);
	stay.tap = (struct event_tap){ .event = a, .fn = each };
	event_stay_add(&stay);
}

static void two_signal(int id)
{
	(void)id;
	mc_assert(!event_pulse(a, 0));
}

static void called_twice(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 2);
	mc_assert(!event_signal(a, -EIO));
	mc_assert(a_load(&nr_calls, relaxed) == 3);
	given_back();
}

static void one_ends(int id)
{
	if (id == 0) {
		if (event_pulse(a, 0))
			mc_see("too late");
		else
			mc_see("in time");
		return;
	}
	mc_assert(!event_signal(a, -EIO));
}

static void called_last(void)
{
	mc_assert(a_load(&nr_last, relaxed) == 1);
	mc_assert(a_load(&nr_calls, relaxed) <= 2);
	given_back();
}

/* ---- lives -------------------------------------------------------------- */

/* Who is late hits no slot that was given back. */
static void put_beside(int id)
{
	if (id == 0)
		event_put(a);
	else
		mc_see(event_pulse(a, 0) ? "gone" : "there");
}

static void gone(void)
{
	mc_assert(a_load(&nr_given, relaxed) == 1);
}

/* Two threads: without a limit, but where calls take the lock again. */
#define ROW(text, nr, before, f, after)                                \
	.name = text, .nr_threads = nr,                                \
	.bound = nr == 2 && before != begin_stay ? -1 : 2, .stale = 2, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("a thread waits while one signals", 2, begin, wait_beside,
	      given_back) },
	{ ROW("a thread waits for the second of two", 3, begin, wait_for_both,
	      given_back) },
	{ ROW("a thread waits while one ends it", 2, begin, wait_for_end,
	      given_back) },
	{ ROW("a tap is added while one signals, and looks", 2, begin_tap,
	      leave_and_look, called_once),
	  .must_see = { "before the signal", "the signal has counted" } },
	{ ROW("a waiter comes beside a signal and the end", 3, begin_waiter,
	      come_beside, called_once),
	  .must_see = { "signalled", "ended" } },
	{ ROW("a call stays while two signal", 2, begin_stay, two_signal,
	      called_twice) },
	{ ROW("a call stays while one signals and one ends", 2, begin_stay,
	      one_ends, called_last),
	  .must_see = { "too late", "in time" } },
	{ ROW("one signals while the last reference goes", 2, begin, put_beside,
	      gone),
	  .must_see = { "gone", "there" } },
};

MC_MAIN(table)
