/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * bench_numa REPORT [--out FILE] [--buffers RUNTIME PROGRAM]: one table from
 * the access counter's report, medians over the rounds, and bars. It counts
 * accesses, not time: how much of what the bodies and the runtime touch lies
 * on another node. --buffers prints where the words that are not data lie.
 * Exit status 1: a bar is missed, or a count is not what the program touches.
 */
#include "tests/bench/numa/tally.h"
#include "tools/bench/report.h"

#include <math.h>
#include <string.h>

#define BAR_OWN 0.02
#define BAR_PLACED 3 /* times fewer remote bytes */
#define BAR_BALANCE 1.10 /* most body time of a node / the mean */
#define BAR_STAY 0.002 /* remote, more or less than the plan says */
#define WORKERS 8

static const struct bars {
	const char *program;
	double bound; /* remote, of tasks that are bound to their owners */
	/* Of tasks that the library places from their data; 0: none. */
	double remote, worst, busiest;
	/* The same, and nobody takes work from another node: of Cholesky's
	 * factors alone it is 20.5 %, but tiles are filled first. */
	double stay;
} programs[] = {
	{ "stencil", 0.02, 0.005, 0.03, 0.30, 0 },
	{ "skewed", 0.02, 0.09, 0, 0, 0 },
	{ "tree", 0.02, 0.015, 0.05, 0.30, 0.010 },
	{ "wave", 0.07, 0.1184, 0.17, 0.30, 0.118 },
	{ "chol", 0.19, 0.2244, 0.30, 0.34, 0.224 },
	{ "reduce", 0.02, 0.007, 0.05, 0.30, 0.006 },
	{ "local", 0.02, 0, 0, 0, 0 },
};

