/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An image: how libnvrtc.so of this folder hands kernels that it has compiled
 * for the CPU to libcuda.so.1. It has the head of an ELF file for sm_90
 * (machine 190, as the toolkit's cubins have it), then its size, a sum of its
 * bytes, and a shared object that exports fake_image.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

struct fake_index {
	unsigned x, y, z;
};

/* Where a thread of the card is; the CPU's thread has one of it. */
struct fake_place {
	struct fake_index thread, block, block_size, grid;
};

/* A kernel; expression: the name that the program gave, NULL: none. */
struct fake_kernel {
	const struct fake_kernel *next;
	void *function;
	void (*call)(void *function, const unsigned char *params);
	const char *expression;
	unsigned nr_params, max_threads;
	const unsigned *size, *align;
};

struct fake_calls {
	void (*barrier)(void);
	void (*fault)(unsigned result);
};

struct fake_image {
	const struct fake_kernel *const *first;
	struct fake_place *(*place)(void);
	void (*set_calls)(const struct fake_calls *calls);
	int has_barriers;
};

#endif
