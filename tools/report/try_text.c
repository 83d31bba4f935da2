/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "json.h"
#include "report/try.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void print_table(const struct tried *t, FILE *out)
{
	const struct report *first = &try_base(t)->report;
	const struct kind *k;
	char label[64];
	uint32_t i;
	unsigned n;

	fprintf(out, "%-20s", "workers");
	for (n = 0; n < t->nr; n++)
		fprintf(out, " %10u", t->run[n].workers);
	fprintf(out, "\n%-20s", "time of the run");
	for (n = 0; n < t->nr; n++)
		fprintf(out, " %10s", words_time(t->run[n].report.wall).text);
	fprintf(out, "\n%-20s", "of the command");
	for (n = 0; n < t->nr; n++)
		fprintf(out, " %10s", words_time(t->run[n].elapsed).text);
	fprintf(out, "\n");
	for (i = 0; i < first->nr_kinds; i++) {
		snprintf(label, sizeof(label),
			 first->kind[i].is_loop ? "%.14s, all" : "%.20s",
			 kind_name(first, i));
		fprintf(out, "%-20s", label);
		for (n = 0; n < t->nr; n++) {
			k = try_kind(&t->run[n], kind_name(first, i));
			fprintf(out, " %10s",
				k ? words_time((uint64_t)try_shown(k)).text
				  : "-");
		}
		fprintf(out, "\n");
	}
}

/* 1: it is slower; 0: it is not, or is not compared, which is said. */
static unsigned say_kind(const struct tried *t, const struct run *run,
			 const struct kind *base, FILE *out)
{
	const char *name = kind_name(&try_base(t)->report,
				     base - try_base(t)->report.kind);
	const struct kind *k = try_kind(run, name);
	double times = try_times(t, run, name);

	if (try_is_other_work(t, run, name))
		fprintf(out,
			"%s has %" PRIu64 " bodies with %u workers and %" PRIu64
			" with %u: not compared\n",
			name, k->nr, run->workers, base->nr,
			try_base(t)->workers);
	if (times <= 0)
		return 0;
	fprintf(out,
		"%s takes %s%.1f times as long with %u workers as with "
		"%u: %s\n",
		name, base->is_loop ? "at least " : "", times, run->workers,
		try_base(t)->workers, try_meaning(run, k));
	return 1;
}

static void say_times(const struct tried *t, FILE *out)
{
	const struct report *first = &try_base(t)->report;
	const struct run *run;
	unsigned nr = 0;
	uint32_t i;

	for (run = try_base(t) + 1; run < t->run + t->nr; run++) {
		if (!try_is_judged(run))
			fprintf(out,
				"with %u workers bodies had no CPU of their "
				"own: not judged\n",
				run->workers);
		for (i = 0; i < first->nr_kinds; i++)
			nr += say_kind(t, run, &first->kind[i], out);
	}
	if (!nr)
		fprintf(out,
			"no kind that was judged takes %.1f times as long as "
			"with %u\n",
			SLOWER, try_base(t)->workers);
}

/* The kernel's answer where a machine, as many virtual ones, counts nothing. */
static const char *pmu_why(const struct tried *t)
{
	return t->pmu_error == -ENOENT || t->pmu_error == -EOPNOTSUPP
		       ? "this machine has no such counters"
		       : strerror(-t->pmu_error);
}

/* A kind that is slower: what the cycles were for. */
static void say_counts(const struct tried *t, const struct run *run,
		       const char *name, FILE *out)
{
	const struct pmu_counts *c = try_counts(run, name);
	const struct pmu_counts *base = try_counts(try_base(t), name);

	if (!c || !base || !c->n[PMU_CYCLES] || !base->n[PMU_CYCLES])
		return;
	fprintf(out,
		"%s: %.2f instructions a cycle with %u workers, %.2f with %u; "
		"of 1000 instructions %.1f miss the last cache, %.1f with %u\n",
		name, try_ipc(c), run->workers, try_ipc(base),
		try_base(t)->workers, try_misses(c), try_misses(base),
		try_base(t)->workers);
}

