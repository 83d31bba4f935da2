/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/copies.h"

#include "base/util.h"
#include "device/request.h"

#include <errno.h>
#include <stdlib.h>

#define COPY_ALIGN 256

static struct device_copy **bucket_of(struct device *d, const struct copies *of,
				      uint32_t part)
{
	uintptr_t hash = (uintptr_t)of / sizeof(*of) + part * 31;

	return &d->copy[hash % DEVICE_BUCKETS];
}

static struct device_copy *find(struct device *d, const struct copies *of,
				uint32_t part)
{
	struct device_copy *c = *bucket_of(d, of, part);

	while (c && (c->of != of || c->part != part))
		c = c->next;
	return c;
}

/* ---- memory ------------------------------------------------------------- */

void copies_free(struct device *d, uint64_t bytes, void *there)
{
	if (!a_load(&d->is_lost, relaxed))
		d->ops.free(d->dev, there);
	a_sub(&d->used, bytes, relaxed);
}

static void drop(struct device *d, struct device_copy *c)
{
	struct device_copy **at = bucket_of(d, c->of, c->part);

	check(!c->nr_pins);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	list_del(&c->lru);
	copies_free(d, c->bytes, c->there);
	free(c);
}

/* The one that was not used for longest. False: all are in use. */
static bool drop_oldest(struct device *d)
{
	struct list *l;
	struct device_copy *c;

	for (l = d->lru.prev; l != &d->lru; l = l->prev) {
		c = container_of(l, struct device_copy, lru);
		if (c->nr_pins)
			continue;
		drop(d, c);
		return true;
	}
	return false;
}

bool copies_drop_unused(struct device *d)
{
	bool has_dropped = false;

	while (drop_oldest(d))
		has_dropped = true;
	return has_dropped;
}

int copies_alloc(struct device *d, uint64_t bytes, void **there)
{
	int rc;

	while (a_load(&d->used, relaxed) + bytes > d->capacity)
		if (!drop_oldest(d))
			return -EAGAIN;
	do
		rc = d->ops.alloc(d->dev, LKDF_MEM_OWN, bytes, COPY_ALIGN,
				  there);
	while (rc == -ENOMEM && drop_oldest(d));
	if (rc == -ENOMEM && d->nr_under_way > 1)
		return -EAGAIN;
	if (rc >= 0)
		a_add(&d->used, bytes, relaxed);
	return rc < 0 ? rc : 0;
}

/* ---- copies ------------------------------------------------------------- */

static int add(struct device *d, struct device_operand *o,
	       struct device_copy **out)
{
	struct device_copy **at = bucket_of(d, o->copies, o->part), *c;
	int rc;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	rc = copies_alloc(d, o->bytes, &c->there);
	if (rc) {
		free(c);
		return rc;
	}
	c->of = o->copies;
	c->part = o->part;
	c->bytes = o->bytes;
	c->next = *at;
	*at = c;
	list_push(&d->lru, &c->lru);
	a_or(&c->of->on, (uint64_t)1 << d->attr.index, relaxed);
	*out = c;
	return 0;
}

int copies_pin(struct device *d, struct device_operand *o)
{
	struct device_copy *c = find(d, o->copies, o->part);
	int rc = 0;

	/* One that reads it as well waits until its bytes are there. */
	if (c && c->is_changing)
		return -EAGAIN;
	if (!c)
		rc = add(d, o, &c);
	if (rc)
		return rc;
	c->nr_pins++;
	o->copy = c;
	o->there = c->there;
	o->is_filled = c->version == o->version + 1;
	c->is_changing = o->mode & LKDF_WRITE || !o->is_filled;
	return 0;
}

void copies_unpin(struct device *d, struct device_operand *o, uint64_t version)
{
	struct device_copy *c = o->copy;

	check(c->nr_pins);
	c->nr_pins--;
	if (o->mode & LKDF_WRITE || !o->is_filled) {
		c->version = version;
		c->is_changing = false;
	}
	list_del(&c->lru);
	list_push(&d->lru, &c->lru);
	o->copy = NULL;
}

void copies_drop_all(struct device *d)
{
	struct device_copy *c;

	while (!list_is_empty(&d->lru)) {
		c = container_of(d->lru.next, struct device_copy, lru);
		c->nr_pins = 0;
		a_and(&c->of->on, ~((uint64_t)1 << d->attr.index), relaxed);
		drop(d, c);
	}
}

/* ---- a data that is gone ------------------------------------------------ */

struct copies *copies_create(struct device *const *devices,
			     const _Atomic(uint32_t) *is_alive)
{
	struct copies *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->devices = devices;
	c->is_alive = is_alive;
	return c;
}

static void forget_next(struct copies *c);

static void forget_here(void *executor, struct blocking_item *item)
{
	struct copies *c = container_of(item, struct copies, forget);
	struct device *d = c->devices[c->next_device];
	struct list *l, *next;
	struct device_copy *own;

	(void)executor;
	for (l = d->lru.next; l != &d->lru; l = next) {
		next = l->next;
		own = container_of(l, struct device_copy, lru);
		if (own->of == c)
			drop(d, own);
	}
	a_and(&c->on, ~((uint64_t)1 << d->attr.index), relaxed);
	forget_next(c);
}

static void forget_next(struct copies *c)
{
	uint64_t on = a_load(&c->on, relaxed);

	if (!on || !a_load(c->is_alive, relaxed)) {
		free(c);
		return;
	}
	c->next_device = (unsigned)__builtin_ctzll(on);
	c->forget.run = forget_here;
	device_push(c->devices[c->next_device], 0, &c->forget);
}

void copies_forget(struct copies *c)
{
	if (c)
		forget_next(c);
}
