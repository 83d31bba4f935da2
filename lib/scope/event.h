/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Event slots. They are type-stable until the runtime closes, so a stale
 * struct lkdf_event is recognised by its generation, never followed.
 *
 * A single word decides everything, by compare-and-swap:
 *
 *	generation : 32 | -errno : 12 | signals still to come : 20
 *
 * so a late or second signal can neither fire nor spoil a slot's next life.
 * Fired means: no signals to come. The slot goes back to the pool with its
 * last reference, under a new generation.
 *
 * Waiters are a stack that is closed when the event fires; whoever comes later
 * is told at once. A thread sleeps on the low half of the word. Waiters that
 * may lose interest before are in event_tap.h.
 */
#ifndef SCOPE_EVENT_H
#define SCOPE_EVENT_H

#include "base/atomic.h"
#include "base/util.h"

#include <lkdf/event.h>

struct event_any;
struct event_tap;
struct executor;
struct failure;
struct lkdf;

#define EVENT_COUNT_BITS 20
#define EVENT_MAX_COUNT ((1u << EVENT_COUNT_BITS) - 1)
#define EVENT_MAX_ERR 4095

/* The stack of waiters of an event that has fired. */
#define EVENT_CLOSED ((struct event_waiter *)1)

/* Embedded in whatever goes on when the event fires. */
struct event_waiter {
	struct event_waiter *next;
	/* On the signalling thread, once; error is the event's. */
	void (*fn)(struct event_waiter *w, int error);
};

struct event {
	/* Pool: first and last 8 bytes of a free object. Else see event_tap.h;
	 * any thread, written under the shard's lock. */
	union {
		void *free_next;
		_Atomic(struct event_tap *) taps;
	};

	/* Set when the slot is made, constant afterwards. */
	struct lkdf *rt;

	/* Any thread. */
	_Atomic(uint64_t) word;
	_Atomic(uint32_t) nr_refs;
	_Atomic(uint32_t) nr_sleepers;
	_Atomic(struct event_waiter *) waiters;

	union {
		/* Written before it fires, read after; see event_failure(). */
		struct failure *failure;
		_Atomic(uint64_t) nr_pulses; /* any thread: with is_pulse */
	};

	/* Set at create, constant until the last reference; stale handles look
	 * at it too. */
	_Atomic(bool) is_users; /* lkdf_event_signal() may fire it */
	_Atomic(bool) is_pulse; /* again and again, see event_pulse.h */
	_Atomic(uint32_t) label; /* any thread, see mem/label.h; 0: none */

	/* Set before anybody knows of it; pool, as above. */
	union {
		void *batch_next;
		struct event_any *any; /* see event_any.h; NULL: it is none */
	};
};

_Static_assert(sizeof(struct event) <= 64, "one cache line an event");

/*
 * count signals to come, nr_refs references. ex: the executor of this thread,
 * NULL outside. -EAGAIN: all slots are in use.
 */
int event_create(struct lkdf *rt, struct executor *ex, uint32_t count,
		 uint32_t nr_refs, struct lkdf_event *out);

/* -ESTALE: fired already, or another life. Drops no reference. */
int event_signal(struct lkdf_event e, int error);

/*
 * It fires, with the last signal; the caller holds a reference. 1: by us, 0:
 * not yet, -ESTALE: it has already, or it is another life.
 */
int event_fire(struct lkdf_event e, int error);

/* Its name from now on; 0 or -ENOMEM. */
int event_label(struct lkdf_event e, const char *label);

/* "" where it has none; the text has room for LABEL_MAX + 1 bytes. */
void event_text(const struct event *ev, char *text);

/* Signals for a task or run that failed with f (borrowed), then drops one. */
void event_finish(struct lkdf_event e, int error, struct failure *f);

/* 0: it has fired; 1: the time is up. Drops no reference. */
int event_look_for(struct lkdf_event e, int64_t timeout_ns);

int event_wait(struct lkdf_event e, int64_t timeout_ns);

/* event_wait(), which a recording has as a wait in that call of the program. */
int event_wait_as(struct lkdf_event e, int64_t timeout_ns, const char *call);
int event_error(struct lkdf_event e, struct lkdf_error *out);
void event_put(struct lkdf_event e);

/*
 * w->fn is called when it fires, at once if it has. Takes over the caller's
 * reference, which is dropped after the call. -ESTALE: no such event.
 */
int event_call_give(struct lkdf_event e, struct event_waiter *w);

/* Takes a reference to an event that has one; false: no such event. */
bool event_get(struct lkdf_event e);

/* Same life and still referenced? */
bool event_is_valid(struct lkdf_event e);
bool event_has_fired(struct lkdf_event e);

/* Tells the error, too; seq_cst, for a caller that has announced something. */
bool event_look(struct event *ev, int *error);

static inline struct event *event_of(struct lkdf_event e)
{
	return e.slot;
}

/* For one that has fired: the story of its error; NULL: none. */
static inline struct failure *event_failure(const struct event *ev)
{
	return a_load(&ev->is_pulse, relaxed) ? NULL : ev->failure;
}

/*
 * Option check: the caller has come before it fires, or after; it fires because
 * of another one.
 */
void event_told(struct lkdf_event e);
void event_heard(struct lkdf_event e);
void event_passes(struct lkdf_event from, struct lkdf_event to);

#endif
