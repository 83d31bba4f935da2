/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/rest.h"

#include "base/clock.h"
#include "base/futex.h"

#define NAP_SHARE 64 /* of the age */
#define MIN_NAP_NS 1000
#define MAX_NAP_NS 1000000
#define ARM_NS 200000 /* the age from which on the device is armed */
#define ASK_NS                                                         \
	100000000 /* from question to question, where the device calls \
		   */
#define MAX_ASK_NS 1600000000

/* Is there anything that poll() could tell of? */
static bool has_polls(const struct device *d)
{
	return d->ops.poll && !a_load(&d->is_lost, relaxed) &&
	       (rest_is_at_work(d) || a_load(&d->nr_watched, relaxed));
}

bool rest_is_over(struct device *d)
{
	int64_t now;

	if (!has_polls(d)) {
		d->asked = 0;
		return false;
	}
	if (!device_has(d, LKDF_DEVICE_CALLS))
		return true;
	now = clock_now_ns();
	if (!d->asked) {
		d->asked = now;
		d->ask_ns = ASK_NS;
	}
	if (now - d->asked < d->ask_ns)
		return false;
	d->asked = now;
	d->ask_ns = d->ask_ns < MAX_ASK_NS / 2 ? 2 * d->ask_ns : MAX_ASK_NS;
	return true;
}

void rest_reset(struct device *d)
{
	d->idle_since = 0;
	d->ask_ns = ASK_NS;
}

/* Under lock. */
static bool has_news(const struct device *d)
{
	lock_assert_held(&d->lock);
	return d->done || d->is_rung || d->is_stopping ||
	       d->first[DEVICE_NOW] ||
	       (device_has_room(d) && device_has_items(d));
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
	d->window.has_slept |= stays;
	a_store(d->bell, 0, relaxed);
}

static void wake_me(void *u)
{
	device_ring(u);
}

static void rest_polling(struct device *d)
{
	int64_t now = clock_now_ns(), age, nap;

	if (!d->idle_since)
		d->idle_since = now;
	age = now - d->idle_since;
	if (age < d->attr.spin_ns)
		return;
	if (d->ops.arm && age > ARM_NS && d->ops.arm(d->dev, wake_me, d) >= 0) {
		sleep_for(d, ASK_NS);
		return;
	}
	nap = age / NAP_SHARE;
	nap = nap > MIN_NAP_NS ? nap : MIN_NAP_NS;
	sleep_for(d, nap < MAX_NAP_NS ? nap : MAX_NAP_NS);
}

void rest_launcher(struct device *d)
{
	int64_t left;

	if (!has_polls(d)) {
		sleep_for(d, list_is_empty(&d->holds) ? -1 : ASK_NS);
		return;
	}
	if (!device_has(d, LKDF_DEVICE_CALLS)) {
		rest_polling(d);
		return;
	}
	left = d->asked ? d->asked + d->ask_ns - clock_now_ns() : ASK_NS;
	if (left > 0)
		sleep_for(d, left);
}
