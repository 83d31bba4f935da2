/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/runtime.h"

#include "sched/guest.h"

void runtime_push(struct lkdf *rt, struct executor *ex, struct link *link)
{
	if (!ex)
		guest_comes(&rt->sched);
	sched_push(&rt->sched, ex ? ex->node : sched_home(&rt->sched), link);
}
