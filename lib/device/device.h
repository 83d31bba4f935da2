/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device: its functions, what waits for it by class, and what it was given
 * and has not done yet. Any thread puts items into its queues; one thread, its
 * launcher (launcher.h), takes them and makes all calls of the device, so a
 * request, a copy and a function of the device have one writer and no lock.
 *
 * An operation that a device is given has a slot. A slot's generation is odd
 * while the device has it; lkdf_device_done() makes it even, once, on any
 * thread, and hands the slot to the launcher. Slots are never freed before the
 * device is, so a stale op is recognised and not followed.
 *
 *	push, done, ring   any thread
 *	all else           the launcher
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/list.h"
#include "base/lock.h"
#include "device/pins.h"
#include "device/quiet.h"
#include "device/rows.h"
#include "device/spare.h"
#include "device/window.h"
#include "ring/blocking.h"
#include "trace/counter.h"

#include <lkdf/device.h>
#include <sched.h>

#define DEVICE_CLASSES 5 /* the last is the most urgent */
#define DEVICE_URGENT 3 /* kernels of tasks with LKDF_URGENT */
#define DEVICE_NOW 4 /* no request: needs no room */
#define DEVICE_WHY 224
#define DEVICE_ALIGN 256 /* of memory, at least */
#define DEVICE_BUCKETS 256 /* for copies of data */

/* Queues of a device; those for kernels follow. */
#define DEVICE_UPLOAD_QUEUE 0
#define DEVICE_FETCH_QUEUE 1
#define DEVICE_KERNEL_QUEUE 2
#define DEVICE_QUEUES 64 /* for kernels */

/* Where a request is, see request.h. */
enum device_state {
	DEVICE_RESERVE,
	DEVICE_UPLOAD,
	DEVICE_RUN,
	DEVICE_FETCH,
	DEVICE_OVER, /* the launcher has let it go */
};

struct device_copy;
struct device_library;
struct device_piece;
struct device_req;
struct held_call;
struct held_move;
struct hooks;
struct lkdf_stats_slice;
struct trace;

struct device_slot {
	/* Any thread. */
	_Atomic(uint64_t) generation;

	/*
	 * Written by the thread that makes the generation even, then the
	 * launcher.
	 */
	int error;
	uint64_t end_ticks;
	char *why; /* of the error, or NULL; the slot's */
	struct device_slot *next;

	/* Set when made, constant afterwards. */
	struct device *device;

	/* The launcher; all NULL: nobody wants to know. */
	struct device_req *req;
	enum device_state state; /* what it is of the request */
	bool is_awaited; /* a worker goes on when it is done; also who makes the
			  * generation even */
	struct device_copy *copy; /* that is carried back */
	struct device_row_op row;
	struct held_move *move; /* bytes of held.h */
	bool is_quiet; /* see quiet.h, also the next two */
	struct list quiet; /* of a queue, or of the slot that covers it */
	struct list covered;
};

#define DEVICE_SLOTS 64 /* of one chunk */

struct device_chunk {
	struct device_chunk *next;
	struct device_slot slot[DEVICE_SLOTS];
};

struct device_attr {
	const _Atomic(uint32_t) *is_alive; /* 0: we are a forked child */
	_Atomic(uint32_t) *bell; /* serial mode: of all devices; else NULL */
	cpu_set_t cpus; /* of the launcher */
	bool is_bound; /* cpus is set */
	unsigned index; /* among the devices of the runtime */
	unsigned nr_queues; /* for kernels, at most; 0: as the device says */
	uint64_t memory; /* bytes at most; 0: what the device has */
	uint64_t pin_bytes; /* of data that the driver may know, at most */
	int64_t spin_ns; /* how long the launcher polls without a pause */
	struct trace *trace;
	struct check *check; /* option check; else NULL */
	struct hooks *hooks; /* a tool's; its table may be NULL */
	struct lkdf_stats_device *told; /* its row in the memfd */
	uint32_t executor; /* number of its launcher */
	size_t stack_kib; /* of the launcher; 0: the system's default */
	/* First on the launcher: what its items are run with. */
	void *(*enter)(void *u, uint32_t executor);
	void *u;
	/* The executor is as items are run with; not NULL. */
	void (*count)(void *executor, unsigned what, uint64_t n);
	void (*tell)(void *executor, const struct lkdf_stats_slice *s);
	/* Any thread: a worker is to be awake, for it gets a task soon. */
	void (*expect)(void *u);
};

struct device {
	/* Set at create, constant afterwards. */
	struct lkdf_device_ops ops; /* name is ours */
	void *dev;
	struct lkdf_device_info info;
	struct device_attr attr;
	char name[64];
	unsigned nr_queues; /* for kernels */
	unsigned max_under_way; /* requests */
	uint64_t capacity; /* bytes; 0: it has no memory of its own */
	_Atomic(uint32_t) *bell; /* 1: the launcher sleeps; a futex */

	/* Any thread. */
	_Atomic(bool) is_started, is_lost;
	char why_lost[DEVICE_WHY]; /* the launcher writes it before it sets
				    * is_lost; constant afterwards */
	_Atomic(uint32_t) nr_watched; /* events of the program's, see
				       * offload/foreign.h */
	_Atomic(uint32_t) load; /* tasks that wait or are under way; a guess */
	_Atomic(uint32_t) own_bell;
	/* In device_done(): a driver's threads may be in there yet when the
	 * launcher has done all, so it is not freed before they have left. */
	_Atomic(uint32_t) nr_telling;

