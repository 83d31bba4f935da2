/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/raw_cl.h"

#include "lib/opencl/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBRARY "libOpenCL.so.1"

struct raw_cl {
	struct opencl cl;
	ocl_context context;
	ocl_queue queue;
	ocl_program program;
	ocl_kernel step, nothing;
	ocl_mem memory;
	uint64_t *word;
	char why[96];
};

#define MAX_PLATFORMS 8

const char raw_cl_text[] =
	"kernel void step_words(global ulong *y)\n"
	"{\n\tsize_t i = get_global_id(0);\n\n\ty[i] = y[i] * 3 + 1;\n}\n"
	"kernel void do_nothing(void)\n"
	"{\n}\n";

uint64_t raw_cl_word(unsigned nr)
{
	uint64_t v = 0;

	while (nr--)
		v = v * 3 + 1;
	return v;
}

static bool refuse(struct raw_cl *r, const char *what, int32_t error)
{
	snprintf(r->why, sizeof(r->why), "%s: error %d", what, error);
	return false;
}

static bool load(struct raw_cl *r)
{
#define CALL_ROW(result, name, ...) { #name, offsetof(struct opencl, name) },
	static const struct {
		const char *name;
		size_t at;
	} calls[] = { OPENCL_CALLS(CALL_ROW) };
#undef CALL_ROW
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE),
	     *f;
	size_t i;

	if (!handle) {
		snprintf(r->why, sizeof(r->why), "absent: " LIBRARY);
		return false;
	}
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		f = dlsym(handle, calls[i].name);
		if (!f) {
			snprintf(r->why, sizeof(r->why), "absent: %s",
				 calls[i].name);
			return false;
		}
		memcpy((char *)&r->cl + calls[i].at, &f, sizeof(f));
	}
	return true;
}

/* The first device of the first driver that has one, as the library's. */
static bool find_device(struct raw_cl *r, ocl_device *out)
{
	ocl_platform p[MAX_PLATFORMS];
	uint32_t nr = 0, i;

	if (r->cl.clGetPlatformIDs(MAX_PLATFORMS, p, &nr))
		nr = 0;
	for (i = 0; i < nr && i < MAX_PLATFORMS; i++)
		if (!r->cl.clGetDeviceIDs(p[i], OCL_DEVICE_TYPE_ALL, 1, out,
					  NULL))
			return true;
	snprintf(r->why, sizeof(r->why), "absent: an OpenCL driver");
	return false;
}

static bool build(struct raw_cl *r, ocl_device d)
{
	const char *text = raw_cl_text;
	int32_t error;

	r->program = r->cl.clCreateProgramWithSource(r->context, 1, &text, NULL,
						     &error);
	if (!error)
		error = r->cl.clBuildProgram(r->program, 1, &d, "", NULL, NULL);
	if (error)
		return refuse(r, "clBuildProgram", error);
	r->step = r->cl.clCreateKernel(r->program, "step_words", &error);
	if (!error)
		r->nothing =
			r->cl.clCreateKernel(r->program, "do_nothing", &error);
	return error ? refuse(r, "clCreateKernel", error) : true;
}

static bool make_all(struct raw_cl *r)
{
	ocl_device d;
	int32_t error;

	if (!load(r) || !find_device(r, &d))
		return false;
	r->context = r->cl.clCreateContext(NULL, 1, &d, NULL, NULL, &error);
	if (error)
		return refuse(r, "clCreateContext", error);
	r->queue = r->cl.clCreateCommandQueueWithProperties(r->context, d, NULL,
							    &error);
	if (error)
		return refuse(r, "clCreateCommandQueueWithProperties", error);
	r->memory = r->cl.clCreateBuffer(r->context, OCL_MEM_READ_WRITE,
					 RAW_CL_BYTES, NULL, &error);
	if (error)
		return refuse(r, "clCreateBuffer", error);
	return build(r, d);
}

