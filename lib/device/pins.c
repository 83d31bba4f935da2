/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/pins.h"

#include "base/err.h"
#include "base/util.h"
#include "device/offhost.h"
#include "device/rest.h"
#include "trace/counters.h"

#include <stdlib.h>

#define PAGE 4096

struct device_pin {
	struct device_pin *next; /* of the bucket */
	struct copies *of;
	void *host;
	uint64_t bytes;
};

static uint64_t bit_of(const struct device *d)
{
	return (uint64_t)1 << d->attr.index;
}

static struct device_pin **find_pin(struct device *d, const struct copies *of)
{
	struct device_pin **at =
		&d->pins.bucket[(uintptr_t)of / sizeof(*of) % PINS_BUCKETS];

	while (*at && (*at)->of != of)
		at = &(*at)->next;
	return at;
}

/* ---- made --------------------------------------------------------------- */

static void add_pin(struct device *d, struct copies *c, struct device_pin *p)
{
	struct device_pin **at = find_pin(d, c);

	p->next = *at;
	*at = p;
	d->pins.bytes += p->bytes;
	if (d->executor)
		d->attr.count(d->executor, COUNTER_PINS, 1);
	a_or(&c->pinned.on, bit_of(d), relaxed);
	/* Its launcher is asked to forget it. */
	a_or(&c->on, bit_of(d), relaxed);
}

/* A refusal is nobody's error: the bytes are carried as they are. */
static void make_pin(struct device *d, struct copies *c, char *base)
{
	uint64_t bytes = round_up(c->pinned.bytes, (uint64_t)PAGE);
	struct device_pin *p;
	int rc;

	if (bytes > d->attr.pin_bytes - d->pins.bytes)
		return;
	a_or(&c->pinned.asked, bit_of(d), relaxed);
	p = (uintptr_t)base % PAGE ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return;
	p->of = c;
	p->host = base;
	p->bytes = bytes;
	err_clear();
	rc = d->ops.pin(d->dev, base, bytes);
	device_returned(d, "pin", rc);
	if (rc >= 0)
		add_pin(d, c, p);
	else
		free(p);
}

void pins_carry(struct device *d, struct copies *c, char *base, uint64_t bytes,
		enum pins_way way)
{
	struct pinned *p = c ? &c->pinned : NULL;

	if (!p || !p->bytes || !device_has(d, LKDF_DEVICE_PINS) ||
	    a_load(&p->asked, relaxed) & bit_of(d))
		return;
	if (a_add(&p->carried[way], bytes, relaxed) >= p->bytes)
		make_pin(d, c, base);
}

/* ---- and given back ----------------------------------------------------- */

static void drop_pin(struct device *d, struct device_pin **at)
{
	struct device_pin *p = *at;

	*at = p->next;
	d->pins.bytes -= p->bytes;
	a_and(&p->of->pinned.on, ~bit_of(d), relaxed);
	if (!a_load(&d->is_lost, relaxed))
		d->ops.unpin(d->dev, p->host);
	free(p);
}

bool pins_drop(struct device *d, struct copies *c)
{
	struct device_pin **at = find_pin(d, c);

	if (!*at)
		return true;
	if (!rest_is_at_work(d) || a_load(&d->is_lost, relaxed)) {
		drop_pin(d, at);
		return true;
	}
	d->pins.late_bytes += (*at)->bytes;
	c->forget.next = d->pins.late;
	d->pins.late = &c->forget;
	return false;
}

bool pins_settle(struct device *d, void *executor)
{
	struct blocking_item *item = d->pins.late, *next;

	if (likely(!item) ||
	    (rest_is_at_work(d) && d->pins.late_bytes <= PINS_LATE))
		return false;
	d->pins.late = NULL;
	d->pins.late_bytes = 0;
	for (; item; item = next) {
		next = item->next;
		drop_pin(d, find_pin(d, container_of(item, struct copies,
						     forget)));
		item->run(executor, item);
	}
	return true;
}

void pins_drop_all(struct device *d)
{
	unsigned i;

	for (i = 0; i < PINS_BUCKETS; i++)
		while (d->pins.bucket[i])
			drop_pin(d, &d->pins.bucket[i]);
}
