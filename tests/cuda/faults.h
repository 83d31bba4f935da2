/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The calls of the driver that the library makes, each with the errors that the
 * recorded driver (golden.txt) gives for it or for a call of its kind, and with
 * those behind a fault. tests/unit/cuda/test_abi.c compares the calls with the
 * library's, tests/api/cuda/test_conformance.c the errors with what the checks
 * of golden.txt see; test_cuda_faults.c lets each of them happen once.
 */
#ifndef TESTS_CUDA_FAULTS_H
#define TESTS_CUDA_FAULTS_H

#include <stdbool.h>

#define CUDA_FAULT_ERRORS 9

static const struct cuda_fault {
	const char *call;
	unsigned error[CUDA_FAULT_ERRORS]; /* up to a 0 */
	bool is_elsewhere; /* for streams and events of the program's, or large
			    * memory of a block, or after a silence: the case
			    * need not call it */
} cuda_faults[] = {
	{ .call = "cuInit", .error = { 1, 3, 34, 100 } },
	{ .call = "cuDriverGetVersion" },
	{ .call = "cuGetErrorName" },
	{ .call = "cuDeviceGetCount", .error = { 3 } },
	{ .call = "cuDeviceGet", .error = { 101 } },
	{ .call = "cuDeviceGetName", .error = { 101 } },
	{ .call = "cuDeviceGetPCIBusId", .error = { 1 } },
	{ .call = "cuDeviceGetAttribute", .error = { 1, 101 } },
	{ .call = "cuDeviceTotalMem", .error = { 101 } },
	{ .call = "cuDevicePrimaryCtxRetain", .error = { 101, 700 } },
	{ .call = "cuDevicePrimaryCtxRelease", .error = { 201, 700 } },
	{ .call = "cuCtxSetCurrent", .error = { 3 } },
	{ .call = "cuCtxGetCurrent", .error = { 800 } },
	{ .call = "cuCtxGetDevice", .error = { 201 }, .is_elsewhere = true },
	{ .call = "cuThreadExchangeStreamCaptureMode", .error = { 1, 700 } },
	{ .call = "cuStreamCreateWithPriority", .error = { 1, 709, 700 } },
	{ .call = "cuStreamGetCtx", .error = { 400 }, .is_elsewhere = true },
	{ .call = "cuStreamIsCapturing",
	  .error = { 400 },
	  .is_elsewhere = true },
	{ .call = "cuStreamDestroy", .error = { 400, 700 } },
	{ .call = "cuStreamQuery",
	  .error = { 400, 700, 709, 900 },
	  .is_elsewhere = true },
	{ .call = "cuStreamSynchronize", .error = { 700, 710, 716, 719, 900 } },
	{ .call = "cuStreamWaitEvent",
	  .error = { 400, 700, 902, 905 },
	  .is_elsewhere = true },
	{ .call = "cuStreamWriteValue32", .error = { 1, 700 } },
	{ .call = "cuMemAlloc", .error = { 1, 2, 3, 201, 700, 709, 800, 900 } },
	{ .call = "cuMemFree", .error = { 1, 700 } },
	{ .call = "cuMemAllocFromPoolAsync", .error = { 2, 700 } },
	{ .call = "cuMemFreeAsync", .error = { 1, 700 } },
	{ .call = "cuMemPoolCreate", .error = { 1, 101, 801, 700 } },
	{ .call = "cuMemPoolDestroy", .error = { 1, 700 } },
	{ .call = "cuMemPoolTrimTo",
	  .error = { 1, 700 },
	  .is_elsewhere = true },
	{ .call = "cuMemPoolSetAttribute", .error = { 1, 700 } },
	{ .call = "cuMemAllocManaged", .error = { 1, 2, 700 } },
	{ .call = "cuMemHostAlloc", .error = { 2, 700 } },
	{ .call = "cuMemFreeHost", .error = { 1, 700 } },
	{ .call = "cuMemHostGetDevicePointer", .error = { 1, 700 } },
	{ .call = "cuMemHostRegister", .error = { 1, 712, 700 } },
	{ .call = "cuMemHostUnregister", .error = { 1, 713, 700 } },
	{ .call = "cuMemcpyHtoDAsync", .error = { 1, 700 } },
	{ .call = "cuMemcpyDtoHAsync", .error = { 1, 700 } },
	{ .call = "cuMemcpyDtoDAsync", .error = { 1, 700 } },
	{ .call = "cuMemsetD8Async", .error = { 1 }, .is_elsewhere = true },
	{ .call = "cuModuleLoadDataEx", .error = { 1, 200, 218, 222, 700 } },
	{ .call = "cuModuleUnload", .error = { 400, 700 } },
	{ .call = "cuModuleGetFunction", .error = { 500, 700 } },
	{ .call = "cuFuncGetAttribute", .error = { 1, 700 } },
	{ .call = "cuFuncSetAttribute", .error = { 1 }, .is_elsewhere = true },
	{ .call = "cuOccupancyMaxPotentialBlockSize", .error = { 1, 700 } },
	{ .call = "cuLaunchKernel",
	  .error = { 1, 400, 700, 701, 719, 800, 906 } },
	{ .call = "cuStreamBeginCapture", .error = { 401, 900, 700 } },
	{ .call = "cuStreamEndCapture", .error = { 401, 901, 904, 908, 700 } },
	{ .call = "cuGraphInstantiateWithFlags", .error = { 1, 700 } },
	{ .call = "cuGraphExecUpdate", .error = { 910, 700 } },
	{ .call = "cuGraphLaunch", .error = { 1, 700 } },
	{ .call = "cuGraphExecDestroy", .error = { 1, 700 } },
	{ .call = "cuGraphDestroy", .error = { 1, 700 } },
	{ .call = "cuFuncGetName", .error = { 1 }, .is_elsewhere = true },
	{ .call = "cuFuncGetParamInfo", .error = { 1, 700 } },
	{ .call = "cuModuleGetFunctionCount",
	  .error = { 1 },
	  .is_elsewhere = true },
	{ .call = "cuModuleEnumerateFunctions",
	  .error = { 1 },
	  .is_elsewhere = true },
};

#define NR_CUDA_FAULTS (sizeof(cuda_faults) / sizeof(cuda_faults[0]))

#endif