static void say_all_counts(const struct tried *t, FILE *out)
{
	const struct report *first = &try_base(t)->report;
	const struct run *run;
	uint32_t i;

	for (run = try_base(t) + 1; run < t->run + t->nr; run++) {
		for (i = 0; i < first->nr_kinds; i++)
			if (try_times(t, run, kind_name(first, i)) > 0)
				say_counts(t, run, kind_name(first, i), out);
		if (run->counts_lost)
			fprintf(out,
				"with %u workers %" PRIu64 " samples of cycles "
				"were lost\n",
				run->workers, run->counts_lost);
	}
	if (t->pmu_error)
		fprintf(out,
			"cycles and misses are not known: perf_event_open(2): %s\n",
			pmu_why(t));
}

static void say_lines(const struct tried *t, FILE *out)
{
	unsigned i;

	if (t->lines_why[0])
		fprintf(out, "lines that bounce are not known: %s\n",
			t->lines_why);
	for (i = 0; i < t->nr_lines; i++)
		fprintf(out,
			"the line at %s has %s of the loads that met a change "
			"of another CPU, by perf c2c\n",
			t->line[i].address, t->line[i].share);
	if (t->has_lines && !t->nr_lines)
		fprintf(out, "no line bounces, by perf c2c\n");
}

void try_say_all(const struct tried *t, FILE *out)
{
	say_times(t, out);
	say_all_counts(t, out);
	say_lines(t, out);
}

void try_print_text(const struct tried *t, FILE *out)
{
	print_table(t, out);
	try_say_all(t, out);
}

static void write_counts(struct json *j, const struct pmu_counts *c)
{
	static const char *const keys[NR_PMU_EVENTS] = {
		[PMU_CYCLES] = "cycles",
		[PMU_INSTRUCTIONS] = "instructions",
		[PMU_MISSES] = "misses",
	};
	int e;

	for (e = 0; e < NR_PMU_EVENTS; e++) {
		if (c)
			json_int(j, keys[e], (int64_t)c->n[e]);
		else
			json_null(j, keys[e]);
	}
}

static void write_lines(struct json *j, const struct tried *t)
{
	unsigned i;

	if (!t->has_lines) {
		json_null(j, "lines");
		return;
	}
	json_open(j, "lines", '[');
	for (i = 0; i < t->nr_lines; i++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "address", t->line[i].address);
		json_text(j, "share", t->line[i].share);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_run(struct json *j, const struct tried *t,
		      const struct run *run)
{
	const struct report *r = &run->report;
	const char *name;
	uint32_t i;

	json_open(j, NULL, '{');
	json_int(j, "workers", run->workers);
	json_int(j, "wall_ns", (int64_t)r->wall);
	json_int(j, "elapsed_ns", (int64_t)run->elapsed);
	json_bool(j, "judged", try_is_judged(run));
	json_open(j, "kinds", '[');
	for (i = 0; i < r->nr_kinds; i++) {
		name = kind_name(r, i);
		json_open_flat(j, NULL, '{');
		json_text(j, "name", name);
		json_int(j, "bodies", (int64_t)r->kind[i].nr);
		json_int(j, "mean_ns", (int64_t)try_mean(&r->kind[i]));
		json_int(j, "total_ns", (int64_t)r->kind[i].total);
		json_fixed(j, "slower", try_times(t, run, name), 3);
		write_counts(j, try_counts(run, name));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

void try_print_json(const struct tried *t)
{
	struct json j;
	unsigned n;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/try/1");
	json_text(&j, "command", t->command);
	json_text_or_null(&j, "pmu", t->pmu_error ? pmu_why(t) : NULL);
	write_lines(&j, t);
	json_open(&j, "runs", '[');
	for (n = 0; n < t->nr; n++)
		write_run(&j, t, &t->run[n]);
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
}
