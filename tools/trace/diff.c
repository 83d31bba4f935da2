/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf trace diff: two recordings side by side, or several runs of each, and a
 * gate for CI.
 */
#include "cli/cli.h"
#include "json.h"
#include "trace/condition.h"
#include "trace/side.h"
#include "trace/verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char verb[] = "trace diff";

/* Recordings are of one length where the longer one is at most so much of the
 * other. */
#define ONE_LENGTH 1.05

/* With fewer runs all pairs agree by chance in more than one of 20 cases. */
#define LEAST_RUNS 5
#define CHANCE 0.05

struct diff_opts {
	struct cli_common common;
	const char *fail_on;
	long nr_runs; /* 0: one, without a test */
};

static const struct cli_row rows[] = {
	{ "fail-on", 'f', CLI_TEXT, offsetof(struct diff_opts, fail_on), "LIST",
	  "exit status 1 where one holds: p99:KIND>+10%,..." },
	{ "runs", 'r', CLI_INT, offsetof(struct diff_opts, nr_runs), "N",
	  "A and B are N recordings each, 5 to 16, of runs of one program" },
};

const struct cli_spec trace_diff_spec = {
	.verb = verb,
	.usage = "[--runs N] A ... B ... [--fail-on LIST] [--json]",
	.help = "Kinds of two recordings: how many bodies, how long they took.\n"
		"--fail-on: conditions METRIC:KIND>BOUND or METRIC:KIND<BOUND; "
		"METRIC is\ncount, total, mean, p50, p99, max, count/s or "
		"total/s, and of the recording\nwall, lost or lost/s, without "
		"a kind. KIND * is any. BOUND is +N% or -N%\nof what A has, or "
		"the value that B has, with ns, us, ms or s behind a time.\n"
		"p99:spmv>+10% holds where the 99th percentile of B is more "
		"than 1.1 times\nthat of A. /s is per second of its recording; "
		"these are shown where the\nlengths of the two, wall, differ "
		"by more than 5 %.\n"
		"--runs: values are medians, and a condition has to hold in a "
		"sign test of the\npairs A1 B1, A2 B2 and so on, too: chance "
		"has so many of them in less than one\nof 20 cases. For a "
		"share of A the sign is who has more.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 2 * SIDE_RUNS,
	.has_files = true,
	.without = CLI_NO_VERBOSE,
};

struct two {
	struct side side[2]; /* A and B, as many runs */
	struct side_kinds kinds;
};

static double value_of(const struct two *t, int side, unsigned kind,
		       enum metric m)
{
	return side_value(&t->side[side], kind, m);
}

static bool lengths_differ(const struct two *t)
{
	double a = value_of(t, 0, SIDE_ALL, WALL);
	double b = value_of(t, 1, SIDE_ALL, WALL);

	return fmax(a, b) > ONE_LENGTH * fmin(a, b);
}

/* ---- pairs of runs ------------------------------------------------------ */

/* In how many B has more. */
static unsigned nr_more(const struct two *t, unsigned kind, enum metric m)
{
	unsigned i, nr = 0;

	for (i = 0; i < t->side[0].nr; i++)
		nr += side_run_value(t->side[1].run[i], kind, m) >
		      side_run_value(t->side[0].run[i], kind, m);
	return nr;
}

/* So many of all pairs or more, where each goes either way as often. */
static double chance_of(unsigned nr, unsigned all)
{
	double ways = 1, sum = 0;
	unsigned k;

	for (k = 0; k <= all; k++) {
		if (k >= nr)
			sum += ways;
		ways = ways * (all - k) / (k + 1);
	}
	return sum / exp2(all);
}

/* A share of A is a matter of medians: pairs say only that there is a change.
 */
static struct condition sign_of(const struct condition *c)
{
	struct condition sign = *c;

	if (c->is_relative && (c->is_above ? c->bound > 0 : c->bound < 0))
		sign.bound = 0;
	return sign;
}

static unsigned nr_pairs(const struct two *t, const struct condition *c,
			 unsigned kind)
{
	struct condition sign = sign_of(c);
	unsigned i, nr = 0;

	for (i = 0; i < t->side[0].nr; i++)
		nr += condition_holds(
			&sign,
			side_run_value(t->side[0].run[i], kind, c->metric),
			side_run_value(t->side[1].run[i], kind, c->metric));
	return nr;
}

