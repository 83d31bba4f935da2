/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/load.h"

#include "base/err.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct call {
	const char *name;
	size_t at; /* in struct opencl */
};

static const struct call calls[] = {
#define OPENCL_ROW(result, name, ...) { #name, offsetof(struct opencl, name) },
	OPENCL_CALLS(OPENCL_ROW)
#undef OPENCL_ROW
};
#define NR_CALLS (sizeof(calls) / sizeof(*calls))

struct error {
	int32_t cl;
	int err;
	const char *name;
};

static const struct error errors[] = {
	{ OCL_DEVICE_NOT_FOUND, -ENODEV, "DEVICE_NOT_FOUND" },
	{ OCL_DEVICE_NOT_AVAILABLE, -ENODEV, "DEVICE_NOT_AVAILABLE" },
	{ OCL_MEM_OBJECT_ALLOCATION_FAILURE, -ENOMEM,
	  "MEM_OBJECT_ALLOCATION_FAILURE" },
	{ OCL_OUT_OF_RESOURCES, -ENOMEM, "OUT_OF_RESOURCES" },
	{ OCL_OUT_OF_HOST_MEMORY, -ENOMEM, "OUT_OF_HOST_MEMORY" },
	{ OCL_MEM_COPY_OVERLAP, -EINVAL, "MEM_COPY_OVERLAP" },
	{ OCL_BUILD_PROGRAM_FAILURE, -ENOEXEC, "BUILD_PROGRAM_FAILURE" },
	{ OCL_MISALIGNED_SUB_BUFFER_OFFSET, -EINVAL,
	  "MISALIGNED_SUB_BUFFER_OFFSET" },
	{ OCL_COMPILE_PROGRAM_FAILURE, -ENOEXEC, "COMPILE_PROGRAM_FAILURE" },
	{ OCL_INVALID_VALUE, -EINVAL, "INVALID_VALUE" },
	{ OCL_INVALID_KERNEL_NAME, -ENOEXEC, "INVALID_KERNEL_NAME" },
	{ OCL_INVALID_ARG_INDEX, -EINVAL, "INVALID_ARG_INDEX" },
	{ OCL_INVALID_ARG_VALUE, -EINVAL, "INVALID_ARG_VALUE" },
	{ OCL_INVALID_ARG_SIZE, -EINVAL, "INVALID_ARG_SIZE" },
	{ OCL_INVALID_KERNEL_ARGS, -EINVAL, "INVALID_KERNEL_ARGS" },
	{ OCL_INVALID_WORK_GROUP_SIZE, -EINVAL, "INVALID_WORK_GROUP_SIZE" },
	{ OCL_INVALID_WORK_ITEM_SIZE, -EINVAL, "INVALID_WORK_ITEM_SIZE" },
	{ OCL_INVALID_BUFFER_SIZE, -ENOMEM, "INVALID_BUFFER_SIZE" },
	{ OCL_INVALID_GLOBAL_WORK_SIZE, -EINVAL, "INVALID_GLOBAL_WORK_SIZE" },
	{ OCL_PLATFORM_NOT_FOUND, -ENODEV, "PLATFORM_NOT_FOUND_KHR" },
};
#define NR_ERRORS (sizeof(errors) / sizeof(*errors))

const char *opencl_error(int32_t error)
{
	size_t i;

	for (i = 0; i < NR_ERRORS; i++)
		if (errors[i].cl == error)
			return errors[i].name;
	return "error";
}

int opencl_errno(int32_t error)
{
	size_t i;

	for (i = 0; i < NR_ERRORS; i++)
		if (errors[i].cl == error)
			return errors[i].err;
	return error ? -EIO : 0;
}

int opencl_load(const char *library, struct opencl *cl)
{
	const char *why;
	void *handle, *f;
	size_t i;

	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		why = dlerror();
		return err(-ENOENT, "opencl: no OpenCL library: %s",
			   why ? why : library);
	}
	for (i = 0; i < NR_CALLS; i++) {
		f = dlsym(handle, calls[i].name);
		if (!f)
			break;
		memcpy((char *)cl + calls[i].at, &f, sizeof(f));
	}
	dlclose(handle);
	if (i < NR_CALLS)
		return err(-ENOSYS,
			   "opencl: %s has no %s: OpenCL 2.0 is needed",
			   library, calls[i].name);
	return 0;
}
