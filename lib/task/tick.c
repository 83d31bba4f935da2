/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/tick.h"

#include "core/runtime.h"
#include "scope/event_tap.h"
#include "task/after.h"
#include "task/task.h"

void task_tick(void *runtime)
{
	struct lkdf *rt = runtime;
	unsigned nr = timers_fire(&rt->sched.timers);

	if (!nr || nr == pollers_tick(rt))
		return;
	sched_look(&rt->sched);
	after_cancel(rt);
	task_kick(rt, KICK);
}
