/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device executes work besides the CPUs and reports when it is done. If a
 * kind is a kernel (code.h), the library launches its tasks on a device and
 * copies their data there and back; no thread waits for them.
 *
 * lkdf_place_register() adds a device, a table of functions, as a place of kind
 * LKDF_PLACE_USER. The library has one thread for each device, the launcher,
 * which it creates for the first task of the device and which sleeps when it is
 * idle.
 */
#ifndef LKDF_DEVICE_H
#define LKDF_DEVICE_H

#include <lkdf/code.h>
#include <lkdf/data.h>
#include <lkdf/event.h>
#include <lkdf/place.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_DEVICES 64 /* of one runtime */

/* ---- devices as places -------------------------------------------------- */

/* In all fields except node and memory 0 means that the device has no limit. */
struct lkdf_device_info {
	uint32_t size, flags; /* flags: 0 */
	char name[64]; /* name for users */
	uint64_t memory; /* bytes; with LKDF_DEVICE_HOST_MEMORY 0 */
	uint32_t nr_queues; /* for kernels, that make sense; 0: 1 */
	uint32_t units, warp; /* multiprocessors, threads in step */
	uint32_t max_block, max_unit_threads, max_unit_blocks;
	uint32_t unit_registers, register_grain;
	uint32_t unit_shared, block_shared, shared_grain; /* bytes */
	uint32_t max_value_bytes; /* of all values of one launch */
	uint32_t max_grid[3]; /* blocks */
	int32_t node; /* the system's number of its NUMA node; -1: unknown */
	uint32_t unit_parts; /* of a multiprocessor, that share its registers */
	uint32_t shared_reserved; /* bytes of each block, by the driver;
				   * block_shared is without them */
	uint32_t block_registers; /* of a block, at most */
	uint32_t max_queue_ops; /* that a queue takes before a call waits */
	uint32_t queue_copy_bytes; /* of an upload or a fetch that queues for
				    * kernels take, in their order; 0: they
				    * take neither */
	uint32_t dlpack_type; /* as DLPack has it, see dlpack.h; 0: none */
	int32_t dlpack_id; /* the same: which of them */
};

/**
 * lkdf_place_info() - get the properties of a device
 * @p:   place of a device
 * @out: size set by the caller
 *
 * The library calls the device's info() once, at registration.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL @p is not a device, or the size is wrong; -ENODEV the
 * device is lost.
 */
int lkdf_place_info(const struct lkdf_place *p, struct lkdf_device_info *out);

/* ---- a user's device ---------------------------------------------------- */

/*
 * An op identifies one piece of work that the library gave a device. Until the
 * runtime is closed the library recognises ops that are done.
 */
struct lkdf_device_op {
	void *slot;
	uint64_t generation;
};

/**
 * lkdf_device_done() - report that a device has finished an op
 * @op:  as passed to the function of the device
 * @err: 0 or a negative errno; -ENODEV: the device is lost with all it holds
 *
 * After a device is lost, the library calls only its lose() and stop(). When
 * lose() has returned, the device must not access the host's memory any more.
 *
 * Context: any thread, also inside a function of the device, but not a signal
 * handler.
 * Return: 0; -ESTALE the op was done before; -EINVAL the slot is NULL, or @err
 * is positive; -EOWNERDEAD in a forked child.
 */
int lkdf_device_done(struct lkdf_device_op op, int err);

/**
 * lkdf_device_failed() - report that an op has failed, with a reason
 * @op:  as for lkdf_device_done()
 * @err: a negative errno, as there
 * @why: the driver's message, copied; it becomes part of the text of the task's
 *       error. NULL: the error's name
 *
 * Context: as for lkdf_device_done().
 * Return: as lkdf_device_done(); -EINVAL err is 0.
 */
int lkdf_device_failed(struct lkdf_device_op op, int err, const char *why);

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
	LKDF_DEVICE_CALLS = 32, /* with poll: the device calls by itself, and
				 * poll is for calls that its driver has
				 * forgotten: the launcher makes it 100 ms after
				 * it has begun to wait, then ever more rarely
				 */
	LKDF_DEVICE_BUILDS = 64, /* build may be called on another thread,
				  * beside all other calls, two at a time */
	LKDF_DEVICE_QUIET = 128, /* with ORDERED and mark: the device knows
				  * LKDF_LAUNCH_QUIET */
	LKDF_DEVICE_URGENT = 256, /* the last queue for kernels, where there are
				   * two or more, is for those of tasks with
				   * LKDF_URGENT, which the device runs first */
	LKDF_DEVICE_PINS = 512, /* with pin: it is also called for bytes of data
				 * that the library has allocated, when they are
				 * carried for the second time */
	LKDF_DEVICE_EXPORTS = 1024, /* alloc is given LKDF_MEM_EXPORTED for
				     * LKDF_MEM_OWN of lkdf_alloc(): as that,
				     * and the program may give the memory to
				     * other processes */
	LKDF_DEVICE_NULL_QUEUE = 2048, /* adopt takes NULL: the program gives
					* work to a queue that has no handle */
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

