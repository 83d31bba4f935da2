/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The system calls that refuse.h refuses, and how each may fail. The errors are
 * those of the manual pages that a program without a bug of its own can see:
 * what is short, what is forbidden, what this kernel does not know, and a
 * signal. Where a call of libc has no way on, the error is left out and the
 * reason is given.
 */
#ifndef TESTS_FAULTS_REFUSE_CALLS_H
#define TESTS_FAULTS_REFUSE_CALLS_H

#include <errno.h>
#include <sys/syscall.h>

#define REFUSE_ERRORS 4

#define REFUSE_ROW(name, ...)       \
	{                           \
#name, SYS_##name,  \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

static const struct refuse_call {
	const char *name;
	int nr;
	int error[REFUSE_ERRORS]; /* until 0 */
} refuse_calls[] = {
	/* Files and descriptors. */
	REFUSE_ROW(openat, EMFILE, EACCES, EINTR),
	REFUSE_ROW(read, EIO, EINTR),
	REFUSE_ROW(pread64, EIO, EINTR),
	REFUSE_ROW(write, EINTR, ENOSPC),
	REFUSE_ROW(pwrite64, EINTR, ENOSPC),
	REFUSE_ROW(writev, EINTR, ENOSPC),
	REFUSE_ROW(newfstatat, EACCES, ENOMEM),
#ifdef SYS_readlink
	REFUSE_ROW(readlink, EACCES),
#endif
	REFUSE_ROW(getdents64, ENOENT),
	REFUSE_ROW(ftruncate, EINTR, EPERM),
	REFUSE_ROW(fallocate, ENOSPC, EOPNOTSUPP),
#ifdef SYS_unlink
	REFUSE_ROW(unlink, EACCES),
#endif
#ifdef SYS_rename
	REFUSE_ROW(rename, EACCES, ENOSPC),
#endif
	REFUSE_ROW(fcntl, EMFILE),
	REFUSE_ROW(ioctl, EPERM),
	REFUSE_ROW(dup, EMFILE),
	REFUSE_ROW(pipe2, EMFILE),
	REFUSE_ROW(eventfd2, EMFILE, ENOMEM),
	REFUSE_ROW(memfd_create, EMFILE, ENOSYS),
	REFUSE_ROW(epoll_create1, EMFILE, ENOMEM),
	REFUSE_ROW(epoll_ctl, ENOMEM, ENOSPC),
#ifdef SYS_epoll_wait
	REFUSE_ROW(epoll_wait, EINTR),
#endif
	REFUSE_ROW(timerfd_create, EMFILE, ENOMEM),
#ifdef SYS_poll
	REFUSE_ROW(poll, EINTR, ENOMEM),
#endif
	REFUSE_ROW(ppoll, EINTR, ENOMEM),
	/* Memory. */
	REFUSE_ROW(mmap, ENOMEM),
	REFUSE_ROW(mprotect, ENOMEM),
	REFUSE_ROW(mremap, ENOMEM),
	REFUSE_ROW(madvise, EINVAL, ENOMEM),
	REFUSE_ROW(mbind, EPERM, ENOSYS),
	REFUSE_ROW(set_mempolicy, EPERM, ENOSYS),
	REFUSE_ROW(get_mempolicy, EPERM, ENOSYS),
	REFUSE_ROW(move_pages, EPERM, ENOSYS),
	REFUSE_ROW(mlock, EPERM, ENOMEM),
	/* Threads and what they may do. */
	REFUSE_ROW(clone3, EAGAIN, EPERM),
	REFUSE_ROW(clone, EAGAIN),
	REFUSE_ROW(sched_setaffinity, EPERM, EINVAL),
	REFUSE_ROW(sched_getaffinity, EPERM),
	REFUSE_ROW(sched_setscheduler, EPERM),
	REFUSE_ROW(membarrier, ENOSYS, EPERM),
	REFUSE_ROW(prctl, EPERM, EINVAL),
	REFUSE_ROW(prlimit64, EPERM),
	REFUSE_ROW(bpf, EPERM, ENOSYS),
	REFUSE_ROW(perf_event_open, EACCES, ENOSYS),
	REFUSE_ROW(process_vm_readv, EPERM),
	REFUSE_ROW(pidfd_open, EMFILE, ENOSYS),
	REFUSE_ROW(getrandom, ENOSYS, EINTR),
	/* io_uring. */
	REFUSE_ROW(io_uring_setup, ENOMEM, ENOSYS, EPERM),
	REFUSE_ROW(io_uring_register, EINVAL, ENOMEM, EBUSY),
	REFUSE_ROW(io_uring_enter, EINTR, EAGAIN, EBUSY),
	/* Sockets. */
	REFUSE_ROW(socket, EMFILE, EAFNOSUPPORT, EACCES),
	REFUSE_ROW(bind, EADDRINUSE, EACCES),
	REFUSE_ROW(listen, EADDRINUSE),
	REFUSE_ROW(accept4, EMFILE, ECONNABORTED, EINTR),
	REFUSE_ROW(connect, ECONNREFUSED, EAGAIN),
	REFUSE_ROW(setsockopt, ENOMEM),
	REFUSE_ROW(getsockopt, ENOPROTOOPT),
	REFUSE_ROW(sendmsg, EINTR, ENOBUFS),
	REFUSE_ROW(recvmsg, EINTR, ENOMEM),
	REFUSE_ROW(sendto, EINTR, ENOBUFS),
	REFUSE_ROW(recvfrom, EINTR, ENOMEM),
};

#define REFUSE_NR_CALLS ((int)(sizeof(refuse_calls) / sizeof(refuse_calls[0])))

#endif
