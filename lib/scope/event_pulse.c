/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event_pulse.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "core/waits.h"
#include "scope/deadline.h"
#include "scope/event_tap.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The half that changes with each signal. */
static _Atomic(uint32_t) *futex_of(struct event *ev)
{
	_Atomic(uint32_t) *half = (_Atomic(uint32_t) *)(void *)&ev->nr_pulses;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	half++;
#endif
	return half;
}

int event_pulse_create(struct lkdf *rt, struct executor *ex,
		       struct lkdf_event *out)
{
	int rc = event_create(rt, ex, 1, 1, out);

	if (rc)
		return rc;
	a_store(&event_of(*out)->nr_pulses, 0, relaxed);
	a_store(&event_of(*out)->is_pulse, true, relaxed);
	a_store(&event_of(*out)->is_users, true, relaxed);
	return 0;
}

/*
 * A reference of who may be late: never of a free slot, and that of another
 * life is given back.
 */
static bool hold_pulse(struct lkdf_event e)
{
	struct event *ev = event_of(e);
	uint32_t nr = a_load(&ev->nr_refs, relaxed);

	do {
		if (!nr)
			return false;
	} while (!a_cas(&ev->nr_refs, &nr, nr + 1, relaxed, relaxed));
	if (event_is_valid(e))
		return true;
	event_put(e);
	return false;
}

/* Those that wait; they stay closed where the event has fired. */
static struct event_waiter *take_waiters(struct event *ev)
{
	struct event_waiter *w = a_load(&ev->waiters, relaxed);

	do {
		if (w == EVENT_CLOSED)
			return NULL;
		/* [event.close] pairs with [event.add]. */
	} while (!a_cas(&ev->waiters, &w, NULL, acquire, relaxed));
	return w;
}

static void count_and_wake(struct event *ev)
{
	/* [pulse.a] what was done before; pairs with [pulse.d]. */
	a_add(&ev->nr_pulses, 1, seq_cst);
	/* [pulse.b] after nr_pulses; pairs with [pulse.c]. */
	if (a_load(&ev->nr_sleepers, seq_cst))
		futex_wake(futex_of(ev), INT_MAX);
}

static void tell_pulse(struct lkdf_event e)
{
	struct event *ev = event_of(e);
	struct event_waiter *w, *next;

	wait_is_over(ev->rt);
	count_and_wake(ev);
	for (w = take_waiters(ev); w; w = next) {
		next = w->next;
		w->fn(w, 0);
		event_put(e);
	}
	/* [tap.b] after nr_pulses; pairs with [tap.c]. */
	if (a_load(&ev->taps, seq_cst))
		event_tap_pulse(ev, 0);
}

int event_pulse(struct lkdf_event e, int error)
{
	int rc = 0;

	if (!hold_pulse(e))
		return err(-ESTALE, "event: its last reference is gone");
	if (error)
		rc = event_fire(e, error);
	else if (event_has_fired(e))
		rc = err(-ESTALE, "event: an error has ended it");
	else
		tell_pulse(e);
	if (rc > 0)
		count_and_wake(event_of(e));
	event_put(e);
	return rc < 0 ? rc : 0;
}

uint64_t event_pulses(struct lkdf_event e)
{
	/* [pulse.d] after we have come; pairs with [pulse.a]. */
	return a_load(&event_of(e)->nr_pulses, seq_cst);
}

static int wait_for(struct lkdf_event e, uint64_t seen, int64_t timeout_ns)
{
	struct event *ev = event_of(e);
	const struct timers *ts = &ev->rt->sched.timers;
	int64_t end = timers_end_of(ts, timeout_ns), left;
	int rc = 0;
	uint64_t nr;

	/* [pulse.c] before we look; pairs with [pulse.b]. */
	a_add(&ev->nr_sleepers, 1, seq_cst);
	for (;;) {
		nr = event_pulses(e);
		if (event_look(ev, &rc) || nr > seen)
			break;
		if (timers_are_over(ts, end, &left)) {
			rc = 1;
			break;
		}
		deadline_sleep(ev->rt, futex_of(ev), (uint32_t)nr, left);
	}
	a_sub(&ev->nr_sleepers, 1, relaxed);
	return rc;
}

int event_pulse_wait(struct lkdf_event e, uint64_t seen, int64_t timeout_ns)
{
	struct lkdf *rt = event_of(e)->rt;
	uint64_t begin = event_pulses(e) > seen ? 0 : wait_begins(rt);
	int rc;

	if (unlikely(rt->sched.is_serial))
		completion_sleep(rt, 0);
	rc = wait_for(e, seen, timeout_ns);
	wait_ended(rt, "lkdf_event_wait", begin);
	if (unlikely(rt->check != NULL) && !rc)
		event_heard(e);
	return rc < 0 ? err(rc, "%s", strerror(-rc)) : rc;
}
