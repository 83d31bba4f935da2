/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that are system calls: read, write, open, poll and others. No worker
 * waits for the operation. When it is over, the kind's function runs with its
 * result, and then the task ends.
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
 * READ, WRITE, READV, WRITEV and SEND transfer all bytes, or up to the end of
 * the file, unless SOME is set. RECV ends with the first bytes, unless how has
 * MSG_WAITALL. The library repeats a call that was interrupted or would block.
 *
 * In a graph the library submits up to eight operations that follow one another
 * as one chain, and the kernel runs them without the library. Results and
 * errors are the same as without a chain. All tasks of a chain have kinds
 * without a function, without limits, without LKDF_ALWAYS and with a width of
 * at least the graph's inflight; they have no uses, and the graph has no
 * places. Each task but the last reads, writes or closes, and only the next one
 * comes after it; this one waits for nothing else, and may also be an FSYNC,
 * FALLOCATE, STATX, RENAMEAT or UNLINKAT.
 *
 * With LKDF_IO_MULTI an ACCEPT or a RECV repeats, and each descriptor, or piece
 * of bytes, starts a run of a graph or a task: see struct lkdf_io_feed.
 *
 * A worker executes an operation at once if it cannot block: a small read of
 * cached bytes; a CLOSE if the file system has nothing to flush; and, for a
 * path whose names are cached, an OPENAT with O_NONBLOCK or O_PATH that creates
 * no file, or a STATX with AT_STATX_DONT_SYNC and AT_NO_AUTOMOUNT.
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

/* Fields that the library fills in. */
enum lkdf_io_from {
	LKDF_IO_BUF_USE = 16, /* buf: the bytes of the task's use 0 */
};

enum lkdf_io_flag {
	LKDF_IO_SOME = 1, /* the first bytes are enough */
	LKDF_IO_MULTI = 2, /* ACCEPT, RECV: repeat, see struct lkdf_io_feed */
};

/*
 * The kernel uses the memory that the struct points to until the task has
 * ended, also after a cancel. If the kind has a larger arg_size, the bytes
 * after the struct are for its function.
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
 * The buf of an operation with LKDF_IO_MULTI points to a feed, which the
 * library copies when the task starts. Each descriptor or piece of bytes is a
 * wave (struct lkdf_io_wave). It starts a run of graph, as its lkdf_run_arg(),
 * or a task of kind, as its argument. Waves start in the order of arrival, in
 * the scope of the operation's task and within its deadline, nr_runs of them at
 * a time; further waves wait. When nr_waiting waves wait, the operation pauses,
 * so that further data stay in the kernel, until half of them have started.
 *
 * A RECV has pieces of at most len bytes, a power of two from 256 to 65536 (0:
 * 4096); its how is 0. From a stream a piece has the bytes that have arrived;
 * each datagram is a piece, cut to len. The RECV ends at the end of the stream.
 * An ACCEPT ends only with an error, such as -EMFILE; connections that it has
 * not accepted stay for the next ACCEPT.
 *
 * The operation's task ends when the operation is over or cancelled and all
 * runs and tasks that it started have ended. When the scope is cancelled, the
 * library drops waves that have not started, and closes their descriptors. An
 * error in a wave is an error of the scope and does not stop the operation. If
 * a wave cannot start, the operation ends with that error; after -EAGAIN the
 * library tries again.
 *
 * Without a ring, a descriptor from which other code accepts, too, must be
 * O_NONBLOCK; other such operations of the same runtime do not matter.
 */
struct lkdf_io_feed {
	uint32_t size, flags; /* flags: 0 */
	struct lkdf_graph *graph; /* sealed; must exist until the task has
				   * ended */
	struct lkdf_kind *kind; /* instead of graph: arg_size 0, not an
				 * operation */
	void *u; /* the waves' */
	uint32_t nr_runs; /* 0: as many as graph may have in flight, or 16 */
	uint32_t nr_waiting; /* 0: 64 */
};

/* A wave; valid until its run or task has ended. */
struct lkdf_io_wave {
	uint64_t seq; /* from 0 */
	int64_t result; /* ACCEPT: the descriptor; RECV: bytes at buf */
	const void *buf;
	void *u;
	int32_t fd; /* descriptor of the operation */
	uint32_t pad;
};

