/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/io_op.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum op_trait {
	IS_TRANSFER = 1, /* counts bytes, goes on when there are more */
	IS_INPUT = 2, /* waits for input, else for room */
	HAS_BYTES = 4, /* buf and len are bytes */
	HAS_IOVEC = 8,
	HAS_PATH = 16,
	IS_OF_SOCKET = 32,
};

static const struct op_row {
	const char *name;
	unsigned traits;
} rows[] = {
	[LKDF_IO_READ] = { "read", IS_TRANSFER | IS_INPUT | HAS_BYTES },
	[LKDF_IO_WRITE] = { "write", IS_TRANSFER | HAS_BYTES },
	[LKDF_IO_READV] = { "readv", IS_TRANSFER | IS_INPUT | HAS_IOVEC },
	[LKDF_IO_WRITEV] = { "writev", IS_TRANSFER | HAS_IOVEC },
	[LKDF_IO_FSYNC] = { "fsync", 0 },
	[LKDF_IO_FALLOCATE] = { "fallocate", 0 },
	[LKDF_IO_OPENAT] = { "openat", HAS_PATH },
	[LKDF_IO_CLOSE] = { "close", 0 },
	[LKDF_IO_STATX] = { "statx", HAS_PATH },
	[LKDF_IO_RENAMEAT] = { "renameat", HAS_PATH },
	[LKDF_IO_UNLINKAT] = { "unlinkat", HAS_PATH },
	[LKDF_IO_POLL] = { "poll", 0 },
	[LKDF_IO_ACCEPT] = { "accept", IS_INPUT | IS_OF_SOCKET },
	[LKDF_IO_CONNECT] = { "connect", IS_OF_SOCKET },
	[LKDF_IO_RECV] = { "recv",
			   IS_TRANSFER | IS_INPUT | HAS_BYTES | IS_OF_SOCKET },
	[LKDF_IO_SEND] = { "send", IS_TRANSFER | HAS_BYTES | IS_OF_SOCKET },
	[LKDF_IO_SPLICE] = { "splice", IS_INPUT },
	[LKDF_IO_TIMEOUT] = { "timeout", 0 },
	[LKDF_IO_SQE] = { "sqe", 0 },
};

static bool is_a(const struct io_op *op, unsigned trait)
{
	return rows[op->io.op].traits & trait;
}

const char *io_op_name(uint32_t op)
{
	return op < ARRAY_SIZE(rows) ? rows[op].name : NULL;
}

void io_op_each_piece(const struct lkdf_io *io,
		      void (*fn)(void *u, void *p, size_t size,
				 bool is_written),
		      void *u)
{
	unsigned traits = rows[io->op].traits;
	bool is_written = traits & IS_INPUT;
	const struct iovec *v = io->buf;
	uint32_t i;

	if (io->flags & LKDF_IO_MULTI)
		return;
	if (traits & HAS_BYTES && io->buf)
		fn(u, io->buf, io->len, is_written);
	for (i = 0; traits & HAS_IOVEC && v && i < io->len; i++)
		fn(u, v[i].iov_base, v[i].iov_len, is_written);
}

static int check_pointers(const struct lkdf_io *io)
{
	const struct op_row *row = &rows[io->op];
	bool has_buf = io->buf || io->from & LKDF_IO_BUF_USE || !io->len;

	if (row->traits & (HAS_BYTES | HAS_IOVEC) && !has_buf)
		return err(-EINVAL, "io %s: buf is NULL", row->name);
	if (row->traits & HAS_IOVEC && io->len > IOV_MAX)
		return err(-EINVAL, "io %s: %u pieces, at most %d", row->name,
			   io->len, IOV_MAX);
	if (row->traits & HAS_PATH && !io->path)
		return err(-EINVAL, "io %s: path is NULL", row->name);
	if ((io->op == LKDF_IO_RENAMEAT || io->op == LKDF_IO_STATX ||
	     io->op == LKDF_IO_CONNECT) &&
	    !io->buf)
		return err(-EINVAL, "io %s: buf is NULL", row->name);
	if (io->op == LKDF_IO_SQE && !io->raw_sqe)
		return err(-EINVAL, "io sqe: raw_sqe is NULL");
	if (io->op == LKDF_IO_SQE &&
	    ((const struct io_uring_sqe *)io->raw_sqe)->flags & ~IOSQE_ASYNC)
		return err(-EOPNOTSUPP, "io sqe: flags but IOSQE_ASYNC are "
					"not built yet");
	if (io->op == LKDF_IO_TIMEOUT && io->off < 0)
		return err(
			-EINVAL,
			"io timeout: off is %lld ns: expected a time, 0 or more",
			(long long)io->off);
	return 0;
}

