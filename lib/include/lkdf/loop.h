/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops: a function for each block of a range of numbers, on the
 * calling thread and all workers. Nodes that have workers get one contiguous
 * part of the range each, in proportion to their workers, in the order of their
 * numbers: a loop over an array finds the pages where the same loop, or
 * lkdf_first_touch(), has touched them first. Inside its part a node goes by
 * halves, and a node whose own part is done helps others.
 *
 * A loop is no task that others can name: it begins with the call and has
 * ended when the call returns.
 */
#ifndef LKDF_LOOP_H
#define LKDF_LOOP_H

#include <lkdf/data.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * begin .. end - 1. Blocks are of grain iterations, the last of a node's part
 * may be shorter; 0: of so many as take some microseconds, found while it
 * runs.
 */
struct lkdf_range {
	uint64_t begin, end, grain;
};

/* Iterations begin .. end - 1 of a block. < 0: failed with that errno. */
typedef int (*lkdf_for_fn)(uint64_t begin, uint64_t end, void *u);

enum lkdf_schedule {
	LKDF_SCHEDULE_NODES, /* a part for each node, others may help */
	/*
	 * A part for each worker, the same in each call; run by that worker
	 * unless it is busy, and never by one of another node. grain 0: one
	 * block.
	 */
	LKDF_SCHEDULE_STATIC,
};

/*
 * With data the library spreads the range evenly over its bytes, and a block
 * begins on the node where the runtime has put the bytes of the data, or of the
 * part. The loop only looks where they are: the caller sees to it that its
 * function may use them.
 */
struct lkdf_for_attr {
	uint32_t size, schedule;
	struct lkdf_range range;
	lkdf_for_fn fn;
	void *u;
	struct lkdf_data *data; /* may be NULL */
	struct lkdf_scope *scope; /* that it runs in; NULL: the root */
	const char *name; /* for hooks (lkdf/hooks.h), borrowed; may be NULL */
};

/*
 * fn adds the iterations of a block to acc, which is a copy of the neutral
 * value; join adds x, of later iterations, to acc.
 */
struct lkdf_reduce_attr {
	uint32_t size, flags;
	struct lkdf_range range;
	int (*fn)(uint64_t begin, uint64_t end, void *acc, void *u);
	int (*join)(void *acc, const void *x, void *u);
	void *u;
	void *acc; /* in: the neutral value; out: the result */
	uint64_t acc_bytes;
	struct lkdf_scope *scope; /* that it runs in; NULL: the root */
	const char *name; /* for hooks, as above: the loop goes over blocks */
};

/**
 * lkdf_for() - run a function for each block of a range
 * @rt: runtime
 * @r:  begin <= end; begin == end does nothing
 * @fn: called for every iteration once, on many threads at once; must not wait
 *      for other blocks
 * @u:  for @fn
 *
 * Where one node has workers, this thread takes part, but not while option
 * narrow has fewer workers than there are run loops. Without a grain it runs
 * the first iterations alone, for some microseconds: a short loop wakes nobody.
 * A C++ exception that leaves @fn ends the process by SIGABRT, as one that
 * leaves a body does, on whatever thread.
 *
 * A loop that begins in the function of another loop is nested: its thread runs
 * block after block, shares what is left with workers that are idle, and waits
 * for them. Meanwhile the thread runs blocks of the nested loop and of loops in
 * it only, so that a lock may be held around the loop. A nested loop runs in
 * the scope of the outer one, and its schedule is LKDF_SCHEDULE_NODES. A body
 * that calls lkdf_for() begins such a loop, too, in the root's scope:
 * lkdf_for_in() runs in the body's.
 *
 * Context: any thread, bodies and functions of loops included; waits. Functions
 * of lkdf_event_call() and on_cancel begin no loop.
 * Return: 0; the first error of @fn, blocks not yet begun are left out then;
 * -EINVAL; -ECANCELED; -ENOMEM; -EAGAIN more events live than the runtime has
 * slots.
 */
int lkdf_for(struct lkdf *rt, struct lkdf_range r, lkdf_for_fn fn, void *u);

/**
 * lkdf_for_with() - lkdf_for() with a schedule, data or a scope
 * @rt: runtime
 * @a:  borrowed; range and fn at least
 *
 * A cancel of the scope leaves out what has not begun.
 *
 * Context: as lkdf_for().
 * Return: as lkdf_for(); -EINVAL data together with LKDF_SCHEDULE_STATIC; the
 * error with which the scope was cancelled.
 */
int lkdf_for_with(struct lkdf *rt, const struct lkdf_for_attr *a);

/**
 * lkdf_for_in() - a loop inside a body
 * @c: context of the body, on the body's own thread
 * @a: as lkdf_for_with(); scope NULL: it runs in the body's
 *
 * The blocks are children of the body, which takes part and waits as
 * lkdf_join() does: also for all children spawned before. In the function of a
 * loop, on whatever thread that runs, the loop is nested as lkdf_for() tells,
 * in the scope of the body.
 *
 * Return: as lkdf_for_with(); the first error of a child; -EDEADLK the body's
 * task has WEAK uses.
 */
int lkdf_for_in(struct lkdf_ctx *c, const struct lkdf_for_attr *a);

/* A function for lkdf_invoke(). < 0: failed with that errno. */
struct lkdf_call {
	int (*fn)(void *u);
	void *u;
};

/**
 * lkdf_invoke() - call several functions at once, on all workers
 * @rt: runtime
 * @v:  nr functions, borrowed
 * @nr: 0: nothing
 *
 * The calling thread takes part. After an error the library calls no function
 * that has not begun.
 *
 * Context: as lkdf_for().
 * Return: 0; the first negative value; as lkdf_for().
 */
int lkdf_invoke(struct lkdf *rt, const struct lkdf_call *v, unsigned nr);

/**
 * lkdf_invoke_in() - lkdf_invoke() inside a body
 * @c:  context of the body, on the body's own thread
 * @v:  nr functions, borrowed
 * @nr: 0: nothing
 *
 * Return: as lkdf_invoke() and lkdf_for_in().
 */
int lkdf_invoke_in(struct lkdf_ctx *c, const struct lkdf_call *v, unsigned nr);

/**
 * lkdf_reduce() - add up what a function finds in each block of a range
 * @rt: runtime
 * @a:  borrowed; range, fn, join, acc and acc_bytes (1 .. 2^30) at least
 *
 * The range is cut in blocks of grain iterations (0: at most 1024 blocks), but
 * never in more than 4096: then they are larger. That depends on the range, the
 * grain and acc_bytes only. Each block gets a copy of the neutral value, and
 * when all have ended this thread joins them in the order of the range. So the
 * result is the same each time, on any number of workers, even where join is
 * not exactly associative; join need not be commutative.
 *
 * Context: as lkdf_for().
 * Return: as lkdf_for(); the error of join. acc is untouched on failure.
 */
int lkdf_reduce(struct lkdf *rt, const struct lkdf_reduce_attr *a);

/**
 * lkdf_reduce_in() - lkdf_reduce() inside a body
 * @c: context of the body, on the body's own thread
 * @a: as lkdf_reduce(); scope NULL: it runs in the body's
 *
 * Return: as lkdf_reduce() and lkdf_for_in().
 */
int lkdf_reduce_in(struct lkdf_ctx *c, const struct lkdf_reduce_attr *a);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
