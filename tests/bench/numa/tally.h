/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the sections of one runtime and program say, one sample per round.
 * Shares are 0 .. 1. "Own" is what is neither data nor inside a body: the
 * runtime's words, and those of the threads' stacks around it.
 */
#ifndef TESTS_BENCH_NUMA_TALLY_H
#define TESTS_BENCH_NUMA_TALLY_H

#include "tests/vm/plugin/sections.h"
#include "tools/bench/report.h"

struct tally {
	const char *runtime, *program;
	struct samples remote; /* remote bytes / bytes of data */
	struct samples remote_per_task; /* bytes */
	struct samples busiest; /* the busiest node's part of the bytes */
	struct samples near; /* part of remote bytes to a nearest node */
	struct samples own_per_task; /* accesses */
	struct samples own_remote; /* remote accesses / accesses */
	struct samples balance; /* most body time of a node / the mean */
	unsigned nr_wrong; /* rounds that cannot be right */
};

void tally_of(struct tally *t, const struct sections *s, const char *runtime,
	      const char *program);
/* The last round's words by mapping, most remote accesses first. */
void tally_print_buffers(const struct sections *s, const char *runtime,
			 const char *program);

#endif
