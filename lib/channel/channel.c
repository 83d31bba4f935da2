/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "channel/channel.h"

#include "base/err.h"
#include "base/util.h"
#include "core/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lkdf_event none;

int channel_create(struct lkdf *rt, const struct lkdf_channel_attr *a,
		   struct lkdf_channel **out)
{
	struct lkdf_channel *ch = calloc(1, sizeof(*ch));

	if (ch)
		ch->values = calloc(a->depth, a->value_size);
	if (!ch || !ch->values) {
		free(ch);
		return err(-ENOMEM, "channel: no memory for %u values",
			   a->depth);
	}
	ch->rt = rt;
	ch->value_size = a->value_size;
	ch->depth = a->depth;
	ch->is_latest = a->flags & LKDF_CHANNEL_LATEST;
	ch->drop = a->drop;
	snprintf(ch->name, sizeof(ch->name), "%s", a->name ? a->name : "");
	list_init(&ch->waiting[CHANNEL_VALUES]);
	list_init(&ch->waiting[CHANNEL_ROOM]);
	if (a->nr_init)
		memcpy(ch->values, a->init, (size_t)a->nr_init * a->value_size);
	ch->nr = a->nr_init;
	a_store(&ch->nr_refs, 1, relaxed);
	a_add(&rt->nr_handles, 1, relaxed);
	*out = ch;
	return 0;
}

/* The i'th of its values, counted from the oldest. */
static void *value_at(const struct lkdf_channel *ch, uint32_t i)
{
	return ch->values +
	       (size_t)((ch->first + i) % ch->depth) * ch->value_size;
}

void channel_get(struct lkdf_channel *ch)
{
	a_add(&ch->nr_refs, 1, relaxed);
}

void channel_put(struct lkdf_channel *ch)
{
	struct lkdf *rt = ch->rt;
	bool is_alive;
	uint32_t i;

	/* [channel.put] all uses before the free; pairs with itself. */
	if (a_sub(&ch->nr_refs, 1, acq_rel) != 1)
		return;
	check(list_is_empty(&ch->waiting[CHANNEL_VALUES]));
	check(list_is_empty(&ch->waiting[CHANNEL_ROOM]));
	/* In a forked child they are the parent's to drop. */
	is_alive = a_load(rt->is_alive, relaxed);
	for (i = 0; i < ch->nr && ch->drop && is_alive; i++)
		ch->drop(value_at(ch, i));
	a_sub(&rt->nr_handles, 1, relaxed);
	free(ch->values);
	ch->rt = NULL;
	handle_bury(rt, ch);
}

/* ---- under lock --------------------------------------------------------- */

static bool is_ready(const struct lkdf_channel *ch, enum channel_side side)
{
	lock_assert_held(&ch->lock);
	if (ch->has_ended)
		return true;
	return side == CHANNEL_VALUES ? ch->nr : ch->nr < ch->depth;
}

/* The event of the oldest one, to be fired without the lock; or none. */
static struct lkdf_event take_waiter(struct lkdf_channel *ch,
				     enum channel_side side)
{
	struct list *first = ch->waiting[side].next;

	lock_assert_held(&ch->lock);
	if (first == &ch->waiting[side])
		return none;
	list_del(first);
	return container_of(first, struct channel_waiter, list)->event;
}

static void push_value(struct lkdf_channel *ch, const void *value)
{
	lock_assert_held(&ch->lock);
	check(ch->nr < ch->depth);
	memcpy(value_at(ch, ch->nr), value, ch->value_size);
	ch->nr++;
}

static void pop_value(struct lkdf_channel *ch, void *value)
{
	lock_assert_held(&ch->lock);
	check(ch->nr);
	memcpy(value, value_at(ch, 0), ch->value_size);
	ch->first = (ch->first + 1) % ch->depth;
	ch->nr--;
}

/* ---- from any thread ---------------------------------------------------- */

static void wake_waiters(struct lkdf_event e)
{
	if (e.slot)
		event_finish(e, 0, NULL);
}

static int has_ended(const struct lkdf_channel *ch)
{
	return err(-EPIPE, "channel %s: it has ended", ch->name);
}

