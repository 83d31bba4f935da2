/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * bench_numa REPORT [--out FILE] [--buffers RUNTIME PROGRAM]: one table from
 * the access counter's report, medians over the rounds, and bars. It counts
 * accesses, not time: how much of what the bodies and the runtime touch lies
 * on another node. --buffers prints where the words that are not data lie.
 * Exit status 1: a bar is missed, or a count is not what the program touches.
 */
#include "tests/bench/numa/tally.h"
#include "tools/bench_report.h"

#include <math.h>
#include <string.h>

#define BAR_REMOTE 0.02
#define WORKERS 8

static const char *const programs[] = { "stencil", "tree", "wave", "chol", "reduce", "local" };
static const char *const runtimes[] = { "static", "lkdf-strict", "lkdf-free", "lkdf-data", "lkdf-blind",
					"tbb",	  "libgomp",	 "libomp" };

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

static bool is_held_to_bar(const struct tally *t)
{
	return !strcmp(t->runtime, "lkdf-strict") ||
	       !strcmp(t->runtime, "static");
}

static void add_rows(struct report *r, const struct tally *t,
		     const struct tally *ideal)
{
	struct bench_row *row = add_share(r, t, &t->remote, "remote");

	row->floor = 100 * samples_median(&ideal->remote);
	if (is_held_to_bar(t))
		row_judge(row, BAR_AT_MOST, BAR_REMOTE, true);
	row = report_add(r, WORKERS, "KiB/task", "%s %s remote bytes",
			 t->program, t->runtime);
	row_value(row, &t->remote_per_task, 1024);
	row->floor = samples_median(&ideal->remote_per_task) / 1024;
	add_share(r, t, &t->busiest, "busiest node");
	add_share(r, t, &t->near, "near part");
	row = report_add(r, WORKERS, "1/task", "%s %s own accesses", t->program,
			 t->runtime);
	row_value(row, &t->own_per_task, 1);
	row = add_share(r, t, &t->own_remote, "own remote");
	if (!strcmp(t->runtime, "lkdf-strict") && !strcmp(t->program, "local"))
		row_judge(row, BAR_AT_MOST, BAR_REMOTE, true);
	row = report_add(r, WORKERS, "", "%s %s exact", t->program, t->runtime);
	row_verdict(row, !t->nr_wrong);
}

/* Bars of what was not run are there, and not resolved. */
static void add_absent(struct report *r, const char *program,
		       const char *runtime)
{
	struct bench_row *row =
		report_add(r, WORKERS, "%", "%s %s remote", program, runtime);

	snprintf(row->note, sizeof(row->note), "was not run");
	if (strcmp(runtime, "lkdf-strict"))
		return;
	row_judge(row, BAR_AT_MOST, BAR_REMOTE, true);
	if (strcmp(program, "local"))
		return;
	row = report_add(r, WORKERS, "%", "%s %s own remote", program, runtime);
	snprintf(row->note, sizeof(row->note), "was not run");
	row_judge(row, BAR_AT_MOST, BAR_REMOTE, true);
}

static void print_head(void)
{
	printf("%-8s %-12s %8s %8s %9s %8s %6s | %9s %8s %7s\n", "program",
	       "runtime", "remote %", "worst", "KiB/task", "busiest%", "near %",
	       "own/task", "remote %", "rounds");
}

static void print_tally(const struct tally *t)
{
	double near = 100 * samples_median(&t->near);
	char text[16];

	snprintf(text, sizeof(text), isfinite(near) ? "%.0f" : "-", near);
	printf("%-8s %-12s %8.2f %8.2f %9.1f %8.1f %6s | %9.0f %8.1f %7u%s\n",
	       t->program, t->runtime, 100 * samples_median(&t->remote),
	       100 * samples_quantile(&t->remote, 1),
	       samples_median(&t->remote_per_task) / 1024,
	       100 * samples_median(&t->busiest), text,
	       samples_median(&t->own_per_task),
	       100 * samples_median(&t->own_remote), t->remote.nr,
	       t->nr_wrong ? " WRONG" : "");
}

static void print_bar(const struct bench_row *row)
{
	static const char *const words[] = { "not resolved", "held", "MISSED" };

	printf("%-32s ", row->name);
	if (isfinite(row->ratio))
		printf("%.2f %% ", 100 * row->ratio);
	printf("(bar %.0f %%): %s", 100 * row->bar, words[row->ok]);
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

static void fill(struct report *r, const struct sections *s)
{
	static struct tally t, ideal;
	size_t i, n;

	print_head();
	for (i = 0; i < NR(programs); i++) {
		tally_of(&ideal, s, "static", programs[i]);
		for (n = 0; n < NR(runtimes); n++) {
			tally_of(&t, s, runtimes[n], programs[i]);
			if (!t.remote.nr && !t.nr_wrong) {
				add_absent(r, programs[i], runtimes[n]);
				continue;
			}
			print_tally(&t);
			add_rows(r, &t, &ideal);
		}
	}
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
