/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Our prototypes of CUDA's driver are those of the CUDA Toolkit, where that is:
 * each call and each number is compared as this program is compiled.
 */
#ifdef HAVE_CUDA_TYPES
/* First: macros of it rename some calls, in our table then, too. */
#include <cudaTypedefs.h>
#endif

#include "cuda/load.h"

#include "base/err.h"
#include "tests/cuda/faults.h"
#include "tests/tap.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_CUDA_TYPES
/* This one takes a struct of our own, which is compared below. */
#define has_struct(name) (!__builtin_strcmp(name, "cuMemPoolCreate"))
#define same_call(name, version, ...)                                   \
	_Static_assert(__builtin_types_compatible_p(                    \
			       PFN_##name##_##version,                  \
			       __typeof__(((struct cuda *)0)->name)) || \
			       has_struct(#name),                       \
		       #name);
CUDA_CALLS(same_call)
CUDA_LATER_CALLS(same_call)

#define same(ours, theirs) _Static_assert((int)ours == (int)theirs, #ours)
#define same_error(name) same(CU_##name, CUDA_ERROR_##name)
#define same_attr(ours, theirs) \
	same(CU_ATTR_##ours, CU_DEVICE_ATTRIBUTE_##theirs)
same(CU_SUCCESS, CUDA_SUCCESS);
same_error(INVALID_VALUE);
same_error(OUT_OF_MEMORY);
same_error(NOT_INITIALIZED);
same_error(DEINITIALIZED);
same_error(STUB_LIBRARY);
same_error(DEVICE_UNAVAILABLE);
same_error(NO_DEVICE);
same_error(INVALID_DEVICE);
same_error(INVALID_IMAGE);
same_error(INVALID_CONTEXT);
same_error(NO_BINARY_FOR_GPU);
same_error(ECC_UNCORRECTABLE);
same_error(INVALID_PTX);
same_error(NVLINK_UNCORRECTABLE);
same_error(JIT_COMPILER_NOT_FOUND);
same_error(UNSUPPORTED_PTX_VERSION);
same_error(JIT_COMPILATION_DISABLED);
#if CUDA_VERSION >= 13000
same_error(CONTAINED);
same_error(TENSOR_MEMORY_LEAK);
#endif
same_error(INVALID_SOURCE);
same_error(INVALID_HANDLE);
same_error(NOT_FOUND);
same_error(NOT_READY);
same_error(ILLEGAL_ADDRESS);
same_error(LAUNCH_OUT_OF_RESOURCES);
same_error(LAUNCH_TIMEOUT);
same_error(CONTEXT_IS_DESTROYED);
same_error(ASSERT);
same_error(HOST_MEMORY_ALREADY_REGISTERED);
same_error(HOST_MEMORY_NOT_REGISTERED);
same_error(HARDWARE_STACK_ERROR);
same_error(LAUNCH_FAILED);
same_error(NOT_PERMITTED);
same_error(NOT_SUPPORTED);
same_error(SYSTEM_DRIVER_MISMATCH);
same_error(COMPAT_NOT_SUPPORTED_ON_DEVICE);
same_error(UNKNOWN);
same_attr(MAX_BLOCK, MAX_THREADS_PER_BLOCK);
same_attr(MAX_BLOCK_X, MAX_BLOCK_DIM_X);
_Static_assert(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z ==
		       CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2,
	       "dimensions of a block follow each other");
same_attr(MAX_GRID_X, MAX_GRID_DIM_X);
_Static_assert(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z ==
		       CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2,
	       "dimensions of a grid follow each other");
same_attr(WARP, WARP_SIZE);
same_attr(BLOCK_REGISTERS, MAX_REGISTERS_PER_BLOCK);
same_attr(UNITS, MULTIPROCESSOR_COUNT);
same_attr(UNIT_THREADS, MAX_THREADS_PER_MULTIPROCESSOR);
same_attr(MAJOR, COMPUTE_CAPABILITY_MAJOR);
same_attr(MINOR, COMPUTE_CAPABILITY_MINOR);
same_attr(UNIT_SHARED, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
same_attr(UNIT_REGISTERS, MAX_REGISTERS_PER_MULTIPROCESSOR);
same_attr(CONCURRENT_MANAGED, CONCURRENT_MANAGED_ACCESS);
same_attr(BLOCK_SHARED, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
same_attr(UNIT_BLOCKS, MAX_BLOCKS_PER_MULTIPROCESSOR);
same_attr(SHARED_RESERVED, RESERVED_SHARED_MEMORY_PER_BLOCK);
same_attr(POOLS, MEMORY_POOLS_SUPPORTED);
same_attr(COMPUTE_MODE, COMPUTE_MODE);
same_attr(WORDS_V1, CAN_USE_STREAM_MEM_OPS_V1);
same_attr(WORDS_64, CAN_USE_64_BIT_STREAM_MEM_OPS);
same(CU_MODE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED);
same(CU_POOL_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
same(CU_POOL_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
_Static_assert(sizeof(struct cu_pool_props) == sizeof(CUmemPoolProps),
	       "CUmemPoolProps");
same(CU_FUNC_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
same(CU_FUNC_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
same(CU_FUNC_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
same(CU_FUNC_MAX_DYNAMIC_SHARED,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
same(CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
same(CU_JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
same(CU_STREAM_IS_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
same(CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
same(CU_HOST_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
same(CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
same(CU_MANAGED_GLOBAL, CU_MEM_ATTACH_GLOBAL);
same(CU_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
same(CU_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
same(CU_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
same(CU_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
same(CU_GRAPH_UPDATE_FAILURE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
_Static_assert(sizeof(CUgraphExecUpdateResultInfo_v1) <= 64,
	       "piece.c has room for it");

static void the_header_agrees(void)
{
	ok(1, "each call and number was compared with <cudaTypedefs.h>");
}
#else
static void the_header_agrees(void)
{
	skip("each call and number was compared with <cudaTypedefs.h>",
	     "no CUDA Toolkit");
}
#endif

static void what_is_missing_is_named(void)
{
	struct cuda cuda;

	is(cuda_load("libno-such-driver.so.1", &cuda), -ENOENT,
	   "no such library: -ENOENT");
	has(err_text(), "no NVIDIA driver: libno-such-driver.so.1",
	    "the text has the loader's words");
	is(cuda_load("libm.so.6", &cuda), -ENOSYS,
	   "a library that is another: -ENOSYS");
	has(err_text(), "cuGetProcAddress_v2", "the text names what it lacks");
	is(cuda_load("/proc/self/cmdline", &cuda), -ENOENT,
	   "a text file: -ENOENT");
	has(err_text(), "/proc/self/cmdline", "the text names it");
}

#ifdef CUDA_STUB
static void the_stub_is_no_driver(void)
{
	struct cuda cuda;

	is(cuda_load(CUDA_STUB, &cuda), -ENODEV, "the toolkit's stub: -ENODEV");
	has(err_text(), "STUB_LIBRARY", "the text says what it is");
}
#else
static void the_stub_is_no_driver(void)
{
	skip("the toolkit's stub: -ENODEV", "no CUDA Toolkit");
	skip("the text says what it is", "no CUDA Toolkit");
}
#endif

struct expected {
	cu_result error;
	int err;
};

/* The numbers are those of the documentation; -ENODEV loses the device. */
static const struct expected expected[] = {
	{ 0, 0 },	    { 1, -EINVAL },	  { 2, -ENOMEM },
	{ 3, -EOWNERDEAD }, { 4, -ENODEV },	  { 34, -ENODEV },
	{ 46, -ENODEV },    { 100, -ENODEV },	  { 101, -ENODEV },
	{ 200, -ENOEXEC },  { 201, -ENODEV },	  { 209, -ENOEXEC },
	{ 214, -ENODEV },   { 218, -ENOEXEC },	  { 220, -ENODEV },
	{ 221, -ENOEXEC },  { 222, -ENOEXEC },	  { 223, -ENOEXEC },
	{ 226, -ENODEV },   { 300, -ENOEXEC },	  { 400, -EINVAL },
	{ 500, -ENOEXEC },  { 700, -ENODEV },	  { 701, -EINVAL },
	{ 702, -ENODEV },   { 709, -ENODEV },	  { 710, -ENODEV },
	{ 712, -EBUSY },    { 713, -EINVAL },	  { 714, -ENODEV },
	{ 716, -ENODEV },   { 719, -ENODEV },	  { 721, -ENODEV },
	{ 800, -EPERM },    { 801, -EOPNOTSUPP }, { 803, -ENODEV },
	{ 804, -ENODEV },   { 720, -EIO },	  { 900, -EBUSY },
	{ 901, -EBUSY },    { 908, -EBUSY },	  { 909, -EIO },
	{ 999, -EIO },
};

static void errors_are_told_apart(void)
{
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		is(cuda_errno(expected[i].error), expected[i].err,
		   "CUresult %u is errno %d", expected[i].error,
		   -expected[i].err);
}

/* So that test_cuda_faults lets it fail. */
static void each_call_has_its_errors(void)
{
#define CALL_NAME(name, version, ...) #name,
	static const char *const names[] = { CUDA_CALLS(
		CALL_NAME) CUDA_LATER_CALLS(CALL_NAME) };
#undef CALL_NAME
	size_t i, k, nr = sizeof(names) / sizeof(names[0]);

	for (i = 0; i < nr; i++) {
		for (k = 0; k < NR_CUDA_FAULTS; k++)
			if (!strcmp(names[i], cuda_faults[k].call))
				break;
		ok(k < NR_CUDA_FAULTS, "%s has a row of errors", names[i]);
	}
	is(NR_CUDA_FAULTS, nr, "and no other call has one");
}

int main(void)
{
	tap_start(60);
	each_call_has_its_errors();
	the_header_agrees();
	what_is_missing_is_named();
	the_stub_is_no_driver();
	errors_are_told_apart();
	return tap_end();
}
