/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A call of the system is forbidden, as a container's profile does it. */
#ifndef TESTS_FORBID_H
#define TESTS_FORBID_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As below, with flags of seccomp(2). */
static int forbid_with(unsigned call, unsigned error, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog))
		return -errno;
	return 0;
}

/*
 * To this thread, and to threads and processes that it makes later: the call
 * fails with error. 0 or -errno.
 */
__attribute__((unused)) static int forbid_call(unsigned call, unsigned error)
{
	return forbid_with(call, error, 0);
}

/* To all threads of this process, as a service that locks itself up late. */
__attribute__((unused)) static int forbid_call_to_all(unsigned call,
						      unsigned error)
{
	return forbid_with(call, error, SECCOMP_FILTER_FLAG_TSYNC);
}

#endif
