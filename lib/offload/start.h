/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Launchers that are late: where the system has no thread now, kernels wait in
 * the queue of their device, and a worker tries again after a while.
 */
#ifndef OFFLOAD_START_H
#define OFFLOAD_START_H

#include "core/item.h"
#include "core/runtime.h"
#include "sched/timers.h"

struct device;

struct late_start {
	/* Set when the device is added, constant afterwards. */
	struct lkdf *rt;
	struct device *device;

	/* Any thread: a try is to come, the rest is its own. */
	_Atomic(bool) is_queued;

	/* The one that has queued it. */
	struct timer timer;
	_Alignas(LINK_ALIGN) struct link_call call;
};

/* Any thread: the device gets its launcher, now or later. */
void start_launcher(struct lkdf *rt, struct device *d);

/* No kernel waits any more: no try is to come. Workers are still there. */
void start_settle(struct late_start *l);

#endif
