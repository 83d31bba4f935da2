/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/timed.h"

#include <errno.h>
#include <string.h>

static void on_clock(void *u, uint64_t ticks, uint64_t ns)
{
	struct trace_timed *t = u;

	/* The first pair is the header's, which is known by now. */
	if (!t->clock.nr_pairs)
		t->error = trace_clock_init(&t->clock, &t->info.header);
	if (!t->error)
		t->error = trace_clock_add(&t->clock, ticks, ns);
}

int trace_timed_read(struct trace_timed *t, FILE *in,
		     const struct trace_sink *sink, struct trace_fault *fault)
{
	const struct trace_sink clocks = { .clock = on_clock, .u = t };
	int rc;

	memset(t, 0, sizeof(*t));
	rc = trace_read(in, &clocks, &t->info, fault);
	if (!t->clock.nr_pairs && t->info.header.magic)
		t->error = trace_clock_init(&t->clock, &t->info.header);
	trace_info_fini(&t->info);
	if (t->error)
		return t->error;
	if (rc && rc != -EBADMSG)
		return rc;
	return trace_read(in, sink, &t->info, fault);
}

void trace_timed_fini(struct trace_timed *t)
{
	trace_info_fini(&t->info);
	trace_clock_fini(&t->clock);
}
