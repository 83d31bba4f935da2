/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_data_prefetch() to a device: a kernel without a launch reads the data,
 * or all parts of one that is split, and the copies stay.
 */
#ifndef OFFLOAD_PREFETCH_H
#define OFFLOAD_PREFETCH_H

#include "offload/devices.h"

/* As lkdf_data_prefetch(), on a device with memory of its own. */
int prefetch_submit(struct lkdf_data *d, const struct lkdf_place *p,
		    struct lkdf_event *done);

#endif
