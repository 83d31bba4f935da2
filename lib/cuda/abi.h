/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The part of CUDA's driver API that this library calls, by prototypes of its
 * own: neither a header nor a library of the CUDA Toolkit is needed to build
 * it. The names of calls are those of NVIDIA's documentation (CUDA Driver API),
 * in the versions that a driver of CUDA 12.0 gives; types begin with cu_.
 * tests/unit/cuda/test_abi.c compares all of it with the toolkit's header.
 */
#ifndef CUDA_ABI_H
#define CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUDA_OLDEST 12000 /* what calls are asked for; drivers say 12040 */

typedef unsigned cu_result;
typedef int cu_device;
typedef unsigned long long cu_ptr;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphExec_st *cu_exec;
typedef struct CUgraphExecUpdateResultInfo_st cu_updated; /* < 64 bytes */

/* CUmemPoolProps */
struct cu_pool_props {
	unsigned sort, handles; /* sort: CU_POOL_PINNED; handles: 0, none */
	unsigned place; /* CU_POOL_DEVICE */
	int device;
	void *none;
	unsigned char later[64]; /* 0 */
};
typedef size_t (*cu_shared_fn)(int block);

/* Numbers of the toolkit's header. */
enum cu_number {
	CU_SUCCESS = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_INITIALIZED = 3,
	CU_DEINITIALIZED = 4,
	CU_STUB_LIBRARY = 34,
	CU_DEVICE_UNAVAILABLE = 46,
	CU_NO_DEVICE = 100,
	CU_INVALID_DEVICE = 101,
	CU_INVALID_IMAGE = 200,
	CU_INVALID_CONTEXT = 201,
	CU_NO_BINARY_FOR_GPU = 209,
	CU_ECC_UNCORRECTABLE = 214,
	CU_INVALID_PTX = 218,
	CU_NVLINK_UNCORRECTABLE = 220,
	CU_JIT_COMPILER_NOT_FOUND = 221,
	CU_UNSUPPORTED_PTX_VERSION = 222,
	CU_JIT_COMPILATION_DISABLED = 223,
	CU_CONTAINED = 226,
	CU_INVALID_SOURCE = 300,
	CU_INVALID_HANDLE = 400,
	CU_NOT_FOUND = 500,
	CU_NOT_READY = 600,
	CU_ILLEGAL_ADDRESS = 700,
	CU_LAUNCH_OUT_OF_RESOURCES = 701,
	CU_LAUNCH_TIMEOUT = 702,
	CU_CONTEXT_IS_DESTROYED = 709,
	CU_ASSERT = 710,
	CU_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CU_HOST_MEMORY_NOT_REGISTERED = 713,
	CU_HARDWARE_STACK_ERROR = 714,
	CU_LAUNCH_FAILED = 719,
	CU_TENSOR_MEMORY_LEAK = 721,
	CU_NOT_PERMITTED = 800,
	CU_NOT_SUPPORTED = 801,
	CU_SYSTEM_DRIVER_MISMATCH = 803,
	CU_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	CU_CAPTURE_UNSUPPORTED = 900,
	CU_CAPTURE_WRONG_THREAD = 908, /* all between are of captures, too */
	CU_GRAPH_UPDATE_FAILURE = 910,
	CU_UNKNOWN = 999,

	CU_ATTR_MAX_BLOCK = 1,
	CU_ATTR_MAX_BLOCK_X = 2, /* Y, Z follow */
	CU_ATTR_MAX_GRID_X = 5, /* likewise */
	CU_ATTR_WARP = 10,
	CU_ATTR_BLOCK_REGISTERS = 12,
	CU_ATTR_UNITS = 16,
	CU_ATTR_COMPUTE_MODE = 20,
	CU_ATTR_UNIT_THREADS = 39,
	CU_ATTR_MAJOR = 75,
	CU_ATTR_MINOR = 76,
	CU_ATTR_UNIT_SHARED = 81,
	CU_ATTR_UNIT_REGISTERS = 82,
	CU_ATTR_CONCURRENT_MANAGED = 89,
	CU_ATTR_WORDS_V1 = 92, /* of streams, as older drivers have them */
	CU_ATTR_BLOCK_SHARED = 97, /* for those who ask */
	CU_ATTR_UNIT_BLOCKS = 106,
	CU_ATTR_SHARED_RESERVED = 111,
	CU_ATTR_POOLS = 115,
	CU_ATTR_WORDS_64 = 122,

	CU_MODE_PROHIBITED = 2,

	CU_FUNC_MAX_THREADS = 0,
	CU_FUNC_SHARED = 1,
	CU_FUNC_REGISTERS = 4,
	CU_FUNC_MAX_DYNAMIC_SHARED = 8,
	CU_FUNC_CARVEOUT = 9,

	CU_JIT_ERROR_LOG = 5,
	CU_JIT_ERROR_LOG_BYTES = 6,

	CU_STREAM_IS_NON_BLOCKING = 1,
	CU_HANDLE_LEGACY = 1, /* a handle */
	CU_HANDLE_PER_THREAD = 2, /* likewise */
	CU_HOST_PORTABLE = 1,
	CU_HOST_MAPPED = 2,
	CU_MANAGED_GLOBAL = 1,
	CU_POOL_PINNED = 1,
	CU_POOL_DEVICE = 1,
	CU_POOL_RELEASE_THRESHOLD = 4,
	CU_CAPTURE_RELAXED = 2,
};

/*
 * Each row has a call's name, the end of its name in cudaTypedefs.h, which is
 * its version, and its arguments; the result is a cu_result.
 */
