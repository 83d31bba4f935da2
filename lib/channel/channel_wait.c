/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "channel/channel_wait.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/waits.h"
#include "scope/event_tap.h"
#include "scope/scope.h"

#include <errno.h>
#include <stdio.h>

/* On the stack of who waits. */
struct wait {
	struct channel_waiter waiter;
	struct lkdf_channel *ch;
	enum channel_side side;
	int64_t end_ns; /* -1: never */

	/*
	 * With a scope: its cancel calls the tap. The event of the tap is
	 * fired when the call is over, and by nobody else.
	 */
	const struct lkdf_scope *scope;
	struct event_tap tap;
};

/* On the canceller's thread: the waiter goes on, if nobody wakes it. */
static void wait_cancelled(struct event_tap *tap, int error)
{
	struct wait *x = container_of(tap, struct wait, tap);
	struct lkdf_event over = tap->event;

	(void)error;
	if (channel_del(x->ch, &x->waiter))
		event_finish(x->waiter.event, 0, NULL);
	/* Then x is gone. */
	event_finish(over, 0, NULL);
}

static int watch_scope(struct wait *x)
{
	struct lkdf *rt;
	int rc;

	if (!x->scope)
		return 0;
	rt = x->scope->rt;
	rc = event_create(rt, runtime_executor(rt), 1, 2, &x->tap.event);
	if (rc)
		return -ENOMEM;
	x->tap.fn = wait_cancelled;
	event_tap_add_in(&x->tap, x->scope);
	return 0;
}

static void unwatch_scope(struct wait *x)
{
	if (!x->scope)
		return;
	if (event_tap_del(&x->tap))
		event_put(x->tap.event);
	else
		event_look_for(x->tap.event, -1);
	event_put(x->tap.event);
}

/* Its waiter is in the list. 0: it is out; 1: the time was up before. */
static int sleep_for(struct wait *x)
{
	int64_t left;

	if (timers_are_over(&x->ch->rt->sched.timers, x->end_ns, &left))
		left = 0;
	if (!event_look_for(x->waiter.event, left))
		return 0;
	if (channel_del(x->ch, &x->waiter)) {
		event_put(x->waiter.event);
		return 1;
	}
	/* Somebody has taken it out, and fires the event now. */
	return event_look_for(x->waiter.event, -1);
}

static int refuse_wait(struct wait *x)
{
	/* It may have been woken, and does not try. */
	channel_tried(x->ch, &x->waiter);
	return err(-ECANCELED, "channel %s: the body's scope is cancelled",
		   x->ch->name);
}

/* 0: try again; 1: the time is up; -ECANCELED; -ENOMEM. */
static int wait_once(struct wait *x)
{
	struct lkdf *rt = x->ch->rt;
	struct executor *ex = runtime_executor(rt);
	int rc;

	x->waiter.is_woken = false;
	x->waiter.who = ex ? CHANNEL_BODY : CHANNEL_THREAD;
	if (event_create(rt, ex, 1, 2, &x->waiter.event))
		return -ENOMEM;
	if (!channel_add(x->ch, x->side, &x->waiter)) {
		event_put(x->waiter.event);
		event_put(x->waiter.event);
		return 0;
	}
	rc = watch_scope(x);
	if (rc) {
		if (channel_del(x->ch, &x->waiter))
			event_put(x->waiter.event);
		else
			channel_tried(x->ch, &x->waiter);
		event_put(x->waiter.event);
		return rc;
	}
	rc = sleep_for(x);
	unwatch_scope(x);
	event_put(x->waiter.event);
	return x->scope && scope_cancelled(x->scope) ? refuse_wait(x) : rc;
}

void channel_wait_text(const struct lkdf_channel *ch, enum channel_side side,
		       char text[TRACE_NAME_SIZE])
{
	if (side == CHANNEL_VALUES)
		snprintf(text, TRACE_NAME_SIZE, "values of channel \"%.31s\"",
			 ch->name);
	else
		snprintf(text, TRACE_NAME_SIZE,
			 "room in channel \"%.24s\" of %u value%s", ch->name,
			 ch->depth, ch->depth == 1 ? "" : "s");
}

/* A thread of the program has waited. */
static __attribute__((noinline)) void tell_wait(const struct wait *x,
						uint64_t begin)
{
	const struct lkdf_channel *ch = x->ch;
	char text[TRACE_NAME_SIZE];

	channel_wait_text(ch, x->side, text);
	if (x->side == CHANNEL_VALUES)
		wait_tell(ch->rt, text, begin);
	else
		wait_tell_room(ch->rt, text, ch->depth, begin);
}

static int try_once(struct wait *x, const void *in, void *out)
{
	return in ? channel_send(x->ch, in) : channel_recv(x->ch, out);
}

/* Either in or out is given, or both are NULL. */
static int move_for(struct wait *x, const void *in, void *out)
{
	uint64_t begin;
	int64_t left;
	int rc;

	rc = try_once(x, in, out);
	if (rc != -EAGAIN)
		return rc;
	if (timers_are_over(&x->ch->rt->sched.timers, x->end_ns, &left))
		return 1;
	channel_get(x->ch);
	begin = wait_begins(x->ch->rt);
	while (rc == -EAGAIN) {
		rc = wait_once(x);
		if (!rc)
			rc = try_once(x, in, out);
		channel_tried(x->ch, &x->waiter);
	}
	if (unlikely(begin))
		tell_wait(x, begin);
	channel_put(x->ch);
	return rc;
}

int channel_send_for(struct lkdf_channel *ch, const void *value,
		     int64_t timeout_ns, const struct lkdf_scope *s)
{
	struct wait x = {
		.ch = ch,
		.side = CHANNEL_ROOM,
		.end_ns = timers_end_of(&ch->rt->sched.timers, timeout_ns),
		.scope = s,
	};

	return move_for(&x, value, NULL);
}

int channel_recv_for(struct lkdf_channel *ch, void *value, int64_t timeout_ns,
		     const struct lkdf_scope *s)
{
	struct wait x = {
		.ch = ch,
		.side = CHANNEL_VALUES,
		.end_ns = timers_end_of(&ch->rt->sched.timers, timeout_ns),
		.scope = s,
	};

	return move_for(&x, NULL, value);
}
