/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf run: a command with options of its runtimes, a trace or the report of
 * one, a time limit.
 */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "run/openmp.h"
#include "run/report.h"
#include "stat/ask.h"
#include "stat/child.h"
#include "times.h"
#include "trace/finish.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char verb[] = "run";

/* From SIGTERM to SIGKILL. */
#define GRACE_NS (2 * NS_PER_S)

struct run_opts {
	struct cli_common common;
	const char *trace, *workers, *cpus, *place, *options;
	bool is_reported, is_openmp;
	int64_t timeout_ns;
};

static const struct cli_row rows[] = {
	{ "trace", 't', CLI_TEXT, offsetof(struct run_opts, trace), "FILE",
	  "record into FILE, as LKDF_TRACE; whole even after a crash" },
	{ "report", 'r', CLI_FLAG, offsetof(struct run_opts, is_reported), NULL,
	  "print what lkdf report says, after the command" },
	{ "workers", 'w', CLI_TEXT, offsetof(struct run_opts, workers), "N",
	  "so many workers, as LKDF_WORKERS" },
	{ "cpus", 'c', CLI_TEXT, offsetof(struct run_opts, cpus), "CPUS",
	  "on these CPUs, as LKDF_CPUS" },
	{ "place", 'P', CLI_TEXT, offsetof(struct run_opts, place), "yes|no",
	  "tasks run where their data are, or not, as LKDF_PLACEMENT" },
	{ "options", 'o', CLI_TEXT, offsetof(struct run_opts, options),
	  "OPTIONS", "more options of the runtime, as name=value,..." },
	{ "openmp", 0, CLI_FLAG, offsetof(struct run_opts, is_openmp), NULL,
	  "regions and tasks of a program of gcc's OpenMP are lkdf's" },
	{ "timeout", 'T', CLI_TIME, offsetof(struct run_opts, timeout_ns),
	  "TIME", "after that time say what the workers do, and end it" },
};

static const char *place_word(const void *u, unsigned i)
{
	static const char *const words[] = { "yes", "no" };

	(void)u;
	return i < sizeof(words) / sizeof(words[0]) ? words[i] : NULL;
}

const struct cli_spec run_spec = {
	.verb = verb,
	.usage = "[options] [--] COMMAND ...",
	.help = "Runs a command whose lkdf runtimes get these options. When it "
		"has ended\none line on standard error says how it went, with "
		"-v also what was set\nand how large the trace is. The "
		"exit status is its own; 124 after\n--timeout, 125 where lkdf "
		"failed, 126 and 127 as env(1), 128 plus the signal.\n"
		"--report records into a file that is gone afterwards, unless "
		"--trace names\none, and prints on standard error.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_JSON,
	.has_command = true,
	.choice_of = "place",
	.choice = place_word,
};

static int fail(const char *what, const char *value)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, "lkdf run --help" };

	return cli_fail(&e, what, value);
}

static void set(const struct run_opts *o, const char *name, const char *value)
{
	setenv(name, value, 1);
	if (o->common.is_verbose)
		fprintf(stderr, "lkdf run: %s=%s\n", name, value);
}

/* "name=value,..." becomes LKDF_NAME. 0 or an exit code. */
static int set_options(const struct run_opts *o)
{
	char *copy = strdup(o->options), *at, *rest = NULL, *value;
	char name[64];
	size_t i;

	for (at = copy ? strtok_r(copy, ",", &rest) : NULL; at;
	     at = strtok_r(NULL, ",", &rest)) {
		value = strchr(at, '=');
		if (!value || value == at || value - at > 48) {
			free(copy);
			return fail("--options \"%s\": expected name=value,...",
				    o->options);
		}
		*value = '\0';
		snprintf(name, sizeof(name), "LKDF_%s", at);
		for (i = 5; name[i]; i++)
			name[i] = (char)toupper((unsigned char)name[i]);
		set(o, name, value + 1);
	}
	free(copy);
	return 0;
}

/* A value that no runtime takes is refused before the command starts. */
static int check_values(const struct run_opts *o)
{
	const char *w = o->workers;

	if (w && (!w[0] || w[strspn(w, "0123456789")] || strlen(w) > 4))
		return fail("--workers: \"%s\" is no number of workers", w);
	if (o->cpus &&
	    (!o->cpus[0] || o->cpus[strspn(o->cpus, "0123456789,-")]))
		return fail("--cpus: \"%s\" is no list of CPUs", o->cpus);
	if (o->place && strcmp(o->place, "yes") && strcmp(o->place, "no"))
		return fail("--place: \"%s\" is neither yes nor no", o->place);
	return 0;
}

