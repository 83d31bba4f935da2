/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data: variables with versions. Tasks name what they read and write (struct
 * lkdf_use), and the runtime derives their order: submitted tasks run as if
 * one after another in the order of submission, as far as their uses tell.
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
 * A failed task poisons the data that it should have written: the library skips
 * tasks that read it, with the first failure as their error, and they poison
 * the data that they write; the next successful write heals a data. Tasks of
 * kinds with LKDF_ALWAYS run nevertheless, and heal the data that they write,
 * but for LKDF_REDUCE.
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
	 * Dataflow variable of sealed graphs: one producer or an initial value,
	 * added in any order. The library allocates the bytes when the producer
	 * starts and frees them when the last reader has ended; it may keep
	 * small ones until the producer starts in the next run.
	 */
	LKDF_DATA_ONCE = 1,
	/* With ONCE: the bytes stay after the run, for lkdf_data_acquire(). */
	LKDF_DATA_KEEP = 2,
	/* Own bytes above 2 MiB: huge pages are asked for. Fewer bytes: no
	 * effect. */
	LKDF_DATA_HUGE = 4,
	/*
	 * The bytes follow tasks that use them on another node, submitted or in
	 * a sealed graph: a WRITE gets new bytes on its node, and the old ones
	 * are freed; the second READ or RW in a row from one node moves the
	 * bytes there. Bytes that lkdf has allocated change their address then.
	 * In a split data the whole pages of a part follow, unless lkdf has
	 * allocated the bytes and the data has a home. Not with ONCE.
	 */
	LKDF_DATA_MIGRATE = 8,
	/* From 4096 bytes on: tasks that read the whole on other nodes,
	 * submitted or in a sealed graph, get a copy there, one for each
	 * version and node, if there is memory. Not with ONCE. */
	LKDF_DATA_REPLICATE = 16,
};

struct lkdf_data_attr {
	uint32_t size, flags;
	const char *name; /* unique if set, at most 63 bytes; labels reports */
	uint64_t bytes, align; /* 1 .. 2^40; a power of two up to 2^30, 0: 64 */
	void *wrap; /* the user's bytes, on a multiple of align (0: any), which
		     * the host can touch: no LKDF_MEM_OWN of a device */
	const void *init; /* first value, copied; else the first writer's */
	struct lkdf_place *home; /* NULL: the node of the first writer */
	void (*drop)(void *bytes); /* before the bytes are freed */
	/* For LKDF_REDUCE: acc and x become acc; acc becomes neutral. */
	int (*reduce)(void *acc, const void *x, uint64_t bytes);
	void (*neutral)(void *acc, uint64_t bytes);
};

/**
 * lkdf_data_create() - a variable
 * @rt:  runtime, borrowed; must outlive the data
 * @a:   bytes at least
 * @out: new data with one reference, the caller's
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL sizes, alignment, flags, wrap in LKDF_MEM_OWN of a device;
 * -EEXIST the name is taken; -ENOMEM.
 */
int lkdf_data_create(struct lkdf *rt, const struct lkdf_data_attr *a,
		     struct lkdf_data **out);

/**
 * lkdf_data_create_many() - variables that are alike
 * @rt:  runtime, borrowed; must outlive the data
 * @a:   of each of them; name and wrap are NULL
 * @nr:  0 or more
 * @out: @nr new data with one reference each, the caller's; NULLs after a
 *       failure other than -EINVAL
 *
 * The call costs a part of @nr calls of lkdf_data_create(): the library takes
 * memory and its locks for 32 data at a time. The memory of such a group, 16
 * KiB without the bytes, is free when the last data of the group has ended.
 *
 * Context: any thread, does not block.
 * Return: 0: all are there; -EINVAL as lkdf_data_create(), name or wrap is
 * given; -ENOMEM none is there.
 */
int lkdf_data_create_many(struct lkdf *rt, const struct lkdf_data_attr *a,
			  uint32_t nr, struct lkdf_data **out);

/**
 * lkdf_data_find() - look up by name
 * @rt:   runtime
 * @name: as given at create
 * @out:  the data with one more reference, the caller's
 *
 * Return: 0; -ENOENT; -EINVAL.
 */
int lkdf_data_find(struct lkdf *rt, const char *name, struct lkdf_data **out);

/**
 * lkdf_data_at() - whose bytes are these?
 * @rt:   runtime
 * @addr: any address
 * @out:  the data with one more reference, the caller's
 *
 * The call looks through all data: it is for reports and debuggers, not for hot
 * paths. It does not find bytes that live only for a run.
 *
 * Return: 0; -ENOENT no data has bytes there now.
 */
int lkdf_data_at(struct lkdf *rt, const void *addr, struct lkdf_data **out);

/**
 * lkdf_data_split() - parts with dependences of their own
 * @d:      data, not split
 * @nr:     1 .. 2^20 parts, numbered 1 .. @nr in uses; part 0 is the whole
 * @stride: bytes of each, the last may be shorter; all of @d is covered
 *
 * A use of the whole waits for all uses of parts before it, and they for it.
 *
 * Return: 0; -EEXIST split already; -EBUSY a use of it is pending; -ERANGE @nr
 * parts of @stride do not cover @d exactly; -EINVAL; -ENOMEM.
 */
int lkdf_data_split(struct lkdf_data *d, uint32_t nr, uint64_t stride);

/**
 * lkdf_data_get() - one more reference
 * @d: data
 *
 * Return: @d; NULL: it was put before, and has ended or ends.
 */
