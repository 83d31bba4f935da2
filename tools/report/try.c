/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf try: a command with several numbers of workers. A recording of one run
 * cannot tell whether bodies hinder each other; the same kinds with one worker
 * can.
 */
#include "report/try.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "outfile.h"
#include "progress.h"
#include "run/report.h"
#include "stat/child.h"
#include "times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char verb[] = "try";

/* Samples are taken out of their rings so often. */
#define DRAIN_NS (50 * NS_PER_MS)

struct try_opts {
	struct cli_common common;
	const char *workers, *html;
	bool wants_lines;
};

static const struct cli_row rows[] = {
	{ "workers", 'w', CLI_TEXT, offsetof(struct try_opts, workers), "LIST",
	  "numbers of workers, the first one is what others are compared with "
	  "(1,2,4)" },
	{ "html", 'o', CLI_TEXT, offsetof(struct try_opts, html), "FILE",
	  "also write a page, one file" },
	{ "lines", 'l', CLI_FLAG, offsetof(struct try_opts, wants_lines), NULL,
	  "one more run, of the last number, under perf c2c: which cache "
	  "lines bounce" },
};

const struct cli_spec try_spec = {
	.verb = verb,
	.usage = "[-w LIST] [--lines] [--html PAGE] [--json] [--] COMMAND ...",
	.help = "Runs a command once with each number of workers, recorded,\n"
		"and says which kinds of bodies take longer together, and what\n"
		"that means; with cycles, instructions and cache misses of\n"
		"kinds where the machine counts them. The command's own output\n"
		"goes to standard error.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_VERBOSE,
	.has_command = true,
};

struct session {
	const struct try_opts *o;
	char **command;
	struct run_report dir;
	struct tried tried;
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
static int run_command(char **command, struct pmu *p)
{
	int out = dup(STDOUT_FILENO), code;
	struct child c;

	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	code = child_start(&c, verb, command);
	if (!code) {
		while (child_wait(&c, p ? DRAIN_NS : -1))
			pmu_drain(p);
		if (p)
			pmu_drain(p);
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

/* The samples of the run, by its recording. */
static int count_kinds(struct run *run, const struct pmu *p)
{
	size_t nr = run->report.nr_kinds;

	run->counts = calloc(nr ? nr : 1, sizeof(*run->counts));
	if (!run->counts)
		return -ENOMEM;
	run->counts_lost = p->nr_lost;
	pmu_attribute(p, &run->report, run->counts);
	return 0;
}

static int run_one(struct session *t, struct run *run)
{
	char number[16], path[sizeof(t->dir.dir) + 32];
	struct pmu pmu;
	int code, rc, no_pmu;

	snprintf(number, sizeof(number), "%u", run->workers);
	snprintf(path, sizeof(path), "%s/%s.lkdf", t->dir.dir, number);
	setenv("LKDF_WORKERS", number, 1);
	setenv("LKDF_TRACE", path, 1);
	unlink(path);
	no_pmu = pmu_open(&pmu);
	t->tried.pmu_error = no_pmu;
	code = run_command(t->command, no_pmu ? NULL : &pmu);
	pmu_stop(&pmu);
	if (code) {
		pmu_free(&pmu);
		return fail((enum cli_exit)code, t->command[0], "it failed");
	}
	run->report.file = path;
	rc = read_recording(&run->report, path);
	run->report.file = NULL;
	if (!rc && !no_pmu)
		rc = count_kinds(run, &pmu);
	pmu_free(&pmu);
	if (rc)
		return fail(CLI_ABSENT, t->command[0],
			    "no whole recording of a runtime");
	return CLI_OK;
}

/* ---- all of it ----------------------------------------------------------- */

static int run_all(struct session *t)
{
	struct progress p;
	int code = CLI_OK;
	unsigned n;

	progress_start(&p, t->tried.nr, t->o->common.is_quiet);
	for (n = 0; n < t->tried.nr && !code; n++) {
		code = run_one(t, &t->tried.run[n]);
		progress_step(&p, 1, t->command[0]);
	}
	progress_end(&p);
	if (!code && t->o->wants_lines) {
		unsetenv("LKDF_TRACE");
		try_find_lines(&t->tried, t->dir.dir, t->command);
	}
	return code;
}

static int write_page(const struct session *t)
{
	struct outfile out;
	int rc = outfile_open(&out, t->o->html);

	if (!rc) {
		try_print_html(&t->tried, out.f);
		rc = outfile_commit(&out);
	}
	return rc ? fail(cli_code_of(rc), t->o->html, strerror(-rc)) : CLI_OK;
}

static int print_all(const struct session *t)
{
	if (t->o->common.is_json)
		try_print_json(&t->tried);
	else
		try_print_text(&t->tried, stdout);
	return t->o->html ? write_page(t) : CLI_OK;
}

int verb_try(int argc, char **argv)
{
	struct try_opts o = { .workers = "1,2,4" };
	struct session t = { .o = &o };
	int code, rc;
	unsigned n;

	if (!cli_parse(&try_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return fail(CLI_USAGE, "try", "which command?");
	t.command = argv + 1;
	t.tried.command = argv[1];
	code = parse_workers(&t.tried, o.workers);
	if (code)
		return code;
	rc = run_report_open(&t.dir);
	if (rc)
		return fail(cli_code_of(rc), "a folder for recordings",
			    strerror(-rc));
	code = run_all(&t);
	if (!code)
		code = print_all(&t);
	for (n = 0; n < t.tried.nr; n++) {
		report_unload(&t.tried.run[n].report);
		free(t.tried.run[n].counts);
	}
	run_report_close(&t.dir);
	return code;
}
