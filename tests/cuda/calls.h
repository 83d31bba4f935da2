/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The part of CUDA's driver API that the tests call and that the library for
 * tests (fake/) gives, by prototypes of their own: no file of the CUDA Toolkit
 * is needed. tests/api/cuda/test_fake_calls.c compares each row with the
 * toolkit's header. The names of calls are those of NVIDIA's documentation
 * (CUDA Driver API), in the versions that a driver of CUDA 12.0 gives.
 */
#ifndef TESTS_CUDA_CALLS_H
#define TESTS_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define CU_ASK 12000 /* the version that calls are asked for */

typedef unsigned cu_result;
typedef int cu_dev;
typedef unsigned long long cu_ptr;
typedef struct CUctx_st *cu_ctx;
typedef struct CUmod_st *cu_mod;
typedef struct CUfunc_st *cu_func;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_node;
typedef struct CUgraphExec_st *cu_exec;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef void (*cu_host_fn)(void *arg);
typedef size_t (*cu_shared_fn)(int block);

struct cu_uuid {
	char bytes[16];
};

/* cuGraphExecUpdate fills it. */
struct cu_update {
	unsigned result;
	cu_node error_node, error_from;
};

/* CUDA_KERNEL_NODE_PARAMS_v2 of the documentation */
struct cu_kernel_node {
	cu_func func;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	void *kern;
	cu_ctx ctx;
};

/* CUmemPoolProps of the documentation; 0 in what is later */
struct cu_pool_props {
	unsigned sort, handles, place;
	int device;
	void *none;
	unsigned char later[64];
};

/* CUlaunchConfig of the documentation */
struct cu_config {
	unsigned grid[3], block[3], shared;
	cu_stream stream;
	const void *attributes;
	unsigned nr_attributes;
};

enum {
	CU_PLACE_HOST = 1,
	CU_PLACE_DEVICE = 2
};

/* One side of CUDA_MEMCPY2D_v2 of the documentation */
struct cu_side {
	size_t x, y; /* x: in bytes */
	unsigned place;
	void *host;
	cu_ptr device;
	void *array;
	size_t pitch;
};

/* CUDA_MEMCPY2D_v2 */
struct cu_copy_2d {
	struct cu_side from, to;
	size_t width, height; /* width: in bytes */
};

/* Each row has a call, its name in cudaTypedefs.h without PFN_, its arguments.
 */
