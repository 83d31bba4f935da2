/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The task of an operation keeps a value and an error, once the request is
 * gone. A transfer that has failed in the middle has both.
 */
#ifndef IO_IO_RESULT_H
#define IO_IO_RESULT_H

#include <stdint.h>

struct lkdf_io;
struct task;

/* nr_done: bytes that an operation with an error has transferred before. */
void io_keep_result(struct task *t, int64_t result, uint64_t nr_done);

/* As lkdf_io_result() says. */
int64_t io_result(const struct task *t);

/* Closes the descriptor of an operation that has no function to take it. */
void io_close_untaken(const struct task *t, const struct lkdf_io *io);

/* Names the operation and the error; why has room for ERRMSG_SIZE bytes. */
void io_tell_refusal(const struct lkdf_io *io, int error, char *why);

#endif
