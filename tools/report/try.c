/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf try: a command with several numbers of workers. A recording of one run
 * cannot tell whether bodies hinder each other; the same kinds with one worker
 * can.
 */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "json.h"
#include "progress.h"
#include "report/model.h"
#include "run/report.h"
#include "stat/child.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char verb[] = "try";

#define MAX_RUNS 16
/* A kind is slower together from so many times on, if it has such a share. */
#define SLOWER 1.5
#define LEAST_SHARE 0.05
/* Bodies that had no CPU for such a share of time are not judged. */
#define MOST_TAKEN 0.1

struct try_opts {
	struct cli_common common;
	const char *workers;
};

static const struct cli_row rows[] = {
	{ "workers", 'w', CLI_TEXT, offsetof(struct try_opts, workers), "LIST",
	  "numbers of workers, the first one is what others are compared with "
	  "(1,2,4)" },
};

const struct cli_spec try_spec = {
	.verb = verb,
	.usage = "[-w LIST] [--json] [--] COMMAND ...",
	.help = "Runs a command once with each number of workers, recorded,\n"
		"and says which kinds of bodies take longer together, and what\n"
		"that means. The command's own output goes to standard error.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_VERBOSE,
	.has_command = true,
};

struct run {
	unsigned workers;
	struct report report;
};

struct tried {
	const struct try_opts *o;
	char **command;
	struct run_report dir;
	unsigned nr;
	struct run run[MAX_RUNS];
};

static int fail(enum cli_exit code, const char *what, const char *why)
{
	struct cli_error e = { verb, code, NULL, "lkdf try --help" };

	return cli_fail(&e, "%s: %s", what, why);
}

static int parse_workers(struct tried *t, const char *list)
{
	unsigned long n;
	char *end;

	for (;; list = end + 1) {
		n = strtoul(list, &end, 10);
		if (end == list || n < 1 || n > 4096 || t->nr == MAX_RUNS ||
		    (*end && *end != ','))
			return fail(CLI_USAGE, list,
				    "expected up to 16 numbers of workers, as "
				    "1,2,4");
		t->run[t->nr++].workers = (unsigned)n;
		if (!*end)
			return CLI_OK;
	}
}

/* ---- runs ---------------------------------------------------------------- */

/* Its standard output is for people, ours may be for programs. */
static int run_command(const struct tried *t)
{
	int out = dup(STDOUT_FILENO), code;
	struct child c;

	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	code = child_start(&c, verb, t->command);
	if (!code) {
		child_wait(&c, -1);
		code = child_code(&c);
		child_fini(&c);
	}
	dup2(out, STDOUT_FILENO);
	close(out);
	return code;
}

static int read_recording(struct report *r, const char *path)
{
	const struct report_window all = { .to = NO_TIME };
	struct trace_fault fault = { 0 };
	FILE *in = fopen(path, "re");
	int rc = in ? report_load(r, in, &all, &fault) : -errno;

	if (in)
		fclose(in);
	if (!rc)
		rc = report_sweep(r);
	return rc ? rc : report_kinds(r);
}

static int run_one(struct tried *t, struct run *run)
{
	char number[16], path[sizeof(t->dir.dir) + 32];
	int code, rc;

	snprintf(number, sizeof(number), "%u", run->workers);
	snprintf(path, sizeof(path), "%s/%s.lkdf", t->dir.dir, number);
	setenv("LKDF_WORKERS", number, 1);
	setenv("LKDF_TRACE", path, 1);
	unlink(path);
	code = run_command(t);
	if (code)
		return fail((enum cli_exit)code, t->command[0], "it failed");
	run->report.file = path;
	rc = read_recording(&run->report, path);
	run->report.file = NULL;
	if (rc)
		return fail(CLI_ABSENT, t->command[0],
			    "no whole recording of a runtime");
	return CLI_OK;
}

/* ---- what it means ------------------------------------------------------- */

static double mean_of(const struct kind *k)
{
	return k && k->nr ? (double)k->total / (double)k->nr : 0;
}

static const struct kind *kind_in(const struct run *run, const char *name)
{
	const struct report *r = &run->report;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		if (!strcmp(kind_name(r, i), name))
			return &r->kind[i];
	return NULL;
}

/* Each body had a CPU: else its time is that of others. */
static bool is_judged(const struct run *run)
{
	const struct report *r = &run->report;

	return !(r->cpus > 0 && !r->is_made_up &&
		 run->workers > r->cpus + 0.25) &&
	       share_of(r->time[TIME_TAKEN], worker_time(r)) < MOST_TAKEN;
}

