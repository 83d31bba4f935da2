/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf stat: the counters of a process, or of a command. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "outfile.h"
#include "stat/child.h"
#include "stat/print.h"
#include "stat/target.h"
#include "times.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char verb[] = "stat";

struct stat_opts {
	struct cli_common common;
	const char *process, *separator, *metrics;
	int64_t interval_ns;
	long times;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct stat_opts, process), "PID|NAME",
	  "the process, by number or by the name of its command" },
	{ "interval", 'I', CLI_TIME_MS, offsetof(struct stat_opts, interval_ns),
	  "TIME", "what came in each interval so long" },
	{ "times", 'n', CLI_INT, offsetof(struct stat_opts, times), "N",
	  "so many intervals (until the process ends)" },
	{ "csv", 'x', CLI_TEXT, offsetof(struct stat_opts, separator), "SEP",
	  "fields with SEP between them: -x," },
	{ "openmetrics", 'm', CLI_TEXT, offsetof(struct stat_opts, metrics),
	  "FILE", "write OpenMetrics text, replaced as a whole each time" },
};

const struct cli_spec stat_spec = {
	.verb = verb,
	.usage = "[options] -p PID|NAME | [options] [--] COMMAND ...",
	.help = "Counters of the runtimes in a process; reading costs it "
		"nothing.\nWith a command: when it has ended, whatever its "
		"end; the exit\nstatus is its own, 125 where lkdf failed, 126 "
		"and 127 as env(1),\n128 plus the signal. -v: all counters, and "
		"those of each executor.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET,
	.has_command = true,
};

static int fail(enum cli_exit code, const char *what, const char *value)
{
	struct cli_error e = { verb, code, NULL, "lkdf stat --help" };

	return cli_fail(&e, what, value);
}

/* 0 or an exit code. */
static int write_metrics(const struct stat_look *l, const char *path)
{
	struct cli_error e = { verb, CLI_OK, NULL, NULL };
	struct outfile out;
	int rc;

	if (!path)
		return 0;
	rc = outfile_open(&out, path);
	if (!rc) {
		stat_print_metrics(l, out.f);
		rc = outfile_commit(&out);
	}
	if (!rc)
		return 0;
	e.code = cli_code_of(rc);
	return cli_fail(&e, "%s: %s", path, strerror(-rc));
}

static void print_all(const struct stat_look *l, const struct stat_opts *o)
{
	if (o->common.is_json)
		stat_print_json(l);
	else if (o->separator)
		stat_print_csv(l, o->separator);
	else if (!o->metrics || o->common.is_verbose)
		stat_print_text(l, o->common.is_verbose);
}

/* ---- a process that runs ----------------------------------------------- */

/* A signal may come while nobody naps. */
static volatile sig_atomic_t is_stopped;

static void on_signal(int signal)
{
	(void)signal;
	is_stopped = 1;
}

/* False: a signal came. */
static bool nap(int64_t until_ns)
{
	struct timespec t = {
		.tv_sec = until_ns / 1000000000,
		.tv_nsec = until_ns % 1000000000,
	};

	return !is_stopped &&
	       !clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int watch(struct stat_look *l, const struct stat_opts *o)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	struct stat_look *before = malloc(sizeof(*before));
	int64_t start = child_now_ns(), next = start;
	int code = 0;
	long i;

	if (!before)
		return fail(CLI_ABSENT, "%s", "no memory");
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	stat_look(l);
	for (i = 0; !code && !ferror(stdout) && (!o->times || i < o->times);
	     i++) {
		*before = *l;
		next += o->interval_ns;
		if (!nap(next))
			break;
		l->seconds = (double)(child_now_ns() - start) / 1e9;
		stat_look(l);
		stat_print_interval(l, before, o->separator);
		code = write_metrics(l, o->metrics);
		if (kill(l->pid, 0) && errno == ESRCH)
			break;
	}
	free(before);
	return code;
}

static int stat_process(const struct stat_opts *o)
{
	static const double ns = 1e-9;
	struct stats stats[STATS_MAX];
	struct stat_look l = { .stats = stats };
	int rc, code = target_find(verb, o->process, &l.pid);

	if (code)
		return code;
	rc = stats_find(l.pid, stats, STATS_MAX);
	if (rc <= 0)
		return target_refuse(verb, l.pid, rc);
	l.nr_stats = (unsigned)rc;
	target_name(l.pid, l.command, sizeof(l.command));
	if (o->interval_ns) {
		code = watch(&l, o);
	} else {
		l.seconds = (double)(child_now_ns() -
				     (int64_t)stats[0].h.start_ns) *
			    ns;
		stat_look(&l);
		print_all(&l, o);
		code = write_metrics(&l, o->metrics);
	}
	while (l.nr_stats)
		stats_unmap(&stats[--l.nr_stats]);
	return code;
}

/* ---- a command ---------------------------------------------------------- */

/* Intervals while it runs. */
static void wait_for(struct child *c, struct stat_look *l,
		     const struct stat_opts *o)
{
	struct stat_look *before = calloc(1, sizeof(*before));
	bool runs = true;
	long i = 0;

	while (runs) {
		runs = child_wait(c, o->interval_ns && before ? o->interval_ns
							      : -1);
		l->nr_stats = c->nr_stats;
		l->seconds = (double)(child_now_ns() - c->start_ns) / 1e9;
		stat_look(l);
		if (!o->interval_ns || !before || !l->nr ||
		    (o->times && i++ >= o->times))
			continue;
		stat_print_interval(l, before, o->separator);
		*before = *l;
	}
	free(before);
}

static int stat_command(const struct stat_opts *o, char **argv)
{
	struct stat_look l = { .nr = 0 };
	struct child c;
	int code = child_start(&c, verb, argv);

	if (code) {
		child_fini(&c);
		return code;
	}
	l.pid = c.pid;
	l.stats = c.stats;
	snprintf(l.command, sizeof(l.command), "%s", argv[0]);
	wait_for(&c, &l, o);
	code = child_code(&c);
	if (!l.nr_stats)
		fprintf(stderr, "lkdf stat: %s had no lkdf runtime\n", argv[0]);
	else if (!o->interval_ns)
		print_all(&l, o);
	if (l.nr_stats && write_metrics(&l, o->metrics) && !code)
		code = CLI_FAILED;
	child_fini(&c);
	return code;
}

int verb_stat(int argc, char **argv)
{
	struct stat_opts o = { .process = NULL };
	bool has_command;
	int code;

	if (!cli_parse(&stat_spec, argc, argv, &o, &code))
		return code;
	has_command = cli_nr_words(argc, argv) > 0;
	if (!has_command && !o.process)
		return fail(CLI_USAGE, "which process? -p PID|NAME, or %s",
			    "a command");
	if (has_command && o.process)
		return fail(CLI_USAGE, "-p %s and a command", o.process);
	if ((o.interval_ns && o.interval_ns < NS_PER_MS) ||
	    o.interval_ns > 24 * NS_PER_HOUR || o.times < 0)
		return fail(CLI_USAGE, "%s",
			    "an interval is 1ms to 24h, and -n 0 or more");
	if (o.interval_ns && o.common.is_json)
		return fail(CLI_USAGE, "--json is one object: no %s",
			    "--interval");
	return has_command ? stat_command(&o, argv + 1) : stat_process(&o);
}
