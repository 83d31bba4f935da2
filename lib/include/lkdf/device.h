/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Devices: whatever works beside the CPUs and says when it is done. A kind may
 * be a kernel: the library launches its tasks on a device, no thread waits for
 * them, and the library carries the bytes of their data there and back.
 *
 * A device is a table of functions, lkdf_place_register(). It is a place of
 * kind LKDF_PLACE_USER. Each device has one thread of the library, its
 * launcher, which the first task for the device makes; a launcher with nothing
 * to do sleeps.
 */
#ifndef LKDF_DEVICE_H
#define LKDF_DEVICE_H

#include <lkdf/data.h>
#include <lkdf/event.h>
#include <lkdf/place.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_DEVICES 64 /* of one runtime */

/* ---- kernels ------------------------------------------------------------ */

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
	uint32_t pad2;
};

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

/* ---- devices as places -------------------------------------------------- */

/* A field of 0, but node and memory, says that the device sets no limit. */
struct lkdf_device_info {
	uint32_t size, flags; /* flags: 0 */
	char name[64]; /* what people call it */
	uint64_t memory; /* bytes; with LKDF_DEVICE_HOST_MEMORY 0 */
	uint32_t nr_queues; /* for kernels, that make sense; 0: 1 */
	uint32_t units, warp; /* multiprocessors, threads in step */
	uint32_t max_block, max_unit_threads, max_unit_blocks;
	uint32_t unit_registers, register_grain;
	uint32_t unit_shared, block_shared, shared_grain; /* bytes */
	uint32_t max_value_bytes; /* of all values of one launch */
	uint32_t max_grid[3]; /* blocks */
	int32_t node; /* the system's number of its NUMA node; -1: unknown */
	uint32_t pad;
};

/**
 * lkdf_place_info() - what a device is
 * @p:   place of a device
 * @out: size set by the caller
 *
 * The library asks the device once, at register.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL not a place of a device, or size; -ENODEV it is lost.
 */
int lkdf_place_info(const struct lkdf_place *p, struct lkdf_device_info *out);

/* ---- a user's device ---------------------------------------------------- */

/*
 * An op stands for one thing that a device was given. The library recognises
 * an op that is done and does not follow it, until the runtime is closed.
 */
struct lkdf_device_op {
	void *slot;
	uint64_t generation;
};

/**
 * lkdf_device_done() - the device has done it
 * @op:  as the function of the device was given it
 * @err: 0 or a negative errno; -ENODEV: the device is lost with all it holds
 *
 * A lost device does not touch the host's memory any more, and the library
 * calls nothing of it but stop().
 *
 * Context: any thread, also inside a function of the device; no signal handler.
 * Return: 0; -ESTALE it was done before; -EINVAL the slot is NULL, or err
 * positive; -EOWNERDEAD in a forked child.
 */
int lkdf_device_done(struct lkdf_device_op op, int err);

enum lkdf_device_flag {
	LKDF_DEVICE_RANGES = 1, /* kernels have ranges */
	LKDF_DEVICE_HOST_MEMORY = 2, /* works on the host's bytes: the library
				      * does not use alloc, upload and fetch */
	LKDF_DEVICE_ORDERED = 4, /* what one queue for kernels is given is done
				  * in that order, each with all that it
				  * writes before the next one begins */
	LKDF_DEVICE_MANAGED = 8, /* alloc gives LKDF_MEM_MANAGED as well */
	LKDF_DEVICE_HANDLES = 16, /* what alloc gives is no address: a part that
				   * a task uses beside the whole of its data is
				   * an argument with an offset, and nothing
				   * that enqueue() could be given */
};

enum lkdf_arg_sort {
	LKDF_ARG_BYTES,
	LKDF_ARG_MEMORY,
	LKDF_ARG_LOCAL
};

struct lkdf_arg {
	uint32_t sort; /* enum lkdf_arg_sort */
	uint32_t mode; /* MEMORY: of the use: LKDF_READ, WRITE or RW */
	const void *value; /* BYTES: these; MEMORY: as alloc gave it, or with
			    * LKDF_DEVICE_HOST_MEMORY the host's bytes */
	uint64_t offset; /* MEMORY: from value on */
	uint64_t bytes; /* of the value, the memory, the local memory */
};

struct lkdf_launch {
	uint32_t size, flags; /* flags: 0 */
	void *function; /* as build made it, or as the code has it */
	uint64_t range[3]; /* of LKDF_RANGE_NONE all 0 */
	uint32_t block[3], shared_bytes;
	uint32_t nr_arg, pad;
	const struct lkdf_arg *arg; /* until launch has returned */
	const char *name; /* of the kind */
};

/* Needs of a function on its device. A field of 0 is unknown, or nothing. */
struct lkdf_kernel_needs {
	uint32_t size, max_block; /* threads of a block, at most */
	uint32_t registers; /* of a thread, of 32 bits */
	uint32_t shared; /* bytes of a block, in the code */
};

