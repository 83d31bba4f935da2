/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/device.h"

#include "base/err.h"
#include "opencl/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The log of the compiler for the text, as much as fits. */
static void get_log(struct opencl_device *d, ocl_program p, const char *text,
		    char *log, uint32_t log_size)
{
	size_t size = 0;
	char *all;

	if (!log_size ||
	    d->cl.clGetProgramBuildInfo(p, d->id, OCL_PROGRAM_BUILD_LOG, 0,
					NULL, &size))
		return;
	all = calloc(1, size + 1);
	if (!all)
		return;
	if (!d->cl.clGetProgramBuildInfo(p, d->id, OCL_PROGRAM_BUILD_LOG, size,
					 all, NULL))
		opencl_map_log(text, all, log, log_size);
	free(all);
}

/* The only kernel of the program, in name; 0, or an error that log explains. */
static int find_only(struct opencl_device *d, ocl_program p, char *name,
		     size_t size, char *log, uint32_t log_size)
{
	int32_t error = d->cl.clGetProgramInfo(p, OCL_PROGRAM_KERNEL_NAMES,
					       size, name, NULL);

	if (!error && name[0] && !strchr(name, ';'))
		return 0;
	snprintf(log, log_size,
		 "opencl: entry is NULL, which needs a text with one kernel");
	return -EINVAL;
}

static int make_kernel(struct opencl_device *d, ocl_program p,
		       const char *entry, ocl_kernel *out, char *log,
		       uint32_t log_size)
{
	char name[256] = "";
	int32_t error;
	int rc = 0;

	if (!entry) {
		rc = find_only(d, p, name, sizeof(name), log, log_size);
		entry = name;
	}
	if (rc)
		return rc;
	*out = d->cl.clCreateKernel(p, entry, &error);
	if (!error)
		return 0;
	if (error == OCL_INVALID_KERNEL_NAME)
		snprintf(log, log_size, "opencl: the text has no kernel %s",
			 entry);
	else
		snprintf(log, log_size, "opencl: clCreateKernel: %s (%d)",
			 opencl_error(error), error);
	return opencl_errno(error);
}

/*
 * The compiler keeps what parameters are, for opencl_check_pointer(). The
 * error as of OpenCL.
 */
static int32_t compile_program(struct opencl_device *d, ocl_program p,
			       const char *options)
{
	static const char known[] = "-cl-kernel-arg-info";
	size_t size = sizeof(known) + 1 + (options ? strlen(options) : 0);
	char *all = malloc(size);
	int32_t error;

	if (!all)
		return OCL_OUT_OF_HOST_MEMORY;
	snprintf(all, size, "%s %s", known, options ? options : "");
	error = d->cl.clBuildProgram(p, 1, &d->id, all, NULL, NULL);
	free(all);
	/* NVIDIA's compiler (580.159) fails with it for any text that has a
	 * kernel without parameters. */
	if (error == OCL_BUILD_PROGRAM_FAILURE)
		error = d->cl.clBuildProgram(
			p, 1, &d->id, options ? options : "", NULL, NULL);
	return error;
}

/* The text of the code behind a directive that names its lines; the caller's.
 * NULL: no memory. */
static char *name_lines(const struct lkdf_code *c)
{
	size_t bytes = c->bytes ? c->bytes : strlen(c->image), size;
	const char *entry = c->entry ? c->entry : "kernel";
	char *text;
	int n;

	size = bytes + strlen(entry) + sizeof("#line 1 \"\"\n");
	text = malloc(size);
	if (!text)
		return NULL;
	n = snprintf(text, size, "#line 1 \"%s\"\n", entry);
	memcpy(text + n, c->image, bytes);
	text[(size_t)n + bytes] = 0;
	return text;
}

int opencl_build(void *dev, const struct lkdf_code *c,
		 const struct lkdf_launch *like, void **function, char *log,
		 uint32_t log_size)
{
	struct opencl_device *d = dev;
	char *text = name_lines(c);
	ocl_kernel kernel = NULL;
	ocl_program p;
	int32_t error;
	int rc;

	(void)like;
	if (!text)
		return err(-ENOMEM, "opencl: no memory");
	p = d->cl.clCreateProgramWithSource(d->context, 1, (const char **)&text,
					    NULL, &error);
	if (error) {
		free(text);
		return opencl_failed("clCreateProgramWithSource", error);
	}
	error = compile_program(d, p, c->options);
	if (error) {
		get_log(d, p, text, log, log_size);
		if (log_size && !log[0])
			snprintf(log, log_size, "opencl: clBuildProgram: %s",
				 opencl_error(error));
		rc = opencl_errno(error);
	} else {
		rc = make_kernel(d, p, c->entry, &kernel, log, log_size);
	}
	free(text);
	/* A kernel keeps its program. */
	d->cl.clReleaseProgram(p);
	if (!rc)
		*function = kernel;
	return rc;
}

void opencl_drop(void *dev, void *function)
{
	struct opencl_device *d = dev;

	d->cl.clReleaseKernel(function);
}

static uint32_t of_kernel(struct opencl_device *d, ocl_kernel k, uint32_t what)
{
	uint64_t v = 0;

	if (d->cl.clGetKernelWorkGroupInfo(k, d->id, what, sizeof(v), &v, NULL))
		return 0;
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* OpenCL does not tell of registers: the largest block has them in it. */
int opencl_needs(void *dev, void *function, struct lkdf_kernel_needs *out)
{
	struct opencl_device *d = dev;

	out->max_block = of_kernel(d, function, OCL_KERNEL_WORK_GROUP_SIZE);
	out->shared = of_kernel(d, function, OCL_KERNEL_LOCAL_MEM_SIZE);
	return 0;
}