struct raw_cl *raw_cl_open(char *why, size_t size)
{
	struct raw_cl *r = calloc(1, sizeof(*r));

	if (r)
		r->word = calloc(1, RAW_CL_BYTES);
	if (r && r->word && make_all(r))
		return r;
	snprintf(why, size, "%s", r && r->word ? r->why : "no memory");
	raw_cl_close(r);
	return NULL;
}

void raw_cl_close(struct raw_cl *r)
{
	if (!r)
		return;
	if (r->step)
		r->cl.clReleaseKernel(r->step);
	if (r->nothing)
		r->cl.clReleaseKernel(r->nothing);
	if (r->program)
		r->cl.clReleaseProgram(r->program);
	if (r->memory)
		r->cl.clReleaseMemObject(r->memory);
	if (r->queue)
		r->cl.clReleaseCommandQueue(r->queue);
	if (r->context)
		r->cl.clReleaseContext(r->context);
	free(r->word);
	free(r);
}

const char *raw_cl_why(const struct raw_cl *r)
{
	return r->why;
}

/* ---- what is measured --------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int32_t enqueue_step(struct raw_cl *r)
{
	const size_t items = RAW_CL_WORDS, block = RAW_CL_BLOCK;
	int32_t error;

	error = r->cl.clSetKernelArg(r->step, 0, sizeof(r->memory), &r->memory);
	return error ? error
		     : r->cl.clEnqueueNDRangeKernel(r->queue, r->step, 1, NULL,
						    &items, &block, 0, NULL,
						    NULL);
}

static int32_t upload(struct raw_cl *r)
{
	return r->cl.clEnqueueWriteBuffer(r->queue, r->memory, 0, 0,
					  RAW_CL_BYTES, r->word, 0, NULL, NULL);
}

/* Waits until it is there. */
static int32_t fetch(struct raw_cl *r)
{
	return r->cl.clEnqueueReadBuffer(r->queue, r->memory, 1, 0,
					 RAW_CL_BYTES, r->word, 0, NULL, NULL);
}

static int64_t end(struct raw_cl *r, int64_t start, int32_t error,
		   unsigned steps)
{
	int64_t ns = now_ns() - start;

	if (!error && r->word[RAW_CL_WORDS - 1] == raw_cl_word(steps))
		return ns;
	if (error)
		refuse(r, "OpenCL", error);
	else
		snprintf(r->why, sizeof(r->why), "OpenCL: wrong result");
	return -EIO;
}

int64_t raw_cl_chain(struct raw_cl *r, unsigned nr)
{
	int64_t start;
	int32_t error;
	unsigned i;

	memset(r->word, 0, RAW_CL_BYTES);
	start = now_ns();
	error = upload(r);
	for (i = 0; i < nr && !error; i++)
		error = enqueue_step(r);
	if (!error)
		error = fetch(r);
	return end(r, start, error, nr);
}

int64_t raw_cl_side_by_side(struct raw_cl *r, unsigned nr)
{
	const size_t one = 1;
	int64_t start;
	int32_t error = 0;
	unsigned i;

	memset(r->word, 0, RAW_CL_BYTES);
	start = now_ns();
	for (i = 0; i < nr && !error; i++)
		error = r->cl.clEnqueueNDRangeKernel(r->queue, r->nothing, 1,
						     NULL, &one, &one, 0, NULL,
						     NULL);
	if (!error)
		error = r->cl.clFinish(r->queue);
	return end(r, start, error, 0);
}

int64_t raw_cl_pairs(struct raw_cl *r, unsigned nr)
{
	int64_t start;
	int32_t error = 0;
	unsigned i;

	memset(r->word, 0, RAW_CL_BYTES);
	start = now_ns();
	for (i = 0; i < nr && !error; i++) {
		error = upload(r);
		if (!error)
			error = enqueue_step(r);
		if (!error)
			error = fetch(r);
		r->word[0]++;
	}
	return end(r, start, error, nr);
}
