/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies that a program asks for (lkdf_copy()): between host and host a copy is
 * a body; within a device its launcher gives the device one command; else the
 * launchers carry the bytes, piece by piece where they go from device to
 * device. The task goes on when they have.
 */
#ifndef OFFLOAD_COPY_H
#define OFFLOAD_COPY_H

#include "offload/blocks.h"

/* A side: where in a block, or NULL of the host. */
struct copy_side {
	struct device_held *held;
	char *at;
};

/*
 * As lkdf_copy(), with an event; the sides' users are taken over with success.
 */
int copy_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct copy_side *to, const struct copy_side *from,
		uint64_t bytes, struct lkdf_event *done);

#endif
