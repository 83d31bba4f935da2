/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Devices, all of them as one: a kernel that begins tells what its launcher
 * hears in its next step, a driver's thread that an operation has ended, and
 * each step what a body with data hears.
 */
#ifndef CHECK_DEVICE_H
#define CHECK_DEVICE_H

#include "check/fiber.h"

enum check_device {
	DEVICE_GIVEN,
	DEVICE_DONE,
	DEVICE_CAME
};

void check_device_tell(struct check *ch, enum check_device what);
void check_device_hear(struct check *ch, enum check_device what);

/* A step of a launcher, fn(u), on a fiber of its own. */
void check_device_step(struct check *ch, void (*fn)(void *u), void *u);

#endif
