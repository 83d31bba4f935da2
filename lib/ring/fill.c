/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations as entries of a ring.
 */
#include "ring/io_op.h"

#include <liburing.h>
#include <string.h>
#include <sys/socket.h>

static void fill_bytes(const struct io_op *op, struct io_uring_sqe *sqe)
{
	void *at = op->one.iov_base;
	const struct lkdf_io *io = &op->io;
	uint32_t len = (uint32_t)op->one.iov_len;
	uint64_t off = (uint64_t)io->off;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_READ:
		io_uring_prep_read(sqe, io->fd, at, len, off);
		break;
	case LKDF_IO_WRITE:
		io_uring_prep_write(sqe, io->fd, at, len, off);
		break;
	case LKDF_IO_READV:
		io_uring_prep_readv(sqe, io->fd, io->buf, io->len, off);
		break;
	default:
		io_uring_prep_writev(sqe, io->fd, io->buf, io->len, off);
		break;
	}
}

static void fill_accept(const struct lkdf_io *io, struct io_uring_sqe *sqe)
{
	int how = (int)io->how;

	if (io->flags & LKDF_IO_MULTI)
		io_uring_prep_multishot_accept(sqe, io->fd, NULL, NULL, how);
	else
		io_uring_prep_accept(sqe, io->fd, NULL, NULL, how);
}

static void fill_socket(const struct io_op *op, struct io_uring_sqe *sqe)
{
	const struct lkdf_io *io = &op->io;
	/* The kernel would keep an error behind the first bytes. */
	int how = (int)io->how & ~MSG_WAITALL;
	void *at = op->one.iov_base;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_ACCEPT:
		fill_accept(io, sqe);
		break;
	case LKDF_IO_CONNECT:
		io_uring_prep_connect(sqe, io->fd, io->buf, io->len);
		break;
	case LKDF_IO_SEND:
		io_uring_prep_send(sqe, io->fd, at, op->one.iov_len,
				   how | MSG_NOSIGNAL);
		break;
	default:
		if (!(io->flags & LKDF_IO_MULTI)) {
			io_uring_prep_recv(sqe, io->fd, at, op->one.iov_len,
					   how);
			break;
		}
		/* The kernel takes its buffers of that size. */
		io_uring_prep_recv_multishot(sqe, io->fd, NULL, 0, 0);
		sqe->flags = IOSQE_BUFFER_SELECT;
		sqe->buf_group = (uint16_t)io_piece_class(io->len);
		break;
	}
}

static void fill_path(const struct lkdf_io *io, struct io_uring_sqe *sqe)
{
	int how = (int)io->how;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_OPENAT:
		io_uring_prep_openat(sqe, io->dirfd, io->path, how, io->len);
		break;
	case LKDF_IO_STATX:
		io_uring_prep_statx(sqe, io->dirfd, io->path, how, io->len,
				    io->buf);
		break;
	case LKDF_IO_RENAMEAT:
		io_uring_prep_renameat(sqe, io->dirfd, io->path, io->fd,
				       io->buf, io->how);
		break;
	default:
		io_uring_prep_unlinkat(sqe, io->dirfd, io->path, how);
		break;
	}
}

static void fill_poll(const struct io_op *op, struct io_uring_sqe *sqe)
{
	io_uring_prep_poll_add(sqe, op->io.fd, (uint16_t)io_op_events(op));
}

static void fill_other(struct io_op *op, struct io_uring_sqe *sqe)
{
	const struct lkdf_io *io = &op->io;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_FSYNC:
		io_uring_prep_fsync(sqe, io->fd,
				    io->how ? IORING_FSYNC_DATASYNC : 0);
		break;
	case LKDF_IO_FALLOCATE:
		io_uring_prep_fallocate(sqe, io->fd, (int)io->how, io->off,
					io->len);
		break;
	case LKDF_IO_CLOSE:
		io_uring_prep_close(sqe, io->fd);
		break;
	case LKDF_IO_SPLICE:
		io_uring_prep_splice(sqe, io->fd, io->off, io->dirfd, -1,
				     io->len, io->how);
		break;
	case LKDF_IO_TIMEOUT:
		io_uring_prep_timeout(sqe, &op->ts, 0, 0);
		break;
	default:
		memcpy(sqe, io->raw_sqe, sizeof(*sqe));
		break;
	}
}

void io_op_fill(struct io_op *op, struct io_uring_sqe *sqe)
{
	const struct lkdf_io *io = &op->io;

	if (op->is_waiting) {
		fill_poll(op, sqe);
		return;
	}
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_READ:
	case LKDF_IO_WRITE:
	case LKDF_IO_READV:
	case LKDF_IO_WRITEV:
		fill_bytes(op, sqe);
		break;
	case LKDF_IO_OPENAT:
	case LKDF_IO_STATX:
	case LKDF_IO_RENAMEAT:
	case LKDF_IO_UNLINKAT:
		fill_path(io, sqe);
		break;
	case LKDF_IO_POLL:
		fill_poll(op, sqe);
		break;
	case LKDF_IO_ACCEPT:
	case LKDF_IO_CONNECT:
	case LKDF_IO_RECV:
	case LKDF_IO_SEND:
		fill_socket(op, sqe);
		break;
	default:
		fill_other(op, sqe);
		break;
	}
}
