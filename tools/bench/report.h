/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Samples, rows and how they are judged and printed. Numbers that were not
 * measured are NAN.
 */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#define SAMPLES_MAX 256

struct samples {
	double v[SAMPLES_MAX];
	unsigned nr;
};

/* Drops what does not fit. */
void samples_add(struct samples *s, double v);
/* The q'th part from below, 0 .. 1; NAN without samples. */
double samples_quantile(const struct samples *s, double q);
double samples_median(const struct samples *s);

enum row_bar {
	BAR_NONE,
	BAR_AT_MOST,
	BAR_AT_LEAST
};
enum row_ok {
	ROW_NULL,
	ROW_TRUE,
	ROW_FALSE
};

struct bench_row {
	char name[48], peer[24], note[96], unit[16];
	bool has_no_peer; /* what peer names is absent */
	int workers;
	double value, best, floor, peer_value;
	double ratio, spread, bar;
	enum row_bar dir;
	enum row_ok ok;
};

struct report {
	const char *suite;
	struct bench_row *row;
	unsigned nr, room;
	bool is_quick; /* fewer rounds: the object says so */
	FILE *out; /* gets rows as they come; NULL: nobody does */
	unsigned nr_shown; /* there */
};

void report_init(struct report *r, const char *suite);
void report_fini(struct report *r);

/*
 * A new last row; valid until the next one is added. Ends the program when
 * memory is out.
 */
struct bench_row *report_add(struct report *r, int workers, const char *unit,
			     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* value and 10 % quantile, divided by @per. */
void row_value(struct bench_row *row, const struct samples *s, double per);

/* ratio = median(num) / median(den); its spread from the rounds' ratios. */
void row_ratio(struct bench_row *row, const struct samples *num,
	       const struct samples *den);

/*
 * The peer and the median of what it needed. False: it gave no samples, and the
 * row says "absent"; or in its note @why, unless that is NULL or "" or says so.
 */
bool row_peer(struct bench_row *row, const char *peer, const struct samples *s,
	      const char *why);

/*
 * Judges the ratio. Null where it was not measured, where the machine was not
 * fair, and where the spread is wider than the distance to the bar.
 */
void row_judge(struct bench_row *row, enum row_bar dir, double bar,
	       bool is_fair);

/* A row that is right or wrong, without a ratio. */
void row_verdict(struct bench_row *row, bool good);

/* A head now, and each row as text when report_show() finds it. */
void report_start(struct report *r, FILE *out, bool is_verbose);
/* The rows that are new, all of which are complete. */
void report_show(struct report *r);
/* Those, and how many bars held. */
void report_end(struct report *r);
/* All three at once. */
void report_text(struct report *r, FILE *out, bool is_verbose);
void report_json(const struct report *r, FILE *out);
bool report_has_false(const struct report *r);

#endif