/* How many times as long as with the first number; 0: not to be told. */
static double times_of(const struct tried *t, const struct run *run,
		       const char *name)
{
	const struct kind *k = kind_in(run, name);
	double base = mean_of(kind_in(&t->run[0], name)), times;

	if (run == t->run || base <= 0 || !k || !is_judged(run) ||
	    share_of(k->total, worker_time(&run->report)) < LEAST_SHARE)
		return 0;
	times = mean_of(k) / base;
	return times >= SLOWER ? times : 0;
}

static const char *meaning_of(const struct run *run, const struct kind *k)
{
	if ((double)(k->asleep + k->futex) > 0.25 * (double)k->total)
		return "its bodies sleep, as in a lock: lkdf report names it "
		       "where lkdf probe runs";
	if (!run->report.has.cpu)
		return "its bodies meet: in memory (false sharing, a spin "
		       "lock, bandwidth), or asleep, which was not recorded";
	return "its bodies meet in memory: false sharing, a spin lock, or "
	       "bandwidth";
}

/* ---- output -------------------------------------------------------------- */

static void print_table(const struct tried *t)
{
	const struct report *first = &t->run[0].report;
	const struct kind *k;
	uint32_t i;
	unsigned n;

	printf("%-20s", "workers");
	for (n = 0; n < t->nr; n++)
		printf(" %10u", t->run[n].workers);
	printf("\n%-20s", "time of the run");
	for (n = 0; n < t->nr; n++)
		printf(" %10s", words_time(t->run[n].report.wall).text);
	printf("\n");
	for (i = 0; i < first->nr_kinds; i++) {
		printf("%-20.20s", kind_name(first, i));
		for (n = 0; n < t->nr; n++) {
			k = kind_in(&t->run[n], kind_name(first, i));
			printf(" %10s",
			       k ? words_time((uint64_t)mean_of(k)).text : "-");
		}
		printf("\n");
	}
}

static void print_meaning(const struct tried *t)
{
	const struct report *first = &t->run[0].report;
	const struct run *run;
	unsigned nr = 0;
	double times;
	uint32_t i;

	for (run = t->run + 1; run < t->run + t->nr; run++) {
		if (!is_judged(run))
			printf("with %u workers bodies had no CPU of their "
			       "own: not judged\n",
			       run->workers);
		for (i = 0; i < first->nr_kinds; i++) {
			times = times_of(t, run, kind_name(first, i));
			if (times <= 0)
				continue;
			nr++;
			printf("%s takes %.1f times as long with %u workers "
			       "as with %u: %s\n",
			       kind_name(first, i), times, run->workers,
			       t->run[0].workers,
			       meaning_of(run,
					  kind_in(run, kind_name(first, i))));
		}
	}
	if (!nr)
		printf("no kind that was judged takes %.1f times as long as "
		       "with %u\n",
		       SLOWER, t->run[0].workers);
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
	json_bool(j, "judged", is_judged(run));
	json_open(j, "kinds", '[');
	for (i = 0; i < r->nr_kinds; i++) {
		name = kind_name(r, i);
		json_open_flat(j, NULL, '{');
		json_text(j, "name", name);
		json_int(j, "bodies", (int64_t)r->kind[i].nr);
		json_int(j, "mean_ns", (int64_t)mean_of(&r->kind[i]));
		json_fixed(j, "slower", times_of(t, run, name), 3);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_json(const struct tried *t)
{
	struct json j;
	unsigned n;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/try/1");
	json_text(&j, "command", t->command[0]);
	json_open(&j, "runs", '[');
	for (n = 0; n < t->nr; n++)
		write_run(&j, t, &t->run[n]);
	json_close(&j, ']');
	json_close(&j, '}');
	printf("\n");
}

static int run_all(struct tried *t)
{
	struct progress p;
	int code = CLI_OK;
	unsigned n;

	progress_start(&p, t->nr, t->o->common.is_quiet);
	for (n = 0; n < t->nr && !code; n++) {
		code = run_one(t, &t->run[n]);
		progress_step(&p, 1, t->command[0]);
	}
	progress_end(&p);
	return code;
}

int verb_try(int argc, char **argv)
{
	struct try_opts o = { .workers = "1,2,4" };
	struct tried t = { .o = &o };
	int code, rc;
	unsigned n;

	if (!cli_parse(&try_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return fail(CLI_USAGE, "try", "which command?");
	t.command = argv + 1;
	code = parse_workers(&t, o.workers);
	if (code)
		return code;
	rc = run_report_open(&t.dir);
	if (rc)
		return fail(cli_code_of(rc), "a folder for recordings",
			    strerror(-rc));
	code = run_all(&t);
	if (!code && o.common.is_json) {
		write_json(&t);
	} else if (!code) {
		print_table(&t);
		print_meaning(&t);
	}
	for (n = 0; n < t.nr; n++)
		report_unload(&t.run[n].report);
	run_report_close(&t.dir);
	return code;
}
