/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data are variables with versions. Tasks declare what they read and write
 * (struct lkdf_use), and the runtime derives their order: for their data, the
 * result is as if submitted tasks ran one after another in the order of
 * submission.
 *
 *	READ     with other readers of the same version
 *	WRITE    alone; the old bytes are not kept
 *	RW       alone
 *	COMMUTE  alone, neighbours of the same mode in any order
 *	REDUCE   with others of the same mode, each thread on a copy of its own;
 *	         the copies are combined before the next other use
 *	WEAK     or'ed: the body does not touch the data, its children do; so
 *	         the task need not wait for it
 *	MAYBE    or'ed to RW: may turn out untouched, see lkdf_use_end()
 *
 * A failed task poisons the data that it should have written. The library skips
 * tasks that read poisoned data; their error is the first failure, and the data
 * that they should write are poisoned, too. The next successful write makes a
 * data good again. Tasks of kinds with LKDF_ALWAYS run nevertheless, and a
 * success makes the data that they write good again, except with LKDF_REDUCE.
 */
#ifndef LKDF_DATA_H
#define LKDF_DATA_H

#include <lkdf/task.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_data_flag {
	/*
	 * Variable of a sealed graph that is written once in each run: it has
	 * one producer or an initial value, and tasks may be added in any
	 * order. The library allocates the bytes when the producer starts and
	 * frees them when the last reader has ended; small ones it may keep
	 * until the next run.
	 */
	LKDF_DATA_ONCE = 1,
	/* With ONCE: the bytes stay after the run, for lkdf_data_acquire(). */
	LKDF_DATA_KEEP = 2,
	/* Ask the system for huge pages, for more than 2 MiB that the
	 * library allocates. */
	LKDF_DATA_HUGE = 4,
	/*
	 * Move the bytes to the node of the tasks that use them. A WRITE on
	 * another node gets new bytes there, and the old ones are freed. The
	 * second READ or RW in a row from the same node moves the bytes there.
	 * Bytes that the library has allocated change their address. In a split
	 * data the whole pages of a part move, unless the library has allocated
	 * the bytes and the data has a home. Not with ONCE.
	 */
	LKDF_DATA_MIGRATE = 8,
	/* Give tasks that read the whole data on another node a copy there,
	 * one for each version and node, if there is memory. From 4096 bytes
	 * on. Not with ONCE. */
	LKDF_DATA_REPLICATE = 16,
};

struct lkdf_data_attr {
	uint32_t size, flags;
	const char *name; /* unique, at most 63 bytes, shown in reports; or
			   * NULL */
	uint64_t bytes, align; /* 1 .. 2^40; a power of two up to 2^30, 0: 64 */
	void *wrap; /* bytes of the program, borrowed, aligned to align (0:
		     * any), in memory that CPUs can access: not LKDF_MEM_OWN
		     * of a device */
	const void *init; /* initial value, copied; NULL: none, a task writes
			   * first */
	struct lkdf_place *home; /* node of the bytes; NULL: that of the
				  * first writer */
	void (*drop)(void *bytes); /* called before the bytes are freed; or
				    * NULL */
	/* For LKDF_REDUCE: reduce combines acc and x into acc; neutral sets
	 * acc to the neutral value. */
	int (*reduce)(void *acc, const void *x, uint64_t bytes);
	void (*neutral)(void *acc, uint64_t bytes);
};

/**
 * lkdf_data_create() - make a variable
 * @rt:  runtime, borrowed; must outlive the data
 * @a:   attributes; bytes is required
 * @out: new data with one reference, owned by the caller
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL wrong sizes, alignment or flags, or wrap is LKDF_MEM_OWN
 * of a device; -EEXIST another data has the name; -ENOMEM.
 */
int lkdf_data_create(struct lkdf *rt, const struct lkdf_data_attr *a,
		     struct lkdf_data **out);

