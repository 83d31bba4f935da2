/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations that come again and again (LKDF_IO_MULTI), and what they feed. The
 * worker that takes a completion makes a wave of it, with its bytes, and puts
 * it into the operation's list; the operation's task starts a run or a task for
 * each, a few at a time, and sleeps in between as if it waited for its
 * operation.
 *
 *	RESTS -> ARMED     the task gives it to a ring or a thread
 *	ARMED -> RESTS     enough waits, or it has to be given again
 *	ARMED -> OVER      an error, or the end of the stream
 *	RESTS -> OVER      nobody wants it any more
 *
 * The task alone arms, and ends when it is OVER and all waves have ended. On a
 * ring it is a multishot operation, and receives into buffers of the ring; on
 * the pool one that is tried until nothing is there.
 */
#ifndef IO_IO_MULTI_H
#define IO_IO_MULTI_H

#include "io/io.h"

enum io_piece {
	IO_PIECE_KEPT,
	IO_PIECE_WAKES, /* then call io_multi_wake() */
	IO_PIECE_FULL, /* enough for now */
};

/* t->away.io is made. 0; -EINVAL, -ENOMEM: err() has said why. */
int io_multi_create(struct task *t);

/* Its body, from then on: goes on in whatever state it is. */
int io_multi_go_on(struct lkdf_ctx *c, void *arg);

/*
 * From a ring, one after another: something came of it, or the result of the
 * last one, which io_multi_came() is told afterwards. Copies the bytes.
 */
enum io_piece io_multi_piece(struct io_req *r, int res, const void *bytes,
			     bool is_last);

/* The task is to look. */
void io_multi_wake(struct executor *ex, struct io_req *r);

/* The receiver has done with the wave. */
void io_multi_came(struct executor *ex, struct io_req *r, int64_t res);

/* On a thread of the pool, or the one that drains: as far as it goes. */
void io_multi_run(struct executor *ex, struct io_req *r);

/* As lkdf_io_take(). */
int io_multi_take(const struct lkdf_io_wave *w);

#endif
