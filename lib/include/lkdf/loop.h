/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops call a function for each block of a range of numbers, on the
 * calling thread and all workers. Each node with workers gets one contiguous
 * part of the range, in proportion to its workers, in the order of node
 * numbers. So a loop over an array finds pages on the node where the same loop,
 * or lkdf_first_touch(), has touched them first. Workers of a node divide its
 * part by halves; a node that has finished its own part helps others.
 *
 * A loop is not a task: no event or edge refers to it. It begins with the call
 * and has ended when the call returns.
 */
#ifndef LKDF_LOOP_H
#define LKDF_LOOP_H

#include <lkdf/data.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * The numbers begin .. end - 1. A block has grain iterations; the last one of a
 * node's part may be shorter. With grain 0 the library measures the loop and
 * chooses blocks of some microseconds.
 */
struct lkdf_range {
	uint64_t begin, end, grain;
};

/* Called for iterations begin .. end - 1, a block. < 0: the loop fails with
 * that errno. */
typedef int (*lkdf_for_fn)(uint64_t begin, uint64_t end, void *u);

enum lkdf_schedule {
	LKDF_SCHEDULE_NODES, /* a part for each node, others may help */
	/*
	 * A part for each worker, the same in each call. That worker runs it,
	 * or, if it is busy, another one of the same node. grain 0: one block.
	 */
	LKDF_SCHEDULE_STATIC,
};

/*
 * With data the library maps the range evenly to its bytes, and starts each
 * block on the node that has the block's bytes. The loop does not use the data
 * in the sense of data.h: the caller makes sure that fn may access the bytes.
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
 * fn adds the iterations of a block to acc, which begins as a copy of the
 * neutral value; join adds x, the result of later iterations, to acc.
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
	const char *name; /* for hooks, as above; hooks see the blocks as
			   * iterations */
};

/**
 * lkdf_for() - run a function for each block of a range
 * @rt: runtime
 * @r:  begin <= end; begin == end does nothing
 * @fn: called once for each block, on many threads at once; must not wait for
 *      other blocks
 * @u:  argument of @fn
 *
 * If only one node has workers, the calling thread runs blocks, too, unless
 * option narrow currently limits the workers that run loops. Without a grain it
 * first runs some microseconds of iterations alone, so that a short loop wakes
 * no worker. A C++ exception that leaves @fn ends the process by SIGABRT, on
 * every thread.
 *
 * A loop that begins in the function of another loop is nested: its thread runs
 * one block after another, shares the rest with idle workers, and waits for
 * them. Meanwhile this thread runs only blocks of the nested loop and of loops
 * inside it, so the program may hold a lock around the loop. A nested loop runs
 * in the scope of the outer one, and its schedule is LKDF_SCHEDULE_NODES. A
 * loop that a body begins with lkdf_for() is nested as well, but runs in the
 * root scope; use lkdf_for_in() for the scope of the body.
 *
 * Context: any thread, bodies and functions of loops included, but not
 * functions of lkdf_event_call() or on_cancel; waits.
 * Return: 0; the first error of @fn: blocks that have not begun do not run;
 * -EINVAL; -ECANCELED; -ENOMEM; -EAGAIN all event slots are in use.
 */
int lkdf_for(struct lkdf *rt, struct lkdf_range r, lkdf_for_fn fn, void *u);

/**
 * lkdf_for_with() - lkdf_for() with a schedule, data or a scope
 * @rt: runtime
 * @a:  attributes, borrowed; range and fn are required
 *
 * After a cancel of the scope no further block begins.
 *
 * Context: as lkdf_for().
 * Return: as lkdf_for(); -EINVAL both data and LKDF_SCHEDULE_STATIC; the error
 * with which the scope was cancelled.
 */
int lkdf_for_with(struct lkdf *rt, const struct lkdf_for_attr *a);

/**
 * lkdf_for_in() - run a loop inside a body
 * @c: context of the body, on the body's own thread
 * @a: as lkdf_for_with(); scope NULL: the body's scope
 *
 * The blocks are children of the body. The body runs blocks, too, and waits as
 * in lkdf_join(), also for all children that it has spawned before. In the
 * function of a loop, on any thread, the loop is nested as described at
 * lkdf_for(), in the scope of the body.
 *
 * Return: as lkdf_for_with(); the first error of a child; -EDEADLK the body's
 * task has uses with LKDF_WEAK.
 */
int lkdf_for_in(struct lkdf_ctx *c, const struct lkdf_for_attr *a);

/* A function for lkdf_invoke(). < 0: failed with that errno. */
struct lkdf_call {
	int (*fn)(void *u);
	void *u;
};

/**
 * lkdf_invoke() - call several functions in parallel
 * @rt: runtime
 * @v:  nr functions, borrowed
 * @nr: 0: nothing
 *
 * All workers and the calling thread call functions. After an error the library
 * calls no further function.
 *
 * Context: as lkdf_for().
 * Return: 0; the first negative return value; errors of lkdf_for().
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
 * lkdf_reduce() - combine the results of a function for each block of a range
 * @rt: runtime
 * @a:  attributes, borrowed; range, fn, join, acc and acc_bytes (1 .. 2^30) are
 *      required
 *
 * The library divides the range into blocks of grain iterations (0: at most
 * 1024 blocks), or larger ones so that there are at most 4096. The division
 * depends only on the range, the grain and acc_bytes. Each block begins with a
 * copy of the neutral value; when all have ended, the calling thread joins them
 * in the order of the range. So the result is always the same, with any number
 * of workers, even if join is not exactly associative, as with floating point.
 * join need not be commutative.
 *
 * Context: as lkdf_for().
 * Return: as lkdf_for(); the error of join. On failure acc does not change.
 */
int lkdf_reduce(struct lkdf *rt, const struct lkdf_reduce_attr *a);

/**
 * lkdf_reduce_in() - lkdf_reduce() inside a body
 * @c: context of the body, on the body's own thread
 * @a: as lkdf_reduce(); scope NULL: the body's scope
 *
 * Return: as lkdf_reduce() and lkdf_for_in().
 */
int lkdf_reduce_in(struct lkdf_ctx *c, const struct lkdf_reduce_attr *a);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
