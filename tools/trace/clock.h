/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Ticks of a recording as ns of CLOCK_MONOTONIC: trace-format.rst, Words. */
#ifndef TOOLS_TRACE_CLOCK_H
#define TOOLS_TRACE_CLOCK_H

#include <lkdf/format.h>
#include <stddef.h>
#include <stdint.h>

struct trace_pair {
	uint64_t ticks, ns;
};

struct trace_clock {
	struct trace_pair *pair; /* by ticks, the header's first */
	size_t nr_pairs, cap, near; /* near: where the last look-up ended */
	uint32_t ticks_per_1024ns;
};

/* Return: 0; -ENOMEM. */
int trace_clock_init(struct trace_clock *c, const struct lkdf_file_header *h);
/* Both numbers are greater than the pair before. Return: 0; -ENOMEM. */
int trace_clock_add(struct trace_clock *c, uint64_t ticks, uint64_t ns);
/* Clipped to the range of the type. */
int64_t trace_clock_ns(struct trace_clock *c, uint64_t ticks);
void trace_clock_fini(struct trace_clock *c);

#endif
