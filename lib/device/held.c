/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/held.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/util.h"
#include "device/copies.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A share of what is free: more of managed memory may hang a card. */
#define MANAGED_PERCENT 90

/* ---- memory ------------------------------------------------------------- */

/* The text that the device has given by err(), or the error's name. */
static void say_why(char why[DEVICE_WHY], int error)
{
	const char *said = err_text();

	snprintf(why, DEVICE_WHY, "%s", said[0] ? said : strerror(-error));
}

static int fail_full(struct held_call *c)
{
	const struct device *d = c->held->device;

	snprintf(c->why, sizeof(c->why),
		 "the device has %llu bytes, the program holds %llu of them",
		 (unsigned long long)d->capacity,
		 (unsigned long long)a_load(&d->held, relaxed));
	return -ENOMEM;
}

/* Does something come to an end that may make room? */
static bool may_have_room(const struct device *d)
{
	return d->nr_under_way || d->leaving;
}

static int take_own(struct device *d, struct held_call *c)
{
	struct device_held *h = c->held;
	int rc;

	if (h->bytes > d->capacity - a_load(&d->held, relaxed))
		return fail_full(c);
	rc = copies_alloc_held(d, h->bytes, h->align, &h->device_ptr);
	if (rc == -ENOMEM && copies_drop_unused(d))
		rc = copies_alloc_held(d, h->bytes, h->align, &h->device_ptr);
	if (rc == -ENOMEM && may_have_room(d))
		return -EAGAIN;
	if (rc == -EAGAIN && !may_have_room(d))
		return fail_full(c);
	if (!rc)
		a_add(&d->held, h->bytes, relaxed);
	return rc;
}

static int take_managed(struct device *d, struct held_call *c)
{
	struct device_held *h = c->held;
	uint64_t has = a_load(&d->managed, relaxed) + a_load(&d->held, relaxed);
	uint64_t rest = d->capacity > has ? d->capacity - has : 0;
	int rc;

	if (h->bytes > rest / 100 * MANAGED_PERCENT) {
		snprintf(c->why, sizeof(c->why),
			 "at most %d %% of the %llu bytes that are free may be "
			 "managed; the program holds %llu of %llu",
			 MANAGED_PERCENT, (unsigned long long)rest,
			 (unsigned long long)has,
			 (unsigned long long)d->capacity);
		return -ENOMEM;
	}
	do
		rc = d->ops.alloc(d->dev, LKDF_MEM_MANAGED, h->bytes, h->align,
				  &h->device_ptr);
	while (rc == -ENOMEM && spare_drop_all(d));
	if (rc >= 0) {
		a_add(&d->managed, h->bytes, relaxed);
		h->base = h->device_ptr;
	}
	return rc;
}

static int take_memory(struct device *d, struct held_call *c)
{
	struct device_held *h = c->held;

	if (a_load(&d->is_lost, relaxed)) {
		snprintf(c->why, sizeof(c->why), "the device is lost: %.128s",
			 d->why_lost);
		return -ENODEV;
	}
	if (!device_begin(d))
		return d->start_error;
	if (h->mem == LKDF_MEM_HOST_PINNED)
		return d->ops.pin(d->dev, h->base, h->bytes);
	return h->mem == LKDF_MEM_MANAGED ? take_managed(d, c) : take_own(d, c);
}

/* The thread may be gone when we return. False: it waits for room. */
static bool try_call(struct device *d, struct held_call *c)
{
	int rc;

	err_clear();
	rc = take_memory(d, c);
	if (rc == -EAGAIN)
		return false;
	if (rc < 0 && !c->why[0])
		say_why(c->why, rc);
	if (!a_load(&d->is_lost, relaxed))
		device_returned(d, "alloc", rc);
	c->error = rc < 0 ? rc : 0;
	/* [held.over] what was taken; pairs with [held.wait]. */
	a_store(&c->is_over, 1, release);
	futex_wake(&c->is_over, 1);
	return true;
}

static void ask_here(void *executor, struct blocking_item *item)
{
	struct held_call *c = container_of(item, struct held_call, item);
	struct device *d = c->held->device;

	(void)executor;
	if (!d->hungry && try_call(d, c))
		return;
	c->next = NULL;
	*d->last_hungry = c;
	d->last_hungry = &c->next;
}

void held_ask(struct held_call *c)
{
	c->item.run = ask_here;
	device_push(c->held->device, DEVICE_NOW, &c->item);
}

