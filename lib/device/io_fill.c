/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations as entries of a ring.
 */
#include "device/io_op.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void fill_bytes(const struct io_op *op, struct io_uring_sqe *sqe)
{
	const struct lkdf_io *io = &op->io;
	bool is_read = io->op == LKDF_IO_READ || io->op == LKDF_IO_READV;

	sqe->fd = io->fd;
	sqe->off = (uint64_t)io->off;
	if (io->op == LKDF_IO_READ || io->op == LKDF_IO_WRITE) {
		sqe->opcode = is_read ? IORING_OP_READ : IORING_OP_WRITE;
		sqe->addr = address(op->one.iov_base);
		sqe->len = (uint32_t)op->one.iov_len;
	} else {
		sqe->opcode = is_read ? IORING_OP_READV : IORING_OP_WRITEV;
		sqe->addr = address(io->buf);
		sqe->len = io->len;
	}
}

/* The kernel takes its buffers of that size. */
static void fill_pieces(const struct lkdf_io *io, struct io_uring_sqe *sqe)
{
	sqe->opcode = IORING_OP_RECV;
	sqe->fd = io->fd;
	sqe->ioprio = IORING_RECV_MULTISHOT;
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = (uint16_t)io_piece_class(io->len);
}

static void fill_socket(const struct io_op *op, struct io_uring_sqe *sqe)
{
	const struct lkdf_io *io = &op->io;

	sqe->fd = io->fd;
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_ACCEPT:
		sqe->opcode = IORING_OP_ACCEPT;
		sqe->accept_flags = io->how;
		if (io->flags & LKDF_IO_MULTI)
			sqe->ioprio = IORING_ACCEPT_MULTISHOT;
		break;
	case LKDF_IO_CONNECT:
		sqe->opcode = IORING_OP_CONNECT;
		sqe->addr = address(io->buf);
		sqe->off = io->len;
		break;
	default:
		if (io->flags & LKDF_IO_MULTI) {
			fill_pieces(io, sqe);
			break;
		}
		sqe->opcode = io->op == LKDF_IO_RECV ? IORING_OP_RECV
						     : IORING_OP_SEND;
		sqe->addr = address(op->one.iov_base);
		sqe->len = (uint32_t)op->one.iov_len;
		/* The kernel would keep an error behind the first bytes. */
		sqe->msg_flags = io->how & ~(uint32_t)MSG_WAITALL;
		if (io->op == LKDF_IO_SEND)
			sqe->msg_flags |= MSG_NOSIGNAL;
		break;
	}
}

static void fill_path(const struct lkdf_io *io, struct io_uring_sqe *sqe)
{
	sqe->fd = io->dirfd;
	sqe->addr = address(io->path);
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_OPENAT:
		sqe->opcode = IORING_OP_OPENAT;
		sqe->open_flags = io->how;
		sqe->len = io->len;
		break;
	case LKDF_IO_STATX:
		sqe->opcode = IORING_OP_STATX;
		sqe->statx_flags = io->how;
		sqe->len = io->len;
		sqe->off = address(io->buf);
		break;
	case LKDF_IO_RENAMEAT:
		sqe->opcode = IORING_OP_RENAMEAT;
		sqe->rename_flags = io->how;
		sqe->len = (uint32_t)io->fd;
		sqe->off = address(io->buf);
		break;
	default:
		sqe->opcode = IORING_OP_UNLINKAT;
		sqe->unlink_flags = io->how;
		break;
	}
}

static void fill_poll(const struct io_op *op, struct io_uring_sqe *sqe)
{
	uint32_t events = (uint16_t)io_op_events(op);

	sqe->opcode = IORING_OP_POLL_ADD;
	sqe->fd = op->io.fd;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	events = events << 16 | events >> 16;
#endif
	sqe->poll32_events = events;
}

static void fill_splice(const struct lkdf_io *io, struct io_uring_sqe *sqe)
{
	sqe->opcode = IORING_OP_SPLICE;
	sqe->splice_fd_in = io->fd;
	sqe->splice_off_in = (uint64_t)io->off;
	sqe->fd = io->dirfd;
	sqe->off = UINT64_MAX;
	sqe->len = io->len;
	sqe->splice_flags = io->how;
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
	case LKDF_IO_FSYNC:
		sqe->opcode = IORING_OP_FSYNC;
		sqe->fd = io->fd;
		sqe->fsync_flags = io->how ? IORING_FSYNC_DATASYNC : 0;
		break;
	case LKDF_IO_FALLOCATE:
		sqe->opcode = IORING_OP_FALLOCATE;
		sqe->fd = io->fd;
		sqe->len = io->how;
		sqe->off = (uint64_t)io->off;
		sqe->addr = io->len;
		break;
	case LKDF_IO_CLOSE:
		sqe->opcode = IORING_OP_CLOSE;
		sqe->fd = io->fd;
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
	case LKDF_IO_SPLICE:
		fill_splice(io, sqe);
		break;
	case LKDF_IO_TIMEOUT:
		sqe->opcode = IORING_OP_TIMEOUT;
		sqe->fd = -1;
		sqe->addr = address(&op->ts);
		sqe->len = 1;
		break;
	case LKDF_IO_SQE:
		memcpy(sqe, io->raw_sqe, sizeof(*sqe));
		break;
	}
}

bool io_op_has_file(const struct lkdf_io *io)
{
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_READ:
	case LKDF_IO_WRITE:
	case LKDF_IO_READV:
	case LKDF_IO_WRITEV:
	case LKDF_IO_FSYNC:
	case LKDF_IO_FALLOCATE:
	case LKDF_IO_POLL:
	case LKDF_IO_ACCEPT:
	case LKDF_IO_CONNECT:
	case LKDF_IO_RECV:
	case LKDF_IO_SEND:
		return true;
	default:
		return false;
	}
}

bool io_op_has_bytes(const struct lkdf_io *io)
{
	return io->op == LKDF_IO_READ || io->op == LKDF_IO_WRITE;
}

void io_op_fix(struct io_uring_sqe *sqe, int file, int buffer)
{
	bool is_read = sqe->opcode == IORING_OP_READ;

	if (file >= 0) {
		sqe->fd = file;
		sqe->flags |= IOSQE_FIXED_FILE;
	}
	if (buffer >= 0 && (is_read || sqe->opcode == IORING_OP_WRITE)) {
		sqe->opcode =
			is_read ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED;
		sqe->buf_index = (uint16_t)buffer;
	}
}