/**
 * lkdf_data_create_many() - make many variables with the same attributes
 * @rt:  runtime, borrowed; must outlive the data
 * @a:   attributes of each; name and wrap must be NULL
 * @nr:  0 or more
 * @out: receives @nr new data with one reference each, owned by the caller;
 *       NULLs after a failure other than -EINVAL
 *
 * The call costs less than @nr calls of lkdf_data_create(), because the library
 * takes memory and locks for 32 data at a time. The memory of such a group, 16
 * KiB and the bytes, is freed when the last data of the group has ended.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL as lkdf_data_create(), or name or wrap is not NULL;
 * -ENOMEM. After an error there are no new data.
 */
int lkdf_data_create_many(struct lkdf *rt, const struct lkdf_data_attr *a,
			  uint32_t nr, struct lkdf_data **out);

/**
 * lkdf_data_find() - find a data by its name
 * @rt:   runtime
 * @name: as given at create
 * @out:  the data with one more reference, the caller's
 *
 * Return: 0; -ENOENT; -EINVAL.
 */
int lkdf_data_find(struct lkdf *rt, const char *name, struct lkdf_data **out);

/**
 * lkdf_data_at() - find the data that an address belongs to
 * @rt:   runtime
 * @addr: any address
 * @out:  the data with one more reference, the caller's
 *
 * The call searches all data, so it is slow: use it for reports and debuggers.
 * It does not find bytes that exist only during a run.
 *
 * Return: 0; -ENOENT no data has bytes there now.
 */
int lkdf_data_at(struct lkdf *rt, const void *addr, struct lkdf_data **out);

/**
 * lkdf_data_split() - split a data into parts with dependencies of their own
 * @d:      data, not split
 * @nr:     1 .. 2^20 parts, numbered 1 .. @nr in uses; part 0 is the whole
 * @stride: bytes of each part; the last may be shorter. The parts cover all of
 *          @d
 *
 * A use of the whole waits for all earlier uses of parts, and a use of a part
 * for all earlier uses of the whole.
 *
 * Return: 0; -EEXIST @d is split already; -EBUSY a use of @d has not ended;
 * -ERANGE @nr parts of @stride bytes do not cover @d exactly; -EINVAL; -ENOMEM.
 */
int lkdf_data_split(struct lkdf_data *d, uint32_t nr, uint64_t stride);

/**
 * lkdf_data_get() - take one more reference
 * @d: data
 *
 * Return: @d; NULL: the last reference was dropped before.
 */
struct lkdf_data *lkdf_data_get(struct lkdf_data *d);

/**
 * lkdf_data_put() - drop a reference
 * @d: NULL: nothing
 *
 * When no reference is left, the library deletes the data after all uses that
 * were submitted before. The call does not wait.
 */
void lkdf_data_put(struct lkdf_data *d);

/**
 * lkdf_data_acquire() - use the bytes of a data on this thread
 * @d:          data
 * @mode:       LKDF_READ, LKDF_WRITE or LKDF_RW
 * @timeout_ns: how long to wait; -1: no limit; 0: not at all
 * @out:        receives the bytes; may be NULL
 *
 * The acquisition is ordered among the uses of the data like a task that is
 * submitted now. A thread has at most one acquisition of a data. If it is
 * pending after the timeout, call lkdf_data_acquire() again to go on waiting,
 * or lkdf_data_release() to give up.
 *
 * Return: 0; 1 the time is over, and the acquisition is pending; -EDEADLK in a
 * body, or this thread has acquired the data before; -ENODATA no task has
 * written it; the error of a failed writer, which then counts as handled: the
 * thread has not acquired the data (LKDF_WRITE ignores the failure and makes
 * the data good again); -EINVAL another mode, or @timeout_ns is less than -1;
 * -ENOMEM.
 */
int lkdf_data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		      void **out);

/**
 * lkdf_data_release() - end this thread's acquisition of a data
 * @d: data
 *
 * Return: 0; -EPERM this thread has not acquired it.
 */
int lkdf_data_release(struct lkdf_data *d);

