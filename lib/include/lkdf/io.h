/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks whose work is an operation of the system: read, write, open, poll and
 * the like. While it is under way no worker waits for it; when it is over the
 * kind's function runs with its result, and then the task ends.
 *
 * The argument of such a task is a struct lkdf_io, copied like any argument.
 * Each operation takes these fields, beside op and size:
 *
 *	READ, WRITE    fd, buf, len bytes, off (-1: the file's own position)
 *	READV, WRITEV  fd, buf: len struct iovec, off
 *	FSYNC          fd; how: 1 for the data alone
 *	FALLOCATE      fd, off, len; how: FALLOC_FL_*
 *	OPENAT         dirfd, path; how: O_*; len: mode. Result: descriptor
 *	CLOSE          fd
 *	STATX          dirfd, path, buf: struct statx; how: AT_*; len: STATX_*
 *	RENAMEAT       dirfd, path; fd, buf: new directory, new name;
 *	               how: RENAME_*
 *	UNLINKAT       dirfd, path; how: AT_REMOVEDIR
 *	POLL           fd; how: POLL*. Result: what there is of it
 *	ACCEPT         fd; how: SOCK_*. Result: descriptor
 *	CONNECT        fd, buf: address, len: its size
 *	RECV, SEND     fd, buf, len; how: MSG_*
 *	SPLICE         fd, off: from; dirfd: to, at its own position; len;
 *	               how: SPLICE_F_*. Result: may be less than len
 *	TIMEOUT        off: nanoseconds
 *	SQE            raw_sqe: a struct io_uring_sqe of 64 bytes, copied when
 *	               the task starts; user_data is the library's. -EOPNOTSUPP
 *	               where the option io is not a ring
 *
 * READ, WRITE, READV, WRITEV and SEND go on until all is done or the end of
 * the file, unless SOME is set; RECV ends with what came first, unless how has
 * MSG_WAITALL. The library repeats a call that was interrupted or
 * would block.
 *
 * In a graph a task that reads, writes or closes, whose kind has no function,
 * goes to a ring together with the one task that comes after it, if that waits
 * for nothing else, and is such a task, or an FSYNC, FALLOCATE, STATX, RENAMEAT
 * or UNLINKAT; and so on, up to eight. The kernel goes from one operation to
 * the next by itself; results and errors are those of operations one by one. A
 * task of such a chain has no uses, no limits, no LKDF_ALWAYS and no width less
 * than the graph's runs in flight, and the graph has no places.
 *
 * With LKDF_IO_MULTI an ACCEPT or a RECV goes on and on, and each descriptor,
 * or piece of bytes, starts a run of a graph or a task: struct lkdf_io_feed.
 *
 * A worker does an operation that cannot wait at once: a small read whose bytes
 * are in memory; of a path whose names are in memory an OPENAT with O_NONBLOCK
 * or O_PATH that creates no file, and a STATX with AT_STATX_DONT_SYNC and
 * AT_NO_AUTOMOUNT; and a CLOSE where the file system has nothing to flush.
 */
#ifndef LKDF_IO_H
#define LKDF_IO_H

#include <lkdf/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_io_op {
	LKDF_IO_READ,
	LKDF_IO_WRITE,
	LKDF_IO_READV,
	LKDF_IO_WRITEV,
	LKDF_IO_FSYNC,
	LKDF_IO_FALLOCATE,
	LKDF_IO_OPENAT,
	LKDF_IO_CLOSE,
	LKDF_IO_STATX,
	LKDF_IO_RENAMEAT,
	LKDF_IO_UNLINKAT,
	LKDF_IO_POLL,
	LKDF_IO_ACCEPT,
	LKDF_IO_CONNECT,
	LKDF_IO_RECV,
	LKDF_IO_SEND,
	LKDF_IO_SPLICE,
	LKDF_IO_TIMEOUT,
	LKDF_IO_SQE,
};

/* Fields whose values come from elsewhere. */
enum lkdf_io_from {
	LKDF_IO_BUF_USE = 16, /* buf: the bytes of the task's use 0 */
};

