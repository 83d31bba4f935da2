/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The part of OpenCL 2.0 this library calls, by prototypes of its own: neither
 * a header nor a library of OpenCL is needed to build it. The names of calls
 * are those of the specification (Khronos, OpenCL API 3.0); types begin with
 * ocl_. tests/unit/opencl/test_abi.c compares all of it with <CL/cl.h>.
 */
#ifndef OPENCL_ABI_H
#define OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *ocl_platform;
typedef struct _cl_device_id *ocl_device;
typedef struct _cl_context *ocl_context;
typedef struct _cl_command_queue *ocl_queue;
typedef struct _cl_mem *ocl_mem;
typedef struct _cl_program *ocl_program;
typedef struct _cl_kernel *ocl_kernel;
typedef struct _cl_event *ocl_event;

typedef void (*ocl_context_fn)(const char *text, const void *info, size_t size,
			       void *arg);
typedef void (*ocl_build_fn)(ocl_program p, void *arg);
typedef void (*ocl_event_fn)(ocl_event e, int32_t status, void *arg);

/* Numbers of the specification. */
enum ocl_number {
	OCL_SUCCESS = 0,
	OCL_DEVICE_NOT_FOUND = -1,
	OCL_DEVICE_NOT_AVAILABLE = -2,
	OCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
	OCL_MEM_COPY_OVERLAP = -8,
	OCL_OUT_OF_RESOURCES = -5,
	OCL_OUT_OF_HOST_MEMORY = -6,
	OCL_BUILD_PROGRAM_FAILURE = -11,
	OCL_MISALIGNED_SUB_BUFFER_OFFSET = -13,
	OCL_COMPILE_PROGRAM_FAILURE = -15,
	OCL_INVALID_VALUE = -30,
	OCL_INVALID_KERNEL_NAME = -46,
	OCL_INVALID_ARG_INDEX = -49,
	OCL_INVALID_ARG_VALUE = -50,
	OCL_INVALID_ARG_SIZE = -51,
	OCL_INVALID_KERNEL_ARGS = -52,
	OCL_INVALID_WORK_GROUP_SIZE = -54,
	OCL_INVALID_WORK_ITEM_SIZE = -55,
	OCL_INVALID_BUFFER_SIZE = -61,
	OCL_INVALID_GLOBAL_WORK_SIZE = -63,
	OCL_PLATFORM_NOT_FOUND = -1001,

	OCL_PLATFORM_NAME = 0x902,
	OCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
	OCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
	OCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
	OCL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
	OCL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
	OCL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	OCL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
	OCL_DEVICE_NAME = 0x102b,
	OCL_DEVICE_SVM_CAPABILITIES = 0x1053,
	OCL_DEVICE_SVM_FINE_GRAIN_BUFFER = 2,
	OCL_PROGRAM_KERNEL_NAMES = 0x1168,
	OCL_PROGRAM_BUILD_LOG = 0x1183,
	OCL_KERNEL_ARG_ADDRESS_QUALIFIER = 0x1196,
	OCL_KERNEL_ARG_ADDRESS_GLOBAL = 0x119b,
	OCL_KERNEL_ARG_ADDRESS_CONSTANT = 0x119d,
	OCL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
	OCL_KERNEL_LOCAL_MEM_SIZE = 0x11b2,
	OCL_BUFFER_CREATE_TYPE_REGION = 0x1220,
	OCL_QUEUE_CONTEXT = 0x1090,
	OCL_QUEUE_DEVICE = 0x1091,
	OCL_QUEUE_PROPERTIES = 0x1093,
	OCL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1,
	OCL_MEM_READ_WRITE = 1,
	OCL_MEM_SVM_FINE_GRAIN_BUFFER = 1024,
	OCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
	OCL_COMPLETE = 0,
};

#define OCL_DEVICE_TYPE_ALL 0xffffffffull

struct ocl_region {
	size_t origin, size;
};