struct lkdf_data *lkdf_data_get(struct lkdf_data *d);

/**
 * lkdf_data_put() - drop a reference
 * @d: NULL: nothing
 *
 * Once a data has no reference left the library deletes it after the uses
 * already submitted, as if by a last writer. The call does not wait.
 */
void lkdf_data_put(struct lkdf_data *d);

/**
 * lkdf_data_acquire() - use the bytes on this thread
 * @d:          data
 * @mode:       LKDF_READ, LKDF_WRITE or LKDF_RW
 * @timeout_ns: -1 for ever; 0 looks once
 * @out:        the bytes; may be NULL
 *
 * The acquisition takes its place in the order of uses, as a task submitted now
 * would. A thread has one acquisition of a data at a time. If the acquisition
 * is still pending at the timeout, a further call of the same thread goes on
 * waiting, and lkdf_data_release() gives up.
 *
 * Return: 0; 1 still pending; -EDEADLK in a body, or held by this thread;
 * -ENODATA nobody has written it; the error of a failed writer, which is then
 * observed, and the thread holds nothing (LKDF_WRITE heals instead); -EINVAL
 * another mode, or @timeout_ns is below -1; -ENOMEM.
 */
int lkdf_data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		      void **out);

/**
 * lkdf_data_release() - give back what this thread has acquired
 * @d: data
 *
 * Return: 0; -EPERM this thread has not acquired it.
 */
int lkdf_data_release(struct lkdf_data *d);

/**
 * lkdf_data_version() - completed writes so far
 * @d: data
 *
 * Return: 0, or 1 where it has an initial value or wraps bytes, plus one for
 * each successful write of the whole or of a part. A sealed graph counts its
 * writes at the end of each run. A write of a use with LKDF_WEAK counts when
 * what was asked for before it has ended and reductions are combined, which may
 * be after the end of its task.
 */
uint64_t lkdf_data_version(const struct lkdf_data *d);

/**
 * lkdf_data_where() - on which nodes the bytes are, from their pages
 * @d:             data
 * @bytes_on_node: receives bytes by system's node number
 * @nr:            room in @bytes_on_node
 *
 * Return: number of nodes there are; -ENODATA it has no bytes now; as
 * lkdf_pages().
 */
int lkdf_data_where(struct lkdf_data *d, uint64_t *bytes_on_node, unsigned nr);

/**
 * lkdf_data_prefetch() - bring the bytes to a node or device, before they are
 * used there
 * @d:    data, not LKDF_DATA_ONCE
 * @p:    place; of a part, its node
 * @done: signalled when that is over; NULL: not wanted
 *
 * The prefetch takes its place in the order of uses, as a task of the root
 * scope that is submitted now, and the call does not wait. After the writers
 * before it the library moves the bytes, or with LKDF_DATA_REPLICATE copies
 * them; writers wait meanwhile. A move of bytes that lkdf has allocated changes
 * their address, so it waits for readers, and later readers wait for it. The
 * library moves whole pages only of wrapped bytes. A device with memory of its
 * own gets a copy of all, or where the data is split, in up to 1024 parts, one
 * of each part; kernels there need no upload then, until somebody writes it or
 * others need the room. The prefetch is a wish:
 * @done fires also where no bytes could be moved, or a writer before it has
 * failed; lkdf_data_where() tells where they are.
 *
 * Context: any thread, also in a body; does not block.
 * Return: 0; -ENODATA nobody has written it; -EINVAL; -ENOMEM; -ECANCELED the
 * root scope is.
 */
int lkdf_data_prefetch(struct lkdf_data *d, struct lkdf_place *p,
		       struct lkdf_event *done);

/**
 * lkdf_ptr() - the bytes of a use, where the body runs
 * @c:   context of the body
 * @use: index in the task's uses
 *
 * Return: the bytes; for REDUCE this thread's copy, to be asked for again
 * after lkdf_join() and lkdf_then(); NULL: no such use, it is WEAK, it was
 * given on, or (kinds with LKDF_ALWAYS) there are no bytes.
 */
void *lkdf_ptr(struct lkdf_ctx *c, unsigned use);

/**
 * lkdf_ptrs() - the bytes of several uses at once
 * @c:    context of the body
 * @nr:   how many, from use 0 on
 * @room: for @nr pointers; written where they do not lie at hand
 *
 * For bodies of many uses, or a number of uses that differs from task to task:
 * one call, and most often no copy.
 *
 * Return: @nr pointers, each as lkdf_ptr() gives it, NULL included: @room, or
 * an array of the runtime's, to be read until the body returns or calls
 * lkdf_use_end(), lkdf_join() or lkdf_then().
 */
void *const *lkdf_ptrs(struct lkdf_ctx *c, unsigned nr, void *room[]);

/**
 * lkdf_use_end() - give a use on before the task ends
 * @c:         context of the body
 * @use:       index in the task's uses
 * @untouched: with MAYBE: the bytes are as they were, it counts as no write
 *
 * The next use may start once the children that use the data are complete,
 * too. In a task of a sealed graph the tasks behind it still wait for its end.
 * A failure of the task after that does not poison data that it has left
 * untouched.
 *
 * Return: 0; -EINVAL no such use, or @untouched without MAYBE; -EALREADY given
 * on before; -ENOMEM.
 */
int lkdf_use_end(struct lkdf_ctx *c, unsigned use, bool untouched);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