/* clang-format off */
#define CUDA_CALLS(call) \
	call(cuInit, v2000, unsigned) \
	call(cuDriverGetVersion, v2020, int *) \
	call(cuGetErrorName, v6000, cu_result, const char **) \
	call(cuDeviceGetCount, v2000, int *) \
	call(cuDeviceGet, v2000, cu_device *, int) \
	call(cuDeviceGetName, v2000, char *, int, cu_device) \
	call(cuDeviceGetPCIBusId, v4010, char *, int, cu_device) \
	call(cuDeviceGetAttribute, v2000, int *, unsigned, cu_device) \
	call(cuDeviceTotalMem, v3020, size_t *, cu_device) \
	call(cuDevicePrimaryCtxRetain, v7000, cu_context *, cu_device) \
	call(cuDevicePrimaryCtxRelease, v11000, cu_device) \
	call(cuCtxSetCurrent, v4000, cu_context) \
	call(cuCtxGetCurrent, v4000, cu_context *) \
	call(cuCtxGetDevice, v2000, cu_device *) \
	call(cuThreadExchangeStreamCaptureMode, v10010, unsigned *) \
	call(cuStreamCreateWithPriority, v5050, cu_stream *, unsigned, int) \
	call(cuStreamGetCtx, v9020, cu_stream, cu_context *) \
	call(cuStreamIsCapturing, v10000, cu_stream, unsigned *) \
	call(cuStreamDestroy, v4000, cu_stream) \
	call(cuStreamQuery, v2000, cu_stream) \
	call(cuStreamSynchronize, v2000, cu_stream) \
	call(cuStreamWaitEvent, v3020, cu_stream, cu_event, unsigned) \
	call(cuStreamWriteValue32, v11070, cu_stream, cu_ptr, uint32_t, \
	     unsigned) \
	call(cuMemAlloc, v3020, cu_ptr *, size_t) \
	call(cuMemFree, v3020, cu_ptr) \
	call(cuMemAllocFromPoolAsync, v11020, cu_ptr *, size_t, cu_pool, \
	     cu_stream) \
	call(cuMemFreeAsync, v11020, cu_ptr, cu_stream) \
	call(cuMemPoolCreate, v11020, cu_pool *, const struct cu_pool_props *) \
	call(cuMemPoolDestroy, v11020, cu_pool) \
	call(cuMemPoolTrimTo, v11020, cu_pool, size_t) \
	call(cuMemPoolSetAttribute, v11020, cu_pool, unsigned, void *) \
	call(cuMemAllocManaged, v6000, cu_ptr *, size_t, unsigned) \
	call(cuMemHostAlloc, v2020, void **, size_t, unsigned) \
	call(cuMemFreeHost, v2000, void *) \
	call(cuMemHostGetDevicePointer, v3020, cu_ptr *, void *, unsigned) \
	call(cuMemHostRegister, v6050, void *, size_t, unsigned) \
	call(cuMemHostUnregister, v4000, void *) \
	call(cuMemcpyHtoDAsync, v3020, cu_ptr, const void *, size_t, \
	     cu_stream) \
	call(cuMemcpyDtoHAsync, v3020, void *, cu_ptr, size_t, cu_stream) \
	call(cuMemcpyDtoDAsync, v3020, cu_ptr, cu_ptr, size_t, cu_stream) \
	call(cuMemsetD8Async, v3020, cu_ptr, unsigned char, size_t, \
	     cu_stream) \
	call(cuModuleLoadDataEx, v2010, cu_module *, const void *, unsigned, \
	     unsigned *, void **) \
	call(cuModuleUnload, v2000, cu_module) \
	call(cuModuleGetFunction, v2000, cu_function *, cu_module, \
	     const char *) \
	call(cuFuncGetAttribute, v2020, int *, unsigned, cu_function) \
	call(cuFuncSetAttribute, v9000, cu_function, unsigned, int) \
	call(cuOccupancyMaxPotentialBlockSize, v6050, int *, int *, \
	     cu_function, cu_shared_fn, size_t, int) \
	call(cuLaunchKernel, v4000, cu_function, unsigned, unsigned, \
	     unsigned, unsigned, unsigned, unsigned, unsigned, cu_stream, \
	     void **, void **) \
	call(cuStreamBeginCapture, v10010, cu_stream, unsigned) \
	call(cuStreamEndCapture, v10000, cu_stream, cu_graph *) \
	call(cuGraphInstantiateWithFlags, v11040, cu_exec *, cu_graph, \
	     unsigned long long) \
	call(cuGraphExecUpdate, v12000, cu_exec, cu_graph, cu_updated *) \
	call(cuGraphLaunch, v10000, cu_exec, cu_stream) \
	call(cuGraphExecDestroy, v10000, cu_exec) \
	call(cuGraphDestroy, v10000, cu_graph)

/* Asked for in their own version: NULL where the driver is older. */
#define CUDA_LATER_CALLS(call) \
	call(cuFuncGetName, v12030, const char **, cu_function) \
	call(cuFuncGetParamInfo, v12040, cu_function, size_t, size_t *, \
	     size_t *) \
	call(cuModuleGetFunctionCount, v12040, unsigned *, cu_module) \
	call(cuModuleEnumerateFunctions, v12040, cu_function *, unsigned, \
	     cu_module)
/* clang-format on */

/* The calls of one library, under their names. */
struct cuda {
#define CUDA_FIELD(name, version, ...) cu_result (*name)(__VA_ARGS__);
	CUDA_CALLS(CUDA_FIELD)
	CUDA_LATER_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
};

#endif