enum lkdf_launch_flag {
	/*
	 * To a device with LKDF_DEVICE_QUIET. The device calls
	 * lkdf_device_done() for the launch only if the launch fails, and then
	 * before the call for any later op of that queue. The library takes the
	 * launch as done when a later op of the queue is; it gives one, or a
	 * mark, before it sleeps. So a driver may leave the launch where it is
	 * until then.
	 */
	LKDF_LAUNCH_QUIET = 1,
};

struct lkdf_launch {
	uint32_t size, flags; /* enum lkdf_launch_flag */
	void *function; /* as build made it, or as the code has it */
	uint64_t range[3]; /* of LKDF_RANGE_NONE all 0 */
	uint32_t block[3], shared_bytes;
	uint32_t nr_arg, carveout; /* carveout: as the kernel's attributes */
	const struct lkdf_arg *arg; /* until launch has returned */
	const char *name; /* of the kind */
};

/* Needs of a function on its device. A field of 0 is unknown, or nothing. */
struct lkdf_kernel_needs {
	uint32_t size, max_block; /* threads of a block, at most */
	uint32_t registers; /* of a thread, of 32 bits */
	uint32_t shared; /* bytes of a block, in the code */
};

/* A copy of bytes to the device, or from it. */
struct lkdf_transfer {
	void *host; /* upload only reads them; until the op is done */
	void *device_ptr; /* as alloc gave it */
	uint64_t offset; /* in there */
	uint64_t bytes;
	uint32_t flags, pad; /* flags: of an upload in a queue for kernels:
			      * LKDF_LAUNCH_QUIET or 0 */
};

/* A copy of bytes within the device. */
struct lkdf_device_copy {
	void *to; /* as alloc gave it */
	uint64_t to_offset;
	void *from; /* likewise; only read */
	uint64_t from_offset;
	uint64_t bytes; /* the two do not overlap */
};

/* Bytes of the device to set to one value. */
struct lkdf_device_fill {
	void *device_ptr; /* as alloc gave it */
	uint64_t offset, bytes;
	uint32_t value, pad; /* value: of each byte */
};

/*
 * A piece is a sequence of launches of a sealed graph that the library gives
 * the device in one call, and again in each later run. The pieces depend only
 * on the graph's edges, so the launches and their order stay the same; values
 * and addresses may change.
 */
struct lkdf_piece {
	uint32_t size, nr; /* nr: launches, constant */
	void *of_driver; /* the device's, NULL before the first launch_piece */
};

