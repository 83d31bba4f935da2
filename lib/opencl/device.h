/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenCL's devices as struct lkdf_device_ops: one context and some queues for
 * each, made by start(); what is done is told by callbacks of events, on
 * threads of the driver. Memory there is a cl_mem, a function a cl_kernel, a
 * queue a cl_command_queue, which is what users of OpenCL know.
 *
 * A device is its owner's until it is registered; stop() frees it.
 */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "opencl/load.h"
#include "opencl/wait.h"

#include <lkdf/device.h>

#define OPENCL_MAX_QUEUES 66 /* the first two, and those for kernels */

/* Memory with one address for the device and the host. */
struct opencl_shared {
	struct opencl_shared *next;
	char *block, *at; /* the driver's, and where ours begins in it */
	uint64_t bytes;
};

struct opencl_device {
	/* Set when found, constant afterwards. */
	struct opencl cl;
	ocl_device id;
	ocl_queue foreign; /* the program's: all kernels go there; or NULL */

	/* start() to stop(), its launcher's. */
	ocl_context context;
	ocl_queue queue[OPENCL_MAX_QUEUES];
	unsigned nr_queues;
	struct opencl_shared *shared;
	/* Commands whose end the next one of the queue tells; oldest first. */
	struct opencl_wait *quiet[OPENCL_MAX_QUEUES];
	struct opencl_wait **last_quiet[OPENCL_MAX_QUEUES];

	struct opencl_waits commands; /* the launcher adds */
	struct opencl_waits events; /* any thread adds */
};

extern const struct lkdf_device_ops opencl_ops;

/*
 * The devices of all drivers, at most max; each goes to stop() in the end.
 * Their number; 0 with a text: the loader has no driver; what opencl_load()
 * returns; -ENOMEM.
 */
int opencl_devices(const char *library, struct opencl_device **v, unsigned max);

/*
 * Has the device memory that it shares with the host byte by byte? Such memory
 * that is coarser would have to be mapped before the host looks.
 */
bool opencl_has_shared(const struct opencl_device *d);

/*
 * The launcher: shared memory. 0; -ENOMEM. Free: false: it is none. Find: is
 * the value of a parameter an address in some?
 */
int opencl_alloc_shared(struct opencl_device *d, uint64_t bytes, uint64_t align,
			void **device_ptr);
bool opencl_free_shared(struct opencl_device *d, void *device_ptr);
bool opencl_is_shared(const struct opencl_device *d, const void *value,
		      size_t bytes, void **at);

/*
 * The launcher: may argument i of the launch be handed to the driver, as far as
 * pointers go? A driver takes the bytes for a pointer parameter as a cl_mem and
 * follows them, whatever they are. 0; -EINVAL.
 */
int opencl_check_pointer(const struct opencl_device *d,
			 const struct lkdf_launch *l, uint32_t i);

/* err() with the name of the call and of its error. */
int opencl_failed(const char *call, int32_t error);

/* ---- functions of the table --------------------------------------------- */

int opencl_build(void *dev, const struct lkdf_code *c,
		 const struct lkdf_launch *like, void **function, char *log,
		 uint32_t log_size);
void opencl_drop(void *dev, void *function);
int opencl_needs(void *dev, void *function, struct lkdf_kernel_needs *out);
int opencl_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		  struct lkdf_device_op op);
int opencl_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
		 struct lkdf_device_op op);
int opencl_copy(void *dev, unsigned queue, const struct lkdf_device_copy *c,
		struct lkdf_device_op op);
int opencl_fill(void *dev, unsigned queue, const struct lkdf_device_fill *f,
		struct lkdf_device_op op);
int opencl_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op);
int opencl_adopt(void *dev, void *queue, void **out);
int opencl_watch(void *dev, void *event, void (*fired)(void *u, int error),
		 void *u);
int opencl_mark(void *dev, unsigned queue, struct lkdf_device_op op);

#endif