static int set_openmp(const struct run_opts *o)
{
	char text[2 * PATH_MAX];

	if (!openmp_preload(text, sizeof(text)))
		return fail("--openmp: %s is not there; make builds it, and "
			    "make install puts it beside liblkdf.so",
			    text);
	set(o, "LD_PRELOAD", text);
	return 0;
}

static int set_environment(const struct run_opts *o)
{
	int code = check_values(o);

	if (!code && o->is_openmp)
		code = set_openmp(o);
	if (code)
		return code;
	if (o->trace)
		set(o, "LKDF_TRACE", o->trace);
	if (o->workers)
		set(o, "LKDF_WORKERS", o->workers);
	if (o->cpus)
		set(o, "LKDF_CPUS", o->cpus);
	if (o->place)
		set(o, "LKDF_PLACEMENT", o->place);
	return o->options ? set_options(o) : 0;
}

/* The name that the user gave the recording of --report, or one of our own. */
static int choose_trace(struct run_opts *o, struct run_report *report)
{
	const struct cli_error e = { verb, CLI_FAILED, NULL, NULL };
	const char *named = getenv("LKDF_TRACE");
	int rc;

	if (named && named[0]) {
		o->trace = named;
		if (strchr(named, '%'))
			return fail("--report: %s is a pattern, no file",
				    named);
		return 0;
	}
	rc = run_report_open(report);
	if (rc)
		return cli_fail(&e, "--report: %s", strerror(-rc));
	o->trace = report->file;
	setenv("LKDF_TRACE", o->trace, 1);
	return 0;
}

static uint64_t sum_of(const struct child *c, const char *name)
{
	uint64_t sum = 0;
	unsigned r;
	uint32_t i;

	for (r = 0; r < c->nr_stats; r++) {
		i = stats_counter_find(&c->stats[r], name);
		if (i < c->stats[r].h.nr_counters)
			sum += stats_sum(&c->stats[r], i);
	}
	return sum;
}

static uint32_t count_workers(const struct child *c)
{
	uint32_t sum = 0;
	unsigned r;

	for (r = 0; r < c->nr_stats; r++)
		sum += stats_nr_workers(&c->stats[r]);
	return sum;
}

/* A time of workers, from a fiftieth of all their time on. */
static void tell_lost(const struct child *c, const char *counter, double all,
		      const char *what)
{
	double seconds = (double)sum_of(c, counter) / 1e9;

	if (seconds >= all / 50)
		fprintf(stderr, ", %.1f s %s", seconds, what);
}

/* trace: NULL: no name that is worth telling. */
static void tell_end(const struct child *c, const char *trace)
{
	double seconds = (double)(c->end_ns - c->start_ns) / 1e9;
	uint32_t nr = count_workers(c);

	fprintf(stderr, "lkdf: %.2f s, ", seconds);
	if (!c->nr_stats)
		fprintf(stderr, "no lkdf runtime");
	else
		fprintf(stderr, "%u workers, %" PRIu64 " tasks", nr,
			sum_of(c, "tasks"));
	if (nr && sum_of(c, "failed"))
		fprintf(stderr, ", %" PRIu64 " failed", sum_of(c, "failed"));
	if (nr) {
		fprintf(stderr, ", %.1f s idle",
			(double)sum_of(c, "idle_ns") / 1e9);
		tell_lost(c, "hidden_ns", nr * seconds, "beside hidden work");
		tell_lost(c, "join_idle_ns", nr * seconds,
			  "in joins that had nothing to run");
	}
	if (trace)
		fprintf(stderr, ", trace %s", trace);
	fputc('\n', stderr);
}

/* ---- what a program does that does not end ------------------------------ */

/* Is a worker asleep? By the newest of its events that says so. */
static const char *state_of(const struct stats *s, uint32_t executor)
{
	const struct lkdf_stats_block *b = stats_block(s, executor);
	uint32_t parks = stats_counter_find(s, "parks");

	if (!b->start_seq)
		return NULL;
	if (parks < s->h.nr_counters && stats_is_parked(s, executor))
		return "asleep, nothing is ready";
	return "in a body, or looking for work";
}

static void tell_workers(const struct stats *s)
{
	const char *state;
	uint32_t e, tasks = stats_counter_find(s, "tasks");
	uint64_t nr;

	fprintf(stderr, "lkdf run: runtime of process %u\n", s->h.pid);
	for (e = 0; e < s->h.nr_executors; e++) {
		state = state_of(s, e);
		if (!state)
			continue;
		nr = tasks < s->h.nr_counters ? stats_counter(s, e, tasks) : 0;
		fprintf(stderr, "  %s %u: %" PRIu64 " tasks, %s\n",
			stats_block(s, e)->kind == LKDF_EXECUTOR_WORKER
				? "worker"
				: "blocking",
			e, nr, state);
	}
}

