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
#include "report/try_fix.h"
#include "run/openmp.h"
#include "run/report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char verb[] = "try";

struct try_opts {
	struct cli_common common;
	const char *workers, *html, *fix;
	long times;
	bool wants_lines, is_openmp;
};

static const struct cli_row rows[] = {
	{ "workers", 'w', CLI_TEXT, offsetof(struct try_opts, workers), "LIST",
	  "numbers of workers, the first one is what others are compared with "
	  "(1,2,4)" },
	{ "fix", 'f', CLI_TEXT, offsetof(struct try_opts, fix), "LIST",
	  "with and without a change: tokens=LIMIT:4, window=SCOPE:64, "
	  "depth=CHANNEL:8, grain=LOOP:1000, priority=KIND:high, workers=4" },
	{ "openmp", 0, CLI_FLAG, offsetof(struct try_opts, is_openmp), NULL,
	  "the command is a program of gcc's OpenMP: regions and tasks of it "
	  "are lkdf's" },
	{ "times", 'n', CLI_INT, offsetof(struct try_opts, times), "N",
	  "with --fix: so many runs of each, in turns, at most 32 (3)" },
	{ "html", 'o', CLI_TEXT, offsetof(struct try_opts, html), "FILE",
	  "also write a page, one file" },
	{ "lines", 'l', CLI_FLAG, offsetof(struct try_opts, wants_lines), NULL,
	  "one more run, of the last number, under perf c2c: which cache "
	  "lines bounce" },
};

const struct cli_spec try_spec = {
	.verb = verb,
	.usage =
		"[-w LIST] [--openmp] [--lines] [--fix LIST] [--html PAGE] [--json] [--] "
		"COMMAND ...",
	.help = "Runs a command once with each number of workers, recorded,\n"
		"and says which kinds of bodies take longer together, and what\n"
		"that means; with cycles, instructions and cache misses of\n"
		"kinds where the machine counts them. The command's own output\n"
		"goes to standard error. --fix: runs it as it is and with a\n"
		"change of what has a name in the program, and says what a\n"
		"replay of the recording predicts and what was measured.",
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
	code = try_run_command(t->command, no_pmu ? NULL : &pmu, &run->elapsed);
	pmu_stop(&pmu);
	if (code) {
		pmu_free(&pmu);
		return fail((enum cli_exit)code, t->command[0], "it failed");
	}
	run->report.file = path;
	rc = try_read_recording(&run->report, path);
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

/* With --fix; standard output has the answer. */
static int run_fix(struct session *t)
{
	struct try_turns turns = {
		.command = t->command,
		.dir = t->dir.dir,
		.times = (unsigned)t->o->times,
		.is_quiet = t->o->common.is_quiet,
		.is_json = t->o->common.is_json,
		.is_openmp = t->o->is_openmp,
		.fixed = { .command = t->command[0], .text = t->o->fix },
	};
	const char *wrong = fix_parse(&turns.fixed.list, t->o->fix);

	if (wrong)
		return fail(CLI_USAGE, t->o->fix, wrong);
	if (t->o->times < 1 || t->o->times > MAX_TIMES)
		return fail(CLI_USAGE, "--times", "expected 1 to 32 runs");
	if (t->o->html || t->o->wants_lines)
		return fail(CLI_USAGE, "--fix",
			    "--html and --lines do not go "
			    "with it");
	if (t->tried.nr > 1)
		return fail(CLI_USAGE, t->o->workers,
			    "--fix wants one number of workers");
	if (t->o->workers)
		setenv("LKDF_WORKERS", t->o->workers, 1);
	return try_take_turns(&turns);
}

/* Programs that this one starts have the library; OpenMP asks for no workers
 * but those that LKDF_WORKERS has. */
static int set_openmp(void)
{
	char text[2 * PATH_MAX];

	if (!openmp_preload(text, sizeof(text)))
		return fail(CLI_ABSENT, text,
			    "it is not there; make builds it, and make install "
			    "puts it beside liblkdf.so");
	setenv("LD_PRELOAD", text, 1);
	return CLI_OK;
}

static int run_numbers(struct session *t)
{
	int code = run_all(t);
	unsigned n;

	if (!code)
		code = print_all(t);
	for (n = 0; n < t->tried.nr; n++) {
		report_unload(&t->tried.run[n].report);
		free(t->tried.run[n].counts);
	}
	return code;
}

int verb_try(int argc, char **argv)
{
	struct try_opts o = { .times = 3 };
	struct session t = { .o = &o };
	int code, rc;

	if (!cli_parse(&try_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return fail(CLI_USAGE, "try", "which command?");
	t.command = argv + 1;
	t.tried.command = argv[1];
	code = o.is_openmp ? set_openmp() : CLI_OK;
	if (code)
		return code;
	if (!o.workers && !o.fix)
		o.workers = "1,2,4";
	code = o.workers ? parse_workers(&t.tried, o.workers) : CLI_OK;
	if (code)
		return code;
	rc = run_report_open(&t.dir);
	if (rc)
		return fail(cli_code_of(rc), "a folder for recordings",
			    strerror(-rc));
	code = o.fix ? run_fix(&t) : run_numbers(&t);
	run_report_close(&t.dir);
	return code;
}
