/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events of the program's own on a device as events of the runtime. A device's
 * driver cannot be told to forget a callback, so one that comes after the
 * runtime has closed finds that nobody is there:
 *
 *	WAITS --- the device calls ---> FIRES --- the event has fired ---> gone
 *	WAITS --- the runtime closes ---> LEFT --- the device calls ---> gone
 */
#ifndef OFFLOAD_FOREIGN_H
#define OFFLOAD_FOREIGN_H

#include "base/list.h"
#include "core/runtime.h"

#include <lkdf/device.h>

struct device;

struct foreign_event {
	/* Set when made, constant afterwards. */
	struct lkdf *rt; /* not of one that is LEFT, and neither is device */
	struct device *device;
	struct lkdf_event event;

	/* Any thread: the first to take it out of WAITS has it. */
	_Atomic(uint32_t) state;

	/* Under the lock of the runtime's devices. */
	struct list all;
};

/* 0; what watch of the device returned; -EAGAIN no slot; -ENOMEM. */
int foreign_event(struct lkdf *rt, struct device *d, void *event,
		  struct lkdf_event *out);

/* No task waits for them: those that have not fired do, with -ECANCELED. */
void foreign_close(struct lkdf *rt);

#endif