enum {
	STATIC,
	STRICT,
	FREE,
	DATA,
	STAY,
	STILL,
	BLIND,
	TBB,
	GOMP,
	OMP,
	NR_RUNTIMES
};
static const char *const runtimes[NR_RUNTIMES] = {
	"static",     "lkdf-strict", "lkdf-free", "lkdf-data", "lkdf-stay",
	"lkdf-still", "lkdf-blind",  "tbb",	  "libgomp",   "libomp",
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static double half_spread(const struct samples *s)
{
	return (samples_quantile(s, 0.75) - samples_quantile(s, 0.25)) / 2;
}

/* A share as a row: the value in percent, the ratio as it is. */
static struct bench_row *add_share(struct report *r, const struct tally *t,
				   const struct samples *s, const char *what)
{
	struct bench_row *row = report_add(r, WORKERS, "%", "%s %s %s",
					   t->program, t->runtime, what);

	row_value(row, s, 0.01);
	row->ratio = samples_median(s);
	row->spread = half_spread(s);
	return row;
}

/* Where most of the data is used by whom is a matter of the graph alone. */
static void judge_remote(struct bench_row *row, const struct bars *b, int which)
{
	if (which == STATIC || which == STRICT)
		row_judge(row, BAR_AT_MOST, b->bound, true);
	else if (which == DATA && b->remote > 0)
		row_judge(row, BAR_AT_MOST, b->remote, true);
}

/* The plan's own share, which nothing but the plan decides. */
static void add_stay(struct report *r, const struct tally *t,
		     const struct bars *b)
{
	struct bench_row *row;
	struct samples off = { .nr = 0 };

	samples_add(&off, fabs(samples_median(&t->remote) - b->stay));
	row = add_share(r, t, &off, "off the plan");
	row_judge(row, BAR_AT_MOST, BAR_STAY, true);
}

static void add_balance(struct report *r, const struct tally *t, int which)
{
	struct bench_row *row = report_add(r, WORKERS, "", "%s %s balance",
					   t->program, t->runtime);

	row->ratio = samples_median(&t->balance);
	row->spread = half_spread(&t->balance);
	if (which == DATA)
		row_judge(row, BAR_AT_MOST, BAR_BALANCE, true);
}

static void add_worst(struct report *r, const struct tally *t,
		      const struct bars *b)
{
	struct samples one = { .nr = 0 };
	struct bench_row *row;

	samples_add(&one, samples_quantile(&t->remote, 1));
	row = add_share(r, t, &one, "remote, worst round");
	row_judge(row, BAR_AT_MOST, b->worst, true);
}

static void add_rows(struct report *r, const struct tally *t,
		     const struct tally *ideal, const struct bars *b, int which)
{
	struct bench_row *row = add_share(r, t, &t->remote, "remote");

	row->floor = 100 * samples_median(&ideal->remote);
	judge_remote(row, b, which);
	row = report_add(r, WORKERS, "KiB/task", "%s %s remote bytes",
			 t->program, t->runtime);
	row_value(row, &t->remote_per_task, 1024);
	row->floor = samples_median(&ideal->remote_per_task) / 1024;
	row = add_share(r, t, &t->busiest, "busiest node");
	if (which == DATA && b->busiest > 0) {
		row_judge(row, BAR_AT_MOST, b->busiest, true);
		add_worst(r, t, b);
	}
	if (which == STAY && !t->balance.nr && b->busiest > 0)
		add_stay(r, t, b);
	if (t->balance.nr)
		add_balance(r, t, which);
	add_share(r, t, &t->near, "near part");
	row = report_add(r, WORKERS, "1/task", "%s %s own accesses", t->program,
			 t->runtime);
	row_value(row, &t->own_per_task, 1);
	row = add_share(r, t, &t->own_remote, "own remote");
	if (which == STRICT && !strcmp(t->program, "local"))
		row_judge(row, BAR_AT_MOST, BAR_OWN, true);
	row = report_add(r, WORKERS, "", "%s %s exact", t->program, t->runtime);
	row_verdict(row, !t->nr_wrong);
}

/* Bars of what was not run are there, and not resolved. */
static void add_absent(struct report *r, const struct bars *b, int which)
{
	struct bench_row *row = report_add(r, WORKERS, "%", "%s %s remote",
					   b->program, runtimes[which]);

	snprintf(row->note, sizeof(row->note), "was not run");
	if (which != STATIC)
		judge_remote(row, b, which);
	if (which != STRICT || strcmp(b->program, "local"))
		return;
	row = report_add(r, WORKERS, "%", "%s %s own remote", b->program,
			 runtimes[which]);
	snprintf(row->note, sizeof(row->note), "was not run");
	row_judge(row, BAR_AT_MOST, BAR_OWN, true);
}

/* What placement is worth where blocks are used again and again. */
static void add_placed(struct report *r, const char *program, double placed,
		       double blind)
{
	struct bench_row *row;

	if (strcmp(program, "stencil") || !isfinite(placed) || !isfinite(blind))
		return;
	row = report_add(r, WORKERS, "", "%s remote bytes without placement",
			 program);
	row->ratio = blind / placed;
	row_judge(row, BAR_AT_LEAST, BAR_PLACED, true);
}

static void print_head(void)
{
	printf("%-8s %-12s %8s %8s %9s %8s %8s %6s | %9s %8s %7s\n", "program",
	       "runtime", "remote %", "worst", "KiB/task", "busiest%",
	       "balance%", "near %", "own/task", "remote %", "rounds");
}

/* Where nothing was measured: a dash. */
static void put_percent(char *text, size_t size, double share)
{
	snprintf(text, size, isfinite(share) ? "%.0f" : "-", 100 * share);
}

static void print_tally(const struct tally *t)
{
	char near[16], balance[16];

	put_percent(near, sizeof(near), samples_median(&t->near));
	put_percent(balance, sizeof(balance), samples_median(&t->balance));
	printf("%-8s %-12s %8.2f %8.2f %9.1f %8.1f %8s %6s | %9.0f %8.1f "
	       "%7u%s\n",
	       t->program, t->runtime, 100 * samples_median(&t->remote),
	       100 * samples_quantile(&t->remote, 1),
	       samples_median(&t->remote_per_task) / 1024,
	       100 * samples_median(&t->busiest), balance, near,
	       samples_median(&t->own_per_task),
	       100 * samples_median(&t->own_remote), t->remote.nr,
	       t->nr_wrong ? " WRONG" : "");
}

static void print_bar(const struct bench_row *row)
{
	static const char *const words[] = { "not resolved", "held", "MISSED" };

	printf("%-40s ", row->name);
	if (row->dir == BAR_AT_LEAST) {
		printf("%.1f times (bar %.0f)", row->ratio, row->bar);
	} else {
		if (isfinite(row->ratio))
			printf("%.2f %% ", 100 * row->ratio);
		printf("(bar %.1f %%)", 100 * row->bar);
	}
	printf(": %s", words[row->ok]);
	printf("%s%s\n", row->note[0] ? ", " : "", row->note);
}

static void print_bars(const struct report *r)
{
	const struct bench_row *row;

	for (row = r->row; row < r->row + r->nr; row++) {
		if (row->dir != BAR_NONE)
			print_bar(row);
		else if (row->ok == ROW_FALSE)
			printf("%-32s not what the program touches\n",
			       row->name);
	}
}

static void fill_program(struct report *r, const struct sections *s,
			 const struct bars *b)
{
	static struct tally t, ideal;
	double remote[NR_RUNTIMES];
	int i;

	tally_of(&ideal, s, runtimes[STATIC], b->program);
	for (i = 0; i < NR_RUNTIMES; i++) {
		tally_of(&t, s, runtimes[i], b->program);
		remote[i] = samples_median(&t.remote);
		if (!t.remote.nr && !t.nr_wrong) {
			add_absent(r, b, i);
			continue;
		}
		print_tally(&t);
		add_rows(r, &t, &ideal, b, i);
	}
	add_placed(r, b->program, remote[DATA], remote[BLIND]);
}

static void fill(struct report *r, const struct sections *s)
{
	size_t i;

	print_head();
	for (i = 0; i < NR(programs); i++)
		fill_program(r, s, &programs[i]);
	print_bars(r);
}

static int save(const struct report *r, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out) {
		perror(path);
		return 2;
	}
	report_json(r, out);
	return fclose(out) ? 2 : 0;
}

int main(int argc, char **argv)
{
	const char *out = NULL;
	struct sections s;
	struct report r;
	int i, rc = 2;

	if (argc < 2 || sections_read(&s, argv[1]))
		return 2;
	report_init(&r, "numa");
	for (i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--out") && i + 1 < argc)
			out = argv[++i];
		else if (!strcmp(argv[i], "--buffers") && i + 2 < argc) {
			tally_print_buffers(&s, argv[i + 1], argv[i + 2]);
			i += 2;
			rc = 0;
		}
	}
	if (rc) {
		fill(&r, &s);
		rc = report_has_false(&r);
		if (out && save(&r, out))
			rc = 2;
	}
	report_fini(&r);
	sections_fini(&s);
	return rc;
}
