/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Our prototypes of OpenCL are those of <CL/cl.h>, where that header is: each
 * call and each number is compared as this program is compiled.
 */
#include "opencl/load.h"

#include "base/err.h"
#include "tests/tap.h"

#include <errno.h>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#define same_call(result, name, ...)                                    \
	_Static_assert(__builtin_types_compatible_p(                    \
			       __typeof__(&name),                       \
			       __typeof__(((struct opencl *)0)->name)), \
		       #name);
OPENCL_CALLS(same_call)

#define same(name) _Static_assert((int)OCL_##name == (int)CL_##name, #name)
same(SUCCESS);
same(DEVICE_NOT_FOUND);
same(DEVICE_NOT_AVAILABLE);
same(MEM_OBJECT_ALLOCATION_FAILURE);
same(OUT_OF_RESOURCES);
same(OUT_OF_HOST_MEMORY);
same(MEM_COPY_OVERLAP);
same(BUILD_PROGRAM_FAILURE);
same(COMPILE_PROGRAM_FAILURE);
same(INVALID_VALUE);
same(INVALID_KERNEL_NAME);
same(INVALID_ARG_INDEX);
same(INVALID_ARG_VALUE);
same(INVALID_ARG_SIZE);
same(INVALID_KERNEL_ARGS);
same(INVALID_WORK_GROUP_SIZE);
same(INVALID_WORK_ITEM_SIZE);
same(INVALID_BUFFER_SIZE);
same(INVALID_GLOBAL_WORK_SIZE);
same(PLATFORM_NAME);
same(DEVICE_MAX_COMPUTE_UNITS);
same(DEVICE_MAX_WORK_GROUP_SIZE);
same(DEVICE_MAX_MEM_ALLOC_SIZE);
same(DEVICE_MAX_PARAMETER_SIZE);
same(DEVICE_MEM_BASE_ADDR_ALIGN);
same(DEVICE_GLOBAL_MEM_SIZE);
same(DEVICE_LOCAL_MEM_SIZE);
same(DEVICE_NAME);
same(DEVICE_SVM_CAPABILITIES);
same(DEVICE_SVM_FINE_GRAIN_BUFFER);
same(MEM_SVM_FINE_GRAIN_BUFFER);
same(PROGRAM_BUILD_LOG);
same(PROGRAM_KERNEL_NAMES);
same(KERNEL_WORK_GROUP_SIZE);
same(KERNEL_LOCAL_MEM_SIZE);
same(KERNEL_ARG_ADDRESS_QUALIFIER);
same(KERNEL_ARG_ADDRESS_GLOBAL);
same(KERNEL_ARG_ADDRESS_CONSTANT);
same(BUFFER_CREATE_TYPE_REGION);
same(MEM_READ_WRITE);
same(QUEUE_CONTEXT);
same(QUEUE_DEVICE);
same(QUEUE_PROPERTIES);
same(QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
same(COMPLETE);
_Static_assert(OCL_DEVICE_TYPE_ALL == CL_DEVICE_TYPE_ALL, "all devices");
_Static_assert(sizeof(struct ocl_region) == sizeof(cl_buffer_region) &&
		       offsetof(struct ocl_region, size) ==
			       offsetof(cl_buffer_region, size),
	       "region of a buffer");

static void the_header_agrees(void)
{
	ok(1, "each call and number was compared with <CL/cl.h>");
}
#else
static void the_header_agrees(void)
{
	skip("each call and number was compared with <CL/cl.h>",
	     "no <CL/cl.h>");
}
#endif

static void what_is_missing_is_named(void)
{
	struct opencl cl;

	is(opencl_load("libno-such-driver.so.1", &cl), -ENOENT,
	   "no such library: -ENOENT");
	has(err_text(), "libno-such-driver.so.1", "the text names it");
	is(opencl_load("libm.so.6", &cl), -ENOSYS,
	   "a library that is another: -ENOSYS");
	has(err_text(), "clGetPlatformIDs", "the text names what it lacks");
}

static void errors_have_names(void)
{
	is(opencl_errno(OCL_SUCCESS), 0, "no error is 0");
	is(opencl_errno(OCL_OUT_OF_RESOURCES), -ENOMEM, "-5 is -ENOMEM");
	is(opencl_errno(-9999), -EIO, "an unknown one is -EIO");
	has(opencl_error(-54), "INVALID_WORK_GROUP_SIZE", "-54 has a name");
	has(opencl_error(-9999), "error", "an unknown one has none");
}

int main(void)
{
	tap_start(60);
	the_header_agrees();
	what_is_missing_is_named();
	errors_have_names();
	return tap_end();
}
