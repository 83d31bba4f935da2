/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Texts compiled and run by the first OpenCL device, one call after another:
 * what a test of generated text needs and no more.
 */
#ifndef TESTS_UNIT_DEVICE_CL_PROGRAM_H
#define TESTS_UNIT_DEVICE_CL_PROGRAM_H

#include "opencl/load.h"
#include "tests/opencl.h"
#include "tests/tap.h"

#include <stdint.h>

struct cl_run {
	struct opencl cl;
	ocl_device device;
	ocl_context context;
	ocl_queue queue;
	ocl_program program;
	uint32_t nr_arg;
	ocl_kernel kernel;
	char log[4096];
};

/* Whether there is a device. */
static bool cl_open(struct cl_run *r)
{
	ocl_platform platform;
	int32_t rc = -1;
	uint32_t nr = 0;

	memset(r, 0, sizeof(*r));
	opencl_env("pthread");
	if (opencl_load(OPENCL_LIBRARY, &r->cl) ||
	    r->cl.clGetPlatformIDs(1, &platform, &nr) || !nr ||
	    r->cl.clGetDeviceIDs(platform, OCL_DEVICE_TYPE_ALL, 1, &r->device,
				 &nr) ||
	    !nr)
		return false;
	r->context =
		r->cl.clCreateContext(NULL, 1, &r->device, NULL, NULL, &rc);
	if (!rc)
		r->queue = r->cl.clCreateCommandQueueWithProperties(
			r->context, r->device, NULL, &rc);
	return !rc;
}

static void cl_close(struct cl_run *r)
{
	if (r->queue)
		r->cl.clReleaseCommandQueue(r->queue);
	if (r->context)
		r->cl.clReleaseContext(r->context);
}

static int32_t cl_build(struct cl_run *r, const char *text)
{
	int32_t rc;

	r->program = r->cl.clCreateProgramWithSource(r->context, 1, &text, NULL,
						     &rc);
	if (rc)
		return rc;
	rc = r->cl.clBuildProgram(r->program, 1, &r->device, "", NULL, NULL);
	r->log[0] = 0;
	r->cl.clGetProgramBuildInfo(r->program, r->device,
				    OCL_PROGRAM_BUILD_LOG, sizeof(r->log) - 1,
				    r->log, NULL);
	return rc;
}

static void cl_drop(struct cl_run *r)
{
	r->cl.clReleaseProgram(r->program);
}

static ocl_mem cl_memory(struct cl_run *r, const void *from, size_t bytes)
{
	int32_t rc;
	ocl_mem m = r->cl.clCreateBuffer(r->context, OCL_MEM_READ_WRITE, bytes,
					 NULL, &rc);

	if (!m || r->cl.clEnqueueWriteBuffer(r->queue, m, 1, 0, bytes, from, 0,
					     NULL, NULL))
		exit(99);
	return m;
}

static void cl_fetch(struct cl_run *r, ocl_mem m, void *to, size_t bytes)
{
	if (r->cl.clEnqueueReadBuffer(r->queue, m, 1, 0, bytes, to, 0, NULL,
				      NULL))
		exit(99);
}

static void cl_begin(struct cl_run *r, const char *entry)
{
	int32_t rc;

	r->kernel = r->cl.clCreateKernel(r->program, entry, &rc);
	r->nr_arg = 0;
	if (rc) {
		printf("# no kernel %s: %d\n", entry, rc);
		exit(99);
	}
}

static void cl_arg(struct cl_run *r, const void *value, size_t bytes)
{
	int32_t rc = r->cl.clSetKernelArg(r->kernel, r->nr_arg++, bytes, value);

	if (rc) {
		printf("# argument %u: %d\n", r->nr_arg - 1, rc);
		exit(99);
	}
}

#define cl_args(r, v) cl_arg(r, &(v), sizeof(v))

static int32_t cl_run(struct cl_run *r, uint32_t nr_dims, const size_t *all,
		      const size_t *block)
{
	int32_t rc = r->cl.clEnqueueNDRangeKernel(
		r->queue, r->kernel, nr_dims, NULL, all, block, 0, NULL, NULL);

	if (!rc)
		rc = r->cl.clFinish(r->queue);
	r->cl.clReleaseKernel(r->kernel);
	return rc;
}

#endif
