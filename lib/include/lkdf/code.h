/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels are kinds whose tasks run on devices (device.h). A kernel has code
 * for each sort of device, parameters and a range.
 */
#ifndef LKDF_CODE_H
#define LKDF_CODE_H

#include <lkdf/kind.h>
#include <lkdf/place.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_CODES 16 /* codes of one kind */
#define LKDF_MAX_PARAMS                                      \
	64 /* arguments of one launch, with those that loops \
	    * and folds add: at most 6 */
#define LKDF_MAX_PARAM_BYTES 65536 /* all values of one launch */

/*
 * Code for one sort of device. lkdf_kind_create_kernel() copies the texts and
 * the image; function is borrowed.
 */
struct lkdf_code {
	const char *device; /* name of the sort of device, as in its
			     * lkdf_device_ops */
	const void *image; /* text, PTX, cubin or fatbin */
	uint64_t bytes; /* size of image; 0: a text that ends with a 0 */
	const char *entry; /* in image; NULL: the device's default */
	const char *options; /* of the compiler; NULL: none */
	void *function; /* instead of image: CUfunction, cl_kernel, the user's
			 */
};

enum lkdf_param_from {
	LKDF_PARAM_VALUE, /* bytes at value, copied, the same for all tasks */
	LKDF_PARAM_TASK, /* bytes of the task's argument, from byte first on;
			  * bytes 0: all bytes from there */
	LKDF_PARAM_USE, /* addresses on the device of uses first .. first +
			 * nr - 1, one parameter each; nr 0: 1 */
	LKDF_PARAM_PORT, /* the values at in ports first .. first + nr - 1, one
			  * parameter each; nr 0: 1 */
	LKDF_PARAM_LOCAL, /* bytes of shared (local) memory of a block */
	LKDF_PARAM_MEMORY, /* bytes at value, copied, as memory that the
			    * kernel reads; uploaded to a device once */
	LKDF_PARAM_TASK_MEMORY, /* as LKDF_PARAM_TASK, but passed as memory
				 * that the kernel reads, for more bytes than
				 * a launch takes */
	LKDF_PARAM_SCRATCH, /* bytes of memory during the task, not
			     * initialised */
	LKDF_PARAM_ZEROED, /* the same, initialised with 0 */
};

struct lkdf_param {
	uint32_t from; /* enum lkdf_param_from */
	uint16_t first, nr;
	uint32_t bytes, pad;
	const void *value;
};

enum lkdf_range_from {
	LKDF_RANGE_NONE, /* the kernel has no range */
	LKDF_RANGE_VALUE, /* range */
	LKDF_RANGE_TASK, /* three uint64_t in the task's argument, at byte
			  * range_at */
	LKDF_RANGE_USE, /* three uint64_t, the first bytes of use range_at */
	LKDF_RANGE_PORT, /* three uint64_t, the value at in port range_at */
};

enum lkdf_kernel_flag {
	LKDF_KERNEL_SERIAL = 1, /* with LOOP: a single thread runs all items
				 * in order, for debugging */
	LKDF_KERNEL_LOOP = 2, /* code is the body of a loop, see below */
};

struct lkdf_kernel_attr {
	uint32_t size, flags; /* flags: enum lkdf_kernel_flag */
	const struct lkdf_kind_attr *kind; /* fn: the CPU version, or NULL */

	/* Either nr_code codes, at most one for each name of a device, */
	const struct lkdf_code *code;
	/*
	 * or a function that enqueues work on a queue of the device (CUstream,
	 * cl_command_queue, or the program's) and returns without waiting. In
	 * it lkdf_ptr() returns what the device's alloc gave for a use. A
	 * launcher calls it, so it must not call lkdf_spawn(), lkdf_join(),
	 * lkdf_hold() or lkdf_then(); < 0: the task fails with that error.
	 */
	int (*enqueue)(struct lkdf_ctx *c, void *arg, void *queue);
	uint32_t nr_code;

