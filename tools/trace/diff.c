/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace diff: two recordings side by side, and a gate for CI. */
#include "cli/cli.h"
#include "durations.h"
#include "json.h"
#include "trace/condition.h"
#include "trace/timed.h"
#include "trace/verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char verb[] = "trace diff";

#define MAX_KINDS 4096
/* Recordings are of one length where the longer one is at most so much of the
 * other. */
#define ONE_LENGTH 1.05

struct diff_opts {
	struct cli_common common;
	const char *fail_on;
};

static const struct cli_row rows[] = {
	{ "fail-on", 'f', CLI_TEXT, offsetof(struct diff_opts, fail_on), "LIST",
	  "exit status 1 where one holds: p99:KIND>+10%,..." },
};

const struct cli_spec trace_diff_spec = {
	.verb = verb,
	.usage = "A B [--fail-on LIST] [--json]",
	.help = "Kinds of two recordings: how many bodies, how long they took.\n"
		"--fail-on: conditions METRIC:KIND>BOUND or METRIC:KIND<BOUND; "
		"METRIC is\ncount, total, mean, p50, p99, max, count/s or "
		"total/s, and of the recording\nwall, lost or lost/s, without "
		"a kind. KIND * is any. BOUND is +N% or -N%\nof what A has, or "
		"the value that B has, with ns, us, ms or s behind a time.\n"
		"p99:spmv>+10% holds where the 99th percentile of B is more "
		"than 1.1 times\nthat of A. /s is per second of its recording; "
		"these are shown where the\nlengths of the two, wall, differ "
		"by more than 5 %.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 2,
	.has_files = true,
	.without = CLI_NO_VERBOSE,
};

struct kind {
	char name[TRACE_TEXT];
	struct durations d;
};

struct side {
	struct trace_timed timed;
	struct kind *kind[MAX_KINDS];
	unsigned nr;
	struct kind *by_name[LKDF_MAX_NAMES];
	int64_t first_ns, last_ns;
	uint64_t lost;
	bool has_failed;
};

/* ---- reading ------------------------------------------------------------- */

static struct kind *find_kind(struct side *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->kind[i]->name, name))
			return s->kind[i];
	return NULL;
}

static struct kind *kind_of(struct side *s, uint32_t number)
{
	const char *name = trace_timed_name(&s->timed, number);
	struct kind *k = s->by_name[number];

	if (k)
		return k;
	k = find_kind(s, name);
	if (!k && s->nr < MAX_KINDS)
		k = calloc(1, sizeof(*k));
	if (!k) {
		s->has_failed = true;
		return NULL;
	}
	if (!k->name[0]) {
		snprintf(k->name, sizeof(k->name), "%s", name);
		s->kind[s->nr++] = k;
	}
	s->by_name[number] = k;
	return k;
}

static void on_slice(void *u, const struct trace_slice *x)
{
	struct side *s = u;
	int64_t begin = trace_clock_ns(&s->timed.clock, x->begin);
	int64_t end = trace_clock_ns(&s->timed.clock, x->end);
	struct kind *k = kind_of(s, x->name);

	if (k)
		durations_add(&k->d, end > begin ? (uint64_t)(end - begin) : 0);
	if (!s->last_ns || begin < s->first_ns)
		s->first_ns = begin;
	if (end > s->last_ns)
		s->last_ns = end;
}

static void side_free(struct side *s)
{
	if (!s)
		return;
	while (s->nr)
		free(s->kind[--s->nr]);
	free(s);
}

static int no_memory(void)
{
	struct cli_error e = { verb, CLI_ABSENT, NULL, NULL };

	return cli_fail(&e, "no memory");
}

/* NULL: said why, and the exit code is in *code. */
static struct side *read_side(const char *path, int *code)
{
	struct side *s = calloc(1, sizeof(*s));
	const struct trace_sink sink = { .slice = on_slice, .u = s };
	struct trace_fault fault;
	FILE *in = s ? trace_input(verb, path, code) : NULL;
	int rc;

