/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A channel is a bounded queue of values of one size (queue.h), whose ends have
 * no lock. A sender copies each value in, and one receiver copies it out.
 *
 * A receiver that finds no value, or a sender that finds no room, adds a waiter
 * to the list of that side, under the channel's lock, says so in nr_waiting and
 * looks again. A waiter is an event of scope/event.h and its place in the list:
 * threads sleep on the event, tasks leave by it as lkdf_then() does, and the
 * channel has no way of its own to wake anybody. A thread that brings a value,
 * or takes one, looks at nr_waiting of the other side:
 *
 *	moves a value                    waits
 *	(A) moves its end                (C) nr_waiting + 1
 *	(B) looks at nr_waiting          (D) looks at both ends
 *
 * All four are seq_cst: B sees C, or D sees A. Slots are ready later than their
 * end has moved; who needs one then waits for a copy, not for an event.
 *
 * A waiter that was woken tries again beside newcomers, and may come too late:
 * until it has tried it is under way. A move wakes the oldest waiter only while
 * fewer are under way than there are values, or room; so a burst does not wake
 * a waiter for each value. A waiter that has tried, or that does not (its time
 * is up, its scope is cancelled), counts down and looks in the same way whether
 * the next one is to be woken.
 *
 * Values are no reason to sleep longer for the sake of a batch: who waits for
 * room is woken by the first value that is taken, since nobody knows whether
 * there will be a second.
 */
#ifndef CHANNEL_CHANNEL_H
#define CHANNEL_CHANNEL_H

#include "base/list.h"
#include "base/lock.h"
#include "channel/queue.h"
#include "core/handle.h"
#include "scope/event.h"

#include <lkdf/channel.h>

#define CHANNEL_NAME 32

enum channel_side {
	CHANNEL_VALUES, /* receivers wait for them */
	CHANNEL_ROOM, /* senders wait for it */
	NR_CHANNEL_SIDES,
};

enum channel_who {
	CHANNEL_THREAD, /* of the program */
	CHANNEL_BODY, /* on its thread of the blocking pool */
	CHANNEL_TASK, /* and no thread */
};

struct task;

/* Embedded in what waits. */
struct channel_waiter {
	struct list list; /* under the channel's lock */
	enum channel_side side; /* set as it is added */
	bool is_woken; /* by its channel: owes it a try; then constant */

	/* Set before it is added, constant until it is out; for rt/why.c. */
	enum channel_who who;
	const struct task *task; /* a TASK that no cancel lets go; else NULL */

	/*
	 * Set before it is added, constant until it is out. Counts one signal
	 * to come; the waker has a reference and the waiter another.
	 */
	struct lkdf_event event;
};

/* Both change only where somebody waits. */
struct channel_counts {
	_Atomic(uint32_t) nr_waiting; /* in the list; under lock */
	_Atomic(uint32_t) nr_under_way; /* woken, and have not tried; any thread
					 */
};

struct lkdf_channel {
	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	uint32_t value_size, depth;
	bool is_latest;
	lkdf_drop_fn drop; /* or NULL */
	char name[CHANNEL_NAME];

	/* Any thread. */
	struct queue queue;
	_Alignas(CACHE_LINE) struct channel_counts side[NR_CHANNEL_SIDES];
	_Atomic(uint32_t) nr_refs; /* the user, waits, threads inside */

	/* Under lock. */
	_Alignas(CACHE_LINE) struct lock lock;
	int error; /* it has ended with, or 0; constant once it has */
	struct list waiting[NR_CHANNEL_SIDES]; /* oldest first */

	/* Option check, under lock: values so far, and the token of each that
	 * is in it; NULL: none yet. */
	struct channel_check {
		uint64_t nr_put, nr_got;
		uint64_t **token;
	} check;

	struct handle handle; /* the user's */
};

/* a: as checked by lkdf_channel_create(). 0 or -ENOMEM. */
int channel_create(struct lkdf *rt, const struct lkdf_channel_attr *a,
		   struct lkdf_channel **out);
void channel_get(struct lkdf_channel *ch);

/* With the last reference its values are dropped. */
void channel_put(struct lkdf_channel *ch);

/* 0; -EAGAIN full, without a text; -EPIPE it has ended. */
int channel_send(struct lkdf_channel *ch, const void *value);

/* 0; -EAGAIN empty, without a text; at its end -ENODATA or its error. */
int channel_recv(struct lkdf_channel *ch, void *value);

/* All who wait go on. -EPIPE: it has ended before. */
int channel_end(struct lkdf_channel *ch, int error);

uint32_t channel_count(struct lkdf_channel *ch);

/* False: there is what it would wait for, or the channel has ended. */
bool channel_add(struct lkdf_channel *ch, enum channel_side side,
		 struct channel_waiter *w);

/*
 * True: it was in the list, is out now, and the waker's reference is the
 * caller's. False: somebody fires its event, or has.
 */
bool channel_del(struct lkdf_channel *ch, struct channel_waiter *w);

/* A waiter that was woken has tried, or will not: the next one may. */
void channel_tried(struct lkdf_channel *ch, struct channel_waiter *w);

#endif
