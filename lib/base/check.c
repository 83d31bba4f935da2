/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The report of a check() that fails; empty without LKDF_DEBUG. */
#include "base/util.h"

#ifdef LKDF_DEBUG
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void check_failed(const char *cond, const char *file, int line)
{
	dprintf(STDERR_FILENO, "lkdf: %s:%d: check failed: %s\n", file, line,
		cond);
	if (check_state)
		check_state(STDERR_FILENO);
	abort();
}
#endif
