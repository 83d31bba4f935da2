/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations as plain system calls, for the blocking pool.
 */
#include "ring/io_op.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* More than that would keep a worker from its work. */
#define PEEK_SIZE (64 << 10)

static int64_t result_told(int64_t rc)
{
	return rc < 0 ? -errno : rc;
}

static int64_t transfer_at(struct io_op *op, off_t off, int flags)
{
	const struct lkdf_io *io = &op->io;
	bool is_one = io->op == LKDF_IO_READ || io->op == LKDF_IO_WRITE;
	const struct iovec *iov = is_one ? &op->one : io->buf;
	int nr = is_one ? 1 : (int)io->len;

	if (io->op == LKDF_IO_READ || io->op == LKDF_IO_READV)
		return result_told(preadv2(io->fd, iov, nr, off, flags));
	return result_told(pwritev2(io->fd, iov, nr, off, flags));
}

/* A file without positions takes any, as it does in a ring. */
static int64_t transfer_bytes(struct io_op *op, int flags)
{
	int64_t rc = transfer_at(op, op->io.off, flags);

	return rc == -ESPIPE ? transfer_at(op, -1, flags) : rc;
}

static int64_t socket_call(struct io_op *op, int flags)
{
	const struct lkdf_io *io = &op->io;
	void *at = op->one.iov_base;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_ACCEPT:
		return result_told(accept4(io->fd, NULL, NULL, (int)io->how));
	case LKDF_IO_CONNECT:
		return result_told(connect(io->fd, io->buf, io->len));
	case LKDF_IO_RECV:
		return result_told(recv(io->fd, at, op->one.iov_len,
					(int)io->how | flags));
	default:
		return result_told(send(io->fd, at, op->one.iov_len,
					(int)io->how | flags | MSG_NOSIGNAL));
	}
}

static int64_t path_call(const struct lkdf_io *io)
{
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_OPENAT:
		return result_told(
			openat(io->dirfd, io->path, (int)io->how, io->len));
	case LKDF_IO_STATX:
		return result_told(statx(io->dirfd, io->path, (int)io->how,
					 io->len, io->buf));
	case LKDF_IO_RENAMEAT:
		return result_told(renameat2(io->dirfd, io->path, io->fd,
					     io->buf, io->how));
	default:
		return result_told(unlinkat(io->dirfd, io->path, (int)io->how));
	}
}

static int64_t splice_call(const struct lkdf_io *io)
{
	off64_t off = io->off;

	return result_told(splice(io->fd, io->off < 0 ? NULL : &off, io->dirfd,
				  NULL, io->len, io->how));
}

static int64_t poll_call(const struct lkdf_io *io)
{
	struct pollfd p = { .fd = io->fd, .events = (short)io->how };
	int rc = poll(&p, 1, 0);

	if (rc < 0)
		return -errno;
	/* poll() leaves out what is negative. */
	if (p.revents & POLLNVAL || io->fd < 0)
		return -EBADF;
	return rc ? p.revents : -EAGAIN;
}

int64_t io_op_call(struct io_op *op)
{
	const struct lkdf_io *io = &op->io;

	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_READ:
	case LKDF_IO_WRITE:
	case LKDF_IO_READV:
	case LKDF_IO_WRITEV:
		return transfer_bytes(op, 0);
	case LKDF_IO_FSYNC:
		return result_told(io->how ? fdatasync(io->fd) : fsync(io->fd));
	case LKDF_IO_FALLOCATE:
		return result_told(
			fallocate(io->fd, (int)io->how, io->off, io->len));
	case LKDF_IO_CLOSE:
		return result_told(close(io->fd));
	case LKDF_IO_OPENAT:
	case LKDF_IO_STATX:
	case LKDF_IO_RENAMEAT:
	case LKDF_IO_UNLINKAT:
		return path_call(io);
	case LKDF_IO_ACCEPT:
	case LKDF_IO_CONNECT:
	case LKDF_IO_RECV:
	case LKDF_IO_SEND:
		return socket_call(op, 0);
	case LKDF_IO_SPLICE:
		return splice_call(io);
	case LKDF_IO_POLL:
		return poll_call(io);
	case LKDF_IO_TIMEOUT:
		return -ETIME;
	case LKDF_IO_SQE:
		break;
	}
	return -EOPNOTSUPP;
}

