/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/foreign.h"

#include "base/err.h"
#include "core/ops.h"
#include "offload/devices.h"
#include "scope/event.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAITS,
	FIRES,
	LEFT,
};

static bool take_queue(struct foreign_event *f, uint32_t state)
{
	uint32_t waits = WAITS;

	/* [foreign.take] whoever loses sees who won; pairs with itself. */
	return a_cas(&f->state, &waits, state, acq_rel, acquire);
}

static void forget_event(struct foreign_event *f)
{
	struct devices *all = f->rt->devices;

	a_sub(&f->device->nr_watched, 1, relaxed);
	pthread_mutex_lock(&all->lock);
	list_del(&f->all);
	pthread_mutex_unlock(&all->lock);
	free(f);
}

/* As a signal of the program's; close waits until we are out. */
static void fire_event(struct foreign_event *f, int error)
{
	struct lkdf *rt = f->rt;

	event_signal(f->event, error);
	runtime_show(runtime_executor(rt));
	sched_drain(&rt->sched);
}

/* Any thread of the device's driver; in a forked child there is none. */
static void event_fired(void *u, int error)
{
	struct foreign_event *f = u;

	if (!take_queue(f, FIRES)) {
		free(f);
		return;
	}
	fire_event(f, error > 0 ? -EIO : error < -EVENT_MAX_ERR ? -EIO : error);
	forget_event(f);
}

static struct foreign_event *create_event(struct lkdf *rt, struct device *d)
{
	struct foreign_event *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return NULL;
	f->rt = rt;
	f->device = d;
	rc = event_create(rt, runtime_executor(rt), 1, 2, &f->event);
	if (rc) {
		free(f);
		return NULL;
	}
	a_store(&event_of(f->event)->is_users, true, relaxed);
	return f;
}

int foreign_event(struct lkdf *rt, struct device *d, void *event,
		  struct lkdf_event *out)
{
	struct foreign_event *f = create_event(rt, d);
	struct lkdf_event e;
	char why[256];
	int rc;

	/* The launcher asks a device that may forget. */
	if (d->ops.poll)
		start_launcher(rt, d);
	if (!f)
		return err(-ENOMEM, "event_from_device: no memory");
	e = f->event;
	pthread_mutex_lock(&rt->devices->lock);
	list_append(&rt->devices->foreign, &f->all);
	pthread_mutex_unlock(&rt->devices->lock);
	a_add(&d->nr_watched, 1, relaxed);
	err_clear();
	rc = d->ops.watch(d->dev, event, event_fired, f);
	if (rc < 0) {
		snprintf(why, sizeof(why), "%s", err_text());
		event_put(e);
		event_put(e);
		forget_event(f);
		return err(rc, "event_from_device: device %s: %s", d->name,
			   why[0] ? why : strerror(-rc));
	}
	*out = e;
	if (d->ops.poll)
		device_ring(d);
	return 0;
}

/*
 * An event that still waits is left, and handed out. False: there is none;
 * *is_busy: some are firing.
 */
static bool leave_one(struct devices *all, struct lkdf_event *e, bool *is_busy)
{
	struct list *l, *before, *after;
	struct foreign_event *f;

	mutex_assert_held(&all->lock);
	*is_busy = false;
	for (l = all->foreign.next; l != &all->foreign; l = after) {
		f = container_of(l, struct foreign_event, all);
		before = l->prev;
		after = l->next;
		*e = f->event;
		if (!take_queue(f, LEFT)) {
			*is_busy = true;
			continue;
		}
		/* From here on the device's call may free it. */
		before->next = after;
		after->prev = before;
		return true;
	}
	return false;
}

void foreign_close(struct lkdf *rt)
{
	struct devices *all = rt->devices;
	struct lkdf_event e;
	bool has_one, is_busy;

	do {
		pthread_mutex_lock(&all->lock);
		has_one = leave_one(all, &e, &is_busy);
		pthread_mutex_unlock(&all->lock);
		if (has_one)
			event_signal(e, -ECANCELED);
		else if (is_busy)
			sched_yield();
	} while (has_one || is_busy);
}