/* A full one that keeps the latest loses the oldest, which is dropped. */
static int send_latest(struct lkdf_channel *ch, const void *value)
{
	_Alignas(CACHE_LINE) char oldest[LKDF_MAX_VALUE];
	bool was_full, is_over;
	struct lkdf_event e = none;

	lock_take(&ch->lock);
	is_over = ch->has_ended;
	was_full = !is_over && ch->nr == ch->depth;
	if (was_full)
		pop_value(ch, oldest);
	if (!is_over) {
		push_value(ch, value);
		e = take_waiter(ch, CHANNEL_VALUES);
	}
	lock_give(&ch->lock);
	wake_waiters(e);
	if (was_full && ch->drop)
		ch->drop(oldest);
	return is_over ? has_ended(ch) : 0;
}

int channel_send(struct lkdf_channel *ch, const void *value)
{
	struct lkdf_event e = none;
	bool has_room, is_over;

	if (ch->is_latest)
		return send_latest(ch, value);
	lock_take(&ch->lock);
	is_over = ch->has_ended;
	has_room = !is_over && ch->nr < ch->depth;
	if (has_room) {
		push_value(ch, value);
		e = take_waiter(ch, CHANNEL_VALUES);
	}
	lock_give(&ch->lock);
	wake_waiters(e);
	if (likely(has_room))
		return 0;
	return is_over ? has_ended(ch) : -EAGAIN;
}

int channel_recv(struct lkdf_channel *ch, void *value)
{
	struct lkdf_event e = none;
	bool has_value, is_over;
	int error;

	lock_take(&ch->lock);
	has_value = ch->nr != 0;
	is_over = ch->has_ended;
	error = ch->error;
	if (has_value) {
		pop_value(ch, value);
		e = take_waiter(ch, CHANNEL_ROOM);
	}
	lock_give(&ch->lock);
	wake_waiters(e);
	if (likely(has_value))
		return 0;
	if (!is_over)
		return -EAGAIN;
	if (!error)
		return err(-ENODATA, "channel %s: it has ended and is empty",
			   ch->name);
	return err(error, "channel %s: it has ended with: %s", ch->name,
		   strerror(-error));
}

/*
 * Waiters are woken one at a time: a waiter that is out of the list may be gone
 * without the lock.
 */
static void wake_all(struct lkdf_channel *ch, enum channel_side side)
{
	struct lkdf_event e;

	do {
		lock_take(&ch->lock);
		check(ch->has_ended);
		e = take_waiter(ch, side);
		lock_give(&ch->lock);
		wake_waiters(e);
	} while (e.slot);
}

int channel_end(struct lkdf_channel *ch, int error)
{
	bool was_over;

	lock_take(&ch->lock);
	was_over = ch->has_ended;
	if (!was_over) {
		ch->has_ended = true;
		ch->error = error;
	}
	lock_give(&ch->lock);
	if (was_over)
		return has_ended(ch);
	wake_all(ch, CHANNEL_VALUES);
	wake_all(ch, CHANNEL_ROOM);
	return 0;
}

uint32_t channel_count(struct lkdf_channel *ch)
{
	uint32_t nr;

	lock_take(&ch->lock);
	nr = ch->nr;
	lock_give(&ch->lock);
	return nr;
}

/* ---- who waits ---------------------------------------------------------- */

bool channel_add(struct lkdf_channel *ch, enum channel_side side,
		 struct channel_waiter *w)
{
	bool must_wait;

	lock_take(&ch->lock);
	list_init(&w->list);
	must_wait = !is_ready(ch, side);
	if (must_wait)
		list_append(&ch->waiting[side], &w->list);
	lock_give(&ch->lock);
	return must_wait;
}

bool channel_del(struct lkdf_channel *ch, struct channel_waiter *w)
{
	bool was_in;

	lock_take(&ch->lock);
	was_in = !list_is_empty(&w->list);
	list_del(&w->list);
	lock_give(&ch->lock);
	return was_in;
}

void channel_pass(struct lkdf_channel *ch, enum channel_side side)
{
	struct lkdf_event e = none;

	lock_take(&ch->lock);
	if (is_ready(ch, side))
		e = take_waiter(ch, side);
	lock_give(&ch->lock);
	wake_waiters(e);
}
