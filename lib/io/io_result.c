/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_result.h"

#include "base/thread.h"
#include "ring/io_op.h"
#include "task/task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void io_keep_result(struct task *t, int64_t result, uint64_t nr_done)
{
	t->io_error = result < 0 ? (int32_t)result : 0;
	t->io_value = result < 0 ? (int64_t)nr_done : result;
}

int64_t io_result(const struct task *t)
{
	bool is_cut = t->io_error == -ECANCELED || t->io_error == -ETIME;

	return !t->io_error || (is_cut && t->io_value > 0) ? t->io_value
							   : t->io_error;
}

void io_close_untaken(const struct task *t, const struct lkdf_io *io)
{
	if (io_op_opens(io) && !t->io_error)
		close((int)t->io_value);
}

void io_tell_refusal(const struct lkdf_io *io, int error, char *why)
{
	if (io->path)
		snprintf(why, ERRMSG_SIZE, "%s %s: %s", io_op_name(io->op),
			 io->path, strerror(-error));
	else
		snprintf(why, ERRMSG_SIZE, "%s, descriptor %d: %s",
			 io_op_name(io->op), io->fd, strerror(-error));
}
