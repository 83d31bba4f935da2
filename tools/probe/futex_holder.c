/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread that holds a futex word of another process: words of PI and of
 * robust mutexes and those of the library's locks have the holder's number
 * beside the bit that says that somebody sleeps there.
 */
#include "probe/futex.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

uint32_t futex_holder(int pid, uint64_t address)
{
	uint32_t word = 0, tid;
	struct iovec to = { &word, sizeof(word) };
	struct iovec from = { (void *)(uintptr_t)address, sizeof(word) };

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) !=
		    (ssize_t)sizeof(word) ||
	    !(word & FUTEX_WAITERS))
		return 0;
	tid = word & FUTEX_TID_MASK;
	return tid && !syscall(SYS_tgkill, pid, (pid_t)tid, 0) ? tid : 0;
}
