/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The prototypes that the tests of CUDA have (tests/cuda/calls.h) are those of
 * the toolkit's header, where there is one; numbers likewise. A row that
 * differs does not compile.
 */
#include "tests/cuda/calls.h"
#include "tests/tap.h"

#ifdef HAVE_CUDA_TYPEDEFS
#include <cudaTypedefs.h>

/* These take structs of our own, whose fields are compared below. */
#define has_struct(name)                                              \
	(!__builtin_strcmp(name, "cuGraphAddKernelNode") ||           \
	 !__builtin_strcmp(name, "cuGraphExecKernelNodeSetParams") || \
	 !__builtin_strcmp(name, "cuGraphExecUpdate") ||              \
	 !__builtin_strcmp(name, "cuLaunchKernelEx") ||               \
	 !__builtin_strcmp(name, "cuMemPoolCreate") ||                \
	 !__builtin_strcmp(name, "cuMemcpy2DAsync") ||                \
	 !__builtin_strcmp(name, "cuDeviceGetUuid"))
#define same_call(name, version, ...)                                          \
	_Static_assert(__builtin_types_compatible_p(cu_result(*)(__VA_ARGS__), \
						    PFN_##version) ||          \
			       has_struct(#name),                              \
		       #name);
CU_CALLS(same_call)
CU_NEW_CALLS(same_call)
CU_GUEST_CALLS(same_call)

#define same_place(ours, theirs)                                             \
	_Static_assert(offsetof(struct cu_kernel_node, ours) ==              \
			       offsetof(CUDA_KERNEL_NODE_PARAMS_v2, theirs), \
		       #ours);
same_place(grid, gridDimX);
same_place(block, blockDimX);
same_place(shared, sharedMemBytes);
same_place(params, kernelParams);
same_place(extra, extra);
same_place(ctx, ctx);
_Static_assert(sizeof(struct cu_kernel_node) ==
		       sizeof(CUDA_KERNEL_NODE_PARAMS_v2),
	       "CUDA_KERNEL_NODE_PARAMS_v2");
#define same_field(ours, our, theirs, their)                                  \
	_Static_assert(offsetof(struct ours, our) == offsetof(theirs, their), \
		       #their);
same_field(cu_pool_props, place, CUmemPoolProps, location);
same_field(cu_pool_props, none, CUmemPoolProps, win32SecurityAttributes);
_Static_assert(sizeof(struct cu_pool_props) == sizeof(CUmemPoolProps),
	       "CUmemPoolProps");
_Static_assert((int)CU_POOL_THRESHOLD ==
			       (int)CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
		       (int)CU_POOL_RESERVED ==
			       (int)CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT &&
		       (int)CU_POOL_USED ==
			       (int)CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
	       "CUmemPool_attribute");
_Static_assert((int)CU_POINTER_IS_EXPORTED ==
		       (int)CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
	       "CUpointer_attribute");
same_field(cu_config, shared, CUlaunchConfig, sharedMemBytes);
same_field(cu_config, stream, CUlaunchConfig, hStream);
same_field(cu_config, nr_attributes, CUlaunchConfig, numAttrs);
_Static_assert(sizeof(struct cu_config) == sizeof(CUlaunchConfig),
	       "CUlaunchConfig");
same_field(cu_copy_2d, from.device, CUDA_MEMCPY2D_v2, srcDevice);
same_field(cu_copy_2d, from.pitch, CUDA_MEMCPY2D_v2, srcPitch);
same_field(cu_copy_2d, to.y, CUDA_MEMCPY2D_v2, dstY);
same_field(cu_copy_2d, to.pitch, CUDA_MEMCPY2D_v2, dstPitch);
same_field(cu_copy_2d, height, CUDA_MEMCPY2D_v2, Height);
_Static_assert(sizeof(struct cu_copy_2d) == sizeof(CUDA_MEMCPY2D_v2),
	       "CUDA_MEMCPY2D_v2");
_Static_assert((int)CU_PLACE_HOST == (int)CU_MEMORYTYPE_HOST &&
		       (int)CU_PLACE_DEVICE == (int)CU_MEMORYTYPE_DEVICE,
	       "CUmemorytype");
_Static_assert(sizeof(struct cu_update) == sizeof(CUgraphExecUpdateResultInfo),
	       "CUgraphExecUpdateResultInfo");
_Static_assert(sizeof(struct cu_uuid) == sizeof(CUuuid), "CUuuid");

#define same(ours, theirs)                                                  \
	_Static_assert((int)CU_##ours == (int)CU_DEVICE_ATTRIBUTE_##theirs, \
		       #ours)
same(ATTR_MAX_THREADS_PER_BLOCK, MAX_THREADS_PER_BLOCK);
same(ATTR_MAX_BLOCK_X, MAX_BLOCK_DIM_X);
same(ATTR_MAX_GRID_X, MAX_GRID_DIM_X);
same(ATTR_WARP, WARP_SIZE);
same(ATTR_REGISTERS_PER_BLOCK, MAX_REGISTERS_PER_BLOCK);
same(ATTR_UNITS, MULTIPROCESSOR_COUNT);
same(ATTR_MAX_THREADS_PER_UNIT, MAX_THREADS_PER_MULTIPROCESSOR);
same(ATTR_ASYNC_ENGINES, ASYNC_ENGINE_COUNT);
same(ATTR_MAJOR, COMPUTE_CAPABILITY_MAJOR);
same(ATTR_MINOR, COMPUTE_CAPABILITY_MINOR);
same(ATTR_SHARED_PER_UNIT, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
same(ATTR_REGISTERS_PER_UNIT, MAX_REGISTERS_PER_MULTIPROCESSOR);
same(ATTR_CONCURRENT_MANAGED, CONCURRENT_MANAGED_ACCESS);
same(ATTR_HOST_REGISTERED_SAME_POINTER,
     CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
same(ATTR_SHARED_OPTIN, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
same(ATTR_MAX_BLOCKS_PER_UNIT, MAX_BLOCKS_PER_MULTIPROCESSOR);
same(ATTR_RESERVED_SHARED, RESERVED_SHARED_MEMORY_PER_BLOCK);
same(ATTR_POOLS, MEMORY_POOLS_SUPPORTED);
same(ATTR_COMPUTE_MODE, COMPUTE_MODE);
same(ATTR_WORDS_V1, CAN_USE_STREAM_MEM_OPS_V1);
same(ATTR_WORDS_64, CAN_USE_64_BIT_STREAM_MEM_OPS);

static void rows_are_those_of_the_toolkit(void)
{
	ok(true, "all rows are those of CUDA %d", CUDA_VERSION);
}
#else
static void rows_are_those_of_the_toolkit(void)
{
	skip("rows are those of the toolkit", "no cudaTypedefs.h");
}
#endif

int main(void)
{
	tap_start(10);
	rows_are_those_of_the_toolkit();
	return tap_end();
}