/* Each row has a call's result, its name and its arguments. */
/* clang-format off */
#define OPENCL_CALLS(call) \
	call(int32_t, clGetPlatformIDs, uint32_t, ocl_platform *, uint32_t *) \
	call(int32_t, clGetPlatformInfo, ocl_platform, uint32_t, size_t, \
	     void *, size_t *) \
	call(int32_t, clGetDeviceIDs, ocl_platform, uint64_t, uint32_t, \
	     ocl_device *, uint32_t *) \
	call(int32_t, clGetDeviceInfo, ocl_device, uint32_t, size_t, void *, \
	     size_t *) \
	call(ocl_context, clCreateContext, const intptr_t *, uint32_t, \
	     const ocl_device *, ocl_context_fn, void *, int32_t *) \
	call(int32_t, clReleaseContext, ocl_context) \
	call(int32_t, clRetainContext, ocl_context) \
	call(int32_t, clGetCommandQueueInfo, ocl_queue, uint32_t, size_t, \
	     void *, size_t *) \
	call(ocl_queue, clCreateCommandQueueWithProperties, ocl_context, \
	     ocl_device, const uint64_t *, int32_t *) \
	call(int32_t, clReleaseCommandQueue, ocl_queue) \
	call(ocl_mem, clCreateBuffer, ocl_context, uint64_t, size_t, void *, \
	     int32_t *) \
	call(ocl_mem, clCreateSubBuffer, ocl_mem, uint64_t, uint32_t, \
	     const void *, int32_t *) \
	call(int32_t, clReleaseMemObject, ocl_mem) \
	call(void *, clSVMAlloc, ocl_context, uint64_t, size_t, uint32_t) \
	call(void, clSVMFree, ocl_context, void *) \
	call(ocl_program, clCreateProgramWithSource, ocl_context, uint32_t, \
	     const char **, const size_t *, int32_t *) \
	call(int32_t, clBuildProgram, ocl_program, uint32_t, \
	     const ocl_device *, const char *, ocl_build_fn, void *) \
	call(int32_t, clGetProgramBuildInfo, ocl_program, ocl_device, \
	     uint32_t, size_t, void *, size_t *) \
	call(int32_t, clGetProgramInfo, ocl_program, uint32_t, size_t, \
	     void *, size_t *) \
	call(int32_t, clReleaseProgram, ocl_program) \
	call(ocl_kernel, clCreateKernel, ocl_program, const char *, \
	     int32_t *) \
	call(int32_t, clReleaseKernel, ocl_kernel) \
	call(int32_t, clSetKernelArg, ocl_kernel, uint32_t, size_t, \
	     const void *) \
	call(int32_t, clSetKernelArgSVMPointer, ocl_kernel, uint32_t, \
	     const void *) \
	call(int32_t, clGetKernelArgInfo, ocl_kernel, uint32_t, uint32_t, \
	     size_t, void *, size_t *) \
	call(int32_t, clGetKernelWorkGroupInfo, ocl_kernel, ocl_device, \
	     uint32_t, size_t, void *, size_t *) \
	call(int32_t, clEnqueueWriteBuffer, ocl_queue, ocl_mem, uint32_t, \
	     size_t, size_t, const void *, uint32_t, const ocl_event *, \
	     ocl_event *) \
	call(int32_t, clEnqueueReadBuffer, ocl_queue, ocl_mem, uint32_t, \
	     size_t, size_t, void *, uint32_t, const ocl_event *, \
	     ocl_event *) \
	call(int32_t, clEnqueueCopyBuffer, ocl_queue, ocl_mem, ocl_mem, \
	     size_t, size_t, size_t, uint32_t, const ocl_event *, ocl_event *) \
	call(int32_t, clEnqueueFillBuffer, ocl_queue, ocl_mem, const void *, \
	     size_t, size_t, size_t, uint32_t, const ocl_event *, ocl_event *) \
	call(int32_t, clEnqueueNDRangeKernel, ocl_queue, ocl_kernel, \
	     uint32_t, const size_t *, const size_t *, const size_t *, \
	     uint32_t, const ocl_event *, ocl_event *) \
	call(int32_t, clEnqueueMarkerWithWaitList, ocl_queue, uint32_t, \
	     const ocl_event *, ocl_event *) \
	call(int32_t, clSetEventCallback, ocl_event, int32_t, ocl_event_fn, \
	     void *) \
	call(int32_t, clGetEventInfo, ocl_event, uint32_t, size_t, void *, \
	     size_t *) \
	call(int32_t, clReleaseEvent, ocl_event) \
	call(int32_t, clRetainEvent, ocl_event) \
	call(int32_t, clFlush, ocl_queue) \
	call(int32_t, clFinish, ocl_queue)
/* clang-format on */

/* The calls of one library, under their names. */
struct opencl {
#define OPENCL_FIELD(result, name, ...) result (*name)(__VA_ARGS__);
	OPENCL_CALLS(OPENCL_FIELD)
#undef OPENCL_FIELD
};

#endif
