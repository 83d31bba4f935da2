/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A process that is looked at by the probe's maps: as of the look before. */
#ifndef TOOLS_PROBE_FUTEX_VIEW_H
#define TOOLS_PROBE_FUTEX_VIEW_H

#include "probe/futex.h"

/* A thread that is seen: which slot it has, and since when it counts. */
struct seen {
	uint32_t slot, gen, runtime, executor, tid;
	bool is_worker; /* or of a blocking pool */
	struct lkdf_probe_slot before;
};

struct futex_view {
	int pid;
	struct pins pins;
	struct stats_map runtime[FUTEX_RUNTIMES];
	uint32_t nr_runtimes, nr_seen;
	struct seen *seen;
	struct lkdf_probe_word *before; /* the table of the last look */
	struct lkdf_probe_stack *stacks; /* the same of stacks; or NULL */
	uint64_t lost; /* words of the last look */
	uint64_t missed; /* as lost, of head.missed */
	double at;
};

/* Counters of one owner never go down; else it is another's by now. */
static inline uint64_t futex_since(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0;
}

/* NULL: it is not of this process, or of a thread that is gone. */
const struct seen *futex_owner(const struct futex_view *v, uint32_t slot,
			       uint32_t gen);

/* The stacks that were taken since the look before. */
void futex_add_stacks(struct futex_view *v, struct futex_report *r);

#endif