/* Is its descriptor ready? 0, or -EAGAIN. */
static int64_t look_at_call(struct io_op *op)
{
	struct pollfd p = { .fd = op->io.fd, .events = io_op_events(op) };

	/* A bad descriptor is ready to say so. */
	return p.fd >= 0 && poll(&p, 1, 0) == 0 ? -EAGAIN : 0;
}

/*
 * A descriptor that is ready may still block: a pipe has room for a part. So
 * not more than what poll() promises, where there is no other way.
 */
static int64_t write_some(struct io_op *op)
{
	const struct lkdf_io *io = &op->io;
	const struct iovec *iov = io->op == LKDF_IO_WRITE ? &op->one : io->buf;
	size_t len = iov->iov_len < PIPE_BUF ? iov->iov_len : PIPE_BUF;

	return result_told(write(io->fd, iov->iov_base, len));
}

static int64_t try_transfer(struct io_op *op)
{
	bool is_write =
		op->io.op == LKDF_IO_WRITE || op->io.op == LKDF_IO_WRITEV;
	int64_t rc = transfer_bytes(op, RWF_NOWAIT);

	if (rc != -EOPNOTSUPP && rc != -EINVAL)
		return rc;
	rc = look_at_call(op);
	if (rc)
		return rc;
	return is_write ? write_some(op) : transfer_bytes(op, 0);
}

/* Reads from it never wait, but it has no way to say so. */
static bool is_memory(int fd)
{
	struct statfs st;

	/* Less dear, and only tmpfs and huge pages have any. */
	if (fcntl(fd, F_GET_SEALS) >= 0)
		return true;
	return !fstatfs(fd, &st) &&
	       (st.f_type == TMPFS_MAGIC || st.f_type == RAMFS_MAGIC);
}

enum io_sort io_op_sort(int fd)
{
	/* A direct read waits for the device whatever it is told. */
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_DIRECT)
		return IO_OTHER;
	return is_memory(fd) ? IO_MEMORY : IO_CACHED;
}

bool io_op_is_small(const struct lkdf_io *io)
{
	return io->op == LKDF_IO_READ && io->len <= PEEK_SIZE;
}

/*
 * As preadv2() of the C library, but no point of cancellation: the way there
 * and back would cost as many instructions as a task.
 */
static long read_at(int fd, struct iovec *iov, off_t off, int flags)
{
	_Static_assert(sizeof(long) == sizeof(off_t), "an offset is one word");

	return syscall(SYS_preadv2, fd, iov, 1, off, 0, flags);
}

int64_t io_op_peek(const struct lkdf_io *io, enum io_sort sort)
{
	struct iovec iov = { io->buf, io->len };
	int flags = sort == IO_MEMORY ? 0 : RWF_NOWAIT;
	int64_t rc;

	/* The descriptor may be another file's by now, which would wait. */
	if (sort == IO_OTHER || (sort == IO_MEMORY && !is_memory(io->fd)))
		return -EAGAIN;
	rc = result_told(read_at(io->fd, &iov, io->off, flags));
	if (rc == -ESPIPE)
		rc = result_told(read_at(io->fd, &iov, -1, flags));
	return rc;
}

int64_t io_op_try(struct io_op *op)
{
	switch ((enum lkdf_io_op)op->io.op) {
	case LKDF_IO_READ:
	case LKDF_IO_WRITE:
	case LKDF_IO_READV:
	case LKDF_IO_WRITEV:
		return try_transfer(op);
	case LKDF_IO_RECV:
	case LKDF_IO_SEND:
		return socket_call(op, MSG_DONTWAIT);
	case LKDF_IO_POLL:
		return poll_call(&op->io);
	case LKDF_IO_TIMEOUT:
		return -EAGAIN;
	default:
		return look_at_call(op) ? -EAGAIN : io_op_call(op);
	}
}
