/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An operation of the system and how far it has come. It is tried by a system
 * call of this thread (io_op_call) or given to a ring (io_op_fill), and what
 * came of that is told to io_op_came(), which says how to go on:
 *
 *	OVER   result is set
 *	AGAIN  the rest, or once more
 *	WAIT   once more when the descriptor is ready: see io_op_events()
 *
 * It knows nothing of tasks, threads or who waits.
 */
#ifndef RING_IO_OP_H
#define RING_IO_OP_H

#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <lkdf/io.h>
#include <sys/uio.h>

enum io_next {
	IO_OVER,
	IO_AGAIN,
	IO_WAIT,
};

/* For a RECV with LKDF_IO_MULTI. */
#define IO_PIECE_MIN 256
#define IO_PIECE_MAX 65536
#define IO_PIECE 4096 /* where len is 0 */
#define IO_NR_PIECES 9 /* sizes */

/* Which of these sizes. */
static inline unsigned io_piece_class(uint32_t len)
{
	return (unsigned)__builtin_ctz(len / IO_PIECE_MIN);
}

struct io_op {
	struct lkdf_io io; /* buf is where the bytes are */
	int64_t result;
	uint64_t nr_done; /* bytes of a transfer */
	struct iovec one; /* READ, WRITE */
	struct iovec *iov; /* READV, WRITEV: own copy, once it goes on */
	struct __kernel_timespec ts; /* TIMEOUT */
	bool is_waiting; /* what is under way is only a poll */
	bool was_empty; /* see io_op_is_sure() */
};

/* "read" for LKDF_IO_READ. NULL: no such operation. */
const char *io_op_name(uint32_t op);

/* 0; -EINVAL, -EOPNOTSUPP: err() has said why. */
int io_op_check(const struct lkdf_io *io);

void io_op_init(struct io_op *op, const struct lkdf_io *io);
void io_op_fini(struct io_op *op);

/* Tells of each piece of its bytes, which it writes, or only reads. */
void io_op_each_piece(const struct lkdf_io *io,
		      void (*fn)(void *u, void *p, size_t size,
				 bool is_written),
		      void *u);

/* May wait long for somebody else: not files and directories. */
bool io_op_may_wait(const struct io_op *op);

/* Events to poll its descriptor for; 0: nothing, it is a TIMEOUT. */
short io_op_events(const struct io_op *op);

/* On this thread; may block. The result is the system call's, or -errno. */
int64_t io_op_call(struct io_op *op);

/*
 * Without blocking where the system has a way. -EAGAIN: not now; -EOPNOTSUPP:
 * no such way.
 */
int64_t io_op_try(struct io_op *op);

/* The sort of a descriptor; it may be another file's by now. */
enum io_sort {
	IO_OTHER, /* nothing, or that peeks are in vain */
	IO_CACHED,
	IO_MEMORY, /* of a file system without a device */
};

enum io_sort io_op_sort(int fd);

/* Is it a read that may be peeked at, if its descriptor may? */
bool io_op_is_small(const struct lkdf_io *io);

/*
 * Such a read, if the bytes are at hand: what the call says; -EAGAIN: they are
 * not, or the descriptor is of another sort; -EOPNOTSUPP: its file has no way
 * to say so. A direct file that was taken for CACHED makes it wait for the
 * device.
 */
int64_t io_op_peek(const struct lkdf_io *io, enum io_sort sort);

/*
 * Others that may be over at once: an open that says O_NONBLOCK or O_PATH and
 * makes nothing, a statx that says DONT_SYNC and NO_AUTOMOUNT, a close.
 */
enum io_quick {
	IO_QUICK_OPENAT,
	IO_QUICK_STATX,
	IO_QUICK_CLOSE,
	IO_NR_QUICK, /* none of them */
};

enum io_quick io_op_quick(const struct lkdf_io *io);

/*
 * Such a one, if the names of its path are at hand, or its file is of a disk
 * or in memory: what the call says; else -EAGAIN.
 */
int64_t io_op_peek_quick(const struct lkdf_io *io);

/*
 * RECV, at res 0: is it the end? On a SEQPACKET socket the kernel looks whether
 * a message is there, and then whether the peer has closed; without waiting it
 * says 0 also when a message and the close came in between. So the first time
 * is not sure; the next one is.
 */
bool io_op_is_sure(struct io_op *op);

/* What came of a call, or of a poll: goes on how? */
enum io_next io_op_came(struct io_op *op, int64_t res);

/*
 * Does what is linked behind it not begin, unless it has done all? From Linux
 * 6.0 to 6.18 at least others that fail let it.
 */
bool io_op_breaks_link(const struct lkdf_io *io);

/* For such a one: was that all? Before io_op_came(). */
bool io_op_is_all(const struct io_op *op, int64_t res);

/* Is its result a descriptor? */
bool io_op_opens(const struct lkdf_io *io);

/* Fills the entry for the kernel, but for user_data, the caller's. */
void io_op_fill(struct io_op *op, struct io_uring_sqe *sqe);

/* Is its entry's descriptor fd? Does it transfer to or from one? */
bool io_op_has_file(const struct lkdf_io *io);
bool io_op_has_bytes(const struct lkdf_io *io);

/* For a filled entry: slots of the ring's tables instead; < 0: as it is. */
void io_op_fix(struct io_uring_sqe *sqe, int file, int buffer);

#endif
