/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of a program with data as kernels: on emulated devices of several
 * sorts, or on those of POCL (data_opencl.c), with so little memory that copies
 * always have to make room. Some kernels are functions of the device (code),
 * others give work to a queue.
 *
 * A function of the device is not told for which run of a graph it works: it
 * computes what the model says for all runs, and it is counted by its node. A
 * text of OpenCL leaves nothing but its data.
 */
#ifndef TESTS_ORACLE_DATA_DEVICE_H
#define TESTS_ORACLE_DATA_DEVICE_H

#include "tests/oracle/data_world.h"

/* The generator: which tasks are kernels, and where. Others stay as they are.
 */
void d_place_tasks(struct d_program *p);

/*
 * Of some programs a graph has bodies only, whose runs may go by their static
 * order or by one worker, beside kernels with the same data. Before the model
 * has a look.
 */
void d_prefer_static(struct d_program *p);

/* Before the first runtime opens: POCL shall have as many devices. */
void d_opencl_begin(void);

/*
 * D_DEVICES devices of a runtime; until it has closed. False: OpenCL has not as
 * many.
 */
bool d_devices_open(struct lkdf *rt, enum d_devices sort);

/* The emulated ones that were opened last; their runtime has closed. */
void d_devices_close(void);

/* Before the runtimes close: what we hold of their devices. */
void d_devices_leave(void);

/* The runtimes have closed: what their devices have to say. */
void d_devices_check(void);

struct lkdf_place *d_device_place(struct lkdf *rt, uint32_t device);

/*
 * A kind whose kernels do what the body of the task does; flags: of the kind.
 * With OpenCL it stays until the runtime closes, for a text is not compiled
 * soon.
 */
int d_device_kind(struct d_world *w, const struct d_task *t, uint32_t flags,
		  struct lkdf_kind **out);
void d_device_kind_put(struct d_world *w, struct lkdf_kind *k);

/* The argument of a kernel that is a text; cell: NULL of a graph. */
const struct d_text *d_text_of(struct d_world *w, uint32_t node,
			       struct d_cell *cell);

/* One of the data goes to a device before somebody asks, or not. */
void d_prefetch_some(struct d_world *w, uint32_t op);

/* With those of the driver whose devices D_OPENCL stands for. */
const char *d_driver_options(const char *options);

#endif
