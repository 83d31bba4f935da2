/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runs of lkdf try: the same command with several numbers of workers. The
 * first one is what others are compared with.
 */
#ifndef REPORT_TRY_H
#define REPORT_TRY_H

#include "report/pmu.h"

#define MAX_RUNS 16
/* A kind is slower together from so many times on, if it has such a share. */
#define SLOWER 1.5
#define LEAST_SHARE 0.05
/* So many bodies more or less are another amount of work. */
#define OTHER_WORK 0.1
/* Bodies that had no CPU for such a share of time are not judged. */
#define MOST_TAKEN 0.1

struct run {
	unsigned workers;
	uint64_t elapsed; /* ns of the command */
	struct report report;
	struct pmu_counts *counts; /* by kind; NULL: not known */
	uint64_t counts_lost; /* samples */
};

#define MAX_LINES 5

/* A cache line whose changes CPUs fetched from one another. */
struct line {
	char address[32];
	char share[16]; /* of all such loads, as perf has it: "99.30%" */
};

struct tried {
	const char *command;
	unsigned nr;
	struct run run[MAX_RUNS];
	int pmu_error; /* 0, or -errno: why there are no counts */
	bool has_lines; /* perf c2c has said which */
	char lines_why[128]; /* "": nobody asked; else why it has not */
	unsigned nr_lines;
	struct line line[MAX_LINES];
};

/* try_run.c: its standard output goes to standard error; ns: NULL, or how long
 * it ran. The exit code. */
int try_run_command(char **command, struct pmu *p, uint64_t *ns);
/* With its kinds. 0, or a negative errno. */
int try_read_recording(struct report *r, const char *path);

/* try_judge.c */
double try_mean(const struct kind *k);
/* Others are compared with the first run that has bodies. */
const struct run *try_base(const struct tried *t);
/* NULL: that run had no such kind. */
const struct kind *try_kind(const struct run *run, const char *name);
/* Each body had a CPU: else its time is that of others. */
bool try_is_judged(const struct run *run);
/* The time by which the table shows it: of a body, of a loop that of all. */
double try_shown(const struct kind *k);
/* It has another number of bodies than in the first run: not compared. */
bool try_is_other_work(const struct tried *t, const struct run *run,
		       const char *name);
/* How many times as long as in the first run; 0: not to be told. */
double try_times(const struct tried *t, const struct run *run,
		 const char *name);
const char *try_meaning(const struct run *run, const struct kind *k);
/* Counts of a kind; NULL: not known. */
const struct pmu_counts *try_counts(const struct run *run, const char *name);
double try_ipc(const struct pmu_counts *c);
/* Among a thousand instructions, how many missed the last cache. */
double try_misses(const struct pmu_counts *c);

/* The sentences that the text and the page have. */
void try_say_all(const struct tried *t, FILE *out);

void try_print_text(const struct tried *t, FILE *out);
void try_print_json(const struct tried *t);
/* A page without scripts. */
void try_print_html(const struct tried *t, FILE *out);

/*
 * The caller has argv run once more, under perf c2c, whose data are made in
 * dir: the lines of t, or why there are none.
 */
void try_find_lines(struct tried *t, const char *dir, char **argv);

#endif
