/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations of a graph's chain, given to the kernel together: each begins when
 * the one before it has done all that it was to do, without a worker between
 * (IOSQE_IO_LINK). A task leads if its kind has no function, one task follows
 * it and waits for nothing else, and that is an operation too.
 *
 * The kernel goes on where the leader has failed, but for transfers and CLOSE:
 * these alone lead. All of a chain is taken before the first task ends; then
 * every other task starts as ever, and finds what came of its operation. Work
 * that the kernel has left undone, as behind a short read, is done as ever,
 * too.
 */
#ifndef IO_IO_CHAIN_H
#define IO_IO_CHAIN_H

#include "io/io.h"
#include "run/frame.h"

/* Operations of one chain at most. */
#define IO_CHAIN 8

/* Which operations lead and which follow. */
extern const struct seal_pass io_chain_pass;

/*
 * Requests for those that go with r, whose task leads, linked by behind; their
 * number with r. 1: none, or no memory.
 */
uint32_t io_chain_make(struct io_req *r);

/*
 * An operation of a chain is over, with res. NULL: others are still to come;
 * else the chain's first one, with its res, and alone again. Called by the
 * worker that takes completions.
 */
struct io_req *io_chain_came(struct io_req *r, int res);

/* The rest for tasks with REC_FOLLOWS: is its operation done, or begun? */
bool io_chain_is_early(struct frame *f, uint32_t index);

/* The frame's new task has that operation, if there is one. */
void io_chain_adopt(struct task *t);

/* The task is skipped: nobody wants the outcome of its operation. */
void io_chain_forget(struct frame *f, uint32_t index);

#endif
