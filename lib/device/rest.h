/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rest of a launcher: how long it waits until it asks its device again.
 *
 * A device that is polled is asked without a pause for a while (attr.spin_ns);
 * then the launcher naps for a share of the time that nothing has come for, so
 * it is late by that share at most and takes that share of a CPU. A device with
 * arm() wakes the launcher, and a device with LKDF_DEVICE_CALLS calls
 * lkdf_device_done() by itself: the launcher still asks such a device once in a
 * while, because behind a fault nothing wakes anybody, and drivers forget
 * calls.
 */
#ifndef DEVICE_REST_H
#define DEVICE_REST_H

#include "device/device.h"

/* Has the launcher to call poll() in this step? */
bool rest_is_over(struct device *d);

/* Something has come from the device. */
void rest_reset(struct device *d);

/* There was nothing to do in the last step: sleeps, or returns at once. */
void rest_launcher(struct device *d);

/* Has the device requests, moves, or events of the program under way? */
static inline bool rest_is_at_work(const struct device *d)
{
	return d->nr_under_way || d->leaving || !list_is_empty(&d->moves);
}

#endif
