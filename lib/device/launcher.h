/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The launcher of a device: a thread that takes what waits, the most urgent
 * first, and brings each request to its end (request.h). It is made by the
 * first task; without work it sleeps on its bell until somebody rings.
 *
 * In serial mode there is no thread: the threads that run tasks make the steps.
 */
#ifndef DEVICE_LAUNCHER_H
#define DEVICE_LAUNCHER_H

#include "device/device.h"

/* Starts the thread. -EAGAIN. */
int launcher_start(struct device *d);

/* Serial mode: the last step. */
void launcher_end(struct device *d);

/*
 * On the launcher, or a thread of serial mode: as far as it goes now. False:
 * there was nothing to do.
 */
bool launcher_step(struct device *d, void *executor);

/* Is something waiting or under way? On the launcher. */
bool launcher_is_busy(struct device *d);

#endif
