/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors of the driver. Those of a kernel that went wrong are the process's:
 * each later call of each context says the same, until the process ends.
 */
#include "cuda/load.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>

/* Errors from first to last, which are few: no others lie between. */
struct errors {
	cu_result first, last;
	int err;
};

static const struct errors table[] = {
	{ CU_INVALID_VALUE, CU_INVALID_VALUE, -EINVAL },
	{ CU_OUT_OF_MEMORY, CU_OUT_OF_MEMORY, -ENOMEM },
	{ CU_NOT_INITIALIZED, CU_NOT_INITIALIZED, -EOWNERDEAD },
	{ CU_DEINITIALIZED, CU_DEINITIALIZED, -ENODEV },
	{ CU_STUB_LIBRARY, CU_STUB_LIBRARY, -ENODEV },
	{ CU_DEVICE_UNAVAILABLE, CU_DEVICE_UNAVAILABLE, -ENODEV },
	{ CU_NO_DEVICE, CU_INVALID_DEVICE, -ENODEV },
	{ CU_INVALID_IMAGE, CU_INVALID_IMAGE, -ENOEXEC },
	{ CU_INVALID_CONTEXT, CU_INVALID_CONTEXT, -ENODEV },
	{ CU_NO_BINARY_FOR_GPU, CU_NO_BINARY_FOR_GPU, -ENOEXEC },
	{ CU_ECC_UNCORRECTABLE, CU_ECC_UNCORRECTABLE, -ENODEV },
	{ CU_INVALID_PTX, CU_INVALID_PTX, -ENOEXEC },
	{ CU_NVLINK_UNCORRECTABLE, CU_NVLINK_UNCORRECTABLE, -ENODEV },
	{ CU_JIT_COMPILER_NOT_FOUND, CU_JIT_COMPILATION_DISABLED, -ENOEXEC },
	{ CU_CONTAINED, CU_CONTAINED, -ENODEV },
	{ CU_INVALID_SOURCE, CU_INVALID_SOURCE, -ENOEXEC },
	{ CU_INVALID_HANDLE, CU_INVALID_HANDLE, -EINVAL },
	{ CU_NOT_FOUND, CU_NOT_FOUND, -ENOEXEC },
	{ CU_ILLEGAL_ADDRESS, CU_ILLEGAL_ADDRESS, -ENODEV },
	{ CU_LAUNCH_OUT_OF_RESOURCES, CU_LAUNCH_OUT_OF_RESOURCES, -EINVAL },
	{ CU_LAUNCH_TIMEOUT, CU_LAUNCH_TIMEOUT, -ENODEV },
	{ CU_CONTEXT_IS_DESTROYED, CU_ASSERT, -ENODEV },
	{ CU_HOST_MEMORY_ALREADY_REGISTERED, CU_HOST_MEMORY_ALREADY_REGISTERED,
	  -EBUSY },
	{ CU_HOST_MEMORY_NOT_REGISTERED, CU_HOST_MEMORY_NOT_REGISTERED,
	  -EINVAL },
	{ CU_HARDWARE_STACK_ERROR, CU_LAUNCH_FAILED, -ENODEV },
	{ CU_TENSOR_MEMORY_LEAK, CU_TENSOR_MEMORY_LEAK, -ENODEV },
	{ CU_NOT_PERMITTED, CU_NOT_PERMITTED, -EPERM },
	{ CU_NOT_SUPPORTED, CU_NOT_SUPPORTED, -EOPNOTSUPP },
	/* A capture of the program's is in the way; the card is well. */
	{ CU_CAPTURE_UNSUPPORTED, CU_CAPTURE_WRONG_THREAD, -EBUSY },
	{ CU_SYSTEM_DRIVER_MISMATCH, CU_COMPAT_NOT_SUPPORTED_ON_DEVICE,
	  -ENODEV },
};

int cuda_errno(cu_result error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (error >= table[i].first && error <= table[i].last)
			return table[i].err;
	return error ? -EIO : 0;
}

/* Told without cuInit(), too, and in a forked child. */
static const char *error_name(const struct cuda *cuda, cu_result error)
{
	const char *name = NULL;

	return !cuda->cuGetErrorName(error, &name) && name ? name
							   : "unknown error";
}

int cuda_failed(const struct cuda *cuda, const char *call, cu_result error)
{
	return err(cuda_errno(error), "cuda: %s: %s (%u)", call,
		   error_name(cuda, error), error);
}

int cuda_init(const struct cuda *cuda)
{
	cu_result r = cuda->cuInit(0);

	if (!r)
		return 0;
	/* It was initialised before the fork that made this process. */
	if (r == CU_NOT_INITIALIZED)
		return cuda_failed(cuda, "cuInit", r);
	return err(-ENODEV, "cuda: no device: cuInit: %s (%u)",
		   error_name(cuda, r), r);
}