	if (!s)
		*code = no_memory();
	if (!in) {
		free(s);
		return NULL;
	}
	rc = trace_timed_read(&s->timed, in, &sink, &fault);
	s->lost = s->timed.info.slices_lost;
	fclose(in);
	trace_timed_fini(&s->timed);
	if (!rc && !s->has_failed)
		return s;
	*code = rc ? trace_refuse(verb, path, rc, &fault) : no_memory();
	side_free(s);
	return NULL;
}

/* ---- metrics ------------------------------------------------------------ */

static double length_of(const struct side *s)
{
	return (double)(s->last_ns - s->first_ns);
}

/* 0 where the recording has no length. */
static double per_second(const struct side *s, double v)
{
	return length_of(s) > 0 ? v / length_of(s) * 1e9 : 0;
}

static bool lengths_differ(const struct side *const s[2])
{
	double a = length_of(s[0]), b = length_of(s[1]);

	return fmax(a, b) > ONE_LENGTH * fmin(a, b);
}

static double value_of(const struct side *s, const struct kind *k,
		       enum metric m)
{
	const struct durations none = { .nr = 0 };
	const struct durations *d = k ? &k->d : &none;

	switch (m) {
	case COUNT:
		return (double)d->nr;
	case COUNT_S:
		return per_second(s, (double)d->nr);
	case TOTAL:
		return (double)d->total;
	case TOTAL_S:
		return per_second(s, (double)d->total);
	case MEAN:
		return d->nr ? (double)d->total / (double)d->nr : 0;
	case P50:
		return (double)durations_quantile(d, 0.5);
	case P99:
		return (double)durations_quantile(d, 0.99);
	case MAX:
		return (double)d->longest;
	case WALL:
		return length_of(s);
	case LOST_S:
		return per_second(s, (double)s->lost);
	default:
		return (double)s->lost;
	}
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

static void put_pair(const struct side *const s[2],
		     const struct kind *const k[2], enum metric m)
{
	double a = value_of(s[0], k[0], m), b = value_of(s[1], k[1], m);

	printf("  %-7s", metrics[m].name);
	put_value(a, m);
	put_value(b, m);
	if (a > 0)
		printf("  %+7.1f %%\n", (b / a - 1) * 100);
	else
		printf("  %9s\n", b > 0 ? "new" : "");
}

/* Without a kind they are the recording's. */
static enum metric first_of(const struct kind *const k[2])
{
	return k[0] || k[1] ? COUNT : WALL;
}

static enum metric end_of(const struct kind *const k[2])
{
	return k[0] || k[1] ? WALL : NR_METRICS;
}

static void print_text(const struct side *const s[2],
		       const struct kind *const k[2], const char *name)
{
	bool has_rates = lengths_differ(s);
	enum metric m;

	printf("%s\n", name);
	for (m = first_of(k); m < end_of(k); m++)
		if (has_rates || !metrics[m].is_rate)
			put_pair(s, k, m);
	if (has_rates && !k[0] && !k[1])
		printf("  the lengths differ: what is counted is compared per "
		       "second, too\n");
}

static void print_json(struct json *j, const struct side *const s[2],
		       const struct kind *const k[2], const char *name)
{
	enum metric m;
	int i;

	json_open(j, NULL, '{');
	json_text(j, "kind", name);
	for (m = first_of(k); m < end_of(k); m++) {
		json_open_flat(j, metrics[m].json, '[');
		for (i = 0; i < 2; i++)
			json_number(j, NULL, value_of(s[i], k[i], m));
		json_close(j, ']');
	}
	json_close(j, '}');
}

/* Each kind of A or B, and the recording itself with both NULL. */
static void for_each(struct side *s[2],
		     void (*fn)(void *u, const struct kind *const k[2],
				const char *name),
		     void *u)
{
	const struct kind *k[2] = { NULL, NULL };
	unsigned i;

	fn(u, k, "recording");
	for (i = 0; i < s[0]->nr; i++) {
		k[0] = s[0]->kind[i];
		k[1] = find_kind(s[1], k[0]->name);
		fn(u, k, k[0]->name);
	}
	k[0] = NULL;
	for (i = 0; i < s[1]->nr; i++) {
		k[1] = s[1]->kind[i];
		if (!find_kind(s[0], k[1]->name))
			fn(u, k, k[1]->name);
	}
}

struct printer {
	const struct side *s[2];
	struct json *json; /* NULL: text */
	const struct condition *c; /* NULL: print all */
	const char *text; /* of the condition */
	bool is_quiet;
	unsigned nr_rows, nr_held;
};

static void print_one(void *u, const struct kind *const k[2], const char *name)
{
	struct printer *p = u;

	if (p->json)
		print_json(p->json, p->s, k, name);
	else
		print_text(p->s, k, name);
}

static void check_one(void *u, const struct kind *const k[2], const char *name)
{
	struct printer *p = u;
	const struct condition *c = p->c;
	bool is_all = !k[0] && !k[1];
	double a, b;

	if (is_all ? c->kind[0] != '\0'
		   : strcmp(c->kind, "*") && strcmp(c->kind, name))
		return;
	if (is_all != (c->metric >= WALL))
		return;
	p->nr_rows++;
	a = value_of(p->s[0], k[0], c->metric);
	b = value_of(p->s[1], k[1], c->metric);
	if (!condition_holds(c, a, b))
		return;
	p->nr_held++;
	fprintf(stderr, "lkdf trace diff: %s %s: %.0f, was %.0f: %s\n",
		metrics[c->metric].name, name, b, a, p->text);
}

static int refuse(const char *text, const char *why)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, "p99:KIND>+10%" };

	return cli_fail(&e, "--fail-on \"%s\": %s", text, why);
}

