/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies of data that stay on a device. A copy belongs to a data, or a part of
 * one, and has the version of the data whose bytes it is: whoever writes the
 * data, wherever, gives it a new version, and so makes all copies stale without
 * telling anybody. The host has all bytes as well, so a copy may be dropped at
 * any time but while a request uses it (pinned).
 *
 * A device's copies are its launcher's alone.
 */
#ifndef DEVICE_COPIES_H
#define DEVICE_COPIES_H

#include "device/device.h"

struct device_operand;

/* What devices have of one data: its identity for them. */
struct copies {
	/* Set when made, constant afterwards. */
	struct device *const *devices; /* by index */
	const _Atomic(uint32_t) *is_alive; /* 0: we are a forked child */

	/* The launcher of each device, whose bit it is: it may have some. */
	_Atomic(uint64_t) on;

	/* When the data is gone: dropped, device by device. */
	struct blocking_item forget;
	unsigned next_device;
};

struct device_copy {
	/* The launcher. */
	struct device_copy *next; /* of the bucket */
	struct list lru; /* of the device's; the last is dropped first */
	struct copies *of;
	uint32_t part;
	uint64_t version; /* whose bytes it is, + 1; 0: nobody's */
	uint64_t bytes;
	void *there;
	unsigned nr_pins;
	bool is_changing; /* a request writes it, or fills it */
};

/* NULL: no memory. */
struct copies *copies_create(struct device *const *devices,
			     const _Atomic(uint32_t) *is_alive);

/* The data is gone. Accepts NULL; any thread. */
void copies_forget(struct copies *c);

/* ---- the launcher ------------------------------------------------------- */

/*
 * A pinned copy for the operand, whose bytes may have to be filled. 0; -EAGAIN:
 * another request fills it, or the room is in use; -ENOMEM, or what alloc() of
 * the device gave.
 */
int copies_pin(struct device *d, struct device_operand *o);

/* Back, with the version it has then; 0: none that anybody wants. */
void copies_unpin(struct device *d, struct device_operand *o, uint64_t version);

/* Memory of the device, for which copies are dropped. As copies_pin(). */
int copies_alloc(struct device *d, uint64_t bytes, void **there);
void copies_free(struct device *d, uint64_t bytes, void *there);

/* All that no request uses. True: there was one. */
bool copies_drop_unused(struct device *d);

/* All of them, the last. */
void copies_drop_all(struct device *d);

#endif