/* Bytes that go to the device, or come from there. */
struct lkdf_transfer {
	void *host; /* upload only reads them; until the op is done */
	void *device_ptr; /* as alloc gave it */
	uint64_t offset; /* in there */
	uint64_t bytes;
};

/* Bytes that go from one memory of the device to another, or within one. */
struct lkdf_device_copy {
	void *to; /* as alloc gave it */
	uint64_t to_offset;
	void *from; /* likewise; only read */
	uint64_t from_offset;
	uint64_t bytes; /* the two do not overlap */
};

/*
 * The functions of a device. Those that return int return 0 or a negative
 * errno; one that was given an op and returns an error does not call
 * lkdf_device_done() for it, and with -ENODEV it says that the device is lost.
 * The launcher of the device makes the calls, one at
 * a time, but where a function says otherwise; in serial mode (option serial)
 * the threads that run tasks do, one at a time. Queue 0 is for upload and copy,
 * queue 1 for fetch, queues 2 to 1 + nr_queues are for kernels. All functions
 * may be NULL but info, launch and stop; a device without
 * LKDF_DEVICE_HOST_MEMORY has alloc, free, upload and fetch, too. The library
 * gives an op only after all ops that it depends on are done, so a device need
 * not keep any order. To one with LKDF_DEVICE_ORDERED it gives kernels of
 * graphs that depend on each other one behind the other, in one queue.
 */
struct lkdf_device_ops {
	uint32_t size, flags; /* enum lkdf_device_flag */
	const char
		*name; /* of the sort of device, copied: see struct lkdf_code */

	/* The thread that registers, before lkdf_place_register() returns;
	 * out is zeroed, with size and a node of -1. */
	int (*info)(void *dev, struct lkdf_device_info *out);
	/* Before the first of all others; nr_queues: with the first two. */
	int (*start)(void *dev, unsigned nr_queues);
	/* The last call, by lkdf_close(), also where start was not called; then
	 * dev is the user's again. Nothing is under way but on a lost device.
	 */
	void (*stop)(void *dev);

	/* mem: LKDF_MEM_OWN; with LKDF_DEVICE_MANAGED also LKDF_MEM_MANAGED,
	 * whose address is one of the host's, too. align is a power of two, at
	 * most a page. -ENOMEM of memory of its own: the library frees what it
	 * can do without and tries again, once others are done. */
	int (*alloc)(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
		     uint64_t align, void **device_ptr);
	void (*free)(void *dev, void *device_ptr);

	/* Once for each kind, before its first launch; like is that launch.
	 * log receives what the compiler says, with a 0 at its end. */
	int (*build)(void *dev, const struct lkdf_code *c,
		     const struct lkdf_launch *like, void **function, char *log,
		     uint32_t log_size);
	void (*drop)(void *dev, void *function);

	/* The bytes of t to the device, and back. */
	int (*upload)(void *dev, unsigned queue, const struct lkdf_transfer *t,
		      struct lkdf_device_op op);
	int (*fetch)(void *dev, unsigned queue, const struct lkdf_transfer *t,
		     struct lkdf_device_op op);
	int (*launch)(void *dev, unsigned queue, const struct lkdf_launch *l,
		      struct lkdf_device_op op);

	/* For enqueue(): what it is handed, and an op that is done when all is
	 * done that was given to that queue so far. */
	void *(*queue)(void *dev, unsigned queue);
	int (*mark)(void *dev, unsigned queue, struct lkdf_device_op op);

	/* For a device that does not call by itself: calls lkdf_device_done()
	 * for what is done. < 0: the device is lost. */
	int (*poll)(void *dev);
	/* With poll, where nothing has come for a while: calls wake(u) once,
	 * from any thread, when there is something. NULL: the launcher polls,
	 * ever more rarely, while something is under way. */
	int (*arm)(void *dev, void (*wake)(void *u), void *u);

	/* The launch that the queue was given last has results that nobody
	 * takes, of a graph's task that no other comes after: it may be done
	 * late, but it is done. */
	int (*finalize)(void *dev, unsigned queue);

	/* Tells what a function of build's needs; out is zeroed, with size.
	 * Once for each function of a loop whose block is not given. */
	int (*needs)(void *dev, void *function, struct lkdf_kernel_needs *out);

	/* Whole pages of the host, which the device's driver is to know, so
	 * that bytes there are carried faster: locked until unpin. They go
	 * together; NULL: LKDF_MEM_HOST_PINNED is locked, and no more. */
	int (*pin)(void *dev, void *host, uint64_t bytes);
	void (*unpin)(void *dev, void *host);

