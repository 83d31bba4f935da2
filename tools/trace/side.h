/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf trace diff compares two sides. A side has the recordings of some runs of
 * the same program, and its values are the medians of theirs.
 */
#ifndef TOOLS_TRACE_SIDE_H
#define TOOLS_TRACE_SIDE_H

#include "durations.h"
#include "trace/condition.h"
#include "trace/timed.h"

#define SIDE_KINDS 4096
#define SIDE_RUNS 16
/* Instead of the number of a kind: the recording itself. */
#define SIDE_ALL SIDE_KINDS

/* Kinds of all recordings, as they come; both sides share them. */
struct side_kinds {
	unsigned nr;
	char name[SIDE_KINDS][TRACE_TEXT];
};

/* A recording. */
struct side_run {
	struct trace_timed timed;
	struct side_kinds *kinds;
	struct durations *of[SIDE_KINDS]; /* NULL: there are none */
	uint16_t by_name[LKDF_MAX_NAMES]; /* 1 + the kind */
	int64_t first_ns, last_ns;
	uint64_t lost;
	bool has_failed;
};

struct side {
	struct side_run *run[SIDE_RUNS];
	unsigned nr;
};

/* Adds a run to that side. Return: the exit code of a failure that is said. */
int side_read(struct side *s, struct side_kinds *kinds, const char *verb,
	      const char *path);
void side_free(struct side *s);

/* 0 where it has no bodies of that kind. */
double side_run_value(const struct side_run *r, unsigned kind, enum metric m);
/* The median of all runs. */
double side_value(const struct side *s, unsigned kind, enum metric m);

#endif
