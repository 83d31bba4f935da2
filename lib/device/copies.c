/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/copies.h"

#include "base/err.h"
#include "base/util.h"
#include "device/request.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdlib.h>

static struct device_copy **bucket_of(struct device *d, const struct copies *of,
				      uint32_t part)
{
	uintptr_t hash = (uintptr_t)of / sizeof(*of) + part * 31;

	return &d->copy[hash % DEVICE_BUCKETS];
}

static struct device_copy *find_copy(struct device *d, const struct copies *of,
				     uint32_t part)
{
	struct device_copy *c = *bucket_of(d, of, part);

	while (c && (c->of != of || c->part != part))
		c = c->next;
	return c;
}

/* ---- memory ------------------------------------------------------------- */

void copies_free(struct device *d, uint64_t bytes, void *device_ptr)
{
	spare_keep(d, bytes, device_ptr);
	a_sub(&d->used, bytes, relaxed);
}

/* Where the device exports it it is another memory than that of copies. */
static enum lkdf_mem_kind held_kind(const struct device *d)
{
	return device_has(d, LKDF_DEVICE_EXPORTS) ? LKDF_MEM_EXPORTED
						  : LKDF_MEM_OWN;
}

void copies_free_held(struct device *d, uint64_t bytes, void *device_ptr)
{
	if (held_kind(d) == LKDF_MEM_OWN) {
		copies_free(d, bytes, device_ptr);
		return;
	}
	if (!a_load(&d->is_lost, relaxed))
		d->ops.free(d->dev, device_ptr);
	a_sub(&d->used, bytes, relaxed);
}

static void drop_copy(struct device *d, struct device_copy *c)
{
	struct device_copy **at = bucket_of(d, c->of, c->part);

	check(!c->nr_pins);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	list_del(&c->lru);
	copies_free(d, c->bytes, c->device_ptr);
	free(c);
}

/* The one that was not used for longest, of those; NULL: all are in use. */
static struct device_copy *oldest_copy(struct device *d, bool is_dirty)
{
	struct list *l;
	struct device_copy *c;

	for (l = d->lru.prev; l != &d->lru; l = l->prev) {
		c = container_of(l, struct device_copy, lru);
		/* order: copies.pinned: a request uses it. */
		if (!c->nr_pins && !c->is_leaving && c->is_dirty == is_dirty)
			return c;
	}
	return NULL;
}

static void begin_return(struct device *d, struct device_copy *c);

/*
 * So many bytes are to be free: clean copies go first, dirty ones have a way to
 * go. 0: there are more than before; -EAGAIN: there will be.
 */
static int make_room(struct device *d, uint64_t need)
{
	struct device_copy *c = oldest_copy(d, false);

	while (!c && d->leaving < need && (c = oldest_copy(d, true))) {
		begin_return(d, c);
		/* It was refused, and its bytes are lost. */
		c = c->is_leaving ? NULL : c;
	}
	if (!c)
		return -EAGAIN;
	drop_copy(d, c);
	return 0;
}

bool copies_drop_unused(struct device *d)
{
	struct device_copy *c;
	bool has_some = d->leaving != 0;

	while ((c = oldest_copy(d, true))) {
		begin_return(d, c);
		has_some = true;
	}
	while ((c = oldest_copy(d, false))) {
		drop_copy(d, c);
		has_some = true;
	}
	/* In one piece with what lies beside it. */
	return spare_drop_all(d) || has_some;
}

static int ask_memory(struct device *d, enum lkdf_mem_kind mem, uint64_t bytes,
		      uint64_t align, void **device_ptr)
{
	if (d->executor)
		d->attr.count(d->executor, COUNTER_ALLOCS, 1);
	return d->ops.alloc(d->dev, mem, bytes, align, device_ptr);
}

static void *take_spare(struct device *d, enum lkdf_mem_kind mem,
			uint64_t bytes, uint64_t align)
{
	return mem == LKDF_MEM_OWN && align <= DEVICE_ALIGN
		       ? spare_take(d, bytes)
		       : NULL;
}