enum lkdf_io_flag {
	LKDF_IO_SOME = 1, /* the first bytes are enough */
	LKDF_IO_MULTI = 2, /* ACCEPT, RECV: again and again, into a feed */
};

/*
 * The kernel uses the memory that the struct points to until the task has
 * ended, cancelled or not. A kind with a larger arg_size has bytes for its
 * function behind the struct.
 */
struct lkdf_io {
	uint32_t size, flags;
	uint32_t op, from, len;
	int32_t fd, dirfd;
	uint32_t how; /* the system call's own flags */
	int64_t off;
	void *buf;
	const char *path;
	const void *raw_sqe;
};

/*
 * An operation with LKDF_IO_MULTI feeds this; its buf points to a feed, which
 * the library copies when the task starts. Each thing that comes is a wave: it
 * starts a run of graph, whose lkdf_run_arg() it is, or a task of kind, whose
 * argument it is. Waves start in the order in which they came, in the scope of
 * the operation's task and within its deadline, nr_runs of them at a time. A
 * wave that comes meanwhile waits; when nr_waiting wait the operation rests, so
 * that the rest stays in the kernel, until half of them have started.
 *
 * A RECV has pieces of at most len bytes, a power of two from 256 to 65536 (0:
 * 4096), and how is 0: of a stream as they come, of datagrams one each, cut to
 * len. It ends with the stream. An ACCEPT ends with an error only, such as
 * -EMFILE; what it has not accepted is still there for the next one.
 *
 * The operation's task ends when the operation is over, or cancelled, and all
 * that it started has ended. When the scope is cancelled the library drops
 * waves that have not started, and closes their descriptors. An error of a wave
 * is the scope's, and stops nothing. A wave that cannot start ends the
 * operation with why, but for -EAGAIN, after which it is tried again.
 *
 * Without a ring, a descriptor that others accept from as well must be
 * O_NONBLOCK, but for such operations of the same runtime.
 */
struct lkdf_io_feed {
	uint32_t size, flags; /* flags: 0 */
	struct lkdf_graph *graph; /* sealed; yours until the task has ended */
	struct lkdf_kind *kind; /* or this one: arg_size 0, no operation */
	void *u; /* the waves' */
	uint32_t nr_runs; /* 0: as many as graph may have in flight, or 16 */
	uint32_t nr_waiting; /* 0: 64 */
};

/* A wave; until its run or task has ended. */
struct lkdf_io_wave {
	uint64_t seq; /* from 0 */
	int64_t result; /* ACCEPT: the descriptor; RECV: bytes at buf */
	const void *buf;
	void *u;
	int32_t fd; /* the operation's own */
	uint32_t pad;
};

/**
 * lkdf_kind_create_io() - make a sort of task that is an operation
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   as lkdf_kind_create(). fn runs when the operation is over, on a worker,
 *       and may be NULL: then the task fails with the operation's error, or
 *       ends well. arg_size: 0 for that of struct lkdf_io, or more; the
 *       argument starts with one. No on_cancel, not BLOCKING
 * @out: new kind, owned by the caller
 *
 * When the task's scope is cancelled while the operation is under way, the
 * library cancels the operation where it can: lkdf_io_error() tells fn
 * -ECANCELED, or -ETIME after a deadline, and without fn the task counts as
 * cancelled. The library closes the descriptor that an OPENAT or an ACCEPT
 * without fn gives.
 *
 * Context: any thread, does not block; may create one thread.
 * Return: as lkdf_kind_create(); -EAGAIN no thread to be had.
 */
int lkdf_kind_create_io(struct lkdf *rt, const struct lkdf_kind_attr *a,
			struct lkdf_kind **out);

/**
 * lkdf_io_result() - what came of the operation
 * @c: context of the fn of a kind of lkdf_kind_create_io(), on its own thread
 *
 * A transfer that was cancelled, or whose deadline is over, gives the bytes
 * that it has transferred before, if any: lkdf_io_error() tells that from the
 * end of a file.
 *
 * Return: bytes, descriptor or other result of the system call, with
 * LKDF_IO_MULTI the number of waves, or -errno; another error after a part was
 * transferred is that error. -EINVAL in any other body.
 */
