/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A build without liburing: no ring opens, so that nothing else here is called,
 * and threads do all operations. uring_why() says it.
 */
#include "ring/buffers.h"
#include "ring/io_op.h"
#include "ring/tables.h"

#include <errno.h>

int uring_open(struct uring *u, const struct uring_attr *a)
{
	(void)a;
	u->made = NULL;
	return -EOPNOTSUPP;
}

void uring_close(struct uring *u)
{
	(void)u;
}

int uring_probe(void)
{
	return -EOPNOTSUPP;
}

int uring_limit_threads(const struct uring *u, uint32_t nr_bounded,
			uint32_t nr_unbounded)
{
	(void)u;
	(void)nr_bounded;
	(void)nr_unbounded;
	return -EOPNOTSUPP;
}

int uring_bind_threads(const struct uring *u, const void *cpus, size_t nr_bytes)
{
	(void)u;
	(void)cpus;
	(void)nr_bytes;
	return -EOPNOTSUPP;
}

int uring_set_file(const struct uring *u, uint32_t slot, int fd)
{
	(void)u;
	(void)slot;
	(void)fd;
	return -EOPNOTSUPP;
}

int uring_set_buffer(const struct uring *u, uint32_t slot, const void *bytes,
		     size_t size)
{
	(void)u;
	(void)slot;
	(void)bytes;
	(void)size;
	return -EOPNOTSUPP;
}

int uring_buffers_open(struct uring_buffers *b, const struct uring *u,
		       uint16_t id, uint32_t nr, uint32_t size)
{
	(void)u;
	(void)id;
	(void)nr;
	(void)size;
	b->has_failed = true;
	return -EOPNOTSUPP;
}

void uring_buffers_close(struct uring_buffers *b)
{
	(void)b;
}

void uring_buffers_lend(struct uring_buffers *b, uint16_t at)
{
	(void)b;
	(void)at;
}

void io_op_fill(struct io_op *op, struct io_uring_sqe *sqe)
{
	(void)op;
	(void)sqe;
}