/* False where each side has one run: there is nothing to test. */
static bool is_by_chance(const struct two *t, const struct condition *c,
			 unsigned kind)
{
	unsigned all = t->side[0].nr;

	return all > 1 && chance_of(nr_pairs(t, c, kind), all) > CHANCE;
}

/* ---- output ------------------------------------------------------------- */

static void put_value(double v, enum metric m)
{
	if (!metrics[m].is_time)
		printf("%12.*f", metrics[m].is_rate && v < 100 ? 1 : 0, v);
	else if (v < 1e5)
		printf("%9.0f ns", v);
	else if (v < 1e8)
		printf("%9.1f us", v / 1e3);
	else
		printf("%9.1f ms", v / 1e6);
}

static void put_pair(const struct two *t, unsigned kind, enum metric m)
{
	double a = value_of(t, 0, kind, m), b = value_of(t, 1, kind, m);

	printf("  %-7s", metrics[m].name);
	put_value(a, m);
	put_value(b, m);
	if (a > 0)
		printf("  %+7.1f %%", (b / a - 1) * 100);
	else
		printf("  %9s", b > 0 ? "new" : "");
	if (t->side[0].nr > 1)
		printf("  more in %u of %u", nr_more(t, kind, m),
		       t->side[0].nr);
	putchar('\n');
}

/* A kind's, or the recording's. */
static enum metric first_of(unsigned kind)
{
	return kind == SIDE_ALL ? WALL : COUNT;
}

static enum metric end_of(unsigned kind)
{
	return kind == SIDE_ALL ? NR_METRICS : WALL;
}

static const char *name_of(const struct two *t, unsigned kind)
{
	return kind == SIDE_ALL ? "recording" : t->kinds.name[kind];
}

static void print_text(const struct two *t, unsigned kind)
{
	bool has_rates = lengths_differ(t);
	enum metric m;

	printf("%s\n", name_of(t, kind));
	for (m = first_of(kind); m < end_of(kind); m++)
		if (has_rates || !metrics[m].is_rate)
			put_pair(t, kind, m);
	if (has_rates && kind == SIDE_ALL)
		printf("  the lengths differ: what is counted is compared per "
		       "second, too\n");
}

static void print_more(struct json *j, const struct two *t, unsigned kind)
{
	enum metric m;

	json_open_flat(j, "more_in", '{');
	for (m = first_of(kind); m < end_of(kind); m++)
		json_int(j, metrics[m].json, nr_more(t, kind, m));
	json_close(j, '}');
}

static void print_json(struct json *j, const struct two *t, unsigned kind)
{
	enum metric m;
	int i;

	json_open(j, NULL, '{');
	json_text(j, "kind", name_of(t, kind));
	for (m = first_of(kind); m < end_of(kind); m++) {
		json_open_flat(j, metrics[m].json, '[');
		for (i = 0; i < 2; i++)
			json_number(j, NULL, value_of(t, i, kind, m));
		json_close(j, ']');
	}
	if (t->side[0].nr > 1)
		print_more(j, t, kind);
	json_close(j, '}');
}

static bool concerns(const struct condition *c, const struct two *t,
		     unsigned kind)
{
	if (kind == SIDE_ALL)
		return !c->kind[0] && c->metric >= WALL;
	return c->metric < WALL &&
	       (!strcmp(c->kind, "*") || !strcmp(c->kind, t->kinds.name[kind]));
}

/* True: it holds, which is said. */
static bool check_one(const struct two *t, const struct condition *c,
		      const char *text, unsigned kind)
{
	double a = value_of(t, 0, kind, c->metric);
	double b = value_of(t, 1, kind, c->metric);

	if (!condition_holds(c, a, b) || is_by_chance(t, c, kind))
		return false;
	fprintf(stderr, "lkdf trace diff: %s %s: %.0f, was %.0f: %s",
		metrics[c->metric].name, name_of(t, kind), b, a, text);
	if (t->side[0].nr > 1)
		fprintf(stderr, ", by %u of %u pairs", nr_pairs(t, c, kind),
			t->side[0].nr);
	fputc('\n', stderr);
	return true;
}