/* clang-format off */
#define CU_CALLS(call) \
	call(cuInit, cuInit_v2000, unsigned) \
	call(cuDriverGetVersion, cuDriverGetVersion_v2020, int *) \
	call(cuGetErrorName, cuGetErrorName_v6000, cu_result, const char **) \
	call(cuGetErrorString, cuGetErrorString_v6000, cu_result, const char **) \
	call(cuDeviceGetCount, cuDeviceGetCount_v2000, int *) \
	call(cuDeviceGet, cuDeviceGet_v2000, cu_dev *, int) \
	call(cuDeviceGetName, cuDeviceGetName_v2000, char *, int, cu_dev) \
	call(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId_v4010, char *, int, cu_dev) \
	call(cuDeviceGetAttribute, cuDeviceGetAttribute_v2000, int *, unsigned, cu_dev) \
	call(cuDeviceTotalMem, cuDeviceTotalMem_v3020, size_t *, cu_dev) \
	call(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain_v7000, cu_ctx *, cu_dev) \
	call(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v11000, cu_dev) \
	call(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v11000, cu_dev) \
	call(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState_v7000, cu_dev, unsigned *, int *) \
	call(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v11000, cu_dev, unsigned) \
	call(cuCtxSetCurrent, cuCtxSetCurrent_v4000, cu_ctx) \
	call(cuCtxGetCurrent, cuCtxGetCurrent_v4000, cu_ctx *) \
	call(cuCtxSynchronize, cuCtxSynchronize_v2000, void) \
	call(cuCtxDestroy, cuCtxDestroy_v4000, cu_ctx) \
	call(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange_v5050, int *, int *) \
	call(cuMemGetInfo, cuMemGetInfo_v3020, size_t *, size_t *) \
	call(cuStreamCreateWithPriority, cuStreamCreateWithPriority_v5050, cu_stream *, unsigned, int) \
	call(cuStreamGetPriority, cuStreamGetPriority_v5050, cu_stream, int *) \
	call(cuStreamGetCtx, cuStreamGetCtx_v9020, cu_stream, cu_ctx *) \
	call(cuStreamDestroy, cuStreamDestroy_v4000, cu_stream) \
	call(cuStreamQuery, cuStreamQuery_v2000, cu_stream) \
	call(cuStreamSynchronize, cuStreamSynchronize_v2000, cu_stream) \
	call(cuStreamWaitEvent, cuStreamWaitEvent_v3020, cu_stream, cu_event, unsigned) \
	call(cuStreamWriteValue32, cuStreamWriteValue32_v11070, cu_stream, cu_ptr, uint32_t, unsigned) \
	call(cuStreamWaitValue32, cuStreamWaitValue32_v11070, cu_stream, cu_ptr, uint32_t, unsigned) \
	call(cuEventCreate, cuEventCreate_v2000, cu_event *, unsigned) \
	call(cuEventDestroy, cuEventDestroy_v4000, cu_event) \
	call(cuEventRecord, cuEventRecord_v2000, cu_event, cu_stream) \
	call(cuEventQuery, cuEventQuery_v2000, cu_event) \
	call(cuEventSynchronize, cuEventSynchronize_v2000, cu_event) \
	call(cuEventElapsedTime, cuEventElapsedTime_v2000, float *, cu_event, cu_event) \
	call(cuLaunchHostFunc, cuLaunchHostFunc_v10000, cu_stream, cu_host_fn, void *) \
	call(cuMemAlloc, cuMemAlloc_v3020, cu_ptr *, size_t) \
	call(cuMemFree, cuMemFree_v3020, cu_ptr) \
	call(cuMemAllocAsync, cuMemAllocAsync_v11020, cu_ptr *, size_t, cu_stream) \
	call(cuMemFreeAsync, cuMemFreeAsync_v11020, cu_ptr, cu_stream) \
	call(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool_v11020, cu_pool *, cu_dev) \
	call(cuMemPoolSetAttribute, cuMemPoolSetAttribute_v11020, cu_pool, unsigned, void *) \
	call(cuMemAllocManaged, cuMemAllocManaged_v6000, cu_ptr *, size_t, unsigned) \
	call(cuMemHostAlloc, cuMemHostAlloc_v2020, void **, size_t, unsigned) \
	call(cuMemFreeHost, cuMemFreeHost_v2000, void *) \
	call(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v3020, cu_ptr *, void *, unsigned) \
	call(cuMemHostRegister, cuMemHostRegister_v6050, void *, size_t, unsigned) \
	call(cuMemHostUnregister, cuMemHostUnregister_v4000, void *) \
	call(cuMemGetAddressRange, cuMemGetAddressRange_v3020, cu_ptr *, size_t *, cu_ptr) \
	call(cuPointerGetAttribute, cuPointerGetAttribute_v4000, void *, unsigned, cu_ptr) \
	call(cuMemcpyHtoD, cuMemcpyHtoD_v3020, cu_ptr, const void *, size_t) \
	call(cuMemcpyDtoH, cuMemcpyDtoH_v3020, void *, cu_ptr, size_t) \
	call(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v3020, cu_ptr, const void *, size_t, cu_stream) \
	call(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v3020, void *, cu_ptr, size_t, cu_stream) \
	call(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v3020, cu_ptr, cu_ptr, size_t, cu_stream) \
	call(cuMemsetD8Async, cuMemsetD8Async_v3020, cu_ptr, unsigned char, size_t, cu_stream) \
	call(cuModuleLoadData, cuModuleLoadData_v2000, cu_mod *, const void *) \
	call(cuModuleLoadDataEx, cuModuleLoadDataEx_v2010, cu_mod *, const void *, unsigned, unsigned *, void **) \
	call(cuModuleUnload, cuModuleUnload_v2000, cu_mod) \
	call(cuModuleGetFunction, cuModuleGetFunction_v2000, cu_func *, cu_mod, const char *) \
	call(cuModuleGetGlobal, cuModuleGetGlobal_v3020, cu_ptr *, size_t *, cu_mod, const char *) \
	call(cuFuncGetAttribute, cuFuncGetAttribute_v2020, int *, unsigned, cu_func) \
	call(cuFuncSetAttribute, cuFuncSetAttribute_v9000, cu_func, unsigned, int) \
	call(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050, int *, cu_func, int, size_t) \
	call(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize_v6050, int *, int *, cu_func, cu_shared_fn, size_t, int) \
	call(cuLaunchKernel, cuLaunchKernel_v4000, cu_func, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_stream, void **, void **) \
	call(cuStreamBeginCapture, cuStreamBeginCapture_v10010, cu_stream, unsigned) \
	call(cuStreamEndCapture, cuStreamEndCapture_v10000, cu_stream, cu_graph *) \
	call(cuStreamIsCapturing, cuStreamIsCapturing_v10000, cu_stream, unsigned *) \
	call(cuGraphCreate, cuGraphCreate_v10000, cu_graph *, unsigned) \
	call(cuGraphGetNodes, cuGraphGetNodes_v10000, cu_graph, cu_node *, size_t *) \
	call(cuGraphAddKernelNode, cuGraphAddKernelNode_v12000, cu_node *, cu_graph, const cu_node *, size_t, const struct cu_kernel_node *) \
	call(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v12000, cu_exec, cu_node, const struct cu_kernel_node *) \
	call(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags_v11040, cu_exec *, cu_graph, unsigned long long) \
	call(cuGraphExecUpdate, cuGraphExecUpdate_v12000, cu_exec, cu_graph, struct cu_update *) \
	call(cuGraphUpload, cuGraphUpload_v11010, cu_exec, cu_stream) \
	call(cuGraphLaunch, cuGraphLaunch_v10000, cu_exec, cu_stream) \
	call(cuGraphExecDestroy, cuGraphExecDestroy_v10000, cu_exec) \
	call(cuGraphDestroy, cuGraphDestroy_v10000, cu_graph)

