/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Declarations that the suites of lkdf bench share. A suite measures its
 * contestants in interleaved rounds, each behind the gate, and adds rows to the
 * report; a row is judged by the ratio of two medians, never by a time.
 */
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

#include "bench/gate.h"
#include "bench/report.h"
#include "cli/cli.h"
#include "progress.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_MAX_COUNTS 64
#define BENCH_TASKS 65536 /* of a graph */

struct bench {
	bool is_quick;
	int workers[BENCH_MAX_COUNTS]; /* numbers of workers to measure with */
	unsigned nr_counts;
	bool is_told; /* by --workers */
	unsigned rounds; /* for the cheap rows; others take a part of it */
	const char *file, *dir; /* of io; file NULL: its own, in dir */
	const char *device; /* of device: "opencl" or "cuda" */
	struct gate gate;
	struct report report;
	struct progress progress;
};

struct bench_suite {
	const char *name;
	/* Work, in any unit, for the progress line. */
	double (*steps)(const struct bench *b);
	/* 0 or -errno, why is on stderr; NULL: lkdf-bench alone has it. */
	int (*run)(struct bench *b);
};

/* The suites that this program has, up to one without a name. */
extern const struct bench_suite bench_suites[];

/* This program is lkdf-bench, whose suites have all their rows. */
extern const bool bench_is_whole;

int bench_graph(struct bench *b);
double bench_graph_steps(const struct bench *b);
int bench_forkjoin(struct bench *b);
double bench_forkjoin_steps(const struct bench *b);
int bench_loop(struct bench *b);
double bench_loop_steps(const struct bench *b);
int bench_submit(struct bench *b);
double bench_submit_steps(const struct bench *b);
int bench_idle(struct bench *b);
double bench_idle_steps(const struct bench *b);
int bench_convoy(struct bench *b); /* of policy */
double bench_convoy_steps(const struct bench *b);
int bench_wake(struct bench *b);
double bench_wake_steps(const struct bench *b);

/* Shows the rows that are new, and how far it is. */
void bench_step(struct bench *b, double by, const char *what);

/* A step, before each round: waits for the CPUs and counts whether they came.
 */
void bench_round(struct bench *b, const char *what);

/* A runtime with so many workers; says why not on stderr. */
struct lkdf;
int bench_open(int nr_workers, const char *more, struct lkdf **out);

/* Says on stderr what went wrong and returns @rc. */
int bench_fail(int rc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int64_t bench_now_ns(void);
void bench_sleep_ns(int64_t ns);

#endif
