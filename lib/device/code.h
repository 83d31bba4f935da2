/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code of kernels: a device makes functions of it, each before its first
 * launch, and drops them when no task can use them any more.
 */
#ifndef DEVICE_CODE_H
#define DEVICE_CODE_H

#include "device/device.h"

/* The code of a kind for one sort of device, and what devices made of it. */
struct device_code {
	/* Set when made, constant afterwards. */
	struct lkdf_code code; /* all of it ours, but function */
	const char *kind; /* name */
	struct device *const *devices; /* by index */
	void (*freed)(struct device_code *c);

	/* The device's launcher. */
	struct device_built {
		struct list list; /* of the device's codes */
		void *function;
		int error;
		bool is_known; /* function or error is set */
		bool is_listed; /* the device has something to drop */
		uint32_t block; /* of the layer above; 0: not known yet */
		char *log; /* why not; NULL: nothing more is known */
	} on[LKDF_MAX_DEVICES];

	/* When no task can use it any more: dropped, one by one. */
	struct blocking_item forget;
	unsigned next_device;
};

/*
 * Calls build(): function, error and log of b. On the launcher, or on a thread
 * of the device's IO pool.
 */
void code_make(struct device *d, const struct device_code *c,
	       const struct lkdf_launch *like, struct device_built *b);

/* On the launcher: made is what the device has of the code from now on. */
void code_built(struct device *d, struct device_code *c,
		const struct device_built *made);

/* On the launcher: the function of the request's launch, or its error. */
void code_find(struct device *d, struct device_req *r);

/* On the launcher, the last: drops all that the device has made. */
void code_drop_all(struct device *d);

/*
 * No task uses the code any more: what devices have built is dropped there, and
 * then freed() is called, on any thread.
 */
void code_forget(struct device_code *c);

#endif
