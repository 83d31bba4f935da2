/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How long each thread of the process ran, waited for a CPU and slept, as the
 * kernel counts it (/proc/self/task/TID/schedstat): no privilege is needed.
 * The drain thread only.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include "trace/file.h"

struct trace;

/* Threads beyond that are not sampled. */
#define MAX_THREADS 4096

struct thread_row {
	uint32_t tid, executor;
	uint64_t cpu_ns, queue_ns, times; /* as told last */
	uint64_t system_ns, faults; /* the same */
	uint32_t round; /* seen last */
	char name[16];
};

struct threads {
	const struct trace *t;
	struct thread_row *rows; /* MAX_THREADS, by tid; NULL: no memory */
	uint32_t nr, round;
};

void threads_init(struct threads *t, const struct trace *trace);
void threads_fini(struct threads *t);

/* Tells those that have run since the last time, or all of them. */
void threads_sample(struct threads *t, struct trace_file *f, uint64_t ticks,
		    bool all);

#endif
