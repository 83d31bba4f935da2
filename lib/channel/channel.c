/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "channel/channel.h"

#include "base/err.h"
#include "base/util.h"
#include "check/fiber.h"
#include "core/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lkdf_event none;

int channel_create(struct lkdf *rt, const struct lkdf_channel_attr *a,
		   struct lkdf_channel **out)
{
	struct lkdf_channel *ch = aligned_alloc(CACHE_LINE, sizeof(*ch));
	uint32_t i;

	if (ch)
		memset((void *)ch, 0, sizeof(*ch));
	if (!ch || queue_init(&ch->queue, a->depth, a->value_size)) {
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
	for (i = 0; i < a->nr_init; i++)
		queue_push(&ch->queue,
			   (const char *)a->init + (size_t)i * a->value_size);
	a_store(&ch->nr_refs, 1, relaxed);
	a_add(&rt->nr_handles, 1, relaxed);
	*out = ch;
	return 0;
}

void channel_get(struct lkdf_channel *ch)
{
	a_add(&ch->nr_refs, 1, relaxed);
}

static void forget_tokens(struct channel_check *c, uint32_t nr)
{
	while (nr)
		check_forget(c->token[--nr]);
	free(c->token);
}

static void drop_values(struct lkdf_channel *ch)
{
	_Alignas(CACHE_LINE) char value[LKDF_MAX_VALUE];

	while (!queue_pop(&ch->queue, value))
		ch->drop(value);
}

void channel_put(struct lkdf_channel *ch)
{
	struct lkdf *rt = ch->rt;

	/* [channel.put] all uses before the free; pairs with itself. */
	if (a_sub(&ch->nr_refs, 1, acq_rel) != 1)
		return;
	check(list_is_empty(&ch->waiting[CHANNEL_VALUES]));
	check(list_is_empty(&ch->waiting[CHANNEL_ROOM]));
	/* In a forked child they are the parent's to drop. */
	if (ch->drop && a_load(rt->is_alive, relaxed))
		drop_values(ch);
	a_sub(&rt->nr_handles, 1, relaxed);
	queue_fini(&ch->queue);
	if (unlikely(ch->check.token != NULL))
		forget_tokens(&ch->check, ch->depth);
	ch->rt = NULL;
	handle_bury(rt, ch);
}

/* ---- who waits ---------------------------------------------------------- */

/* Values, or room for values: each side waits for one of both. */
static uint32_t count_ready(struct lkdf_channel *ch, enum channel_side side)
{
	return side == CHANNEL_VALUES ? queue_values(&ch->queue)
				      : queue_room(&ch->queue);
}

/* The event of the oldest one, to be fired without the lock; or none. */
static struct lkdf_event take_waiter(struct lkdf_channel *ch,
				     enum channel_side side)
{
	struct list *first = ch->waiting[side].next;
	struct channel_waiter *w;

	lock_assert_held(&ch->lock);
	if (first == &ch->waiting[side])
		return none;
	list_del(first);
	w = container_of(first, struct channel_waiter, list);
	w->is_woken = true;
	a_sub(&ch->side[side].nr_waiting, 1, relaxed);
	a_add(&ch->side[side].nr_under_way, 1, relaxed);
	return w->event;
}

static void fire_waiter(struct lkdf_event e)
{
	if (e.slot)
		event_finish(e, 0, NULL);
}

/* Are there more for the side than those that were woken will take? */
static bool has_more(struct lkdf_channel *ch, enum channel_side side)
{
	/* [channel.b] after the move; pairs with [channel.tried]. */
	uint32_t nr = a_load(&ch->side[side].nr_under_way, seq_cst);

	return nr < count_ready(ch, side);
}

static __attribute__((noinline)) void wake_slowly(struct lkdf_channel *ch,
						  enum channel_side side)
{
	struct lkdf_event e = none;

	if (!has_more(ch, side))
		return;
	lock_take(&ch->lock);
	if (has_more(ch, side))
		e = take_waiter(ch, side);
	lock_give(&ch->lock);
	fire_waiter(e);
}

/* There is one more for that side. */
static inline void wake_waiter(struct lkdf_channel *ch, enum channel_side side)
{
	/* [channel.b] after the move; pairs with [channel.c]. */
	if (unlikely(a_load(&ch->side[side].nr_waiting, seq_cst)))
		wake_slowly(ch, side);
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
		e = take_waiter(ch, side);
		lock_give(&ch->lock);
		fire_waiter(e);
	} while (e.slot);
}

bool channel_add(struct lkdf_channel *ch, enum channel_side side,
		 struct channel_waiter *w)
{
	bool must_wait;

	lock_take(&ch->lock);
	w->is_woken = false;
	w->side = side;
	list_init(&w->list);
	/* [channel.c] before we look; pairs with [channel.b]. */
	a_add(&ch->side[side].nr_waiting, 1, seq_cst);
	must_wait = !queue_has_ended(&ch->queue) && !count_ready(ch, side);
	if (must_wait)
		list_append(&ch->waiting[side], &w->list);
	else
		a_sub(&ch->side[side].nr_waiting, 1, relaxed);
	lock_give(&ch->lock);
	return must_wait;
}