static int take_memory(struct device *d, enum lkdf_mem_kind mem, uint64_t bytes,
		       uint64_t align, void **device_ptr)
{
	uint64_t used;
	void *spare;
	int rc;

	while ((used = a_load(&d->used, relaxed) + bytes) > d->capacity)
		if (make_room(d, used - d->capacity))
			return -EAGAIN;
	spare = take_spare(d, mem, bytes, align);
	if (spare) {
		*device_ptr = spare;
		a_add(&d->used, bytes, relaxed);
		return 0;
	}
	spare_shrink(d, d->capacity - used);
	do
		rc = ask_memory(d, mem, bytes, align, device_ptr);
	while (rc == -ENOMEM && (spare_drop_all(d) || !make_room(d, 1)));
	if (rc == -ENOMEM && (d->nr_under_way > 1 || d->leaving))
		return -EAGAIN;
	if (rc >= 0)
		a_add(&d->used, bytes, relaxed);
	return rc < 0 ? rc : 0;
}

int copies_alloc(struct device *d, uint64_t bytes, void **device_ptr)
{
	return take_memory(d, LKDF_MEM_OWN, bytes, DEVICE_ALIGN, device_ptr);
}

int copies_alloc_held(struct device *d, uint64_t bytes, uint64_t align,
		      void **device_ptr)
{
	return take_memory(d, held_kind(d), bytes, align, device_ptr);
}

/* ---- on their way home -------------------------------------------------- */

void copies_returned(struct device *d, struct device_copy *c, int error)
{
	struct copies *of = c->of;

	d->leaving -= c->bytes;
	c->is_leaving = c->is_dirty = false;
	if (error)
		c->version = 0;
	else if (d->executor)
		d->attr.count(d->executor, COUNTER_FETCHED, c->bytes);
	offhost_end(d, of, c->part, error);
	if (c->is_forgotten)
		device_push(d, DEVICE_NOW, &of->forget);
	c->is_forgotten = false;
}

/* The device may be done with it, or have refused it, when we return. */
static void begin_return(struct device *d, struct device_copy *c)
{
	const struct lkdf_transfer t = { .host = c->host,
					 .device_ptr = c->device_ptr,
					 .bytes = c->bytes };
	struct lkdf_device_op op;
	struct device_slot *s = device_give(d, NULL, &op);
	int rc = -ENOMEM;

	pins_carry(d, c->of, c->host - c->offset, c->bytes, PINS_DOWN);
	c->is_leaving = true;
	d->leaving += c->bytes;
	if (s) {
		s->copy = c;
		rows_begin_copy(d, s, ROWS_FETCH, c->bytes);
		s->row.by = c->writer;
		err_clear();
		rc = d->ops.fetch(d->dev, DEVICE_FETCH_QUEUE, &t, op);
		device_returned(d, "fetch", rc);
	}
	if (rc < 0 && (!s || device_revoke(d, s)))
		copies_returned(d, c, rc);
}

void copies_return(struct device *d, struct copies *of, uint32_t part)
{
	struct device_copy *c = find_copy(d, of, part);

	check(c && (c->is_dirty || c->is_leaving));
	if (!c->is_leaving)
		begin_return(d, c);
}

void copies_lose(struct device *d)
{
	struct device_copy *c;
	struct list *l;

	for (l = d->lru.next; l != &d->lru; l = l->next) {
		c = container_of(l, struct device_copy, lru);
		if (!c->is_dirty)
			continue;
		d->leaving += c->is_leaving ? 0 : c->bytes;
		copies_returned(d, c, -ENODEV);
	}
}

bool copies_drop(struct device *d, const struct copies *of)
{
	struct list *l, *next;
	struct device_copy *c;
	bool all = true;

	for (l = d->lru.next; l != &d->lru; l = next) {
		next = l->next;
		c = container_of(l, struct device_copy, lru);
		if (c->of != of)
			continue;
		if (!c->is_leaving)
			drop_copy(d, c);
		else if (all)
			all = !(c->is_forgotten = true);
	}
	return all;
}

/* ---- copies ------------------------------------------------------------- */