/**
 * lkdf_data_version() - count the completed writes of a data
 * @d: data
 *
 * Return: the number of successful writes of the whole or of a part, plus 1 if
 * the data has an initial value or wraps bytes. Writes of a sealed graph count
 * at the end of each run. A write with LKDF_WEAK counts when the earlier uses
 * have ended and reductions are combined, which may be after the end of its
 * task.
 */
uint64_t lkdf_data_version(const struct lkdf_data *d);

/**
 * lkdf_data_where() - count the bytes of a data on each node
 * @d:             data
 * @bytes_on_node: receives the bytes on each node, by the system's node number
 * @nr:            room in @bytes_on_node
 *
 * Return: how many entries all nodes need; -ENODATA the data has no bytes now;
 * errors of lkdf_pages().
 */
int lkdf_data_where(struct lkdf_data *d, uint64_t *bytes_on_node, unsigned nr);

/**
 * lkdf_data_prefetch() - bring the bytes of a data to a node or device in
 * advance
 * @d:    data, not LKDF_DATA_ONCE
 * @p:    place; for a part of a place its node
 * @done: receives an event that fires at the end; NULL: not wanted
 *
 * The prefetch is ordered among the uses of the data like a task of the root
 * scope that is submitted now; the call does not wait. After the earlier
 * writers have ended, the library moves the bytes, or with LKDF_DATA_REPLICATE
 * copies them; later writers wait for that. A move changes the address of bytes
 * that the library has allocated, so it also waits for earlier readers, and
 * later readers wait for it. If the bytes are wrapped, the library moves only
 * whole pages. A device with memory of its own gets a copy of all bytes, or of
 * each part if the data is split into at most 1024 parts. Kernels there need no
 * upload until a task writes the data or the device needs the memory. @done
 * fires without an error even if no bytes could be moved or an earlier writer
 * has failed; lkdf_data_where() returns where the bytes are.
 *
 * Context: any thread, also in a body; does not block.
 * Return: 0; -ENODATA no task has written the data; -EINVAL; -ENOMEM;
 * -ECANCELED the root scope is cancelled.
 */
int lkdf_data_prefetch(struct lkdf_data *d, struct lkdf_place *p,
		       struct lkdf_event *done);

/**
 * lkdf_ptr() - get the bytes of a use
 * @c:   context of the body
 * @use: index in the task's uses
 *
 * Return: the bytes, in the memory of the body's place. For LKDF_REDUCE this
 * thread's copy: call again after lkdf_join() and lkdf_then(). NULL: no such
 * use, it has LKDF_WEAK, lkdf_use_end() has ended it, or (kinds with
 * LKDF_ALWAYS) there are no bytes.
 */
void *lkdf_ptr(struct lkdf_ctx *c, unsigned use);

/**
 * lkdf_ptrs() - get the bytes of several uses at once
 * @c:    context of the body
 * @nr:   number of uses, from use 0 on
 * @room: room for @nr pointers, which the library uses if it has no such array
 *
 * For bodies with many uses, or with a number of uses that differs from task to
 * task: one call, and in most cases no copy of the pointers.
 *
 * Return: @nr pointers, each as lkdf_ptr() returns it, NULL included. The array
 * is @room or memory of the runtime, valid until the body returns or calls
 * lkdf_use_end(), lkdf_join() or lkdf_then().
 */
void *const *lkdf_ptrs(struct lkdf_ctx *c, unsigned nr, void *room[]);

/**
 * lkdf_use_end() - end a use before the task ends
 * @c:         context of the body
 * @use:       index in the task's uses
 * @untouched: with LKDF_MAYBE: the body has not changed the bytes, so the use
 *             does not count as a write
 *
 * The next use of the data may start when this call was made and all children
 * that use the data are complete. In a sealed graph the tasks after this one
 * still wait for its end. If the task fails later, it does not poison data that
 * it has left untouched.
 *
 * Return: 0; -EINVAL no such use, or @untouched without LKDF_MAYBE; -EALREADY
 * the use has ended before; -ENOMEM.
 */
int lkdf_use_end(struct lkdf_ctx *c, unsigned use, bool untouched);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