/* Where it answers. */
static void tell_waits(const struct stats *s)
{
	struct lkdf_answer a;
	char *text;

	if (ask_text(s, (int)s->h.pid, LKDF_ASK_WHY_TEXT, &text, &a))
		return;
	fputs(text, stderr);
	free(text);
}

static void end_it(struct child *c, const struct run_opts *o)
{
	unsigned r;

	fprintf(stderr, "lkdf run: not over after %.9g s\n",
		(double)o->timeout_ns / NS_PER_S);
	for (r = 0; r < c->nr_stats; r++) {
		tell_workers(&c->stats[r]);
		tell_waits(&c->stats[r]);
	}
	if (!c->nr_stats)
		fprintf(stderr, "  it has no lkdf runtime\n");
	kill(c->pid, SIGTERM);
	if (child_wait(c, GRACE_NS)) {
		kill(c->pid, SIGKILL);
		child_wait(c, -1);
	}
}

/* ---- a trace that its program could not end ----------------------------- */

static uint64_t count_begun(const struct child *c)
{
	const struct lkdf_stats_block *b;
	const struct stats *s;
	uint64_t sum = 0;
	unsigned r;
	uint32_t e;

	for (r = 0; r < c->nr_stats; r++) {
		s = &c->stats[r];
		for (e = 0; e <= s->h.nr_executors; e++) {
			b = stats_block(s, e);
			sum += b->slice_head + b->slice_lost;
		}
	}
	return sum;
}

/* Is the file what it was before? Then no runtime of the command wrote it. */
static bool is_untouched(const struct run_opts *o, const struct stat *before)
{
	struct stat now;

	return stat(o->trace, &now) ||
	       (now.st_ino == before->st_ino &&
		now.st_size == before->st_size &&
		now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == before->st_mtim.tv_nsec);
}

/*
 * A runtime that was killed at once may not have been seen. Return: the file is
 * a recording of the command that can be read.
 */
static bool finish_trace(const struct child *c, const struct run_opts *o,
			 const struct stat *before)
{
	int rc;

	if (!o->trace || strchr(o->trace, '%') || is_untouched(o, before))
		return false;
	rc = trace_finish(o->trace, count_begun(c));
	if (rc > 0 && !o->common.is_quiet)
		fprintf(stderr,
			"lkdf run: %s was cut, it ends with its last whole "
			"piece\n",
			o->trace);
	if (rc < 0)
		fprintf(stderr, "lkdf run: %s: %s\n", o->trace,
			rc == -EBADMSG ? "damaged, or it ends before its first "
					 "whole piece"
				       : strerror(-rc));
	return rc >= 0;
}

static void tell_trace(const struct run_opts *o, const struct stat *before)
{
	struct stat now;

	/* A pattern: each runtime has a file of its own. */
	if (!o->trace || strchr(o->trace, '%'))
		return;
	if (is_untouched(o, before) || stat(o->trace, &now))
		fprintf(stderr, "lkdf run: %s: not written\n", o->trace);
	else
		fprintf(stderr, "lkdf run: %s: %lld bytes\n", o->trace,
			(long long)now.st_size);
}

/* From the start of the command to what is said of it: its exit code. */
static int run_it(const struct run_opts *o, char **command, bool is_named)
{
	struct stat before = { .st_ino = 0 };
	struct child c;
	bool is_recorded;
	int code;

	if (o->trace)
		stat(o->trace, &before);
	code = child_start(&c, verb, command);
	if (code)
		return code;
	code = child_wait(&c, o->timeout_ns ? o->timeout_ns : -1);
	if (code)
		end_it(&c, o);
	code = code ? (int)CLI_TIMEOUT : child_code(&c);
	is_recorded = finish_trace(&c, o, &before);
	if (o->common.is_verbose && is_named)
		tell_trace(o, &before);
	if (!o->common.is_quiet)
		tell_end(&c, is_named ? o->trace : NULL);
	child_fini(&c);
	if (o->is_reported && is_recorded)
		run_report_print(o->trace);
	else if (o->is_reported)
		fprintf(stderr, "lkdf run: no recording to report on\n");
	return code;
}

int verb_run(int argc, char **argv)
{
	struct run_report report = { .dir = "" };
	struct run_opts o = { .trace = NULL };
	int code;

	if (!cli_parse(&run_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return fail("%s", "which command?");
	if (o.timeout_ns > NS_PER_YEAR)
		return fail("%s", "--timeout: up to 365d");
	code = set_environment(&o);
	if (!code && o.is_reported)
		code = choose_trace(&o, &report);
	if (!code)
		code = run_it(&o, argv + 1, !report.dir[0]);
	run_report_close(&report);
	return code;
}
