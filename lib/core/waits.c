/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/waits.h"

#include <sys/syscall.h>
#include <unistd.h>

void wait_tell(struct lkdf *rt, const char *call, uint64_t begin)
{
	const struct lkdf_stats_slice s = {
		.begin = begin,
		.end = clock_ticks(),
		.task = NO_SLICE_TASK,
		.name = trace_name(&rt->trace, call),
		.by = a_load(&rt->trace.waker, relaxed),
		.number = (uint64_t)LKDF_SPAN_WAIT << 48,
		.value = (uint64_t)syscall(SYS_gettid),
	};

	trace_slice_outside(trace_outside(&rt->trace), &s);
}
