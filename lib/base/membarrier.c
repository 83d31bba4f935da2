/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool membarrier_register(void)
{
	return !syscall(SYS_membarrier,
			MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
}

/*
 * A registered barrier fails where the program has got a filter of system calls
 * since. No CPU keeps a store to itself for that long.
 */
void membarrier_all(void)
{
	const struct timespec nap = { .tv_nsec = 10000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0))
		nanosleep(&nap, NULL);
}
