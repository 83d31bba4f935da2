/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Handles of the program's libraries, cuBLAS say, one for each queue for
 * kernels of a device: made when the queue's first work asks for one, and
 * destroyed by the launcher before the device is stopped.
 */
#ifndef DEVICE_LIBRARY_H
#define DEVICE_LIBRARY_H

#include "device/device.h"

struct device_library {
	/* Set when added, constant afterwards. */
	char name[32];
	int (*create)(void *u, void *queue, void **handle);
	void (*destroy)(void *u, void *handle); /* or NULL */
	void *u;

	/* The launcher, by queue for kernels. */
	void *handle[DEVICE_QUEUES];
	uint64_t has; /* a bit for each that was made */
};

/* Any thread. Its number; -ENOSPC, -ENOMEM. */
int library_add(struct device *d, const struct lkdf_library_attr *a);

/* The launcher, in enqueue() for that queue. 0; what create returned. */
int library_find(struct device *d, unsigned queue, uint32_t library,
		 void **handle);

/* The launcher ends: handles are destroyed. */
void library_drop_all(struct device *d);

/* The device goes, and its libraries with it. */
void library_close(struct device *d);

#endif
