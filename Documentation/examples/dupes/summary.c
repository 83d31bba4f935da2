/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime's figures at the end, see summary.h.
 */
#include "summary.h"
#include <inttypes.h>

static int64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t value;

	return lkdf_stat(rt, name, &value) ? -1 : (int64_t)value;
}

/* The CPU a worker is bound to, -1 if it is not bound. */
static int cpu_of(struct lkdf *rt, unsigned worker)
{
	char name[48];

	snprintf(name, sizeof(name), "lkdf.worker.%u.cpu", worker);
	return (int)stat_of(rt, name);
}

struct summary summary_take(struct lkdf *rt, int64_t wall_ns)
{
	return (struct summary){
		.rt = rt,
		.workers = (unsigned)lkdf_nr_workers(rt),
		.wall_ns = wall_ns,
		.tasks = stat_of(rt, "lkdf.tasks"),
		.near = stat_of(rt, "lkdf.steals.near"),
		.far = stat_of(rt, "lkdf.steals.far"),
		.wakes = stat_of(rt, "lkdf.wakes"),
		.parks = stat_of(rt, "lkdf.parks"),
		.idle_ns = stat_of(rt, "lkdf.idle_ns"),
	};
}

/* Share of the workers' time that was spent in tasks, -1: not known. */
static double busy_of(const struct summary *s)
{
	double busy = 1 - (double)s->idle_ns / s->workers / s->wall_ns;

	if (s->idle_ns < 0 || s->wall_ns <= 0)
		return -1;
	return busy > 0 ? busy : 0;
}

/* "0-3,8": neighbours in one range. */
static void print_cpus(const struct summary *s, FILE *f)
{
	unsigned i, end;

	for (i = 0; i < s->workers; i = end) {
		for (end = i + 1; end < s->workers; end++)
			if (cpu_of(s->rt, end) != cpu_of(s->rt, end - 1) + 1)
				break;
		fprintf(f, "%s%d", i ? "," : " on CPU ", cpu_of(s->rt, i));
		if (end > i + 1)
			fprintf(f, "-%d", cpu_of(s->rt, end - 1));
	}
}

static void print_count(FILE *f, int64_t value, const char *what)
{
	if (value >= 0)
		fprintf(f, ", %" PRId64 " %s", value, what);
}

void summary_text(const struct summary *s, FILE *f)
{
	fprintf(f, "%u worker%s", s->workers, s->workers == 1 ? "" : "s");
	if (cpu_of(s->rt, 0) >= 0)
		print_cpus(s, f);
	if (busy_of(s) >= 0)
		fprintf(f, ", %.0f %% busy", 100 * busy_of(s));
	print_count(f, s->tasks, "tasks");
	print_count(f, s->near, "steals near");
	print_count(f, s->far, "steals far");
	print_count(f, s->wakes, "wake-ups");
	print_count(f, s->parks, "parked");
	fprintf(f, "; %.2f s\n", s->wall_ns / 1e9);
}

static void json_count(FILE *f, const char *name, int64_t value)
{
	if (value >= 0)
		fprintf(f, ", \"%s\": %" PRId64, name, value);
}

void summary_json(const struct summary *s, FILE *f)
{
	unsigned i;

	fprintf(f, "{\"workers\": %u, \"cpus\": [", s->workers);
	for (i = 0; i < s->workers; i++)
		fprintf(f, "%s%d", i ? ", " : "", cpu_of(s->rt, i));
	fprintf(f, "], \"wall_ns\": %" PRId64, s->wall_ns);
	json_count(f, "tasks", s->tasks);
	json_count(f, "steals_near", s->near);
	json_count(f, "steals_far", s->far);
	json_count(f, "wakes", s->wakes);
	json_count(f, "parks", s->parks);
	json_count(f, "idle_ns", s->idle_ns);
	if (busy_of(s) >= 0)
		fprintf(f, ", \"busy\": %.3f", busy_of(s));
	fputs("}", f);
}