/* Drivers of CUDA 12.0 lack these; each is asked for with its own version. */
#define CU_NEW_CALLS(call) \
	call(cuDeviceGetUuid, cuDeviceGetUuid_v11040, struct cu_uuid *, cu_dev) \
	call(cuFuncGetParamInfo, cuFuncGetParamInfo_v12040, cu_func, size_t, size_t *, size_t *) \
	call(cuModuleGetFunctionCount, cuModuleGetFunctionCount_v12040, unsigned *, cu_mod) \
	call(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions_v12040, cu_func *, unsigned, cu_mod) \
	call(cuFuncGetName, cuFuncGetName_v12030, const char **, cu_func)

/* What programs beside the library call as well. golden.txt has none of them. */
#define CU_GUEST_CALLS(call) \
	call(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode_v10010, unsigned *) \
	call(cuStreamCreate, cuStreamCreate_v2000, cu_stream *, unsigned) \
	call(cuMemPoolCreate, cuMemPoolCreate_v11020, cu_pool *, const struct cu_pool_props *) \
	call(cuMemPoolDestroy, cuMemPoolDestroy_v11020, cu_pool) \
	call(cuMemPoolGetAttribute, cuMemPoolGetAttribute_v11020, cu_pool, unsigned, void *) \
	call(cuMemPoolTrimTo, cuMemPoolTrimTo_v11020, cu_pool, size_t) \
	call(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_v11020, cu_ptr *, size_t, cu_pool, cu_stream) \
	call(cuMemcpy2DAsync, cuMemcpy2DAsync_v3020, const struct cu_copy_2d *, cu_stream) \
	call(cuLaunchKernelEx, cuLaunchKernelEx_v11060, const struct cu_config *, cu_func, void **, void **)
/* clang-format on */

/* The program of the tests has a table of all; NULL: the driver has none. */
struct cu {
#define CU_FIELD(name, version, ...) cu_result (*name)(__VA_ARGS__);
	CU_CALLS(CU_FIELD)
	CU_NEW_CALLS(CU_FIELD)
	CU_GUEST_CALLS(CU_FIELD)
#undef CU_FIELD
	cu_result (*get)(const char *symbol, void **f, int version,
			 uint64_t flags, unsigned *status);
	void *library;
};

enum {
	CU_ATTR_MAX_THREADS_PER_BLOCK = 1,
	CU_ATTR_MAX_BLOCK_X = 2, /* Y, Z follow */
	CU_ATTR_MAX_GRID_X = 5, /* likewise */
	CU_ATTR_WARP = 10,
	CU_ATTR_REGISTERS_PER_BLOCK = 12,
	CU_ATTR_UNITS = 16,
	CU_ATTR_COMPUTE_MODE = 20,
	CU_ATTR_MAX_THREADS_PER_UNIT = 39,
	CU_ATTR_ASYNC_ENGINES = 40,
	CU_ATTR_MAJOR = 75,
	CU_ATTR_MINOR = 76,
	CU_ATTR_SHARED_PER_UNIT = 81,
	CU_ATTR_REGISTERS_PER_UNIT = 82,
	CU_ATTR_CONCURRENT_MANAGED = 89,
	CU_ATTR_HOST_REGISTERED_SAME_POINTER = 91,
	CU_ATTR_WORDS_V1 = 92,
	CU_ATTR_SHARED_OPTIN = 97,
	CU_ATTR_MAX_BLOCKS_PER_UNIT = 106,
	CU_ATTR_RESERVED_SHARED = 111,
	CU_ATTR_POOLS = 115,
	CU_ATTR_WORDS_64 = 122,

	CU_FUNC_MAX_THREADS = 0,
	CU_FUNC_SHARED = 1,
	CU_FUNC_REGISTERS = 4,
	CU_FUNC_MAX_DYNAMIC_SHARED = 8,
	CU_FUNC_CARVEOUT = 9,

	CU_NON_BLOCKING = 1,
	CU_LEGACY = 1, /* a handle: the default stream of the current context */
	CU_EVENT_BLOCKING = 1,
	CU_EVENT_NO_TIMING = 2,
	CU_EVENT_SHARED = 4,
	CU_HOST_PORTABLE = 1,
	CU_HOST_MAPPED = 2,
	CU_MANAGED_GLOBAL = 1,
	CU_POOL_THRESHOLD = 4,
	CU_POOL_RESERVED = 5,
	CU_POOL_USED = 7,
	CU_POINTER_KIND = 2, /* 1 the host's, 2 the card's */
	CU_POINTER_IS_EXPORTED = 10, /* cuIpcGetMemHandle would take it */
	CU_CAPTURE_GLOBAL = 0,
	CU_CAPTURE_THREAD = 1,
	CU_CAPTURE_RELAXED = 2,
};

#endif
