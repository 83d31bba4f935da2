/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/device.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "check/device.h"
#include "device/build.h"
#include "device/launcher.h"
#include "device/library.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests under way for each queue: the device always has a next one. */
#define PER_QUEUE 4

/* The text that a function of the device has given, or the error's name. */
static void keep_said(char why[DEVICE_WHY], int error)
{
	const char *said = err_text();

	snprintf(why, DEVICE_WHY, "%s", said[0] ? said : strerror(-error));
}

static int ask_info(struct device *d)
{
	char why[DEVICE_WHY];
	int rc;

	d->info.size = sizeof(d->info);
	d->info.node = -1;
	err_clear();
	rc = d->ops.info(d->dev, &d->info);
	if (rc < 0) {
		keep_said(why, rc);
		return err(rc, "device %s: info: %s", d->name, why);
	}
	d->info.name[sizeof(d->info.name) - 1] = 0;
	if (!device_has(d, LKDF_DEVICE_HOST_MEMORY) && !d->info.memory)
		return err(-EINVAL,
			   "device %s: info: memory is 0, and the device has "
			   "not LKDF_DEVICE_HOST_MEMORY",
			   d->name);
	return 0;
}

static void set_limits(struct device *d)
{
	const struct device_attr *a = &d->attr;
	unsigned nr = d->info.nr_queues ? d->info.nr_queues : 1;

	if (a->nr_queues && a->nr_queues < nr)
		nr = a->nr_queues;
	d->nr_queues = nr < DEVICE_QUEUES ? nr : DEVICE_QUEUES;
	d->max_under_way = PER_QUEUE * d->nr_queues;
	if (device_has(d, LKDF_DEVICE_HOST_MEMORY))
		return;
	d->capacity = d->info.memory;
	if (a->memory && a->memory < d->capacity)
		d->capacity = a->memory;
}

int device_create(const struct lkdf_device_ops *ops, void *dev,
		  const struct device_attr *a, struct device **out)
{
	struct device *d = calloc(1, sizeof(*d));
	int rc, i;

	if (!d)
		return err(-ENOMEM, "device %s: no memory", ops->name);
	d->ops = *ops;
	d->dev = dev;
	d->attr = *a;
	snprintf(d->name, sizeof(d->name), "%s", ops->name);
	d->ops.name = d->name;
	rc = ask_info(d);
	if (rc) {
		free(d);
		return rc;
	}
	set_limits(d);
	rc = build_open(d);
	if (rc) {
		free(d);
		return rc;
	}
	d->bell = a->bell ? a->bell : &d->own_bell;
	for (i = 0; i < DEVICE_CLASSES; i++)
		d->last[i] = &d->first[i];
	list_init(&d->under_way);
	spare_open(d);
	quiet_open(d);
	list_init(&d->builds);
	list_init(&d->codes);
	list_init(&d->pieces);
	list_init(&d->holds);
	list_init(&d->lru);
	list_init(&d->moves);
	d->last_hungry = &d->hungry;
	pthread_mutex_init(&d->start_lock, NULL);
	rows_open(d);
	*out = d;
	return 0;
}

void device_destroy(struct device *d, bool stops)
{
	struct device_chunk *c, *next;
	unsigned i;

	library_close(d);
	if (stops) {
		d->ops.stop(d->dev);
		/* [device.quiet] pairs with [device.told]. */
		while (a_load(&d->nr_telling, acquire))
			sched_yield();
		build_close(d);
	} else {
		build_abandon(d);
	}
	for (c = d->chunks; c; c = next) {
		next = c->next;
		for (i = 0; i < DEVICE_SLOTS; i++)
			free(c->slot[i].why);
		free(c);
	}
	free(d);
}

/* ---- any thread --------------------------------------------------------- */

/* After what is news was added under the lock. */
static void wake_launcher(struct device *d)
{
	/*
	 * [device.wake] pairs with [device.sleep]: who sleeps has said so
	 * before it looked at the queues under the lock, in vain.
	 */
	if (a_load(d->bell, relaxed) && a_xchg(d->bell, 0, acq_rel))
		futex_wake(d->bell, 1);
}

