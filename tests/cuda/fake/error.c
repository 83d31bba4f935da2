/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The names of errors, and which of them end all work of the process. */
#include "tests/cuda/fake/fake.h"

#include <string.h>

static const struct error {
	cu_result result;
	const char *name, *text;
	bool is_fault;
} errors[] = {
	{ 0, "CUDA_SUCCESS", "no error", false },
	{ 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument", false },
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", false },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error", false },
	{ 4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down", true },
	{ 34, "CUDA_ERROR_STUB_LIBRARY", "a library without a driver", false },
	{ 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device unavailable", true },
	{ 100, "CUDA_ERROR_NO_DEVICE", "no device is detected", false },
	{ 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal", false },
	{ 200, "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image", false },
	{ 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context", false },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no image for it", false },
	{ 214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable error", true },
	{ 218, "CUDA_ERROR_INVALID_PTX", "a PTX compilation failed", false },
	{ 220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "NVLink error", true },
	{ 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "no compiler", false },
	{ 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "PTX is newer", false },
	{ 223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "disabled", false },
	{ 226, "CUDA_ERROR_CONTAINED", "contained", true },
	{ 300, "CUDA_ERROR_INVALID_SOURCE", "invalid source", false },
	{ 400, "CUDA_ERROR_INVALID_HANDLE", "invalid handle", false },
	{ 401, "CUDA_ERROR_ILLEGAL_STATE", "illegal state", false },
	{ 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found", false },
	{ 600, "CUDA_ERROR_NOT_READY", "device not ready", false },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access", true },
	{ 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources",
	  false },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "launch timed out", true },
	{ 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed",
	  false },
	{ 710, "CUDA_ERROR_ASSERT", "device-side assert triggered", true },
	{ 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "registered",
	  false },
	{ 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "not registered",
	  false },
	{ 714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error",
	  true },
	{ 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "illegal instruction", true },
	{ 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address", true },
	{ 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "wrong space", true },
	{ 718, "CUDA_ERROR_INVALID_PC", "invalid program counter", true },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED", "launch failure", true },
	{ 721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory leak", true },
	{ 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted", false },
	{ 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported", false },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "mismatch", false },
	{ 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "no", false },
	{ 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "captures", false },
	{ 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "broken", false },
	{ 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "merge", false },
	{ 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "unmatched", false },
	{ 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "unjoined", false },
	{ 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "isolation", false },
	{ 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "implicit", false },
	{ 907, "CUDA_ERROR_CAPTURED_EVENT", "captured event", false },
	{ 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "thread", false },
	{ 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "not updated", false },
	{ 913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "not loaded", false },
	{ 999, "CUDA_ERROR_UNKNOWN", "unknown error", false },
};

static const struct error *find_error(cu_result r)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].result == r)
			return &errors[i];
	return NULL;
}

bool error_is_fault(cu_result r)
{
	const struct error *e = find_error(r);

	return e && e->is_fault;
}

static cu_result tell_error(enum entry call, const struct error *e,
			    const char *told, const char **out)
{
	cu_result r = enter(call, NEEDS_NOTHING);

	if (!r) {
		*out = told;
		r = e ? 0 : 1;
	}
	return leave(r);
}

cu_result cuGetErrorName(cu_result r, const char **name)
{
	const struct error *e = find_error(r);

	return tell_error(E_cuGetErrorName, e, e ? e->name : NULL, name);
}

cu_result cuGetErrorString(cu_result r, const char **text)
{
	const struct error *e = find_error(r);

	return tell_error(E_cuGetErrorString, e, e ? e->text : NULL, text);
}
