/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waiters that go on when an event fires and may lose interest before: a tap
 * can be taken off again, which the waiters of event.h cannot. An event has a
 * list of them under the lock of a shard, which it shares with others.
 *
 *	signaller                       who adds
 *	(A) the event fires             (C) the tap is in the list
 *	(B) looks at the list           (D) looks whether it has fired
 *
 * All seq_cst: either B sees C and takes the lock, or D sees A and the tap is
 * called by its own thread. Taking it off is under the lock, too: either it is
 * off or it is called, never both.
 *
 * A cancel takes off the taps of tasks that wait in its scope:
 *
 *	canceller                       who adds
 *	(E) the scope is cancelled      (G) takes the lock, adds the tap
 *	(F) takes the lock, looks       (H) looks whether it is cancelled
 *	    at the taps
 *
 * The thread that has the lock last sees the other, and calls the tap.
 *
 * A hook is what a runtime undoes when it closes before the event fired.
 */
#ifndef SCOPE_EVENT_TAP_H
#define SCOPE_EVENT_TAP_H

#include "base/list.h"
#include "base/lock.h"
#include "scope/event.h"

#ifndef EVENT_SHARDS
#define EVENT_SHARDS 16
#endif

struct lkdf_scope;

struct event_tap {
	/* Under the shard's lock. */
	struct event_tap *next, *prev;
	bool is_in;
	bool stays; /* constant while it is in: it is a struct event_stay */
	struct list peers; /* of the shard's waiting */

	/* Set before it is added, constant afterwards. */
	struct lkdf_event event; /* one reference, the owner's */
	/* On the signalling thread, once; the tap is its own then. */
	void (*fn)(struct event_tap *t, int error);
	const struct lkdf_scope *scope; /* see above; NULL: none */
};

/*
 * A tap that stays at an event with LKDF_EVENT_PULSE: its fn is called once for
 * each signal, one call at a time, and for the last time with the error that
 * ends the event. The thread that finds none due calls for all who come
 * meanwhile.
 */
struct event_stay {
	struct event_tap tap;

	/* Under the shard's lock. */
	uint32_t nr_due; /* calls to come, the one under way too */
	int error; /* of the last of them, once the event has ended */
	struct event_stay *next; /* of whoever calls */
};

struct event_hook {
	struct list list; /* under the shard's lock */
	/* is_child: in a forked child, nobody else is there. */
	void (*close)(struct event_hook *h, bool is_child);
};

struct event_shard {
	_Alignas(CACHE_LINE) struct lock lock;
	struct list hooks;
	struct list waiting; /* taps with a scope, and those that are told */
};

/* t->fn is called when t->event fires, at once if it has. */
void event_tap_add(struct event_tap *t);

/* Adds a tap that stays, at a pulse event. */
void event_stay_add(struct event_stay *s);

/*
 * As event_tap_add() for who waits in a scope: if that is cancelled before,
 * t->fn is called with the cancel's error.
 */
void event_tap_add_in(struct event_tap *t, const struct lkdf_scope *s);

/* As event_tap_add() for a task that no cancel reaches: lkdf_why() tells it. */
void event_tap_add_told(struct event_tap *t);

/* A scope was cancelled: calls the taps of those who wait in it. */
void event_tap_cancel(struct lkdf *rt);

/* True: it is off and is not called. It may never have been added. */
bool event_tap_del(struct event_tap *t);

/* It has fired: calls all of them. The caller holds a reference. */
void event_tap_fire(struct event *ev, int error);

/* Calls the taps of a pulse event, with each signal; error: it has ended. */
void event_tap_pulse(struct event *ev, int error);

void event_hook_add(struct lkdf *rt, struct event_hook *h);
void event_hook_del(struct lkdf *rt, struct event_hook *h);

void event_shards_init(struct event_shard *s);

/* Closes what is hooked. is_child: in a forked child. */
void event_shards_close(struct event_shard *s, bool is_child);

#endif
