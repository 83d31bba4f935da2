/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Metrics that lkdf trace diff compares, and conditions of --fail-on. */
#ifndef TOOLS_TRACE_CONDITION_H
#define TOOLS_TRACE_CONDITION_H

#include "trace/timed.h"

#include <stdbool.h>

/* First those of a kind, then those of a recording. */
enum metric {
	COUNT,
	COUNT_S,
	TOTAL,
	TOTAL_S,
	MEAN,
	P50,
	P99,
	MAX,
	WALL,
	LOST,
	LOST_S,
	NR_METRICS
};

struct metric_row {
	const char *name, *json;
	bool is_time, is_rate; /* per second of the recording */
};

extern const struct metric_row metrics[NR_METRICS];

struct condition {
	enum metric metric;
	char kind[TRACE_TEXT]; /* "*": any; "": of the recording */
	bool is_above, is_relative;
	double bound; /* share of A, or a value of B */
};

/* Reads one condition, spoils its text; NULL, or what is wrong with it. */
const char *condition_read(char *text, struct condition *c);

/* For a value of A and one of B. */
bool condition_holds(const struct condition *c, double a, double b);

#endif