/* Those that come again and again. */
static int check_multi(const struct lkdf_io *io)
{
	const char *name = rows[io->op].name;
	uint32_t len = io->len;

	if (io->op != LKDF_IO_ACCEPT && io->op != LKDF_IO_RECV)
		return err(-EINVAL, "io %s: MULTI goes with accept and recv",
			   name);
	if (io->flags != LKDF_IO_MULTI || io->from)
		return err(-EINVAL, "io %s: SOME and uses do not go with MULTI",
			   name);
	if (!io->buf)
		return err(-EINVAL,
			   "io %s: buf is NULL, MULTI has a feed there", name);
	if (io->op == LKDF_IO_ACCEPT)
		return 0;
	if (io->how)
		return err(-EINVAL, "io %s: how %#x with MULTI", name, io->how);
	if (len &&
	    (len < IO_PIECE_MIN || len > IO_PIECE_MAX || len & (len - 1)))
		return err(-EINVAL,
			   "io %s: len %u with MULTI: a power of two, %d .. %d",
			   name, len, IO_PIECE_MIN, IO_PIECE_MAX);
	return 0;
}

#define FLAGS (uint32_t)(LKDF_IO_SOME | LKDF_IO_MULTI)
#define FROM LKDF_IO_BUF_USE

/* Most of them, with all they may need. */
static inline bool is_usual(const struct lkdf_io *io)
{
	return io->size == sizeof(*io) &&
	       (io->op == LKDF_IO_READ || io->op == LKDF_IO_WRITE) &&
	       !(io->flags & ~(uint32_t)LKDF_IO_SOME) && io->buf &&
	       !(io->from | io->how);
}

static __attribute__((noinline)) int check_all(const struct lkdf_io *io)
{
	const char *name = io_op_name(io->op);

	if (io->size != sizeof(*io))
		return err(-EINVAL, "io: size %u is not that of lkdf_io",
			   io->size);
	if (!name)
		return err(-EOPNOTSUPP, "io: operation %u is not built yet",
			   io->op);
	if (io->flags & ~FLAGS)
		return err(-EINVAL, "io %s: unknown flags %#x", name,
			   io->flags & ~FLAGS);
	if (io->from & ~FROM)
		return err(-EINVAL, "io %s: unknown from %#x", name,
			   io->from & ~FROM);
	if (io->flags & LKDF_IO_MULTI)
		return check_multi(io);
	if (io->from && !(rows[io->op].traits & HAS_BYTES))
		return err(-EINVAL,
			   "io %s: BUF_USE goes with read, write, "
			   "recv and send",
			   name);
	if (io->how && rows[io->op].traits & (HAS_BYTES | HAS_IOVEC) &&
	    !(rows[io->op].traits & IS_OF_SOCKET))
		return err(-EOPNOTSUPP, "io %s: how %#x is not built yet", name,
			   io->how);
	return check_pointers(io);
}

int io_op_check(const struct lkdf_io *io)
{
	return likely(is_usual(io)) ? 0 : check_all(io);
}

void io_op_init(struct io_op *op, const struct lkdf_io *io)
{
	memset(op, 0, sizeof(*op));
	op->io = *io;
	op->one.iov_base = io->buf;
	op->one.iov_len = io->len;
	op->ts.tv_sec = io->off / 1000000000;
	op->ts.tv_nsec = io->off % 1000000000;
}

void io_op_fini(struct io_op *op)
{
	free(op->iov);
	op->iov = NULL;
}

bool io_op_may_wait(const struct io_op *op)
{
	const struct lkdf_io *io = &op->io;
	struct stat st;

	if (io->op == LKDF_IO_TIMEOUT || io->op == LKDF_IO_POLL)
		return true;
	if (is_a(op, IS_OF_SOCKET))
		return io->op != LKDF_IO_CONNECT;
	if (!is_a(op, IS_TRANSFER) && io->op != LKDF_IO_SPLICE)
		return false;
	return !fstat(io->fd, &st) && !S_ISREG(st.st_mode) &&
	       !S_ISBLK(st.st_mode) && !S_ISDIR(st.st_mode);
}

short io_op_events(const struct io_op *op)
{
	if (op->io.op == LKDF_IO_TIMEOUT)
		return 0;
	if (op->io.op == LKDF_IO_POLL)
		return (short)op->io.how;
	return is_a(op, IS_INPUT) ? POLLIN : POLLOUT;
}

/* ---- how it goes on ----------------------------------------------------- */

static enum io_next op_over(struct io_op *op, int64_t result)
{
	op->result = result;
	return IO_OVER;
}

/* The pieces behind the first nr bytes, in a copy of our own. */
static int advance_iov(struct io_op *op, uint64_t nr)
{
	const struct iovec *from = op->io.buf;
	uint32_t skip = 0;

	if (!op->iov) {
		op->iov = malloc(op->io.len * sizeof(*op->iov));
		if (!op->iov)
			return -ENOMEM;
		memcpy(op->iov, from, op->io.len * sizeof(*op->iov));
	}
	while (skip < op->io.len && nr >= op->iov[skip].iov_len)
		nr -= op->iov[skip++].iov_len;
	op->io.len -= skip;
	memmove(op->iov, op->iov + skip, op->io.len * sizeof(*op->iov));
	if (op->io.len) {
		op->iov[0].iov_base = (char *)op->iov[0].iov_base + nr;
		op->iov[0].iov_len -= nr;
	}
	op->io.buf = op->iov;
	return 0;
}

