/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/offhost.h"

#include "base/util.h"
#include "device/copies.h"

#include <stdlib.h>

struct offhost *offhost_of(struct copies *c, uint32_t part)
{
	check(part <= c->nr_parts);
	return part ? &c->parts[part - 1] : &c->whole;
}

static void init_offhost(struct copies *c, struct offhost *a)
{
	a->of = c;
	a->version = 1;
}

/* ---- from the first kernel to the last use ------------------------------ */

void copies_split(struct copies *c, uint32_t nr, struct offhost *parts)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		init_offhost(c, &parts[i]);
	c->parts = parts;
	c->nr_parts = nr;
}

struct copies *copies_create(struct device *const *devices,
			     const _Atomic(uint32_t) *is_alive,
			     uint32_t nr_parts, uint64_t pin_bytes)
{
	struct copies *c = calloc(1, sizeof(*c));
	struct offhost *parts = NULL;

	if (!c)
		return NULL;
	if (nr_parts)
		parts = calloc(nr_parts, sizeof(*parts));
	if (nr_parts && !parts) {
		free(c);
		return NULL;
	}
	c->devices = devices;
	c->is_alive = is_alive;
	c->pinned.bytes = pin_bytes;
	init_offhost(c, &c->whole);
	copies_split(c, nr_parts, parts);
	return c;
}

static void free_copies(struct copies *c)
{
	void (*gone)(void *u) = c->gone;
	void *u = c->gone_u;

	free(c->parts);
	free(c);
	gone(u);
}

static void forget_next(struct copies *c);

static void forget_here(void *executor, struct blocking_item *item)
{
	struct copies *c = container_of(item, struct copies, forget);
	struct device *d = c->devices[c->next_device];

	(void)executor;
	/* A fetch on its way home writes bytes of the data. */
	if (!copies_drop(d, c))
		return;
	/* The driver is to forget them before they are freed. */
	if (!pins_drop(d, c))
		return;
	a_and(&c->on, ~((uint64_t)1 << d->attr.index), relaxed);
	forget_next(c);
}

static void forget_next(struct copies *c)
{
	uint64_t on = a_load(&c->on, relaxed);

	if (!on || !a_load(c->is_alive, relaxed)) {
		free_copies(c);
		return;
	}
	c->next_device = (unsigned)__builtin_ctzll(on);
	c->forget.run = forget_here;
	device_push(c->devices[c->next_device], DEVICE_NOW, &c->forget);
}

void copies_forget(struct copies *c, void (*gone)(void *u), void *u)
{
	if (!c) {
		gone(u);
		return;
	}
	c->gone = gone;
	c->gone_u = u;
	forget_next(c);
}

/* ---- who waits for them ------------------------------------------------- */

static void run_all(void *executor, struct blocking_item *first)
{
	struct blocking_item *next;

	for (; first; first = next) {
		next = first->next;
		first->run(executor, first);
	}
}

static struct blocking_item *take_waiting(struct offhost *a)
{
	struct blocking_item *first = a->waiting;

	lock_assert_held(&a->of->lock);
	a->waiting = NULL;
	return first;
}

static uint32_t part_of(const struct offhost *a)
{
	return a == &a->of->whole ? 0 : (uint32_t)(a - a->of->parts) + 1;
}

static void ask_device(struct offhost *a);

static void answer_ask(void *executor, struct blocking_item *item)
{
	struct offhost *a = container_of(item, struct offhost, ask);
	struct copies *c = a->of;
	struct blocking_item *first = NULL;
	struct device *here = a->asked;
	bool is_here;

	lock_take(&c->lock);
	a->is_asked = false;
	/* Those who asked may have them, and a kernel may write them again. */
	is_here = a->device == here && a->waiting;
	if (!a->device)
		first = take_waiting(a);
	else if (a->device != here && a->waiting)
		ask_device(a);
	lock_give(&c->lock);
	if (is_here)
		copies_return(here, c, part_of(a));
	run_all(executor, first);
}

/* Under lock. */
static void ask_device(struct offhost *a)
{
	lock_assert_held(&a->of->lock);
	if (a->is_asked)
		return;
	a->is_asked = true;
	a->asked = a->device;
	a->ask.run = answer_ask;
	device_push(a->device, DEVICE_NOW, &a->ask);
}

/* Under lock. The waiter waits for the first that is not home. */
static void want_home(struct offhost *a, const struct device *but,
		      struct blocking_item **waiter)
{
	if (!a->device || a->device == but)
		return;
	if (*waiter) {
		(*waiter)->next = a->waiting;
		a->waiting = *waiter;
		*waiter = NULL;
	}
	ask_device(a);
}

bool offhost_wait_slowly(struct copies *c, uint32_t part,
			 const struct device *but, const struct device *whole,
			 struct blocking_item *waiter)
{
	uint32_t i;

	lock_take(&c->lock);
	/* order: offhost.whole */
	want_home(&c->whole, part ? whole : but, &waiter);
	if (part)
		want_home(offhost_of(c, part), but, &waiter);
	/* order: offhost.parts */
	for (i = 1; !part && i <= c->last_part; i++)
		want_home(offhost_of(c, i), NULL, &waiter);
	lock_give(&c->lock);
	return !waiter;
}