/* 0, 1: one holds; or another exit code. */
static int check_all(struct side *s[2], const char *list)
{
	char *copy = strdup(list), *at, *rest = NULL, whole[TRACE_TEXT * 2];
	struct printer p = { .s = { s[0], s[1] } };
	struct condition c;
	const char *wrong;
	int code = CLI_OK;

	for (at = copy ? strtok_r(copy, ",", &rest) : NULL; at && code < 2;
	     at = strtok_r(NULL, ",", &rest)) {
		snprintf(whole, sizeof(whole), "%s", at);
		wrong = condition_read(at, &c);
		p.c = &c;
		p.text = whole;
		p.nr_rows = 0;
		if (!wrong)
			for_each(s, check_one, &p);
		if (!wrong && !p.nr_rows)
			wrong = "no such kind in either";
		if (wrong)
			code = refuse(whole, wrong);
	}
	free(copy);
	return code ? code : p.nr_held ? CLI_FINDINGS : CLI_OK;
}

static int diff(struct side *s[2], const struct diff_opts *o)
{
	struct printer p = { .s = { s[0], s[1] } };
	struct json j;
	int code = o->fail_on ? check_all(s, o->fail_on) : CLI_OK;

	if (code > CLI_FINDINGS || o->common.is_quiet)
		return code;
	if (o->common.is_json) {
		json_init(&j, stdout);
		json_open(&j, NULL, '{');
		json_text(&j, "schema", "lkdf/trace_diff/1");
		json_bool(&j, "failed", code != CLI_OK);
		json_bool(&j, "lengths_differ", lengths_differ(p.s));
		json_open(&j, "kinds", '[');
		p.json = &j;
	}
	for_each(s, print_one, &p);
	if (o->common.is_json) {
		json_close(&j, ']');
		json_close(&j, '}');
		putchar('\n');
	}
	return code;
}

int trace_diff(int argc, char **argv)
{
	struct cli_error e = { verb, CLI_USAGE, NULL,
			       "lkdf trace diff --help" };
	struct diff_opts o = { .fail_on = NULL };
	struct side *s[2];
	int code;

	if (!cli_parse(&trace_diff_spec, argc, argv, &o, &code))
		return code;
	if (cli_nr_words(argc, argv) != 2)
		return cli_fail(&e, "which two files?");
	s[0] = read_side(argv[1], &code);
	s[1] = s[0] ? read_side(argv[2], &code) : NULL;
	if (s[1])
		code = diff(s, &o);
	side_free(s[0]);
	side_free(s[1]);
	return code;
}
