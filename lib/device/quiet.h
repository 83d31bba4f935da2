/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Quiet ops: launches whose end a device with LKDF_DEVICE_QUIET does not tell,
 * unless they fail. They lie in one queue for kernels with the op behind them
 * that is told: that one covers them, because the queue keeps its order. So a
 * driver makes one sign for many kernels.
 *
 *	given ---> covered by a later op of its queue ---> over with that one
 *	  |                        |
 *	  +------- it fails -------+---> over by itself
 *
 * Where nothing comes behind a quiet op in the step that gave it, the queue
 * gets a mark. All of it is the launcher's.
 */
#ifndef DEVICE_QUIET_H
#define DEVICE_QUIET_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct device_slot;

#define QUIET_QUEUES 64 /* for kernels */

struct device_quiet {
	struct list given[QUIET_QUEUES]; /* slots that nothing covers yet */
	uint64_t has_given; /* a bit of each queue whose list is not empty */
};

void quiet_open(struct device *d);

/* The device has taken the op of the slot, in a queue for kernels. */
void quiet_give(struct device *d, struct device_slot *s, unsigned queue,
		bool is_quiet);

/* The slot is free: in no list any more. */
void quiet_forget(struct device_slot *s);

/*
 * The op of s is done: the oldest one that it covers is, too. NULL: all of them
 * were taken.
 */
struct device_slot *quiet_take(struct device_slot *s);

/* The last of a step: marks. False: one has to be tried again. */
bool quiet_settle(struct device *d);

#endif