/*
 * The functions of a device. A function that returns int returns 0 or a
 * negative errno; -ENODEV means that the device is lost. A function that
 * returns an error must not call lkdf_device_done() for its op. The launcher of
 * the device makes the calls, one at a time, unless a comment says otherwise;
 * in serial mode (option serial) the threads that run tasks make them, one at a
 * time. Queue 0 is for upload, copy and fill, queue 1 for fetch, queues 2 to 1
 * + nr_queues are for kernels. info, launch and stop are required; without
 * LKDF_DEVICE_HOST_MEMORY also alloc, free, upload and fetch. All others may be
 * NULL. The library gives a device an op only when all ops that it depends on
 * are done, so the device may execute its ops in any order. Exception: to a
 * device with LKDF_DEVICE_ORDERED the library gives dependent kernels of a
 * graph one after another, in one queue, and, if queue_copy_bytes permits it,
 * also the uploads, launches and fetches of one task. If such an op fails,
 * later ones in the queue may fail or succeed; the library does not use the
 * bytes that they write.
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

	/* mem: LKDF_MEM_OWN, with LKDF_DEVICE_EXPORTS also
	 * LKDF_MEM_EXPORTED; with LKDF_DEVICE_MANAGED LKDF_MEM_MANAGED,
	 * whose address is one of the host's, too. align is a power of two, at
	 * most a page. -ENOMEM of memory of its own: the library frees what it
	 * can do without and tries again, once others are done. */
	int (*alloc)(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
		     uint64_t align, void **device_ptr);
	void (*free)(void *dev, void *device_ptr);

	/* Once for each kind, before its first launch; like is that launch,
	 * or the first launch of its task, without function and the addresses
	 * of memory. With LKDF_DEVICE_BUILDS on threads of the library beside
	 * the launcher, else on the launcher, which no other kernel passes.
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
	 * done that was given to that queue so far. The library marks queues
	 * with quiet launches as well: an error loses the device then. */
	void *(*queue)(void *dev, unsigned queue);
	int (*mark)(void *dev, unsigned queue, struct lkdf_device_op op);

	/* For a device that does not call by itself: calls lkdf_device_done()
	 * for what is done, and what watch() was given for events that have
	 * come. < 0: the device is lost. */
	int (*poll)(void *dev);
	/* With poll, where nothing has come for a while: calls wake(u) once,
	 * from any thread, when there is something; the launcher still polls
	 * ten times a second. NULL: the launcher polls, ever more rarely,
	 * while something is under way. */
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
	 * together; NULL: LKDF_MEM_HOST_PINNED is locked, and no more. With
	 * LKDF_DEVICE_PINS an error of pin for bytes of a data is nobody's:
	 * they are carried as they are. */
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
	/* Sets the bytes of f, for LKDF_PARAM_ZEROED; NULL: the
	 * library uploads zeroes. */
	int (*fill)(void *dev, unsigned queue, const struct lkdf_device_fill *f,
		    struct lkdf_device_op op);

	/* Once, when the device is lost: returns when nothing of it reads or
	 * writes the host's memory any more. Only then does the library tell
	 * the tasks, whose bytes the program may free at once. NULL: nothing
	 * does when a function or an op has the error -ENODEV. */
	void (*lose)(void *dev);

	/* With LKDF_DEVICE_ORDERED and LKDF_DEVICE_QUIET: all launches of a
	 * piece, from the second run of its graph on; one op for each, as
	 * launch is given it: those of quiet launches are done with the next
	 * one that is not, and the last launch is not quiet. The device may
	 * begin a launch once those before it in the piece are done, and what
	 * the queue was given before. The library calls it again for a piece
	 * only when all of its ops are done. An error, such as -EOPNOTSUPP,
	 * says that none was given: the library gives them by launch, this
	 * time; -ENOSYS: it need not try again on this device. NULL: the
	 * library gives all launches by launch. */
	int (*launch_piece)(void *dev, unsigned queue, struct lkdf_piece *p,
			    const struct lkdf_launch *const *launch,
			    const struct lkdf_device_op *op);
	/* The piece goes, and of_driver with it; of a lost device stop() frees
	 * that. NULL: nothing is to be freed. */
	void (*drop_piece)(void *dev, struct lkdf_piece *p);
};

/**
 * lkdf_place_register() - add a device
 * @rt:  runtime
 * @ops: functions, copied; name, info, launch and stop are required
 * @dev: first argument of the functions; must stay valid until stop()
 * @out: place of the device, owned by the runtime and valid until it closes
 *
 * The call makes no thread and does not call start(): the first task for the
 * device does both. Option device_queues limits the queues for kernels. If the
 * system has no more threads, kernels wait, and the library tries again.
 *
 * Context: any thread; calls info().
 * Return: 0; -EINVAL a function is missing, lkdf_errmsg() names it; -EEXIST
 * @dev is registered under that name; -ENOSPC the runtime has LKDF_MAX_DEVICES;
 * errors of info(); -ENOMEM; -EOWNERDEAD in a forked child.
 */
int lkdf_place_register(struct lkdf *rt, const struct lkdf_device_ops *ops,
			void *dev, struct lkdf_place **out);

/* ---- bytes -------------------------------------------------------------- */

/**
 * lkdf_copy() - copy bytes between any memories
 * @rt:    runtime
 * @s:     scope of the copy; NULL: the root
 * @to:    host memory, or within memory of a device (lkdf_alloc())
 * @from:  likewise; the two do not overlap
 * @bytes: any number; 0 is done at once
 * @done:  receives an event; NULL: the call waits
 *
 * A copy in memory of the host of up to option copy_inline_kib is done when the
 * call returns. Any other copy is a task with the name "lkdf.copy", for which
 * no thread waits. Both memories must exist until @done fires or the scope has
 * ended; if the program frees a block of a device before, the library frees its
 * memory after the copy. Within a device copy() is used, if there is one;
 * otherwise, and between devices, the bytes go through the host. A cancel of
 * the scope only stops a copy that has not begun.
 *
 * Context: any thread; in a body only with @done, or if the copy is done at
 * once.
 * Return: 0, or without @done the copy's error; -EINVAL a range exceeds its
 * block, a block was freed, or the ranges overlap; -EDEADLK in a body without
 * @done; -ENOMEM; -ENODEV the device is lost; -ECANCELED the scope is
 * cancelled; errors of the device's upload, fetch or copy.
 */
