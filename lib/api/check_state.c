/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime's state as text when a check() fails; empty without LKDF_DEBUG.
 */
#include <lkdf/runtime.h>

#include "base/util.h"

#ifdef LKDF_DEBUG
#include "base/err.h"
#include "core/runtime.h"

#include <stdio.h>

void check_state(int fd)
{
	struct executor *ex = thread_self()->executor;
	struct lkdf *rt = ex ? ex->rt : NULL;

	if (err_text()[0])
		dprintf(fd, "lkdf: the thread's last error: %s\n", err_text());
	if (!rt)
		return;
	dprintf(fd, "lkdf: executor %d of a runtime with %d workers:\n", ex->id,
		rt->nr_workers);
	lkdf_describe(rt, "stats", "text", fd);
}
#endif
