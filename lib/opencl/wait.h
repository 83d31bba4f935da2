/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events of OpenCL that somebody waits for: those of commands, and those of the
 * program. The driver calls a function for each event, once, on any of its
 * threads; drivers forget that call, as POCL does for a command behind a failed
 * one (POCL #1430), so the launcher asks for the status once in a while.
 *
 *	WAITS --- the driver calls ---> CALLED --- the launcher ---> gone
 *	WAITS ---> TELLING, while quiet ones are told ---> CALLED
 *	WAITS --- the launcher asks, in vain for the call ---> ASKED
 *	WAITS --- the device stops ---> LEFT
 *	ASKED, LEFT --- the driver calls after all ---> gone
 *
 * The first of driver and launcher to move an event out of WAITS tells whoever
 * waits. The driver's call touches nothing of the device, which may be stopped.
 *
 * Commands that are quiet (LKDF_LAUNCH_QUIET) have an event and no call. They
 * hang on the next command of their queue that has one: behind it each has a
 * status, and those that failed are told before it.
 */
#ifndef OPENCL_WAIT_H
#define OPENCL_WAIT_H

#include "base/atomic.h"
#include "opencl/abi.h"

#include <lkdf/device.h>
#include <pthread.h>
#include <stdbool.h>

struct opencl_wait {
	/* Set before the driver knows it, constant afterwards. */
	struct lkdf_device_op op; /* of a command */
	void (*fired)(void *u, int error); /* NULL: a command */
	void *u;
	ocl_event event;
	const struct opencl *cl; /* while quiet ones are told */
	bool has_quiet, is_quiet;

	/*
	 * Quiet ones before it, oldest first; whoever moves it out of WAITS,
	 * then the launcher.
	 */
	struct opencl_wait *quiet;

	/* Any thread. */
	_Atomic(uint32_t) state;

	/* Under the lock of the list; of quiet ones as above. */
	struct opencl_wait *next;
};

/* Oldest first. */
struct opencl_waits {
	pthread_mutex_t lock;
	struct opencl_wait *first, **last;
};

void opencl_waits_init(struct opencl_waits *l);

/* For the caller to fill in. NULL: no memory. */
struct opencl_wait *opencl_wait_create(void);

/* It handles the quiet ones: tells of those that failed; frees all. */
void opencl_quiet_tell(const struct opencl *cl, const struct opencl_wait *w);
void opencl_quiet_free(const struct opencl *cl, struct opencl_wait *quiet);

/*
 * The event, which is the list's from now on: whoever waits is told once. The
 * error of OpenCL where the driver refuses; w and the event are the caller's
 * then.
 */
int32_t opencl_wait_begin(const struct opencl *cl, struct opencl_waits *l,
			  struct opencl_wait *w, ocl_event e);

/* The launcher: asks for all that the driver has not called for. */
void opencl_waits_ask(const struct opencl *cl, struct opencl_waits *l);

/* No thread adds to it; those that wait are not told by the device any more. */
void opencl_waits_leave(const struct opencl *cl, struct opencl_waits *l);

#endif