	uint32_t nr_param; /* with param */
	const struct lkdf_param *param; /* NULL: all uses in order, then the
					 * whole argument of the task, if it has
					 * one */
	uint32_t range_from, range_at; /* enum lkdf_range_from */
	uint64_t range[3]; /* items of each dimension, 1 for unused ones; if
			    * one is 0, the task ends without a launch */
	/* Threads of a block. 0: with LOOP, and a device with needs(), the
	 * library chooses the size with the most threads on a
	 * multiprocessor; else the device chooses. */
	uint32_t block[3];
	uint32_t min_blocks; /* with LOOP: least number of blocks on a
			      * multiprocessor at a time, if the device's
			      * language can express it */
	uint32_t shared_bytes; /* bytes of a block in addition to
				* LKDF_PARAM_LOCAL */
	uint32_t max_block; /* with LOOP and block 0: limit of the threads of
			     * a block; 0: the device's */

	/*
	 * Returns the index in v of one of the nr devices that can run the
	 * kernel; < 0: the task fails with that error. The library calls it
	 * once for each task without a place, on a launcher.
	 */
	int (*choose)(struct lkdf_ctx *c, struct lkdf_place *const *v,
		      unsigned nr);

	/*
	 * LKDF_KERNEL_LOOP: each code is the body of a loop over the range, for
	 * "opencl" or "cuda", one text for both. The body sees the parameters
	 * as p0, p1 ... and the item as i, j, k (unsigned long, from begin on);
	 * a return in it ends the item. Types and top may use GLOBAL (memory of
	 * uses) and DEVICE (before a function). A grid of any size covers the
	 * range. The compiler names lines of the body as "entry:line".
	 */
	const char *const *type; /* nr_type: "float", "GLOBAL const float *" */
	const char *top; /* functions and types for the body; NULL: none */
	uint64_t begin[3]; /* the first item of each dimension */
	uint32_t nr_type; /* one for each parameter, and each use of one */
	/*
	 * LKDF_CARVEOUT(percent): share of a multiprocessor's memory that
	 * blocks use as shared memory; the rest is L1 cache. The driver takes
	 * the nearest size that it supports; other devices ignore the field. 0:
	 * the driver chooses.
	 */
	uint32_t carveout;
};

#define LKDF_CARVEOUT(percent) ((percent) + 1u)

/* Attributes for one call, in C: LKDF_KERNEL(.kind = &k, .code = code). */
#define LKDF_KERNEL(...) LKDF_ATTR(lkdf_kernel_attr, __VA_ARGS__)

/**
 * lkdf_kind_create_kernel() - make a kind whose tasks run on devices
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   attributes: kind as for lkdf_kind_create(), with fn NULL or the version
 *       for CPUs, without on_cancel and LKDF_BLOCKING; and code or enqueue
 * @out: new kind, owned by the caller
 *
 * The place of a task decides where it runs: on a device the kernel runs, on a
 * node fn. If the place is NULL, choose() selects a device; without choose()
 * the library takes the device with the fewest tasks, or calls fn on a CPU if
 * no device can run the kernel. A device can run a kernel that has code for the
 * name of the device, or enqueue if the device has queue().
 *
 * In graphs a kernel may have in ports. An out port passes on the value of the
 * in port with the same number, which must have the same size.
 *
 * The mode of a use is LKDF_READ, LKDF_WRITE, LKDF_RW or LKDF_COMMUTE, which
 * counts as LKDF_RW. Bytes that a kernel writes stay in the memory of the
 * device until another place uses them. A task ends when the device has
 * executed it. The device compiles the code before the first launch; if that
 * fails, the compiler's output is the text of the task's error.
 *
 * Errors of tasks: -EINVAL the block is too large, the device does not support
 * the range, a block needs too much shared memory, or the value for a pointer
 * in OpenCL is not a cl_mem; -E2BIG the parameters have more bytes than one
 * launch takes; -ENOMEM the device has too little memory for the uses; -ENOEXEC
 * the code does not compile; -ENODEV the device is lost; -ENODATA with
 * LKDF_ALWAYS: a use has no bytes, because the tasks that should have written
 * them have failed; errors of the device's functions.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field is wrong, lkdf_errmsg() names it; -EOPNOTSUPP this
 * version does not support it; -E2BIG too many parameters or codes; -ENOMEM.
 * lkdf_submit() and lkdf_graph_add() return -E2BIG for more than
 * LKDF_MAX_PARAMS arguments.
 */
int lkdf_kind_create_kernel(struct lkdf *rt, const struct lkdf_kernel_attr *a,
			    struct lkdf_kind **out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