static int add_copy(struct device *d, struct device_operand *o,
		    struct device_copy **out)
{
	struct device_copy **at = bucket_of(d, o->copies, o->part), *c;
	int rc;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	rc = copies_alloc(d, o->bytes, &c->device_ptr);
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

static bool has_part(const struct device_copy *c,
		     const struct device_operand *o)
{
	/* order: copies.since */
	return c->version >= offhost_since(o->copies, o->part) && c->version &&
	       !c->is_changing && o->offset + o->bytes <= c->bytes;
}

void copies_find_source(struct device *d, struct device_operand *o)
{
	struct device_copy *c = NULL;

	if (o->part && o->mode & LKDF_READ && d->ops.copy)
		c = find_copy(d, o->copies, 0);
	if (!c || !has_part(c, o))
		return;
	c->nr_pins++;
	c->nr_sinks++;
	o->source = c;
}

void copies_drop_source(struct device_operand *o)
{
	if (!o->source)
		return;
	check(o->source->nr_pins && o->source->nr_sinks);
	o->source->nr_pins--;
	o->source->nr_sinks--;
	o->source = NULL;
}

static bool is_stale(const struct device_copy *c)
{
	return c->version != offhost_version(c->of, c->part);
}

/* The operand's request cannot have it now. */
static bool is_busy(const struct device_copy *c, const struct device_operand *o)
{
	bool writes = o->mode & LKDF_WRITE;

	/* A reader waits for its bytes, which another one brings. */
	if (c->is_changing)
		return true;
	/* A writer waits until they have left. */
	if (c->is_leaving && writes)
		return true;
	/* Another copy is made of it. */
	return c->nr_sinks && (writes || is_stale(c));
}

int copies_pin(struct device *d, struct device_operand *o)
{
	struct device_copy *c = find_copy(d, o->copies, o->part);
	int rc = 0;

	if (c && is_busy(c, o))
		return -EAGAIN;
	if (!c)
		rc = add_copy(d, o, &c);
	if (rc)
		return rc;
	c->nr_pins++;
	o->copy = c;
	o->device_ptr = c->device_ptr;
	c->host = o->host;
	c->offset = o->offset;
	/* order: copies.version */
	o->is_filled = c->version == offhost_version(o->copies, o->part);
	c->is_changing = o->mode & LKDF_WRITE || !o->is_filled;
	if (!o->is_filled)
		copies_find_source(d, o);
	return 0;
}

void copies_fill(struct device_copy *c)
{
	c->version = offhost_version(c->of, c->part);
}

void copies_publish(struct device *d, struct device_copy *c, bool is_home)
{
	check(c->nr_pins && !c->is_leaving);
	/* order: copies.dirty: the host has them not. */
	c->is_dirty = !is_home;
	c->writer = d->rows.last_kernel;
	c->version = offhost_publish(d, c->of, c->part, is_home);
}

void copies_spoil(struct device *d, struct device_copy *c)
{
	copies_publish(d, c, true);
	c->version = 0;
}

void copies_let_go(struct device *d, struct device_copy *c)
{
	check(c->nr_pins);
	c->nr_pins--;
	list_del(&c->lru);
	list_push(&d->lru, &c->lru);
}

void copies_unpin(struct device *d, struct device_operand *o, enum copy_end end)
{
	struct device_copy *c = o->copy;
	bool writes = o->mode & LKDF_WRITE;

	copies_drop_source(o);
	if (writes && end == COPY_WRITTEN)
		copies_publish(d, c, o->is_through);
	else if (writes && end == COPY_SPOILT)
		copies_spoil(d, c);
	else if (!o->is_filled && end == COPY_UNTOUCHED)
		c->version = 0;
	else if (!o->is_filled)
		copies_fill(c);
	if (writes || !o->is_filled)
		c->is_changing = false;
	copies_let_go(d, c);
	o->copy = NULL;
}

void copies_drop_all(struct device *d)
{
	struct device_copy *c;

	while (!list_is_empty(&d->lru)) {
		c = container_of(d->lru.next, struct device_copy, lru);
		c->nr_pins = c->nr_sinks = 0;
		a_and(&c->of->on, ~((uint64_t)1 << d->attr.index), relaxed);
		drop_copy(d, c);
	}
}
