/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of the device that is in no use now. Drivers wait for all running
 * kernels before they free memory, and hold launches up meanwhile: what is
 * freed stays here by its size, for the next who wants as much. Memory in use
 * and spare memory together are at most what the device may have; spare memory
 * goes back to the device where more is wanted, and at close.
 *
 * The launcher's alone.
 */
#ifndef DEVICE_SPARE_H
#define DEVICE_SPARE_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

#define SPARE_BUCKETS 64

struct device;

struct device_spare {
	struct list by_size[SPARE_BUCKETS];
	struct list lru; /* the one that was kept last first */
	uint64_t bytes;
};

void spare_open(struct device *d);

/* NULL: none of that size. */
void *spare_take(struct device *d, uint64_t bytes);

/* Memory that nobody uses any more. */
void spare_keep(struct device *d, uint64_t bytes, void *device_ptr);

/* Gives memory back until at most so many bytes are spare. */
void spare_shrink(struct device *d, uint64_t bytes);

/* Gives all back. False: there is none. */
bool spare_drop_all(struct device *d);

#endif
