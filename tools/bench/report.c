/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "bench/report.h"
#include "bench/machine.h"
#include "cli/cli.h"
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void samples_add(struct samples *s, double v)
{
	if (s->nr < SAMPLES_MAX)
		s->v[s->nr++] = v;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double samples_quantile(const struct samples *s, double q)
{
	double sorted[SAMPLES_MAX], at;
	unsigned low;

	if (!s->nr)
		return NAN;
	memcpy(sorted, s->v, s->nr * sizeof(s->v[0]));
	qsort(sorted, s->nr, sizeof(sorted[0]), compare);
	at = q * (s->nr - 1);
	low = (unsigned)at;
	if (low + 1 >= s->nr)
		return sorted[s->nr - 1];
	return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
}

double samples_median(const struct samples *s)
{
	return samples_quantile(s, 0.5);
}

void report_init(struct report *r, const char *suite)
{
	*r = (struct report){ .suite = suite };
}

void report_fini(struct report *r)
{
	free(r->row);
	r->row = NULL;
	r->nr = 0;
	r->room = 0;
}

struct bench_row *report_add(struct report *r, int workers, const char *unit,
			     const char *fmt, ...)
{
	struct bench_row *row;
	va_list ap;

	report_show(r);
	if (r->nr == r->room) {
		r->room += 32;
		row = realloc(r->row, r->room * sizeof(*row));
		if (!row) {
			fprintf(stderr, "lkdf bench: no memory\n");
			exit(CLI_ABSENT);
		}
		r->row = row;
	}
	row = &r->row[r->nr++];
	*row = (struct bench_row){ .workers = workers,
				   .value = NAN,
				   .best = NAN,
				   .floor = NAN,
				   .peer_value = NAN,
				   .ratio = NAN,
				   .spread = NAN,
				   .bar = NAN };
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	va_start(ap, fmt);
	vsnprintf(row->name, sizeof(row->name), fmt, ap);
	va_end(ap);
	return row;
}

void row_value(struct bench_row *row, const struct samples *s, double per)
{
	row->value = samples_median(s) / per;
	row->best = samples_quantile(s, 0.1) / per;
}

void row_ratio(struct bench_row *row, const struct samples *num,
	       const struct samples *den)
{
	struct samples each = { .nr = 0 };
	unsigned i;

	row->ratio = samples_median(num) / samples_median(den);
	for (i = 0; i < num->nr && i < den->nr; i++)
		samples_add(&each, num->v[i] / den->v[i]);
	row->spread = (samples_quantile(&each, 0.75) -
		       samples_quantile(&each, 0.25)) /
		      2;
}

bool row_peer(struct bench_row *row, const char *peer, const struct samples *s,
	      const char *why)
{
	snprintf(row->peer, sizeof(row->peer), "%s", peer);
	row->peer_value = samples_median(s);
	if (isfinite(row->peer_value))
		return true;
	row->has_no_peer = !why || !why[0] || !strcmp(why, "absent");
	if (!row->has_no_peer)
		snprintf(row->note, sizeof(row->note), "%s: %.70s", peer, why);
	return false;
}

void row_judge(struct bench_row *row, enum row_bar dir, double bar,
	       bool is_fair)
{
	bool good;

	row->dir = dir;
	row->bar = bar;
	if (!isfinite(row->ratio))
		return;
	good = dir == BAR_AT_MOST ? row->ratio <= bar : row->ratio >= bar;
	if (!is_fair)
		snprintf(row->note, sizeof(row->note),
			 "CPUs were not delivered");
	else if (isfinite(row->spread) && row->spread > fabs(row->ratio - bar))
		snprintf(row->note, sizeof(row->note), "spread +-%.2g",
			 row->spread);
	else
		row->ok = good ? ROW_TRUE : ROW_FALSE;
}

void row_verdict(struct bench_row *row, bool good)
{
	row->ok = good ? ROW_TRUE : ROW_FALSE;
}

bool report_has_false(const struct report *r)
{
	unsigned i;

	for (i = 0; i < r->nr; i++)
		if (r->row[i].ok == ROW_FALSE)
			return true;
	return false;
}

/* Three digits that count, "-" for what was not measured. */
static const char *digits(char *to, size_t size, double v)
{
	double a = fabs(v);

	if (!isfinite(v))
		snprintf(to, size, "-");
	else if (a >= 1000)
		snprintf(to, size, "%.0f", v);
	else
		snprintf(to, size, "%.*f", a >= 100 ? 0 : a >= 10 ? 1 : 2, v);
	return to;
}

static void print_head(const struct report *r, FILE *out)
{
	fprintf(out, "%-26s %7s %9s %9s  %-9s %9s %9s %-10s %7s  %-8s\n",
		r->suite, "workers", "lkdf", "best 10%", "unit", "floor",
		"peer", "", "ratio", "bar");
}

static void print_row(const struct bench_row *row, FILE *out)
{
	static const enum cli_paint paints[] = { CLI_FAINT, CLI_GREEN,
						 CLI_RED };
	static const char *const words[] = { "null", "ok", "FAIL" };
	static const char *const signs[] = { "", "<= ", ">= " };
	char t[6][24], bar[32];

	snprintf(bar, sizeof(bar), "%s%s", signs[row->dir],
		 digits(t[5], sizeof(t[5]), row->bar));
	fprintf(out, "%-26s %7d %9s %9s  %-9s %9s %9s %-10s %7s  %-8s ",
		row->name, row->workers, digits(t[0], sizeof(t[0]), row->value),
		digits(t[1], sizeof(t[1]), row->best), row->unit,
		digits(t[2], sizeof(t[2]), row->floor),
		row->has_no_peer ? "absent"
				 : digits(t[3], sizeof(t[3]), row->peer_value),
		row->peer, digits(t[4], sizeof(t[4]), row->ratio),
		row->dir == BAR_NONE ? "" : bar);
	if (row->dir == BAR_NONE && row->ok == ROW_NULL)
		cli_paint(out, CLI_FAINT, 5, "");
	else
		cli_paint(out, paints[row->ok], 5, words[row->ok]);
	fprintf(out, "%s%s\n", row->note[0] ? " " : "", row->note);
}

void report_start(struct report *r, FILE *out, bool is_verbose)
{
	r->out = out;
	if (is_verbose)
		machine_text(out);
	print_head(r, out);
	fflush(out);
}

void report_show(struct report *r)
{
	/* Takes the line of progress away. */
	if (r->out && r->nr_shown < r->nr && isatty(fileno(r->out)))
		fputs("\r\033[K", r->out);
	for (; r->out && r->nr_shown < r->nr; r->nr_shown++) {
		print_row(&r->row[r->nr_shown], r->out);
		fflush(r->out);
	}
}

void report_end(struct report *r)
{
	unsigned i, nr[3] = { 0 };

	report_show(r);
	for (i = 0; i < r->nr; i++)
		if (r->row[i].dir != BAR_NONE || r->row[i].ok != ROW_NULL)
			nr[r->row[i].ok]++;
	fprintf(r->out, "%u bars held, %u missed, %u not resolved\n",
		nr[ROW_TRUE], nr[ROW_FALSE], nr[ROW_NULL]);
	fflush(r->out);
}

void report_text(struct report *r, FILE *out, bool is_verbose)
{
	report_start(r, out, is_verbose);
	report_end(r);
}

static void write_row(struct json *j, const struct bench_row *row)
{
	json_open_flat(j, NULL, '{');
	json_text(j, "name", row->name);
	json_int(j, "workers", row->workers);
	json_number(j, "value", row->value);
	json_text(j, "unit", row->unit);
	json_number(j, "floor", row->floor);
	json_text_or_null(j, "peer",
			  row->peer[0] && isfinite(row->peer_value) ? row->peer
								    : NULL);
	json_number(j, "peer_value", row->peer_value);
	json_number(j, "ratio", row->ratio);
	json_number(j, "bar", row->bar);
	if (row->ok == ROW_NULL)
		json_null(j, "ok");
	else
		json_bool(j, "ok", row->ok == ROW_TRUE);
	json_close(j, '}');
}

void report_json(const struct report *r, FILE *out)
{
	struct json j;
	unsigned i;

	json_init(&j, out);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/bench/1");
	json_text(&j, "suite", r->suite);
	json_bool(&j, "quick", r->is_quick);
	machine_json(&j);
	json_open(&j, "rows", '[');
	for (i = 0; i < r->nr; i++)
		write_row(&j, &r->row[i]);
	json_close(&j, ']');
	json_close(&j, '}');
}
