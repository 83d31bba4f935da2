/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/launcher.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/thread.h"
#include "base/thrown.h"
#include "base/util.h"
#include "device/code.h"
#include "device/copies.h"
#include "device/held.h"
#include "device/request.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Polls in a row, then naps that double up to this, then the device calls. */
#define NR_POLLS 64
#define NAP_NS 1000
#define MAX_NAP_NS 20000
#define ARM_NS 200000

static bool has_room(const struct device *d)
{
	return !d->starving && !d->hungry && d->nr_under_way < d->max_under_way;
}

static bool is_at_work(const struct device *d)
{
	return d->nr_under_way || d->leaving || !list_is_empty(&d->moves);
}

static bool poll_device(struct device *d, void *executor)
{
	if (!d->ops.poll || !is_at_work(d) || a_load(&d->is_lost, relaxed))
		return false;
	if (d->ops.poll(d->dev) >= 0)
		return false;
	request_lose_all(d, executor);
	return true;
}

bool launcher_step(struct device *d, void *executor)
{
	struct device_slot *s, *next;
	struct blocking_item *item;
	bool has_moved;

	d->executor = executor;
	d->is_stepping = true;
	has_moved = poll_device(d, executor);
	s = device_take_done(d);
	for (; s; s = next) {
		next = s->next;
		has_moved = true;
		request_op_done(d, executor, s);
	}
	has_moved |= request_feed(d, executor);
	has_moved |= held_feed(d);
	item = device_take(d, has_room(d) ? 0 : DEVICE_NOW);
	if (item)
		item->run(executor, item);
	if (d->has_gone)
		request_lose_all(d, executor);
	d->is_stepping = false;
	rows_publish(d);
	return has_moved || item;
}

static bool has_items(const struct device *d)
{
	unsigned i;

	for (i = 0; i < DEVICE_CLASSES; i++)
		if (d->first[i])
			return true;
	return false;
}

bool launcher_is_busy(struct device *d)
{
	bool is_busy;

	lock_take(&d->lock);
	is_busy = is_at_work(d) || d->done || has_items(d);
	lock_give(&d->lock);
	return is_busy;
}

/* Under lock. */
static bool has_news(const struct device *d)
{
	lock_assert_held(&d->lock);
	return d->done || d->is_rung || d->is_stopping ||
	       d->first[DEVICE_NOW] || (has_room(d) && has_items(d));
}

static void sleep_for(struct device *d, int64_t ns)
{
	bool stays;

	/* [device.sleep] before we look; pairs with [device.wake]. */
	a_store(d->bell, 1, relaxed);
	lock_take(&d->lock);
	stays = !has_news(d);
	lock_give(&d->lock);
	if (stays)
		futex_wait(d->bell, 1, ns);
	a_store(d->bell, 0, relaxed);
}

static void wake_me(void *u)
{
	device_ring(u);
}

/* The device does not call: soon we look again. */
static void rest_polling(struct device *d)
{
	int64_t now, nap = NAP_NS;

	if (d->nr_idle_polls++ < NR_POLLS)
		return;
	now = clock_now_ns();
	if (d->nr_idle_polls == NR_POLLS + 1)
		d->idle_since = now;
	if (d->ops.arm && now - d->idle_since > ARM_NS &&
	    d->ops.arm(d->dev, wake_me, d) >= 0) {
		sleep_for(d, -1);
		return;
	}
	if (d->nr_idle_polls - NR_POLLS < 16)
		nap <<= d->nr_idle_polls - NR_POLLS;
	sleep_for(d, nap < MAX_NAP_NS && nap > 0 ? nap : MAX_NAP_NS);
}

static void rest_until_rung(struct device *d)
{
	if (d->ops.poll && is_at_work(d) && !a_load(&d->is_lost, relaxed))
		rest_polling(d);
	else
		sleep_for(d, -1);
}

static bool must_end(struct device *d)
{
	bool is_stopping;

	lock_take(&d->lock);
	is_stopping = d->is_stopping && !has_items(d);
	lock_give(&d->lock);
	return is_stopping && !is_at_work(d);
}

void launcher_end(struct device *d)
{
	while (launcher_step(d, NULL))
		continue;
	code_drop_all(d);
	copies_drop_all(d);
}

static void *launcher_main(void *arg)
{
	struct device *d = arg;
	char name[16];
	void *executor;

	THROWN_ENDS_HERE;
	snprintf(name, sizeof(name), "lkdf/d%u", d->attr.index);
	pthread_setname_np(pthread_self(), name);
	executor = blocking_enter(d->attr.blocking, d->thread_id);
	while (!must_end(d)) {
		if (launcher_step(d, executor))
			d->nr_idle_polls = 0;
		else
			rest_until_rung(d);
	}
	launcher_end(d);
	thread_retire();
	return NULL;
}

int launcher_start(struct device *d)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int rc;

	if (d->thread_id < 0)
		d->thread_id = blocking_claim(d->attr.blocking);
	if (d->thread_id < 0)
		return d->thread_id;
	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	if (d->attr.blocking->attr.stack_kib)
		pthread_attr_setstacksize(
			&attr, (size_t)d->attr.blocking->attr.stack_kib * 1024);
	if (d->attr.is_bound)
		pthread_attr_setaffinity_np(&attr, sizeof(d->attr.cpus),
					    &d->attr.cpus);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&d->thread, &attr, launcher_main, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc ? err(-EAGAIN, "device %s: cannot start its launcher: %s",
			d->name, strerror(rc))
		  : 0;
}
