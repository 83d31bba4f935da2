/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/offhost.h"

#include "core/failure.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what devices have of a data ---------------------------------------- */

/*
 * Bytes of our own that stay where they are, in pages that have nothing else:
 * blocks of that size are such.
 */
static uint64_t pin_bytes(const struct lkdf_data *d)
{
	return d->is_wrapped || d->flags & DATA_MOVES || d->bytes < PINS_LEAST
		       ? 0
		       : d->bytes;
}

/* Under lock. */
static struct copies *make_copies(struct lkdf_data *d,
				  struct device *const *devices)
{
	struct copies *c = a_load(&d->copies, relaxed);

	lock_assert_held(&d->domain.lock);
	if (c)
		return c;
	c = copies_create(devices, d->rt->is_alive, d->domain.nr_parts,
			  pin_bytes(d));
	if (!c)
		return NULL;
	a_store(&d->domain.whole.is_plain, false, relaxed);
	a_store(&d->rt->has_copies, true, relaxed);
	/* [copies.made] as above. */
	a_store(&d->copies, c, release);
	return c;
}

struct copies *data_make_copies(struct lkdf_data *d,
				struct device *const *devices)
{
	struct copies *c = data_copies(d);

	if (c)
		return c;
	lock_take(&d->domain.lock);
	c = make_copies(d, devices);
	lock_give(&d->domain.lock);
	return c;
}

/* ---- before the host uses it -------------------------------------------- */

/* Bytes of a run are nobody else's. */
static struct copies *copies_of(const struct use *u)
{
	return u->flags & (USE_WEAK | USE_HIDDEN) || u->domain->bytes
		       ? NULL
		       : data_copies(u->domain->data);
}

bool offhost_use_waits(const struct use *u, struct blocking_item *waiter)
{
	struct copies *c = copies_of(u);

	if (u->flags & USE_LATER)
		return false;
	/* order: data.waits */
	return c && offhost_wait(c, u->part, NULL, NULL, waiter);
}

bool offhost_claim_waits(const struct claim *c, struct blocking_item *waiter)
{
	const struct use *u;

	for (u = c->first; u; u = u->after)
		if (offhost_use_waits(u, waiter))
			return true;
	return false;
}

/* Bytes of the part (0: the whole) are lost: are those of this part, too? */
static bool is_lost_with(struct copies *c, uint32_t part, uint32_t this_one)
{
	return part || !this_one || !offhost_is_newer(c, this_one);
}

/* The state of the whole is that of its parts. */
static void fail_var(struct domain *d, struct copies *c, uint32_t part,
		     int error, struct failure *f)
{
	uint32_t i;

	if (part || !d->nr_parts)
		var_fail(domain_var(d, part), error, f);
	for (i = 0; !part && i < d->nr_parts; i++)
		if (is_lost_with(c, 0, i + 1))
			var_fail(&d->parts[i], error, f);
}

static void note_lost(const struct use *u, struct copies *c, uint32_t part)
{
	struct lkdf_data *d = u->domain->data;
	int error = offhost_take_error(c, part);
	struct lkdf_error e = { .id = -1, .worker = -1, .nr_failed = 1 };
	struct failure *f;
	char text[DATA_TEXT];

	if (likely(!error))
		return;
	e.err = error;
	snprintf(e.why, sizeof(e.why),
		 "the device that alone had the bytes of %s could not give "
		 "them back",
		 data_text(d, part, text));
	f = failure_create(&e, "");
	fail_var(&d->domain, c, part, error, f);
	if (u->domain != &d->domain && is_lost_with(c, part, u->part))
		var_fail(u->var, error, f);
	failure_put(f, &d->rt->log);
}

static void note_all_lost(const struct use *u, struct copies *c)
{
	uint32_t part = u->part, i;

	if (likely(!a_load(&c->has_lost, relaxed)))
		return;
	note_lost(u, c, 0);
	if (part)
		note_lost(u, c, part);
	for (i = 1; !part && i <= c->nr_parts; i++)
		note_lost(u, c, i);
}

void offhost_begin(const struct use *u, bool writes)
{
	struct copies *c = copies_of(u);

	if (likely(!c))
		return;
	note_all_lost(u, c);
	/* order: data.written */
	if (writes && (u->flags & (USE_WRITES | USE_LATER)) == USE_WRITES)
		offhost_written(c, u->part);
}

void offhost_begin_all(const struct claim *c)
{
	const struct use *u;

	for (u = c->first; u; u = u->after)
		offhost_begin(u, true);
}