bool channel_del(struct lkdf_channel *ch, struct channel_waiter *w)
{
	bool was_in;

	lock_take(&ch->lock);
	was_in = !list_is_empty(&w->list);
	if (was_in)
		a_sub(&ch->side[w->side].nr_waiting, 1, relaxed);
	list_del(&w->list);
	lock_give(&ch->lock);
	return was_in;
}

void channel_tried(struct lkdf_channel *ch, struct channel_waiter *w)
{
	if (!w->is_woken)
		return;
	w->is_woken = false;
	/* [channel.tried] after the try; pairs with [channel.b]. */
	a_sub(&ch->side[w->side].nr_under_way, 1, seq_cst);
	wake_waiter(ch, w->side);
}

/* ---- option check: a value and who gets it ------------------------------ */

/* The token of the nr'th value; NULL: of one that was there at first. */
static uint64_t **token_at(struct lkdf_channel *ch, uint64_t nr)
{
	struct channel_check *c = &ch->check;

	if (!c->token)
		c->token = calloc(ch->depth, sizeof(*c->token));
	return c->token ? &c->token[nr % ch->depth] : NULL;
}

static void told_value(struct lkdf_channel *ch, const void *value)
{
	struct channel_check *c = &ch->check;
	uint64_t **at;

	/* Values of lkdf_channel_create() were nobody's. */
	if (!c->nr_put)
		c->nr_put = c->nr_got + queue_values(&ch->queue) - 1;
	at = token_at(ch, c->nr_put++);
	check_reads(ch->rt->check, value, ch->value_size);
	if (!at)
		return;
	check_forget(*at);
	*at = check_tokens(1);
	check_release(ch->rt->check, *at);
}

static void heard_value(struct lkdf_channel *ch, void *value)
{
	uint64_t **at = token_at(ch, ch->check.nr_got++);

	if (at)
		check_acquire(ch->rt->check, *at);
	check_writes(ch->rt->check, value, ch->value_size);
}

/*
 * With option check a value and its token move under one lock: threads of the
 * program send and receive beside the one that drains.
 */
static int put_checked(struct lkdf_channel *ch, const void *value)
{
	int rc;

	lock_take(&ch->lock);
	rc = queue_push(&ch->queue, value);
	if (!rc)
		told_value(ch, value);
	lock_give(&ch->lock);
	return rc;
}

static int get_checked(struct lkdf_channel *ch, void *value)
{
	int rc;

	lock_take(&ch->lock);
	rc = queue_pop(&ch->queue, value);
	if (!rc)
		heard_value(ch, value);
	lock_give(&ch->lock);
	return rc;
}

/* The oldest is lost: nobody hears of it. */
static int lose_checked(struct lkdf_channel *ch, void *oldest)
{
	int rc;

	lock_take(&ch->lock);
	rc = queue_pop(&ch->queue, oldest);
	ch->check.nr_got += !rc;
	lock_give(&ch->lock);
	return rc;
}

/* ---- from any thread ---------------------------------------------------- */

static int put_value(struct lkdf_channel *ch, const void *value)
{
	return unlikely(ch->rt->check != NULL) ? put_checked(ch, value)
					       : queue_push(&ch->queue, value);
}

static int lose_value(struct lkdf_channel *ch, void *oldest)
{
	return unlikely(ch->rt->check != NULL) ? lose_checked(ch, oldest)
					       : queue_pop(&ch->queue, oldest);
}

static int has_ended(const struct lkdf_channel *ch)
{
	return err(-EPIPE, "channel %s: it has ended", ch->name);
}

/*
 * A full one that keeps the latest loses the oldest, which is dropped: also
 * where the channel ends between the two.
 */
static int send_latest(struct lkdf_channel *ch, const void *value)
{
	_Alignas(CACHE_LINE) char oldest[LKDF_MAX_VALUE];
	int rc;

	while ((rc = put_value(ch, value)) == -EAGAIN)
		if (!lose_value(ch, oldest) && ch->drop)
			ch->drop(oldest);
	return rc;
}

int channel_send(struct lkdf_channel *ch, const void *value)
{
	int rc = unlikely(ch->is_latest) ? send_latest(ch, value)
					 : put_value(ch, value);

	if (likely(!rc))
		wake_waiter(ch, CHANNEL_VALUES);
	return unlikely(rc == -EPIPE) ? has_ended(ch) : rc;
}

static int tell_end(const struct lkdf_channel *ch)
{
	int error = plain_load(&ch->error);

	if (!error)
		return err(-ENODATA, "channel %s: it has ended and is empty",
			   ch->name);
	return err(error, "channel %s: it has ended with: %s", ch->name,
		   strerror(-error));
}

int channel_recv(struct lkdf_channel *ch, void *value)
{
	int rc = unlikely(ch->rt->check != NULL) ? get_checked(ch, value)
						 : queue_pop(&ch->queue, value);

	if (likely(!rc))
		wake_waiter(ch, CHANNEL_ROOM);
	return unlikely(rc == -ENODATA) ? tell_end(ch) : rc;
}

int channel_end(struct lkdf_channel *ch, int error)
{
	bool was_over;

	lock_take(&ch->lock);
	was_over = queue_has_ended(&ch->queue);
	if (!was_over) {
		plain_store(&ch->error, error);
		queue_end(&ch->queue);
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
	return queue_values(&ch->queue);
}