bool held_feed(struct device *d)
{
	struct held_call *c, *next;
	bool has_fed = false;

	while ((c = d->hungry)) {
		next = c->next;
		if (!try_call(d, c))
			break;
		d->hungry = next;
		if (!next)
			d->last_hungry = &d->hungry;
		has_fed = true;
	}
	return has_fed;
}

static void release_held(struct device *d, struct device_held *h)
{
	bool is_lost = a_load(&d->is_lost, relaxed);

	if (h->mem == LKDF_MEM_HOST_PINNED) {
		if (!is_lost)
			d->ops.unpin(d->dev, h->base);
		return;
	}
	if (h->mem == LKDF_MEM_MANAGED) {
		if (!is_lost)
			d->ops.free(d->dev, h->device_ptr);
		a_sub(&d->managed, h->bytes, relaxed);
		return;
	}
	copies_free_held(d, h->bytes, h->device_ptr);
	a_sub(&d->held, h->bytes, relaxed);
}

static void put_here(void *executor, struct blocking_item *item)
{
	struct device_held *h = container_of(item, struct device_held, item);

	(void)executor;
	release_held(h->device, h);
	h->gone(h);
}

void held_put(struct device_held *h)
{
	/* [held.put] what others did with it; pairs with itself. */
	if (a_sub(&h->nr_users, 1, acq_rel) != 1)
		return;
	h->item.run = put_here;
	device_push(h->device, DEVICE_NOW, &h->item);
}

/* ---- bytes -------------------------------------------------------------- */

static void end_move(void *executor, struct held_move *m, int error)
{
	list_del(&m->list);
	m->error = error;
	m->over(executor, m);
}

void held_moved(void *executor, struct held_move *m, int error)
{
	if (!error && executor && m->way != HELD_WITHIN)
		m->device->attr.count(executor,
				      m->way == HELD_UP ? COUNTER_UPLOADED
							: COUNTER_FETCHED,
				      m->t.bytes);
	if (error)
		say_why(m->why, error);
	end_move(executor, m, error);
}

static void lose_move(struct device *d, void *executor, struct held_move *m)
{
	snprintf(m->why, sizeof(m->why), "the device is lost: %.128s",
		 d->why_lost);
	end_move(executor, m, -ENODEV);
}

static int give_memory(struct device *d, struct held_move *m,
		       struct lkdf_device_op op)
{
	switch (m->way) {
	case HELD_UP:
		return d->ops.upload(d->dev, DEVICE_UPLOAD_QUEUE, &m->t, op);
	case HELD_DOWN:
		return d->ops.fetch(d->dev, DEVICE_FETCH_QUEUE, &m->t, op);
	case HELD_WITHIN:
		break;
	}
	return d->ops.copy(d->dev, DEVICE_UPLOAD_QUEUE, &m->within, op);
}

static void begin_row(struct device *d, struct device_slot *s,
		      const struct held_move *m)
{
	static const enum rows_copy row_of[] = {
		[HELD_UP] = ROWS_UPLOAD,
		[HELD_DOWN] = ROWS_FETCH,
		[HELD_WITHIN] = ROWS_WITHIN,
	};

	rows_begin_copy(d, s, row_of[m->way],
			m->way == HELD_WITHIN ? m->within.bytes : m->t.bytes);
}

static void move_here(void *executor, struct blocking_item *item)
{
	struct held_move *m = container_of(item, struct held_move, item);
	struct device *d = m->device;
	struct lkdf_device_op op;
	struct device_slot *s;
	int rc;

	list_append(&d->moves, &m->list);
	if (a_load(&d->is_lost, relaxed)) {
		lose_move(d, executor, m);
		return;
	}
	s = device_give(d, NULL, &op);
	if (!s) {
		end_move(executor, m, -ENOMEM);
		return;
	}
	s->move = m;
	begin_row(d, s, m);
	err_clear();
	rc = give_memory(d, m, op);
	if (rc >= 0)
		return;
	say_why(m->why, rc);
	device_returned(d, "copy", rc);
	if (device_revoke(d, s))
		end_move(executor, m, rc);
}

void held_move(struct held_move *m)
{
	m->why[0] = 0;
	m->item.run = move_here;
	device_push(m->device, DEVICE_NOW, &m->item);
}

void held_lose(struct device *d, void *executor)
{
	struct list *l;

	while (!list_is_empty(&d->moves)) {
		l = d->moves.next;
		lose_move(d, executor, container_of(l, struct held_move, list));
	}
	held_feed(d);
}