int64_t lkdf_io_result(const struct lkdf_ctx *c);

/**
 * lkdf_io_error() - why the operation ended early
 * @c:  context of the fn of a kind of lkdf_kind_create_io(), on its own thread
 * @nr: NULL, or where the bytes go that a transfer has done, all or in part;
 *      of other operations their result, or 0 after an error
 *
 * Return: 0; -ECANCELED its scope was cancelled; -ETIME a deadline is over; the
 * system call's -errno. -EINVAL in any other body.
 */
int lkdf_io_error(const struct lkdf_ctx *c, uint64_t *nr);

/**
 * lkdf_io_take() - own the descriptor of a wave
 * @w: a wave of an ACCEPT
 *
 * A descriptor that nobody takes is closed when the wave's run or task has
 * ended.
 *
 * Context: a body of the wave's run, or its task.
 * Return: the descriptor, the caller's from now on; -EBADF taken already, or
 * there is none.
 */
int lkdf_io_take(const struct lkdf_io_wave *w);

/**
 * lkdf_io_register_file() - operations on this descriptor cost less
 * @rt: runtime
 * @fd: a descriptor that is open, and stays so until it is unregistered
 *
 * Rings keep the file (io_uring's registered files), so that the kernel does
 * not look it up for each operation. An operation does what it does without
 * that, and where there are no rings nothing is kept and all calls below still
 * succeed. The file is open as long as it is registered: its last close, and
 * what the other end of a pipe or a socket sees of it, come after
 * lkdf_io_unregister_file(), up to a second on Linux 6.1. If the program closes
 * the descriptor before that, operations on its number go on to reach the old
 * file.
 *
 * At most 64 at a time. lkdf_stat() counts in "lkdf.io.fixed" the operations
 * that made use of it.
 *
 * Context: any thread; does not block.
 * Return: 0; -EBADF not open; -EEXIST registered already; -ENOSPC all 64 are
 * taken; -EINVAL rt is NULL; -EOWNERDEAD in a forked child.
 */
int lkdf_io_register_file(struct lkdf *rt, int fd);

/**
 * lkdf_io_register_buffer() - transfers to and from this memory cost less
 * @rt:    runtime
 * @buf:   memory that stays mapped, and the same pages, until unregistered;
 *         borrowed
 * @bytes: 1 to 2^30
 *
 * For a READ or a WRITE between a file and registered memory the kernel need
 * not pin the pages each time, which counts with O_DIRECT. A ring pins all of
 * the memory with the first such operation of its worker: then the memory
 * counts against RLIMIT_MEMLOCK, once for each such worker, and its pages stay
 * on their nodes. A ring that may not pin it says why in the log
 * (LKDF_LOG_INFO) and works without registration.
 *
 * At most 64 at a time; they do not overlap.
 *
 * Context: any thread; does not block.
 * Return: 0; -EINVAL no runtime, no memory, or too much; -EEXIST a part of it
 * is registered already; -ENOSPC all 64 are taken; -EOWNERDEAD in a forked
 * child.
 */
int lkdf_io_register_buffer(struct lkdf *rt, void *buf, uint64_t bytes);

/**
 * lkdf_io_unregister_file() - take a registration back
 * @rt: runtime
 * @fd: as registered
 *
 * lkdf_close() takes all of them back.
 *
 * Context: any thread; waits for nobody.
 * Return: 0; -ENOENT not registered; -EBUSY an operation on it is under way,
 * and nothing was changed; -ENOMEM the kernel could not, likewise; -EINVAL rt
 * is NULL; -EOWNERDEAD in a forked child.
 */
int lkdf_io_unregister_file(struct lkdf *rt, int fd);

/**
 * lkdf_io_unregister_buffer() - take a registration back
 * @rt:  runtime
 * @buf: as registered
 *
 * Context: any thread; waits for nobody.
 * Return: as lkdf_io_unregister_file().
 */
int lkdf_io_unregister_buffer(struct lkdf *rt, void *buf);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
