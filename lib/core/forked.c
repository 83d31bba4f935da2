/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/forked.h"

#include "base/err.h"
#include "base/thread.h"
#include "core/runtime.h"

#include <errno.h>

int forked_refuse(const struct lkdf *rt)
{
	if (likely(a_load(rt->is_alive, relaxed)))
		return 0;
	return err(-EOWNERDEAD, "the runtime belongs to the parent process: "
				"open one after fork");
}

void forked_child(void)
{
	struct executor *ex = thread_record ? thread_record->executor : NULL;

	if (ex)
		ex->worker = NULL;
	thread_forked();
}
