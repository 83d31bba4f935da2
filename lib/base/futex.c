/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/futex.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int futex_wait(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns)
{
	struct timespec ts = {
		.tv_sec = timeout_ns / 1000000000,
		.tv_nsec = timeout_ns % 1000000000,
	};
	long rc;

	rc = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expect,
		     timeout_ns < 0 ? NULL : &ts, NULL, 0);
	return rc < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

int futex_wake(_Atomic(uint32_t) *word, int nr)
{
	long rc =
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, nr, NULL, NULL, 0);

	return rc < 0 ? 0 : (int)rc;
}

int futex_wait_as(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns,
		  uint32_t bits)
{
	/* The kernel wants the time at which it is over. */
	int64_t until = timeout_ns < 0 ? 0 : clock_now_ns() + timeout_ns;
	struct timespec ts = {
		.tv_sec = until / 1000000000,
		.tv_nsec = until % 1000000000,
	};
	long rc;

	rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expect,
		     timeout_ns < 0 ? NULL : &ts, NULL, bits);
	return rc < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

int futex_wake_of(_Atomic(uint32_t) *word, int nr, uint32_t bits)
{
	long rc = syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, nr, NULL,
			  NULL, bits);

	return rc < 0 ? 0 : (int)rc;
}