/**
 * lkdf_kind_create_io() - make a kind whose tasks are operations
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   as lkdf_kind_create(). fn runs when the operation is over, on a worker,
 *       and may be NULL: then the task fails with the operation's error, or
 *       ends well. arg_size: 0 for that of struct lkdf_io, or more; the
 *       argument starts with one. No on_cancel, not BLOCKING
 * @out: new kind, owned by the caller
 *
 * If the task's scope is cancelled during the operation, the library cancels
 * the operation if it can. Then lkdf_io_error() in fn returns -ECANCELED, or
 * -ETIME after a deadline; without fn the task counts as cancelled. If an
 * OPENAT or an ACCEPT has no fn, the library closes the new descriptor.
 *
 * Context: any thread, does not block; may create one thread.
 * Return: as lkdf_kind_create(); -EAGAIN the system has no more threads.
 */
int lkdf_kind_create_io(struct lkdf *rt, const struct lkdf_kind_attr *a,
			struct lkdf_kind **out);

/**
 * lkdf_io_result() - the result of the operation
 * @c: context of the fn of a kind of lkdf_kind_create_io(), on its own thread
 *
 * After a cancel or a deadline the result is the number of bytes that were
 * transferred before, if any. lkdf_io_error() distinguishes this from the end
 * of a file.
 *
 * Return: bytes, descriptor or other result of the system call, with
 * LKDF_IO_MULTI the number of waves, or -errno; another error after a part was
 * transferred is that error. -EINVAL in any other body.
 */
int64_t lkdf_io_result(const struct lkdf_ctx *c);

/**
 * lkdf_io_error() - why the operation ended early
 * @c:  context of the fn of a kind of lkdf_kind_create_io(), on its own thread
 * @nr: receives the number of bytes transferred, for other operations their
 *      result, or 0 after an error; may be NULL
 *
 * Return: 0; -ECANCELED its scope was cancelled; -ETIME a deadline is over; the
 * system call's -errno. -EINVAL in any other body.
 */
int lkdf_io_error(const struct lkdf_ctx *c, uint64_t *nr);

/**
 * lkdf_io_take() - take over the descriptor of a wave
 * @w: a wave of an ACCEPT
 *
 * The library closes a descriptor that is not taken when the wave's run or task
 * has ended.
 *
 * Context: a body of the wave's run, or its task.
 * Return: the descriptor, the caller's from now on; -EBADF taken already, or
 * there is none.
 */
int lkdf_io_take(const struct lkdf_io_wave *w);

/**
 * lkdf_io_register_file() - register a descriptor, so that operations on it
 * cost less
 * @rt: runtime
 * @fd: a descriptor that is open, and stays so until it is unregistered
 *
 * The rings keep the file (registered files of io_uring), so the kernel does
 * not look it up for each operation. Operations have the same results as
 * without. If there are no rings, the calls succeed and have no effect. A
 * registered file stays open: the other end of a pipe or a socket sees the
 * close only after lkdf_io_unregister_file(), on Linux 6.1 up to a second
 * later. If the program closes the descriptor before that, operations on its
 * number still use the old file.
 *
 * At most 64 files are registered at a time. The counter "lkdf.io.fixed" (see
 * lkdf_stat()) counts operations on registered files.
 *
 * Context: any thread; does not block.
 * Return: 0; -EBADF not open; -EEXIST registered already; -ENOSPC all 64 are
 * taken; -EINVAL rt is NULL; -EOWNERDEAD in a forked child.
 */
int lkdf_io_register_file(struct lkdf *rt, int fd);

/**
 * lkdf_io_register_buffer() - register memory, so that transfers to and from it
 * cost less
 * @rt:    runtime
 * @buf:   memory that stays mapped, and the same pages, until unregistered;
 *         borrowed
 * @bytes: 1 to 2^30
 *
 * For a READ or a WRITE between a file and registered memory the kernel does
 * not pin the pages each time, which matters with O_DIRECT. The ring of a
 * worker pins the memory with the worker's first such operation. From then on
 * the memory counts against RLIMIT_MEMLOCK, once for each such worker, and its
 * pages cannot move. A ring that cannot pin it writes the reason to the log
 * (LKDF_LOG_INFO) and works without the registration.
 *
 * At most 64 buffers are registered at a time; they must not overlap.
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
 * Return: 0; -ENOENT not registered; -EBUSY an operation on it is in progress:
 * it stays registered; -ENOMEM the kernel has no memory: it stays registered;
 * -EINVAL rt is NULL; -EOWNERDEAD in a forked child.
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
