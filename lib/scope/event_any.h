/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An event that fires with the first of several, and with its error. The one
 * that wins a compare-and-swap fires it and takes the taps off the others, so
 * that nothing stays at an event that lives long. It ends, too, when nobody
 * holds it any more but what it waits for. The event of lkdf_event_all() fires
 * with the last of several, and keeps the first error until then.
 *
 * References of its event: the user's, and one that goes when it has fired or
 * was left. The struct lives as long as its event and all that may call it.
 */
#ifndef SCOPE_EVENT_ANY_H
#define SCOPE_EVENT_ANY_H

#include "scope/event_tap.h"

struct lkdf_scope;

/* Anys of anys: who fires or leaves one goes down that deep. */
#define EVENT_MAX_DEPTH 64

#define EVENT_NONE UINT32_MAX /* none has fired yet */
#define EVENT_LEFT (UINT32_MAX - 1) /* nobody waits any more */

struct event_any_tap {
	struct event_tap tap;
	struct event_any *any;

	/* Its event ended with an error and counts: set before ours fires. */
	struct failure *failure;
	struct event_any *below; /* of its event, with a reference; NULL */
};

struct event_any {
	struct event_hook hook;

	/* Any thread. */
	_Atomic(uint32_t) nr_refs; /* the event, each tap, who makes it */
	_Atomic(uint32_t) first; /* its number; of all: 0 */
	_Atomic(uint32_t) nr_left; /* of all: that have not fired */
	_Atomic(int32_t) error; /* of all: the first; who sets it, sets */
	struct failure *failure; /* its story, before nr_left falls */

	/* Set before the first tap is added, constant afterwards. */
	struct lkdf *rt;
	struct lkdf_event event;
	uint32_t nr, depth;
	bool is_users; /* of lkdf_event_any() */
	bool is_all; /* of lkdf_event_all() */
	bool may_leave; /* whoever waits need not, see task/then.c */

	/* For a descriptor, see event_poll.h. NULL: none. */
	void (*leave)(struct event_any *any); /* nobody waits for it */
	struct lkdf_scope *scope; /* of the task that polls; NULL: none */
	struct list polled; /* under poll_lock */
	int fd;
	short poll_events;

	struct event_any_tap tap[];
};

/* With room for nr taps, and no event yet. NULL: no memory. */
struct event_any *event_any_create(struct lkdf *rt, uint32_t nr);

/* Frees what was never armed, so that no event knows it. */
void event_any_destroy(struct event_any *any);

/*
 * Its event, and taps on those of any->tap, whose references it takes over.
 * -EAGAIN: no slot for the event, and nothing was done.
 */
int event_any_arm(struct event_any *any, struct lkdf_event *out);

/* As lkdf_event_any(). */
int event_any(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
	      struct lkdf_event *out);

/* As lkdf_event_all(). */
int event_all(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
	      struct lkdf_event *out);

/* Nobody waits for it but who calls, which may be several in turn. */
void event_any_leave(struct event_any *any);

void event_any_put(struct event_any *any);

/*
 * The event has fired, and the caller has a reference to it. Calls fn for the
 * story of each event that it has an error of, also of those below, up to
 * EVENT_MOST_STORIES taps.
 */
#define EVENT_MOST_STORIES 65536
void event_any_stories(const struct event_any *any,
		       void (*fn)(void *u, struct failure *f), void *u);

/* 0 and which was the first; 1: none yet. */
int event_any_which(const struct event_any *any, unsigned *which);

#endif