void device_push(struct device *d, unsigned class, struct blocking_item *item)
{
	check(class < DEVICE_CLASSES);
	item->next = NULL;
	a_add(&d->load, 1, relaxed);
	lock_take(&d->lock);
	*d->last[class] = item;
	d->last[class] = &item->next;
	lock_give(&d->lock);
	wake_launcher(d);
}

void device_ring(struct device *d)
{
	lock_take(&d->lock);
	d->is_rung = true;
	lock_give(&d->lock);
	wake_launcher(d);
}

/* Once it is told the launcher may end the op, and with it the last task. */
static int tell_done(struct device *d, struct lkdf_device_op op, int error,
		     const char *why)
{
	uint64_t generation = op.generation;
	struct device_slot *s = op.slot;

	if (!(generation & 1) || !a_cas(&s->generation, &generation,
					generation + 1, relaxed, relaxed))
		return err(-ESTALE, "device_done: %s: it was done before",
			   d->name);
	s->error = error;
	s->why = unlikely(why != NULL) ? strdup(why) : NULL;
	s->end_ticks = clock_ticks();
	/* Before the launcher can end the last task: the worker is there. */
	if (s->is_awaited)
		d->attr.expect(d->attr.u);
	lock_take(&d->lock);
	s->next = d->done;
	d->done = s;
	lock_give(&d->lock);
	wake_launcher(d);
	return 0;
}

int device_done(struct lkdf_device_op op, int error, const char *why)
{
	struct device_slot *s = op.slot;
	struct device *d;
	int rc;

	if (!s)
		return err(-EINVAL, "device_done: the slot is NULL");
	if (error > 0)
		return err(-EINVAL, "device_done: error %d is not negative",
			   error);
	d = s->device;
	/* A forked child has none of the launcher's threads. */
	if (!a_load(d->attr.is_alive, relaxed))
		return err(-EOWNERDEAD,
			   "device_done: the runtime is the parent's");
	/* The lock in between shows it to who closes. */
	a_add(&d->nr_telling, 1, relaxed);
	if (unlikely(d->attr.check != NULL))
		check_device_tell(d->attr.check, DEVICE_DONE);
	rc = tell_done(d, op, error, why);
	/* [device.told] our last look at it; pairs with [device.quiet]. */
	a_sub(&d->nr_telling, 1, release);
	return rc;
}

const char *device_why_lost(const struct device *d)
{
	/* [device.lost] as below. */
	return a_load(&d->is_lost, acquire) ? d->why_lost : NULL;
}

int device_require(struct device *d)
{
	int rc = 0;

	/* [device.started] pairs with itself. */
	if (likely(a_load(&d->is_started, acquire)))
		return 0;
	pthread_mutex_lock(&d->start_lock);
	if (!a_load(&d->is_started, relaxed)) {
		rc = d->attr.bell ? 0 : launcher_start(d);
		/* [device.started] as above. */
		if (!rc)
			a_store(&d->is_started, true, release);
	}
	pthread_mutex_unlock(&d->start_lock);
	return rc;
}

void device_stop(struct device *d)
{
	if (!a_load(&d->is_started, relaxed))
		return;
	lock_take(&d->lock);
	d->is_stopping = true;
	lock_give(&d->lock);
	wake_launcher(d);
	if (d->attr.bell)
		launcher_end(d);
	else
		pthread_join(d->thread, NULL);
	build_stop(d);
	a_store(&d->is_started, false, relaxed);
}

/* ---- the launcher ------------------------------------------------------- */

static bool add_chunk(struct device *d)
{
	struct device_chunk *c = calloc(1, sizeof(*c));
	unsigned i;

	if (!c)
		return false;
	c->next = d->chunks;
	d->chunks = c;
	for (i = 0; i < DEVICE_SLOTS; i++) {
		c->slot[i].device = d;
		list_init(&c->slot[i].quiet);
		list_init(&c->slot[i].covered);
		c->slot[i].next = d->free_slots;
		d->free_slots = &c->slot[i];
	}
	return true;
}

