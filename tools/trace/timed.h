/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording read twice: its clock first, then its records, so that a writer
 * can say at once when each of them was.
 */
#ifndef TOOLS_TRACE_TIMED_H
#define TOOLS_TRACE_TIMED_H

#include "trace/clock.h"
#include "trace/read.h"

struct trace_timed {
	struct trace_clock clock;
	struct trace_info info; /* of the second time */
	int error; /* -ENOMEM while reading the clock */
};

/*
 * Reads all of in. sink's functions find the times by clock, whose origin is
 * CLOCK_MONOTONIC. Return: as trace_read().
 */
int trace_timed_read(struct trace_timed *t, FILE *in,
		     const struct trace_sink *sink, struct trace_fault *fault);
void trace_timed_fini(struct trace_timed *t);

/* The name of a name's number. */
static inline const char *trace_timed_name(const struct trace_timed *t,
					   uint32_t name)
{
	return t->info.name[name];
}

#endif
