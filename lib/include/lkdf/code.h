/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels: kinds whose tasks run on devices (device.h), from code for each sort
 * of device, with parameters and a range.
 */
#ifndef LKDF_CODE_H
#define LKDF_CODE_H

#include <lkdf/kind.h>
#include <lkdf/place.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_CODES 16 /* of one kind */
#define LKDF_MAX_PARAMS                                      \
	64 /* arguments of one launch, with those that loops \
	    * and folds add: at most 6 */
#define LKDF_MAX_PARAM_BYTES 65536 /* all values of one launch */

/*
 * Code for one sort of device. lkdf_kind_create_kernel() copies the texts and
 * the image; function stays the user's.
 */
struct lkdf_code {
	const char *device; /* the name in the ops of the devices it is for */
	const void
		*image; /* text, PTX, cubin, fatbin: the device knows which */
	uint64_t bytes; /* of image; 0: a text that ends with a 0 */
	const char *entry; /* in image; NULL: the device's default */
	const char *options; /* of the compiler; NULL: none */
	void *function; /* instead of image: CUfunction, cl_kernel, the user's
			 */
};

enum lkdf_param_from {
	LKDF_PARAM_VALUE, /* bytes at value, copied: one value for all tasks */
	LKDF_PARAM_TASK, /* bytes of the task's argument, from first on; bytes
			  * 0: all that follow */
	LKDF_PARAM_USE, /* where uses first .. first + nr - 1 lie there, one
			 * parameter each; nr 0: 1 */
	LKDF_PARAM_PORT, /* the values at in ports first .. first + nr - 1, one
			  * parameter each; nr 0: 1 */
	LKDF_PARAM_LOCAL, /* memory of a block: bytes of it */
	LKDF_PARAM_MEMORY, /* bytes at value, copied, as memory that the kernel
			    * reads: it goes to a device once and stays */
	LKDF_PARAM_TASK_MEMORY, /* as LKDF_PARAM_TASK, as memory that the kernel
				 * reads: for more than a launch takes */
	LKDF_PARAM_SCRATCH, /* bytes of memory for the time of the task; what is
			     * in it is unknown */
	LKDF_PARAM_ZEROED, /* the same, all 0 */
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
	LKDF_KERNEL_SERIAL = 1, /* with LOOP: one thread of one block takes all
				 * items in their order, for debugging */
	LKDF_KERNEL_LOOP = 2, /* code is the body of a loop, see below */
};

struct lkdf_kernel_attr {
	uint32_t size, flags; /* flags: enum lkdf_kernel_flag */
	const struct lkdf_kind_attr *kind; /* fn: the CPU version, or NULL */

	/* Either nr_code codes, at most one for each name of a device, */
	const struct lkdf_code *code;
	/*
	 * or a function that gives work to the queue of a device and returns
	 * (CUstream, cl_command_queue, the user's). lkdf_ptr() gives it the
	 * addresses of uses there, or what alloc gave. The launcher calls it,
	 * so it neither spawns, joins, holds nor leaves; < 0: the task fails
	 * with that.
	 */
	int (*enqueue)(struct lkdf_ctx *c, void *arg, void *queue);
	uint32_t nr_code;

	uint32_t nr_param; /* with param */
	const struct lkdf_param *param; /* NULL: all uses in order, then the
					 * whole argument of the task, if it has
					 * one */
	uint32_t range_from, range_at; /* enum lkdf_range_from */
	uint64_t range[3]; /* items; a 0 among them: no launch, the task is
			    * done. A kernel of fewer dimensions has 1 there */
	/* Threads of a block; 0: of a LOOP the library chooses what keeps most
	 * threads on a multiprocessor, where the device has needs; else the
	 * device chooses. */
	uint32_t block[3];
	uint32_t min_blocks; /* with LOOP: of a multiprocessor at a time, where
			      * the device's language can say so */
	uint32_t shared_bytes; /* of a block, beside LKDF_PARAM_LOCAL */
	uint32_t max_block; /* with LOOP, block 0: at most so many threads of a
			     * block; 0: what the device has */

	/*
	 * Chooses among the nr devices that can run the kernel: an index in v;
	 * < 0: the task fails with that. The library calls it once for each
	 * task without a place, on a launcher.
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
	 * LKDF_CARVEOUT(percent): so much of the memory that a multiprocessor
	 * has for its L1 cache and for blocks is to be for blocks. A wish: the
	 * driver takes what comes next, a device that knows no such choice
	 * ignores it. 0: the driver chooses.
	 */
	uint32_t carveout;
};

#define LKDF_CARVEOUT(percent) ((percent) + 1u)

/* Attributes for one call, in C: LKDF_KERNEL(.kind = &k, .code = code). */
#define LKDF_KERNEL(...) LKDF_ATTR(lkdf_kernel_attr, __VA_ARGS__)

/**
 * lkdf_kind_create_kernel() - make a sort of task that devices run
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   kind as in lkdf_kind_create(), whose fn may be NULL; no on_cancel, not
 *       BLOCKING; code or enqueue
 * @out: new kind, owned by the caller
 *
 * The place of a task says where the task runs: on a device; on a node, and
 * then fn runs there; with a NULL place choose() chooses a device, or else the
 * library takes the one with the fewest tasks, or fn on a CPU where no device
 * can run the kernel. A device can run a kernel that has code for the device's
 * name, or enqueue where the device has queues to give.
 *
 * In graphs a kernel may have in ports; each out port passes on the value that
 * came to the in port of its number, which has the same size.
 *
 * Uses of such tasks are READ, WRITE, RW or COMMUTE, which counts as RW. A
 * device with memory of its own keeps what a kernel writes, of a submitted task
 * or of a graph's, until somebody else uses it. A task ends when the device is
 * done. The device compiles the code before the first launch; what the compiler
 * says is the error of the task.
 *
 * The task fails, by name, with -EINVAL a block too large, a range that the
 * device cannot have, too much memory of a block, a value for a pointer of
 * OpenCL's that is no cl_mem; -E2BIG parameters of more bytes than one launch
 * takes; -ENOMEM the device has less memory than its uses; -ENOEXEC the code
 * does not compile; -ENODEV the device is lost; -ENODATA a use that has no
 * bytes, of a kind with LKDF_ALWAYS, because the tasks that were to write the
 * data first have failed; and what the device's functions return.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field, named in lkdf_errmsg(); -EOPNOTSUPP what is not
 * built yet; -E2BIG too many parameters or codes; -ENOMEM. lkdf_submit() and
 * lkdf_graph_add() return -E2BIG for more than LKDF_MAX_PARAMS arguments.
 */
int lkdf_kind_create_kernel(struct lkdf *rt, const struct lkdf_kernel_attr *a,
			    struct lkdf_kind **out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