struct device_slot *device_give(struct device *d, struct device_req *r,
				struct lkdf_device_op *op)
{
	struct device_slot *s;

	if (!d->free_slots && !add_chunk(d))
		return NULL;
	s = d->free_slots;
	d->free_slots = s->next;
	s->req = r;
	s->is_awaited = false;
	op->slot = s;
	op->generation = a_load(&s->generation, relaxed) + 1;
	a_store(&s->generation, op->generation, relaxed);
	return s;
}

void device_free_slot(struct device *d, struct device_slot *s)
{
	check(!(a_load(&s->generation, relaxed) & 1));
	quiet_forget(s);
	free(s->why);
	s->why = NULL;
	s->req = NULL;
	s->copy = NULL;
	s->move = NULL;
	s->next = d->free_slots;
	d->free_slots = s;
}

bool device_end_slot(struct device_slot *s)
{
	uint64_t generation = a_load(&s->generation, relaxed);

	return generation & 1 && a_cas(&s->generation, &generation,
				       generation + 1, relaxed, relaxed);
}

bool device_revoke(struct device *d, struct device_slot *s)
{
	if (!device_end_slot(s))
		return false;
	rows_cancel(d, s);
	device_free_slot(d, s);
	return true;
}

struct device_slot *device_take_done(struct device *d)
{
	struct device_slot *s, *next, *first = NULL;

	lock_take(&d->lock);
	s = d->done;
	d->done = NULL;
	d->is_rung = false;
	lock_give(&d->lock);
	if (unlikely(d->attr.check != NULL))
		check_device_hear(d->attr.check, DEVICE_DONE);
	for (; s; s = next) {
		next = s->next;
		s->next = first;
		first = s;
	}
	return first;
}

struct blocking_item *device_take(struct device *d, unsigned lowest)
{
	struct blocking_item *item = NULL;
	unsigned class = DEVICE_CLASSES;

	lock_take(&d->lock);
	while (!item && class -- > lowest) {
		item = d->first[class];
		if (!item)
			continue;
		d->first[class] = item->next;
		if (!item->next)
			d->last[class] = &d->first[class];
	}
	lock_give(&d->lock);
	if (item)
		a_sub(&d->load, 1, relaxed);
	return item;
}

static void forget_slot(struct device *d, struct device_slot *s)
{
	if (!s->req && !s->copy && !s->move)
		return;
	/* An operation that was done meanwhile comes by itself. */
	s->req = NULL;
	s->copy = NULL;
	s->move = NULL;
	device_revoke(d, s);
}

void device_forget_slots(struct device *d)
{
	struct device_chunk *c;
	unsigned i;

	for (c = d->chunks; c; c = c->next)
		for (i = 0; i < DEVICE_SLOTS; i++)
			forget_slot(d, &c->slot[i]);
}

void device_returned(struct device *d, const char *function, int rc)
{
	const char *said = err_text();

	if (rc != -ENODEV)
		return;
	d->has_gone = true;
	if (!d->why_lost[0] && !a_load(&d->is_lost, relaxed))
		snprintf(d->why_lost, sizeof(d->why_lost), "%s: %s", function,
			 said[0] ? said : strerror(ENODEV));
}

void device_set_lost(struct device *d)
{
	/* [device.lost] why_lost is there; pairs with itself. */
	a_store(&d->is_lost, true, release);
}

bool device_begin(struct device *d)
{
	if (!d->has_begun && d->ops.start)
		d->start_error = d->ops.start(d->dev, DEVICE_KERNEL_QUEUE +
							      d->nr_queues);
	if (!d->has_begun && d->start_error < 0)
		keep_said(d->why_start, d->start_error);
	d->has_begun = true;
	return d->start_error >= 0;
}
