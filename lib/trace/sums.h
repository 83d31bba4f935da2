/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sums of an executor that grow while it is recorded, each told when it has
 * grown: records that were lost, bytes of data by node. The drain thread only.
 */
#ifndef TRACE_SUMS_H
#define TRACE_SUMS_H

#include "trace/file.h"

struct before;
struct trace_ring;

void sums_lost(struct trace_file *f, struct trace_ring *r, uint32_t executor);

/* Those since recording began, which before has. */
void sums_bytes(struct trace_file *f, struct trace_ring *r, uint32_t executor,
		const struct before *before, uint64_t ticks);

#endif
