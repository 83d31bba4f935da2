/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many threads a block of a kernel gets: as many as keep most threads on a
 * unit of the device (a multiprocessor, a compute unit) at a time; of equals
 * the smallest of at least 128, because small blocks leave the device more
 * freedom. The rule is that of Kokkos for CUDA (cuda_deduce_block_size).
 *
 * Pure functions over limits that the device has told and needs that the
 * compiler has told. A limit of 0 is unknown and limits nothing.
 */
#ifndef POLICY_BLOCK_SIZE_H
#define POLICY_BLOCK_SIZE_H

#include <stdint.h>

/* Blocks of equal merit are made smaller down to this many threads. */
#define BLOCK_SIZE_SMALL 128
/* Sizes are tried in steps of so many threads, from the largest down. */
#define BLOCK_SIZE_STEP 32

/* A device has it. Registers are of 32 bits, shared memory is in bytes. */
struct block_device {
	uint32_t warp; /* threads in step; 0: 1 */
	uint32_t max_block; /* threads of a block */
	uint32_t unit_threads; /* 0: max_block */
	uint32_t unit_blocks;
	uint32_t unit_registers, block_registers, thread_registers;
	uint32_t register_grain; /* of a warp's registers; 0: 1 */
	uint32_t unit_parts; /* that share registers and warps; 0: 1 */
	uint32_t unit_shared, block_shared; /* block_shared: without reserved */
	uint32_t shared_grain; /* of a block's, with reserved; 0: 1 */
	uint32_t shared_reserved; /* of each block, by the driver */
};

/* Needs of one kernel, and the limits that its author sets. */
struct block_needs {
	uint32_t max_block; /* the compiler's; 0: the device's */
	uint32_t registers; /* of a thread */
	uint32_t shared; /* of a block: in the code and asked for */
	uint32_t shared_thread; /* of each thread of the block besides */
	uint32_t bound; /* launch bounds: threads of a block; 0: none */
	uint32_t min_blocks; /* at least so many on a unit; 0: 1 */
};

/* Blocks of so many threads that a unit runs at a time; 0: not one. */
uint32_t block_resident(const struct block_device *d,
			const struct block_needs *k, uint32_t threads);

/* Threads of a block; 0: the kernel cannot be launched. */
uint32_t block_size(const struct block_device *d, const struct block_needs *k);

#endif
