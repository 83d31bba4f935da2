/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a device that the program holds (lkdf_alloc() on a device), and
 * bytes that go there and back because the program says so. A thread that wants
 * memory asks the launcher and sleeps until it has it, or not.
 *
 * Copies of data (copies.h) make room for it. Where that does not suffice the
 * call waits for what is under way (hungry), and no request is begun meanwhile;
 * so it waits only for requests that have all they need. A call for which
 * nothing under way can make room is refused.
 */
#ifndef DEVICE_HELD_H
#define DEVICE_HELD_H

#include "device/device.h"

#include <lkdf/device.h>

#define HELD_LABEL 64

struct device_held {
	/* Set when made, constant afterwards. */
	struct device *device;
	enum lkdf_mem_kind mem;
	uint64_t bytes, taken, align; /* taken: of the address space */
	char *base; /* what the program calls it */
	void *device_ptr; /* as alloc gave it; NULL: pinned memory of the host
			   */
	char label[HELD_LABEL];

	/* Any thread: whoever holds it, and each copy under way. */
	_Atomic(uint32_t) nr_users;

	/* The last of these. */
	struct blocking_item item;
	void (*gone)(struct device_held *h);

	/* Any thread; gone()'s own: what keeps the record. */
	_Atomic(uint32_t) nr_keepers;
};

/* A thread asks for h->device_ptr, or that base is pinned. */
struct held_call {
	struct device_held *held;
	struct blocking_item item;
	struct held_call *next; /* hungry */

	/* The launcher's, until it is over. */
	int error;
	char why[DEVICE_WHY];
	_Atomic(uint32_t) is_over; /* a futex */
};

/* Any thread, after device_require(): in the launcher's queue. */
void held_ask(struct held_call *c);

/*
 * Any thread: one user less. With the last one the device's memory is given
 * back, then gone() is called, on the launcher.
 */
void held_put(struct device_held *h);

enum held_way {
	HELD_UP, /* to the device */
	HELD_DOWN,
	HELD_WITHIN, /* from one memory of it to another: ops.copy */
};

/* Bytes between the host and what is held, or within the device. */
struct held_move {
	struct device *device;
	enum held_way way;
	struct lkdf_transfer t; /* UP, DOWN */
	struct lkdf_device_copy within;
	/* On the launcher, once it is done or has failed. */
	void (*over)(void *executor, struct held_move *m);

	/* The launcher's. */
	struct blocking_item item;
	struct list list;
	int error;
	char why[DEVICE_WHY]; /* "": none, or as the error says */
};

/* Any thread, after device_require(). */
void held_move(struct held_move *m);

/* ---- the launcher ------------------------------------------------------- */

/* Tries those that are hungry again. True: one of them is not any more. */
bool held_feed(struct device *d);

/* An op of it is done. */
void held_moved(void *executor, struct held_move *m, int error);

/* The device is gone, and what it held. */
void held_lose(struct device *d, void *executor);

#endif
