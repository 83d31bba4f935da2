/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Sums that the kernel's programs have seen of a run, for report/model.h. */
#ifndef REPORT_MODEL_PROBE_H
#define REPORT_MODEL_PROBE_H

#include "probe/where.h"

#include <stdint.h>

#define FUTEX_KINDS 6u
#define MAX_FUTEXES 64u

struct futex_kind {
	uint16_t kind; /* or NO_KIND */
	uint64_t sleeps, slept, samples;
};

/* A futex word in which bodies met, as the probe has it. */
struct futex {
	uint64_t address;
	uint64_t sleeps, slept; /* ns */
	uint64_t samples, waits; /* inside futex(2); of these to wait */
	uint64_t wait_nodes, wake_nodes; /* bits */
	uint64_t time; /* asleep, and on a CPU inside futex(2) */
	uint32_t nr_kinds;
	struct futex_kind kind[FUTEX_KINDS]; /* the most time first */
	uint64_t wakes; /* sleeps that a thread ended which the probe saw */
	uint32_t waker_tid, waker_name; /* the last one, the kind of its body */
	int32_t waker; /* its executor; -1: none */
	struct where where;
	char text[256]; /* where it lies */
};

#define MAX_STACKS 32u

/* Callers in bodies, as the probe has them. */
struct stack {
	uint32_t sort; /* enum lkdf_stack_sort */
	uint16_t kind; /* or NO_KIND */
	uint32_t futex; /* 1 + its word's number in report.futex; 0: none there
			 */
	uint64_t word, count;
	double share; /* of those of this sort and word */
	char frames[768]; /* a line each, the innermost first */
};

/* Threads of one name that got the CPU of a worker. */
#define PREEMPTORS 16

struct preemptor {
	char name[32];
	uint64_t nr;
};

/* A kind that fewer workers ran than there were, by events. */
#define NARROW_KINDS 16

struct narrow_kind {
	uint32_t name, workers; /* so many ran it, at last */
	uint32_t source; /* who has seen that its bodies meet */
	uint64_t since; /* NO_TIME: all run it */
	uint64_t ns; /* for so long so far */
};

#endif
