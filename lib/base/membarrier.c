/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

bool membarrier_register(void)
{
	return !syscall(SYS_membarrier,
			MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
}

void membarrier_all(void)
{
	/* What is registered does not fail. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
}
