/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/launcher.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/thread.h"
#include "base/thrown.h"
#include "base/util.h"
#include "device/code.h"
#include "device/copies.h"
#include "device/held.h"
#include "device/library.h"
#include "device/piece.h"
#include "device/request.h"
#include "device/rest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static bool poll_device(struct device *d, void *executor)
{
	int rc;

	if (!rest_is_over(d) || !device_begin(d))
		return false;
	err_clear();
	rc = d->ops.poll(d->dev);
	if (rc >= 0)
		return false;
	device_returned(d, "poll", -ENODEV);
	request_lose_all(d, executor);
	return true;
}

/* From the end that has woken the launcher to this step. */
static void measure_wake(struct device *d, const struct device_slot *first)
{
	if (!first)
		return;
	if (d->window.has_slept)
		window_add(&d->window.wake_ns,
			   rows_ns(d, clock_ticks() - first->end_ticks));
	d->window.has_slept = false;
}

bool launcher_step(struct device *d, void *executor)
{
	struct device_slot *s, *next;
	struct blocking_item *item;
	bool has_moved, is_settled;

	d->executor = executor;
	d->is_stepping = true;
	has_moved = poll_device(d, executor);
	s = device_take_done(d);
	measure_wake(d, s);
	for (; s; s = next) {
		next = s->next;
		has_moved = true;
		request_op_done(d, executor, s);
	}
	has_moved |= request_feed(d, executor);
	has_moved |= held_feed(d);
	item = device_take(d, device_has_room(d) ? 0 : DEVICE_NOW);
	if (item)
		item->run(executor, item);
	is_settled = quiet_settle(d);
	if (d->has_gone)
		request_lose_all(d, executor);
	has_moved |= pins_settle(d, executor);
	if (unlikely(!list_is_empty(&d->holds)))
		has_moved |= piece_look(d, executor);
	d->is_stepping = false;
	rows_publish(d);
	return has_moved || item || !is_settled;
}

bool launcher_is_busy(struct device *d)
{
	bool is_busy;

	lock_take(&d->lock);
	is_busy = rest_is_at_work(d) || d->done || device_has_items(d) ||
		  !list_is_empty(&d->holds);
	lock_give(&d->lock);
	return is_busy;
}

static bool must_end(struct device *d)
{
	bool is_stopping;

	lock_take(&d->lock);
	is_stopping = d->is_stopping && !device_has_items(d);
	lock_give(&d->lock);
	return is_stopping && !rest_is_at_work(d);
}

void launcher_end(struct device *d)
{
	while (launcher_step(d, NULL))
		continue;
	library_drop_all(d);
	piece_drop_all(d);
	code_drop_all(d);
	copies_drop_all(d);
	pins_drop_all(d);
	spare_drop_all(d);
}

static void *launcher_main(void *arg)
{
	struct device *d = arg;
	char name[16];
	void *executor;

	THROWN_ENDS_HERE;
	snprintf(name, sizeof(name), "lkdf/d%u", d->attr.index);
	pthread_setname_np(pthread_self(), name);
	/* Else naps beside a device that is polled are late by 50 us. */
	if (d->ops.poll && !device_has(d, LKDF_DEVICE_CALLS))
		prctl(PR_SET_TIMERSLACK, 1UL);
	executor = d->attr.enter(d->attr.u, d->attr.executor);
	while (!must_end(d)) {
		if (launcher_step(d, executor))
			rest_reset(d);
		else
			rest_launcher(d);
	}
	launcher_end(d);
	thread_retire();
	return NULL;
}

int launcher_start(struct device *d)
{
	pthread_attr_t attr;
	int rc;

	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	if (d->attr.stack_kib)
		pthread_attr_setstacksize(&attr, d->attr.stack_kib * 1024);
	if (d->attr.is_bound)
		pthread_attr_setaffinity_np(&attr, sizeof(d->attr.cpus),
					    &d->attr.cpus);
	rc = helper_start(&d->thread, &attr, launcher_main, d);
	pthread_attr_destroy(&attr);
	return rc ? err(-EAGAIN, "device %s: cannot start its launcher: %s",
			d->name, strerror(rc))
		  : 0;
}
