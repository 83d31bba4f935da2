/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pieces: kernels of a graph that the device is given in one call of
 * launch_piece(). The layer above says which (offload/pieces.h), adds all
 * requests of a piece to one region and then says that the piece is whole. The
 * region launches it when all bytes are there. A piece that has an error, is
 * cancelled, recorded or refused goes request by request.
 *
 * All of it is the launcher's, but for piece_forget().
 */
#ifndef DEVICE_PIECE_H
#define DEVICE_PIECE_H

#include "device/device.h"

#define PIECE_MOST 128 /* launches */

struct device_piece {
	struct lkdf_piece p;
	struct device *device;
	bool is_whole; /* all requests are in a region, in their order */

	/* Arrays of the call, indexed by launch. */
	const struct lkdf_launch **launch;
	struct lkdf_device_op *op;

	struct list list; /* of the device's */
	bool is_listed;
	struct blocking_item item; /* while it is forgotten */
};

/* Requests that the layer holds until others of their piece have come. */
struct device_hold {
	struct list list; /* of the device's */
	/* After each step, and when the device is lost. True: it let them go.
	 */
	bool (*look)(void *executor, struct device_hold *h);
};

/* Can the device be given any? */
static inline bool piece_is_possible(const struct device *d)
{
	return d->ops.launch_piece && !d->takes_no_pieces && !d->ops.finalize &&
	       device_has(d, LKDF_DEVICE_ORDERED) &&
	       device_has(d, LKDF_DEVICE_QUIET);
}

/* A piece of so many launches; NULL: no memory. */
struct device_piece *piece_create(struct device *d, uint32_t nr);

/* Any thread, when none of its requests is under way. */
void piece_forget(struct device_piece *p);

/* The launcher ends: the device is told that each goes. */
void piece_drop_all(struct device *d);

/* True: some were let go. */
bool piece_look(struct device *d, void *executor);

#endif
