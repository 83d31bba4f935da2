/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The last worker that looks for work finds some as an URGENT task comes,
 * idle.c as it is shipped: who pushes the task sees the worker, or the worker
 * sees that there are URGENT tasks, so that a spare thread is called.
 */
#include "sched/idle.h"
#include "strand.h"

static _Atomic(uint32_t) nr_calls;

static void run(struct worker *w, uint64_t item)
{
	(void)w;
	(void)item;
	mc_fail("%s", __func__);
}

static void call_spare(void *rt)
{
	(void)rt;
	a_add(&nr_calls, 1, relaxed);
}

static void init(void)
{
	init_with(2, false);
	sched.ops.urgent = call_spare;
	a_store(&sched.has_urgent, 0, relaxed);
	a_store(&nr_calls, 0, relaxed);
	mc_name(&sched.has_urgent, "has_urgent");
}

/* As urgent_push() in task/urgent.c. */
static void push_urgent(void)
{
	a_store(&sched.has_urgent, 1, seq_cst);
	if (!notify_has_spinner(&sched) && !notify_has_sleeper(&sched))
		call_spare(NULL);
}

static void find_other_work(struct worker *w)
{
	uint64_t item;

	inbox_push(&w->node->inbox, &child);
	mc_assert(idle_find(w, &item));
}

static void push_and_find(int id)
{
	if (id)
		find_other_work(&workers[1]);
	else
		push_urgent();
}

static void spare_was_called(void)
{
	mc_assert(a_load(&nr_calls, relaxed));
}

static const struct mc_scenario table[] = {
	{ .name = "an URGENT task as the last spinner leaves",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init,
	  .thread = push_and_find,
	  .final = spare_was_called },
};

MC_MAIN(table)
