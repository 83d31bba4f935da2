/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of the model that sums up things of one name. */
#ifndef REPORT_MODEL_SUMS_H
#define REPORT_MODEL_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	uint64_t from, to; /* both 0: nowhere in particular */
	int32_t lane; /* -1: all */
};

/* All waits for room, or all others, of one name. */
struct wait_sum {
	uint32_t name;
	uint64_t fits; /* 0: not for room */
	uint64_t nr, total, max;
	struct place at; /* the longest */
};

/* A request or a region, and how long it took. */
struct request {
	uint32_t name; /* of the first task's kind, or the label */
	uint32_t root, nr_tasks; /* its first body, all bodies */
	bool is_region;
	uint64_t begin, latency;
};

/* All of one name. */
struct request_sum {
	uint32_t name, nr;
	bool is_region;
	uint64_t p50, p90, p99, p999, max;
	uint32_t first; /* in report.request, by latency */
};

/* All waits of tasks of one kind for tokens of a limit. */
struct limit {
	uint32_t name;
	uint16_t kind;
	uint64_t nr, total, max;
	struct place at; /* the longest */
};

/* Runs of loops of one name. */
struct loop_sum {
	uint16_t kind;
	uint64_t nr, nr_blocks; /* runs, bodies */
	uint64_t wall; /* from the begin of each to its last end */
	uint64_t uneven; /* threads that had ended waited for the last */
	uint64_t worst; /* the same, of one run: */
	struct place at;
};

/* Runs of a gang, or a region of OpenMP, of one name. */
struct team {
	uint16_t kind;
	uint32_t threads; /* at most */
	uint64_t nr, nr_bodies; /* runs, members */
	uint64_t wall; /* from the begin of each to its last end */
	uint64_t uneven; /* members that had ended waited for the last */
	uint64_t worst; /* the same, of one run: */
	struct place at;
};

#endif
