/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Builds beside the launcher. On a device with LKDF_DEVICE_BUILDS code is made
 * on a thread of the device's IO pool, while the launcher goes on with other
 * kernels. Requests whose code is not there yet wait with the build, without
 * memory of the device and without one of its places under way, and then go
 * back into the launcher's queue.
 */
#ifndef DEVICE_BUILD_H
#define DEVICE_BUILD_H

#include "device/code.h"
#include "device/request.h"

/* It describes one code for one device; the launcher's, but where it says
 * otherwise. */
struct device_build {
	struct device *device;
	struct device_code *code;
	const struct lkdf_launch *like; /* of the first that waits */
	struct blocking_item item; /* for the IO pool, then the launcher */
	struct device_built made; /* the IO thread's, until it is back */

	/* Under the device's lock. */
	struct list list; /* of the device's builds */
	struct blocking_item *waiting, **last;
};

/* The launcher: r waits for code now. False: all is there. */
bool build_waits(struct device *d, struct device_req *r);

/* May the request join a region, without a build that holds the others up? */
bool build_is_there(const struct device *d, const struct device_req *r);

/* Threads of the device: none yet; all joined; left to the parent. */
int build_open(struct device *d);
void build_stop(struct device *d);
void build_close(struct device *d);
void build_abandon(struct device *d);

#endif
