/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of a program with data as kernels: on emulated devices of several
 * sorts, whose memory is so small that copies always have to make room. Some
 * kernels are functions of the device (code), others give work to a queue.
 *
 * A function of the device is not told for which run of a graph it works: it
 * computes what the model says for all runs, and it is counted by its node.
 */
#ifndef TESTS_ORACLE_DATA_DEVICE_H
#define TESTS_ORACLE_DATA_DEVICE_H

#include "tests/oracle/data_world.h"

/* The generator: which tasks are kernels, and where. Others stay as they are.
 */
void d_place_tasks(struct d_program *p);

/* Registers D_DEVICES devices with a runtime; until it has closed. */
void d_devices_open(struct lkdf *rt);

/* The runtimes have closed: what their devices have to say. */
void d_devices_check(void);

struct lkdf_place *d_device_place(struct lkdf *rt, uint32_t device);

/* A kind whose kernels do what the body does; flags: of the kind. */
int d_device_kind(struct lkdf *rt, uint32_t flags, bool is_code,
		  struct lkdf_kind **out);

/* One of the data goes to a device before somebody asks, or not. */
void d_prefetch_some(struct d_world *w, uint32_t op);

#endif
