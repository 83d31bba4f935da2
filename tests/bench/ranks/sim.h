/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All ranks of a program in one process, in virtual time. Each rank walks all
 * tasks in the order of submission, runs its own on some cores, first ready
 * first, and sends a version of a data to each rank that reads it: once, if
 * copies are kept until the next write, or once a task. A message takes its
 * bytes from the links of both ranks, one message at a time, and arrives after
 * the latency. A write waits for the readers of the version before, and until
 * its messages have left.
 */
#ifndef TESTS_BENCH_RANKS_SIM_H
#define TESTS_BENCH_RANKS_SIM_H

#include "tests/bench/ranks/shape.h"

struct sim_attr {
	uint32_t nr_cores; /* of a rank */
	double latency_ns, bytes_per_ns;
	double skip_ns; /* a task of another rank is walked past */
	double submit_ns; /* a task of this rank is submitted */
	bool drops_copies; /* a copy serves one task */
	bool forwards; /* a reader sends on to two more readers, as in a tree */
};

struct sim_result {
	uint64_t nr_messages, bytes;
	uint64_t copy_bytes; /* most that a rank keeps of others' data */
	double end_ns; /* of the last task */
	double walk_ns; /* the slowest rank has walked all tasks */
	double bound_ns; /* no run is faster: longest chain, busiest rank */
};

/* Return: false: no memory, or tasks that wait for each other. */
bool sim_run(const struct shape *s, const struct sim_attr *a,
	     struct sim_result *out);

#endif
