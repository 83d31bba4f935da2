/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kernels of one device that may well run side by side. */
#define NR_QUEUES 4
/* Larger copies go beside kernels. */
#define COPY_BYTES 65536
/* Behind the two for copies. */
#define FIRST_KERNELS 2

int opencl_failed(const char *call, int32_t error)
{
	return err(opencl_errno(error), "opencl: %s: %s (%d)", call,
		   opencl_error(error), error);
}

static uint64_t number_of(const struct opencl_device *d, uint32_t what)
{
	uint64_t v = 0;

	if (d->cl.clGetDeviceInfo(d->id, what, sizeof(v), &v, NULL))
		return 0;
	return v;
}

static uint32_t small_number(const struct opencl_device *d, uint32_t what)
{
	uint64_t v = number_of(d, what);

	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static int get_info(void *dev, struct lkdf_device_info *out)
{
	struct opencl_device *d = dev;
	int32_t error;

	error = d->cl.clGetDeviceInfo(d->id, OCL_DEVICE_NAME, sizeof(out->name),
				      out->name, NULL);
	/* A longer name does not fit: it is not told at all. */
	if (error == OCL_INVALID_VALUE)
		strcpy(out->name, "OpenCL device");
	else if (error)
		return opencl_failed("clGetDeviceInfo", error);
	out->name[sizeof(out->name) - 1] = 0;
	out->memory = number_of(d, OCL_DEVICE_GLOBAL_MEM_SIZE);
	out->nr_queues = d->foreign ? 1 : NR_QUEUES;
	out->units = small_number(d, OCL_DEVICE_MAX_COMPUTE_UNITS);
	out->max_block = small_number(d, OCL_DEVICE_MAX_WORK_GROUP_SIZE);
	out->block_shared = small_number(d, OCL_DEVICE_LOCAL_MEM_SIZE);
	out->unit_shared = out->block_shared;
	out->queue_copy_bytes = COPY_BYTES;
	out->max_value_bytes = small_number(d, OCL_DEVICE_MAX_PARAMETER_SIZE);
	return 0;
}

static int start_device(void *dev, unsigned nr_queues)
{
	struct opencl_device *d = dev;
	int32_t error = 0;

	if (nr_queues > OPENCL_MAX_QUEUES)
		return err(-EINVAL, "opencl: %u queues, at most %d", nr_queues,
			   OPENCL_MAX_QUEUES);
	if (!d->context)
		d->context = d->cl.clCreateContext(NULL, 1, &d->id, NULL, NULL,
						   &error);
	if (!d->context)
		return opencl_failed("clCreateContext", error);
	while (d->nr_queues < nr_queues) {
		if (d->foreign && d->nr_queues == FIRST_KERNELS) {
			d->queue[d->nr_queues++] = d->foreign;
			break;
		}
		d->queue[d->nr_queues] =
			d->cl.clCreateCommandQueueWithProperties(
				d->context, d->id, NULL, &error);
		if (error)
			return opencl_failed(
				"clCreateCommandQueueWithProperties", error);
		d->nr_queues++;
	}
	return 0;
}

/* Queues take small copies among their kernels. */
static void lose_device(void *dev)
{
	struct opencl_device *d = dev;
	unsigned i;

	for (i = 0; i < d->nr_queues; i++)
		if (d->queue[i] != d->foreign)
			d->cl.clFinish(d->queue[i]);
}

/* Also after a start that failed half way. */
static void stop_device(void *dev)
{
	struct opencl_device *d = dev;

	while (d->nr_queues) {
		d->nr_queues--;
		opencl_quiet_free(&d->cl, d->quiet[d->nr_queues]);
		if (d->queue[d->nr_queues] == d->foreign)
			continue;
		d->cl.clFinish(d->queue[d->nr_queues]);
		d->cl.clReleaseCommandQueue(d->queue[d->nr_queues]);
	}
	opencl_waits_leave(&d->cl, &d->commands);
	opencl_waits_leave(&d->cl, &d->events);
	while (d->shared)
		opencl_free_shared(d, d->shared->at);
	if (d->context)
		d->cl.clReleaseContext(d->context);
	free(d);
}

/* The driver aligns memory for its largest type, 128 bytes. */
static int alloc_memory(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
			uint64_t align, void **device_ptr)
{
	struct opencl_device *d = dev;
	int32_t error;
	ocl_mem m;

	if (mem == LKDF_MEM_MANAGED && opencl_has_shared(d))
		return opencl_alloc_shared(d, bytes, align, device_ptr);
	if (mem != LKDF_MEM_OWN)
		return err(-EOPNOTSUPP, "opencl: memory of kind %d", (int)mem);
	m = d->cl.clCreateBuffer(d->context, OCL_MEM_READ_WRITE, bytes, NULL,
				 &error);
	if (error)
		return opencl_failed("clCreateBuffer", error);
	*device_ptr = m;
	return 0;
}

static void release_all(void *dev, void *device_ptr)
{
	struct opencl_device *d = dev;

	if (!opencl_free_shared(d, device_ptr))
		d->cl.clReleaseMemObject(device_ptr);
}

static int ask_events(void *dev)
{
	struct opencl_device *d = dev;

	opencl_waits_ask(&d->cl, &d->commands);
	opencl_waits_ask(&d->cl, &d->events);
	return 0;
}

static void *queue_of(void *dev, unsigned queue)
{
	struct opencl_device *d = dev;

	return d->queue[queue];
}

const struct lkdf_device_ops opencl_ops = {
	.size = sizeof(struct lkdf_device_ops),
	.flags = LKDF_DEVICE_RANGES | LKDF_DEVICE_ORDERED |
		 LKDF_DEVICE_HANDLES | LKDF_DEVICE_CALLS | LKDF_DEVICE_BUILDS |
		 LKDF_DEVICE_QUIET,
	.name = "opencl",
	.info = get_info,
	.start = start_device,
	.stop = stop_device,
	.alloc = alloc_memory,
	.free = release_all,
	.build = opencl_build,
	.drop = opencl_drop,
	.upload = opencl_upload,
	.fetch = opencl_fetch,
	.launch = opencl_launch,
	.queue = queue_of,
	.mark = opencl_mark,
	.poll = ask_events,
	.lose = lose_device,
	.needs = opencl_needs,
	.adopt = opencl_adopt,
	.watch = opencl_watch,
	.copy = opencl_copy,
	.fill = opencl_fill,
};