	/* The launcher; any thread looks. */
	_Atomic(uint64_t) used; /* bytes that are allocated */
	_Atomic(uint64_t) held; /* of these: the program's, see held.h */
	_Atomic(uint64_t) managed; /* bytes beside them */

	/* Under lock. */
	struct lock lock;
	struct blocking_item *first[DEVICE_CLASSES], **last[DEVICE_CLASSES];
	struct device_slot *done;
	bool is_stopping, is_rung;
	struct list under_way; /* requests that were begun; the launcher adds */
	struct list builds; /* under way, see build.h; the launcher adds */
	struct device_req *starving; /* waits for room; NULL: nobody does; the
				      * launcher writes */

	/* Threads beside the launcher, see build.h. */
	struct blocking io;

	/* Under start_lock; any thread reads those that are counted. */
	struct device_library *library[LKDF_MAX_LIBRARIES];
	_Atomic(uint32_t) nr_libraries;

	/* Under start_lock. */
	pthread_mutex_t start_lock;
	pthread_t thread;

	/* The launcher. */
	struct device_chunk *chunks;
	struct device_slot *free_slots;
	struct held_call *hungry, **last_hungry; /* wait for it as well */
	struct list moves; /* under way, see held.h */
	unsigned nr_under_way; /* requests; a region counts as one */
	uint64_t leaving; /* bytes of copies that are carried back */
	void *executor; /* of the step */
	unsigned next_queue;
	bool has_begun; /* ops.start was called */
	bool is_stepping; /* serial mode: a thread is in launcher_step() */
	bool has_gone; /* a function has said so: it is lost soon */
	int start_error;
	char why_start[DEVICE_WHY]; /* for its tasks, all of them */
	struct list codes; /* built here, see device_code */
	struct list pieces; /* all, see piece.h */
	struct list holds; /* see piece.h */
	bool takes_no_pieces; /* it has said so */
	struct device_copy *copy[DEVICE_BUCKETS]; /* see copies.h */
	struct list lru; /* the same, the last one used first */
	int64_t idle_since; /* ns; 0: something has come, see rest.h */
	int64_t asked, ask_ns; /* when poll() was called last, and how long
				* until the next time; 0: it was not */
	struct device_window window;
	uint32_t nr_in_queue[DEVICE_KERNEL_QUEUE + DEVICE_QUEUES]; /* requests
								    * of
								    * regions */
	struct device_quiet quiet;
	struct device_spare spare;
	struct pins pins;
	struct device_rows rows;
};

/* info() is asked; name and functions are copied. 0 or -errno. */
int device_create(const struct lkdf_device_ops *ops, void *dev,
		  const struct device_attr *a, struct device **out);

/* Without a launcher. stops: ops.stop() is called. */
void device_destroy(struct device *d, bool stops);

/* Any thread: makes sure of the launcher. -EAGAIN: no thread to be had. */
int device_require(struct device *d);

/* Any thread, after device_require(). class: below DEVICE_CLASSES. */
void device_push(struct device *d, unsigned class, struct blocking_item *item);

/* Any thread: the launcher looks around. */
void device_ring(struct device *d);

/* The queues are empty and nothing is under way: joins the launcher. */
void device_stop(struct device *d);

/* Any thread: why the device is lost; NULL: it is not. */
const char *device_why_lost(const struct device *d);

/* As lkdf_device_failed(), or lkdf_device_done(). */
int device_done(struct lkdf_device_op op, int error, const char *why);

/* ---- the launcher ------------------------------------------------------- */

/* Has ops.start been called, and well? Else start_error says why not. */
bool device_begin(struct device *d);

/*
 * A function of the device has returned rc; -ENODEV: the device is lost soon,
 * for the reason that the function has given to err().
 */
void device_returned(struct device *d, const char *function, int rc);

/* The device is lost from now on. */
void device_set_lost(struct device *d);

/* A new op of the request, or of a copy. NULL: no memory. */
struct device_slot *device_give(struct device *d, struct device_req *r,
				struct lkdf_device_op *op);

/* Its generation is even from now on. False: it was, the op is done. */
bool device_end_slot(struct device_slot *s);

/* The device has refused the op. False: it has said done all the same. */
bool device_revoke(struct device *d, struct device_slot *s);

/* It is done, or nobody wants it. */
void device_free_slot(struct device *d, struct device_slot *s);

/* All slots that are done; linked by next, the first to be done first. */
struct device_slot *device_take_done(struct device *d);

/* The most urgent item of that class at least, of those the oldest; or NULL. */
struct blocking_item *device_take(struct device *d, unsigned lowest);

/* Nobody of its slots wants to be told any more. */
void device_forget_slots(struct device *d);

/* May another request begin? */
static inline bool device_has_room(const struct device *d)
{
	return !d->starving && !d->hungry && d->nr_under_way < d->max_under_way;
}

/* Under lock: does anything wait in its queues? */
static inline bool device_has_items(const struct device *d)
{
	unsigned i;

	lock_assert_held(&d->lock);
	for (i = 0; i < DEVICE_CLASSES; i++)
		if (d->first[i])
			return true;
	return false;
}

static inline bool device_has(const struct device *d, uint32_t flag)
{
	return d->ops.flags & flag;
}

#endif
