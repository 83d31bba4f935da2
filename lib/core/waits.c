/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/waits.h"

#include <sys/syscall.h>
#include <unistd.h>

static void tell_wait(struct lkdf *rt, enum lkdf_span_sort sort,
		      const char *name, uint64_t value, uint64_t begin)
{
	const struct lkdf_stats_slice s = {
		.begin = begin,
		.end = clock_ticks(),
		.task = NO_SLICE_TASK,
		.name = trace_name(&rt->trace, name),
		.by = a_load(&rt->trace.waker, relaxed),
		.number = (uint64_t)sort << 48,
		.value = value,
	};

	trace_slice_outside(trace_outside(&rt->trace), &s);
}

void wait_tell(struct lkdf *rt, const char *call, uint64_t begin)
{
	tell_wait(rt, LKDF_SPAN_WAIT, call, (uint64_t)syscall(SYS_gettid),
		  begin);
}

void wait_tell_room(struct lkdf *rt, const char *place, uint64_t fits,
		    uint64_t begin)
{
	tell_wait(rt, LKDF_SPAN_FULL, place, fits, begin);
}
