/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/runtime.h"

#include "mechanism/client/client.h"
#include "trace/counters.h"

void runtime_has_woken(struct lkdf *rt, struct executor *ex)
{
	struct trace_ring *outside = trace_outside(&rt->trace);

	uint32_t grown;

	if (ex && ex->worker) {
		worker_has_woken(ex->worker);
		return;
	}
	grown = wake_depth_give(&rt->sched.wakes, 0, 1);
	if (ex) {
		counter_add(ex->counters, COUNTER_WAKES, 1);
		counter_add(ex->counters, COUNTER_WAKE_DEPTH, grown);
		trace_event(ex->ring, EVENT_WAKE, 0, 0);
	} else {
		trace_count_outside(outside, COUNTER_WAKES, 1);
		trace_count_outside(outside, COUNTER_WAKE_DEPTH, grown);
		trace_event_outside(outside, EVENT_WAKE, 0, 0);
	}
}

void runtime_count_wakes(struct lkdf *rt, struct executor *ex, uint32_t nr)
{
	if (ex)
		counter_add(ex->counters, COUNTER_WAKES, nr);
	else
		trace_count_outside(trace_outside(&rt->trace), COUNTER_WAKES,
				    nr);
}

void runtime_push(struct lkdf *rt, struct executor *ex, struct link *link)
{
	int node = ex ? ex->node : sched_home(&rt->sched);

	if (!ex)
		client_comes(&rt->sched);
	if (sched_push(&rt->sched, node, link))
		runtime_has_woken(rt, ex);
}