	/* For lkdf_place_from_queue(): a device of the same sort, with all of
	 * these functions, whose kernels all go to that queue; info says one
	 * queue. Any thread. */
	int (*adopt)(void *dev, void *queue, void **out);
	/* For lkdf_event_from_device(): calls fired(u, error) once, on any
	 * thread and perhaps before it returns, when the event has come; error:
	 * 0 or a negative errno. Any thread. */
	int (*watch)(void *dev, void *event, void (*fired)(void *u, int error),
		     void *u);

	/* The bytes of c within the device, in memory of its own; NULL: the
	 * library carries them by way of the host. */
	int (*copy)(void *dev, unsigned queue, const struct lkdf_device_copy *c,
		    struct lkdf_device_op op);
};

/**
 * lkdf_place_register() - add a device
 * @rt:  runtime
 * @ops: copied; name, and info, launch and stop at least
 * @dev: handed to the functions; the runtime's until stop()
 * @out: place of the device, which belongs to the runtime and lives until it
 *       closes
 *
 * The call makes no thread and does not call start: the first task for the
 * device does both. The option device_queues bounds the queues for kernels. A
 * launcher takes one of the threads that the option blocking allows.
 *
 * Context: any thread; calls info().
 * Return: 0; -EINVAL a function is missing, by name; -EEXIST dev is registered
 * under that name; -ENOSPC LKDF_MAX_DEVICES; what info returned; -ENOMEM;
 * -EOWNERDEAD in a forked child.
 */
int lkdf_place_register(struct lkdf *rt, const struct lkdf_device_ops *ops,
			void *dev, struct lkdf_place **out);

/* ---- bytes -------------------------------------------------------------- */

/**
 * lkdf_copy() - copy between any memories
 * @rt:    runtime
 * @s:     scope that the copy is a task of; NULL: the root
 * @to:    host memory, or within memory of a device (lkdf_alloc())
 * @from:  likewise; the two do not overlap
 * @bytes: any number; 0 is done at once
 * @done:  receives an event; NULL: the call waits
 *
 * Between memories of the host, up to the option copy_inline_kib, it is done
 * when the call returns. Otherwise it is a task with the name "lkdf.copy" that
 * keeps no thread waiting: nothing orders it but @done and the end of the
 * scope. Both memories stay until then; of a device's block that lkdf_free()
 * takes back meanwhile the memory is free when the copy is done. Within one
 * device the bytes stay there, where the device has copy(); else, and between
 * two devices, they go by way of the host. A cancel of the scope stops a copy
 * that has not begun, and no other one.
 *
 * Context: any thread, in a body with @done or where it is done at once.
 * Return: 0, or without @done the copy's error; -EINVAL beyond the end of a
 * block; -EDEADLK in a body without @done; -ENOMEM; -ENODEV the device is lost;
 * -ECANCELED the scope is; what upload, fetch or copy returned.
 */
int lkdf_copy(struct lkdf *rt, struct lkdf_scope *s, void *to, const void *from,
	      uint64_t bytes, struct lkdf_event *done);

/* ---- queues and events of the program's own ----------------------------- */

/**
 * lkdf_place_from_queue() - a queue of the program's own as a place
 * @p:     place of a device
 * @queue: cl_command_queue, or what the device's adopt takes; the program's
 *         until lkdf_close(), which it outlives
 * @out:   place of the same sort of device, whose kernels all go to that queue;
 *         it belongs to the runtime and lives until it closes
 *
 * Kernels of the place come behind all that the program has given the queue
 * before. The place is a device of its own: it has a launcher, copies of data
 * and a number, and may take as much memory as @p may. Of OpenCL the queue
 * keeps its order, and its context is used.
 *
 * Context: any thread; calls adopt and info.
 * Return: 0; -EINVAL @p is no device, or the queue is of another one or does
 * not keep its order; -EOPNOTSUPP the device has no adopt; as
 * lkdf_place_register().
 */
int lkdf_place_from_queue(struct lkdf_place *p, void *queue,
			  struct lkdf_place **out);

/**
 * lkdf_event_from_device() - an event that fires when one of a device has come
 * @p:     place of a device
 * @event: cl_event, or what the device's watch takes; the program's, until it
 *         has come
 * @out:   event with one reference, dropped by lkdf_event_wait() or
 *         lkdf_event_put(); untouched on failure
 *
 * So tasks start after work that the program has given the device itself. The
 * event has the error of the device's. When the runtime closes before the
 * device's event has come, it fires with -ECANCELED.
 *
 * Context: any thread, bodies included, does not block; calls watch.
 * Return: 0; -EINVAL @p is no device, @event or @out is NULL; -EOPNOTSUPP the
 * device has no watch; what watch returned; -ENOMEM; -EOWNERDEAD in a forked
 * child.
 */
int lkdf_event_from_device(struct lkdf_place *p, void *event,
			   struct lkdf_event *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