int lkdf_copy(struct lkdf *rt, struct lkdf_scope *s, void *to, const void *from,
	      uint64_t bytes, struct lkdf_event *done);

/* ---- queues and events of the program's own ----------------------------- */

/**
 * lkdf_place_from_queue() - make a place from a queue of the program
 * @p:     place of a device
 * @queue: cl_command_queue, CUstream or cudaStream_t, or what the device's
 *         adopt takes; the program's until lkdf_close(), which it outlives.
 *         CUDA takes NULL and cudaStreamLegacy as well, the default stream of
 *         the thread's context, where that is of the card, else of the card's
 *         primary context
 * @out:   place of the same sort of device, whose kernels all go to that queue;
 *         it belongs to the runtime and lives until it closes
 *
 * Kernels of the place run after all work that the program has put into the
 * queue before. The place is a separate device, with its own launcher, number
 * and copies of data, and the same limit of memory as @p. An OpenCL queue must
 * be in-order; the place uses its context.
 *
 * Context: any thread; calls adopt and info.
 * Return: 0; -EINVAL @p is not a device, or the queue is of another device or
 * out-of-order; -EOPNOTSUPP the device has no adopt(); errors of
 * lkdf_place_register().
 */
int lkdf_place_from_queue(struct lkdf_place *p, void *queue,
			  struct lkdf_place **out);

/**
 * lkdf_event_from_device() - make an event that fires when an event of a device
 * has completed
 * @p:     place of a device
 * @event: cl_event, CUevent, or what the device's watch takes; the program's,
 *         until it has come
 * @out:   event with one reference, dropped by lkdf_event_wait() or
 *         lkdf_event_put(); untouched on failure
 *
 * With it tasks start after work that the program has given the device itself.
 * The event has the error of the device's event. If the runtime closes before
 * the device's event has completed, the event fires with -ECANCELED.
 *
 * Context: any thread, bodies included, does not block; calls watch.
 * Return: 0; -EINVAL @p is no device, @event or @out is NULL; -EOPNOTSUPP the
 * device has no watch; what watch returned; -ENOMEM; -EOWNERDEAD in a forked
 * child.
 */
int lkdf_event_from_device(struct lkdf_place *p, void *event,
			   struct lkdf_event *out);

/* ---- libraries of the program ------------------------------------------- */

#define LKDF_MAX_LIBRARIES 8 /* of one place */

struct lkdf_library_attr {
	uint32_t size, flags; /* flags: 0 */
	const char *name; /* copied, for errors; or NULL */
	/* A handle whose work goes to that queue: CUstream, cl_command_queue,
	 * the user's. The launcher calls it, as it calls enqueue(); < 0: the
	 * work that asked fails with that, and later work asks again. */
	int (*create)(void *u, void *queue, void **handle);
	/* lkdf_close(), on the launcher, when nothing is under way; or NULL */
	void (*destroy)(void *u, void *handle);
	void *u;
};

/**
 * lkdf_place_library() - make one handle of a library for each queue of a
 * device
 * @p: place of a device
 * @a: attributes; create is required
 *
 * A handle of a library such as cuBLAS, cuSOLVER or cuFFT belongs to one queue,
 * so several queues need several handles. The library calls create for a queue
 * when its work first calls lkdf_library().
 *
 * Context: any thread, does not block.
 * Return: the library's number at that place, from 0 on; -EINVAL @p is no
 * device, create is NULL, or flags; -EOPNOTSUPP the device has no queue;
 * -ENOSPC LKDF_MAX_LIBRARIES; -ENOMEM; -EOWNERDEAD in a forked child.
 */
int lkdf_place_library(struct lkdf_place *p, const struct lkdf_library_attr *a);

/**
 * lkdf_library() - get the handle of a library for the queue of enqueue()
 * @c:       context of enqueue()
 * @library: as lkdf_place_library() returned it
 * @handle:  receives it
 *
 * Context: in enqueue(); calls create, the first time in that queue.
 * Return: 0; -EINVAL not in enqueue(), the place has no such library, or
 * @handle is NULL; what create returned.
 */
int lkdf_library(struct lkdf_ctx *c, int library, void **handle);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