/* How many rows it concerns. */
static unsigned check_rows(const struct two *t, const struct condition *c,
			   const char *text, unsigned *nr_held)
{
	unsigned kind, nr = 0;

	for (kind = 0; kind < t->kinds.nr; kind++)
		if (concerns(c, t, kind)) {
			*nr_held += check_one(t, c, text, kind);
			nr++;
		}
	if (concerns(c, t, SIDE_ALL)) {
		*nr_held += check_one(t, c, text, SIDE_ALL);
		nr++;
	}
	return nr;
}

static int refuse(const char *text, const char *why)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, "p99:KIND>+10%" };

	return cli_fail(&e, "--fail-on \"%s\": %s", text, why);
}

/* 0, 1: one holds; or another exit code. */
static int check_all(const struct two *t, const char *list)
{
	char *copy = strdup(list), *at, *rest = NULL, whole[TRACE_TEXT * 2];
	unsigned nr_held = 0;
	struct condition c;
	const char *wrong;
	int code = CLI_OK;

	for (at = copy ? strtok_r(copy, ",", &rest) : NULL; at && code < 2;
	     at = strtok_r(NULL, ",", &rest)) {
		snprintf(whole, sizeof(whole), "%s", at);
		wrong = condition_read(at, &c);
		if (!wrong && !check_rows(t, &c, whole, &nr_held))
			wrong = "no such kind in either";
		if (wrong)
			code = refuse(whole, wrong);
	}
	free(copy);
	return code ? code : nr_held ? CLI_FINDINGS : CLI_OK;
}

static void print_all_json(const struct two *t, bool has_failed)
{
	struct json j;
	unsigned kind;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/trace_diff/1");
	json_bool(&j, "failed", has_failed);
	json_bool(&j, "lengths_differ", lengths_differ(t));
	json_int(&j, "runs", t->side[0].nr);
	json_open(&j, "kinds", '[');
	print_json(&j, t, SIDE_ALL);
	for (kind = 0; kind < t->kinds.nr; kind++)
		print_json(&j, t, kind);
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
}

static int diff(const struct two *t, const struct diff_opts *o)
{
	int code = o->fail_on ? check_all(t, o->fail_on) : CLI_OK;
	unsigned kind;

	if (code > CLI_FINDINGS || o->common.is_quiet)
		return code;
	if (o->common.is_json) {
		print_all_json(t, code != CLI_OK);
		return code;
	}
	if (t->side[0].nr > 1)
		printf("medians of %u runs each\n", t->side[0].nr);
	print_text(t, SIDE_ALL);
	for (kind = 0; kind < t->kinds.nr; kind++)
		print_text(t, kind);
	return code;
}

/* The number of runs of each side; 0: said what is wrong. */
static unsigned parse_runs(const struct diff_opts *o, int nr_words, int *code)
{
	struct cli_error e = { verb, CLI_USAGE, NULL,
			       "lkdf trace diff --help" };
	long nr = o->nr_runs ? o->nr_runs : 1;

	if (o->nr_runs && (nr < LEAST_RUNS || nr > SIDE_RUNS))
		*code = cli_fail(&e,
				 "--runs %ld: a sign test needs %d to %d runs",
				 nr, LEAST_RUNS, SIDE_RUNS);
	else if (nr_words != 2 * nr)
		*code = o->nr_runs
				? cli_fail(&e,
					   "--runs %ld wants %ld files, first "
					   "all of A: there are %d",
					   nr, 2 * nr, nr_words)
				: cli_fail(&e, "which two files?");
	else
		return (unsigned)nr;
	return 0;
}

int trace_diff(int argc, char **argv)
{
	struct diff_opts o = { .fail_on = NULL };
	struct two *t;
	unsigned i, nr;
	int code;

	if (!cli_parse(&trace_diff_spec, argc, argv, &o, &code))
		return code;
	nr = parse_runs(&o, cli_nr_words(argc, argv), &code);
	if (!nr)
		return code;
	t = calloc(1, sizeof(*t));
	if (!t)
		return CLI_ABSENT;
	for (i = 0, code = CLI_OK; i < 2 * nr && !code; i++)
		code = side_read(&t->side[i / nr], &t->kinds, verb,
				 argv[1 + i]);
	if (!code)
		code = diff(t, &o);
	side_free(&t->side[0]);
	side_free(&t->side[1]);
	free(t);
	return code;
}
