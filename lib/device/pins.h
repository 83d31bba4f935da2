/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pages of data that the driver of a device knows (ops.pin), so that their
 * bytes are carried faster. With LKDF_DEVICE_PINS the library tells a device of
 * the bytes of a data that it has allocated itself, at their second way there
 * or back: telling costs as much as three copies.
 *
 * A driver goes on with the pages that it was told of, whatever lies at their
 * addresses later. So pages with a pin stay those of their data:
 *
 *	data goes	each launcher forgets its copies and gives the pin
 *			back, then data_free_bytes() frees the bytes
 *	close		each launcher gives all pins back before it ends
 *			(pins_drop_all()), then the bytes are freed
 *	another node	the data stays where it is, see pins_hold()
 *	device is lost	nobody calls the driver, which carries nothing
 *	fork		the child frees its bytes, and the parent keeps the
 *			pins: Linux copies pinned pages for the child at once
 *
 * Bytes of the program's own, which it may unmap, have none, nor have those of
 * LKDF_DATA_MIGRATE, LKDF_DATA_REPLICATE and LKDF_DATA_ONCE, which change
 * places.
 *
 * A driver waits for all kernels of the device before it forgets pages, and
 * holds the launcher up. So a data that goes while something is under way keeps
 * its bytes until nothing is, or until such data have more than PINS_LATE
 * bytes.
 *
 * Pins of a device are its launcher's alone.
 */
#ifndef DEVICE_PINS_H
#define DEVICE_PINS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define PINS_LEAST ((uint64_t)65536) /* bytes of a data that may have one */
#define PINS_LATE ((uint64_t)256 << 20)
#define PINS_BUCKETS 256

struct blocking_item;
struct copies;
struct device;
struct device_pin;

enum pins_way {
	PINS_UP,
	PINS_DOWN,
	PINS_WAYS
};

/* A data has it, in its struct copies. */
struct pinned {
	/* Set when made, constant afterwards: bytes of the whole; 0: it has
	 * none, ever. */
	uint64_t bytes;

	/* Launchers: what all devices have carried. */
	_Atomic(uint64_t) carried[PINS_WAYS];

	/* The launcher of each device, whose bit it is: the device was asked,
	 * and it has one. */
	_Atomic(uint64_t) asked, on;
};

/* A device has it. */
struct pins {
	struct device_pin *bucket[PINS_BUCKETS];
	uint64_t bytes;

	/* Data that are to be forgotten when nothing is under way. */
	struct blocking_item *late;
	uint64_t late_bytes;
};

/*
 * So many bytes of the data, whose whole begins at base, are about to be
 * carried.
 */
void pins_carry(struct device *d, struct copies *c, char *base, uint64_t bytes,
		enum pins_way way);

/*
 * The data is gone, and nobody uses its bytes. True: the device has no pin of
 * it any more; false: c->forget is run again, when the device may forget it.
 */
bool pins_drop(struct device *d, struct copies *c);

/* Forgets what is late, if nothing is under way. True: there was some. */
bool pins_settle(struct device *d, void *executor);

/* All of them, the last. */
void pins_drop_all(struct device *d);

/* Do the bytes have to stay where they are? The asker has a use of them all. */
static inline bool pins_hold(const struct pinned *p)
{
	return a_load(&p->on, relaxed);
}

#endif