/* Bytes still to come, if the first nr of what is left are there. */
static bool has_more(const struct io_op *op, uint64_t nr)
{
	const struct iovec *iov = op->io.buf;
	uint64_t left = 0;
	uint32_t i;

	if (!is_a(op, HAS_IOVEC))
		return op->one.iov_len > nr;
	for (i = 0; i < op->io.len; i++)
		left += iov[i].iov_len;
	return left > nr;
}

static enum io_next bytes_transferred(struct io_op *op, uint64_t nr)
{
	bool is_recv = op->io.op == LKDF_IO_RECV;
	bool ends = op->io.flags & LKDF_IO_SOME ||
		    (is_recv && !(op->io.how & MSG_WAITALL));

	op->nr_done += nr;
	if (!nr || ends || !has_more(op, nr))
		return op_over(op, (int64_t)op->nr_done);
	if (op->io.off >= 0)
		op->io.off += (int64_t)nr;
	if (is_a(op, HAS_IOVEC))
		return advance_iov(op, nr) ? op_over(op, -ENOMEM) : IO_AGAIN;
	op->one.iov_base = (char *)op->one.iov_base + nr;
	op->one.iov_len -= nr;
	return IO_AGAIN;
}

/* When its descriptor is ready. */
static bool may_try_again(const struct io_op *op, int64_t res)
{
	uint32_t how = op->io.how;

	if (op->io.op == LKDF_IO_CONNECT)
		return res == -EAGAIN || res == -EINPROGRESS ||
		       res == -EALREADY;
	if (res != -EAGAIN)
		return false;
	if (op->io.op == LKDF_IO_SPLICE)
		return !(how & SPLICE_F_NONBLOCK);
	if (is_a(op, IS_OF_SOCKET))
		return !is_a(op, IS_TRANSFER) || !(how & MSG_DONTWAIT);
	return is_a(op, IS_TRANSFER) || op->io.op == LKDF_IO_POLL;
}

bool io_op_is_sure(struct io_op *op)
{
	struct pollfd fd = { .fd = op->io.fd, .events = POLLRDHUP };
	socklen_t size = sizeof(int);
	int type = 0;

	if (op->was_empty ||
	    getsockopt(fd.fd, SOL_SOCKET, SO_TYPE, &type, &size) ||
	    type != SOCK_SEQPACKET)
		return true;
	/* Else it was a message of nothing. */
	op->was_empty = poll(&fd, 1, 0) > 0 && fd.revents & POLLRDHUP;
	return !op->was_empty;
}

enum io_next io_op_came(struct io_op *op, int64_t res)
{
	if (op->is_waiting) {
		op->is_waiting = false;
		if (res < 0 && res != -EINTR && res != -EAGAIN)
			return op_over(op, res);
		return IO_AGAIN;
	}
	if (op->io.op == LKDF_IO_TIMEOUT && res == -ETIME)
		return op_over(op, 0);
	if (res == -EINTR && op->io.op != LKDF_IO_CLOSE)
		return IO_AGAIN;
	if (op->io.op == LKDF_IO_SQE || op->io.op == LKDF_IO_TIMEOUT)
		return op_over(op, res);
	if (may_try_again(op, res))
		return IO_WAIT;
	if (res < 0 || !is_a(op, IS_TRANSFER))
		return op_over(op, res);
	if (unlikely(!res) && op->io.op == LKDF_IO_RECV && !io_op_is_sure(op))
		return IO_AGAIN;
	return bytes_transferred(op, (uint64_t)res);
}

/* ---- in a chain --------------------------------------------------------- */

bool io_op_breaks_link(const struct lkdf_io *io)
{
	switch (io->op) {
	case LKDF_IO_READ:
	case LKDF_IO_WRITE:
	case LKDF_IO_READV:
	case LKDF_IO_WRITEV:
	case LKDF_IO_CLOSE:
		return true;
	default:
		return false;
	}
}

bool io_op_is_all(const struct io_op *op, int64_t res)
{
	if (op->io.op == LKDF_IO_CLOSE)
		return !res;
	return io_op_breaks_link(&op->io) && res >= 0 &&
	       !has_more(op, (uint64_t)res);
}

/* ---- entries of a ring -------------------------------------------------- */

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

bool io_op_opens(const struct lkdf_io *io)
{
	return io->op == LKDF_IO_OPENAT ||
	       (io->op == LKDF_IO_ACCEPT && !(io->flags & LKDF_IO_MULTI));
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
