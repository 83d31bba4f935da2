/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Runs of lkdf try --fix: one as it is, one with the change, and so on. */
#include "cli/cli.h"
#include "progress.h"
#include "report/try.h"
#include "report/try_fix.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The variable of the option of the library, in the environment. */
#define OPTION_SIZE 512

static int fail(enum cli_exit code, const char *what, const char *why)
{
	struct cli_error e = { "try", code, NULL, "lkdf try --help" };

	return cli_fail(&e, "%s: %s", what, why);
}

/* A run into that file. The exit code. */
static int record(const struct try_turns *t, const char *path, uint64_t *ns)
{
	int code;

	setenv("LKDF_TRACE", path, 1);
	unlink(path);
	code = try_run_command(t->command, NULL, ns);
	return code ? fail((enum cli_exit)code, t->command[0], "it failed")
		    : CLI_OK;
}

static int read_run(const struct try_turns *t, const char *path,
		    struct report *r)
{
	*r = (struct report){ .file = path };
	if (!try_read_recording(r, path))
		return CLI_OK;
	report_unload(r);
	return fail(CLI_ABSENT, t->command[0],
		    "no whole recording of a runtime");
}

static void add_wall(struct walls *w, uint64_t ns)
{
	unsigned i = w->nr++;

	for (; i && w->ns[i - 1] > ns; i--)
		w->ns[i] = w->ns[i - 1];
	w->ns[i] = ns;
}

/* Predictions come from the first recording that is good for them. */
static int predict(struct try_fixed *f, struct report *r)
{
	int rc = report_limits(r);

	f->list.is_bound = false;
	if (!rc)
		rc = report_waits(r);
	if (!rc)
		rc = report_loops(r);
	if (!rc)
		rc = fix_predict(&f->list, r, &f->gain);
	f->lacks = r->no_gains;
	return rc ? fail(CLI_ABSENT, f->command, "no memory") : CLI_OK;
}

/* Options that the program was given by hand stay. */
static int set_fix(const struct fix_list *l, const char *before)
{
	char option[2 * OPTION_SIZE];
	unsigned i;

	fix_option(l, before, option, sizeof(option));
	if (strlen(option) >= OPTION_SIZE)
		return fail(CLI_USAGE, "--fix", "it is too long");
	if (option[0])
		setenv("LKDF_FIX", option, 1);
	for (i = 0; i < l->nr; i++)
		if (l->fix[i].verb == FIX_WORKERS)
			setenv("LKDF_WORKERS", l->fix[i].value, 1);
	return CLI_OK;
}

static void set_back(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static int run_before(struct try_turns *t, const char *path)
{
	struct try_fixed *f = &t->fixed;
	struct report r;
	uint64_t ns = 0;
	int code = record(t, path, &ns);

	if (!code)
		code = read_run(t, path, &r);
	if (code)
		return code;
	if (!f->before.nr || f->lacks)
		code = predict(f, &r);
	add_wall(&f->before, t->is_openmp ? ns : r.wall);
	report_unload(&r);
	return code;
}

/* No object may have the name of a change, or the program takes no options. */
static int check_made(const struct fix_list *l, const struct report *r)
{
	char why[128];
	unsigned i;

	for (i = 0; i < l->nr; i++) {
		if (fix_is_made(&l->fix[i], r))
			continue;
		snprintf(why, sizeof(why),
			 "the program made no %s of that name, or takes no "
			 "options from variables",
			 fix_object(&l->fix[i]));
		return fail(CLI_ABSENT, l->fix[i].text, why);
	}
	return CLI_OK;
}

static int run_after(struct try_turns *t, const char *path)
{
	struct try_fixed *f = &t->fixed;
	char *fix = getenv("LKDF_FIX"), *workers = getenv("LKDF_WORKERS");
	struct report r;
	uint64_t ns = 0;
	int code;

	fix = fix ? strdup(fix) : NULL;
	workers = workers ? strdup(workers) : NULL;
	code = set_fix(&f->list, fix);
	if (!code)
		code = record(t, path, &ns);
	set_back("LKDF_FIX", fix);
	set_back("LKDF_WORKERS", workers);
	free(fix);
	free(workers);
	if (!code)
		code = read_run(t, path, &r);
	if (code)
		return code;
	code = check_made(&f->list, &r);
	add_wall(&f->after, t->is_openmp ? ns : r.wall);
	report_unload(&r);
	return code;
}

int try_take_turns(struct try_turns *t)
{
	struct progress p;
	char path[512];
	int code = CLI_OK;
	unsigned i;

	snprintf(path, sizeof(path), "%.480s/fix.lkdf", t->dir);
	progress_start(&p, 2 * t->times, t->is_quiet);
	for (i = 0; i < t->times && !code; i++) {
		code = run_before(t, path);
		progress_step(&p, 1, t->command[0]);
		if (!code)
			code = run_after(t, path);
		progress_step(&p, 1, t->command[0]);
	}
	progress_end(&p);
	if (!code && t->is_json)
		try_fix_print_json(&t->fixed, stdout);
	else if (!code)
		try_fix_print(&t->fixed, stdout);
	return code;
}
