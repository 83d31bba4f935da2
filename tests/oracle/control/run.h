/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* One run of a program in the library: its bodies, and what they leave. */
#ifndef TESTS_ORACLE_CONTROL_RUN_H
#define TESTS_ORACLE_CONTROL_RUN_H

#include "tests/oracle/control/channels.h"
#include "tests/oracle/control/data.h"
#include "tests/oracle/control/program.h"

#include <lkdf/lkdf.h>
#include <stdatomic.h>

/* One run in flight. */
struct run {
	const struct program *p;
	struct channels *channels;
	const struct variables *variables;
	struct lkdf_kind *child;
	int number;
	struct exchange exchange;
	atomic_int calls[MAX_TASKS];
	uint64_t seen[MAX_TASKS]; /* the task's calls, one after another */
};

/* The body of every task; arg: the task's number. */
int run_body(struct lkdf_ctx *c, void *arg);

/* Starts all runs of a program, or its stream, or one run if it has data. */
int run_start(const struct program *p, struct lkdf_graph *g, struct run *run,
	      struct lkdf_event *done);

/* Compares the error of a run, or of a stream whose last wave has that number.
 */
bool run_compare_error(int run, int error, bool has_failed);
bool run_compare(const struct program *p, const struct run *run,
		 const struct story *s);

#endif