static bool is_elsewhere(const struct offhost *a, const struct device *but)
{
	lock_assert_held(&a->of->lock);
	return a->device && a->device != but;
}

bool offhost_is_elsewhere_slowly(struct copies *c, uint32_t part,
				 const struct device *but,
				 const struct device *whole)
{
	bool is;
	uint32_t i;

	lock_take(&c->lock);
	is = is_elsewhere(&c->whole, part ? whole : but) ||
	     (part && is_elsewhere(offhost_of(c, part), but));
	for (i = 1; !part && !is && i <= c->last_part; i++)
		is = is_elsewhere(offhost_of(c, i), NULL);
	lock_give(&c->lock);
	return is;
}

static void each_waiting(const struct offhost *a,
			 void (*fn)(void *u, const struct device *d,
				    uint32_t part,
				    const struct blocking_item *item),
			 void *u)
{
	const struct blocking_item *i;

	lock_assert_held(&a->of->lock);
	for (i = a->device ? a->waiting : NULL; i; i = i->next)
		fn(u, a->device, part_of(a), i);
}

void offhost_each_waiting(struct copies *c,
			  void (*fn)(void *u, const struct device *d,
				     uint32_t part,
				     const struct blocking_item *item),
			  void *u)
{
	uint32_t i;

	lock_take(&c->lock);
	each_waiting(&c->whole, fn, u);
	for (i = 1; i <= c->last_part; i++)
		each_waiting(offhost_of(c, i), fn, u);
	lock_give(&c->lock);
}

/* ---- versions ----------------------------------------------------------- */

/* Under lock: a write of the part, or of all of them. */
static uint64_t make_version(struct copies *c, uint32_t part)
{
	struct offhost *a = offhost_of(c, part);
	uint32_t i;

	lock_assert_held(&c->lock);
	a->error = 0;
	/* order: offhost.of_whole: a copy of the whole is stale. */
	if (part)
		c->whole.version++;
	/* order: offhost.since: for copies of a part that are made of it, too.
	 */
	a->since = c->whole.version + !part;
	/* order: offhost.of_parts: and copies of all parts. */
	for (i = 1; !part && i <= c->last_part; i++) {
		offhost_of(c, i)->version++;
		offhost_of(c, i)->error = 0;
	}
	/* order: offhost.version */
	return ++a->version;
}

/* Under lock. */
static void set_device(struct offhost *a, struct device *d)
{
	int nr = (d != NULL) - (a->device != NULL);

	lock_assert_held(&a->of->lock);
	a->device = d;
	/* [offhost.home] the bytes; pairs with [offhost.look]. */
	a_add(&a->of->nr_away, (uint32_t)nr, release);
}

void offhost_written(struct copies *c, uint32_t part)
{
	lock_take(&c->lock);
	check(!offhost_of(c, part)->device);
	make_version(c, part);
	lock_give(&c->lock);
}

uint64_t offhost_version(struct copies *c, uint32_t part)
{
	uint64_t version;

	lock_take(&c->lock);
	c->last_part = part > c->last_part ? part : c->last_part;
	version = offhost_of(c, part)->version;
	lock_give(&c->lock);
	return version;
}

uint64_t offhost_since(struct copies *c, uint32_t part)
{
	uint64_t since;

	lock_take(&c->lock);
	since = max_u64(offhost_of(c, part)->since, c->whole.since);
	lock_give(&c->lock);
	return since;
}

uint64_t offhost_publish(struct device *d, struct copies *c, uint32_t part,
			 bool is_home)
{
	uint64_t version;

	lock_take(&c->lock);
	version = make_version(c, part);
	set_device(offhost_of(c, part), is_home ? NULL : d);
	lock_give(&c->lock);
	return version;
}

void offhost_end(struct device *d, struct copies *c, uint32_t part, int error)
{
	struct offhost *a = offhost_of(c, part);
	struct blocking_item *first;

	lock_take(&c->lock);
	check(a->device == d);
	a->error = error;
	if (error)
		a_store(&c->has_lost, true, relaxed);
	set_device(a, NULL);
	first = take_waiting(a);
	lock_give(&c->lock);
	run_all(d->executor, first);
}

int offhost_take_error(struct copies *c, uint32_t part)
{
	struct offhost *a = offhost_of(c, part);
	int error;

	if (likely(!a_load(&c->has_lost, relaxed)))
		return 0;
	lock_take(&c->lock);
	error = a->error;
	a->error = 0;
	lock_give(&c->lock);
	return error;
}

static bool is_newer(struct copies *c, uint32_t part)
{
	lock_assert_held(&c->lock);
	return offhost_of(c, part)->since > c->whole.since;
}

bool offhost_is_newer(struct copies *c, uint32_t part)
{
	bool is;

	lock_take(&c->lock);
	is = is_newer(c, part);
	lock_give(&c->lock);
	return is;
}

int offhost_error(struct copies *c, uint32_t part)
{
	uint32_t i;
	int error;

	if (likely(!a_load(&c->has_lost, relaxed)))
		return 0;
	lock_take(&c->lock);
	error = offhost_of(c, part)->error;
	if (!error && part && !is_newer(c, part))
		error = c->whole.error;
	for (i = 1; !part && !error && i <= c->last_part; i++)
		error = offhost_of(c, i)->error;
	lock_give(&c->lock);
	return error;
}
