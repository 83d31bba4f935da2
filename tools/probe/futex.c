/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf futex: which locks the workers of a process contend for. */
#include "probe/futex.h"

#include "cli/cli.h"
#include "cli/verbs.h"
#include "stat/target.h"
#include "times.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct futex_opts {
	struct cli_common common;
	const char *process, *dir;
	int64_t duration_ns;
	long top;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct futex_opts, process),
	  "PID|NAME", "the process, by number or by the name of its command" },
	{ "duration", 'd', CLI_TIME, offsetof(struct futex_opts, duration_ns),
	  "TIME", "looks once, for so long (1s)" },
	{ "top", 't', CLI_INT, offsetof(struct futex_opts, top), "N",
	  "so many words (8)" },
	{ "dir", 0, CLI_TEXT, offsetof(struct futex_opts, dir), "DIR",
	  "where lkdf probe start has pinned (LKDF_PROBE, else " LKDF_PROBE_DIR
	  ")" },
};

const struct cli_spec futex_spec = {
	.verb = "futex",
	.usage = "-p PID|NAME [-d TIME] [--top N] [--json]",
	.help = "Names the futex words in which the workers of an lkdf program\n"
		"spend CPU time or sleep, by lock, symbol and kind of body.\n"
		"Needs lkdf probe start before the program. On a terminal and\n"
		"without -d it looks each second until it is interrupted.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET | CLI_NO_VERBOSE,
};

static int usage(const char *what)
{
	struct cli_error e = { "futex", CLI_USAGE, NULL, "lkdf futex --help" };

	return cli_fail(&e, "%s", what);
}

static int fail(const struct futex_error *f)
{
	struct cli_error e = { "futex", (enum cli_exit)f->code, NULL,
			       f->fix[0] ? f->fix : NULL };

	return cli_fail(&e, "%s", f->why);
}

static void nap(int64_t ns)
{
	struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void print(const struct futex_opts *o, const struct futex_report *r)
{
	if (o->common.is_json)
		futex_print_json(r, (unsigned)o->top);
	else
		futex_print_text(r, (unsigned)o->top);
	fflush(stdout);
}

/* Once, or each second over the screen as it was. */
static int look(const struct futex_opts *o, struct futex_view *v)
{
	bool again = !o->duration_ns && !o->common.is_json && isatty(1);
	struct futex_report *r = malloc(sizeof(*r));
	struct futex_error e;
	int rc;

	if (!r)
		return usage("no memory");
	do {
		nap(o->duration_ns ? o->duration_ns : NS_PER_S);
		rc = futex_look(v, r, &e);
		if (rc)
			break;
		if (again)
			printf("\033[H\033[2J");
		print(o, r);
	} while (again);
	free(r);
	return rc ? fail(&e) : CLI_OK;
}

int verb_futex(int argc, char **argv)
{
	struct futex_opts o = { .top = 8 };
	struct futex_error e;
	struct futex_view *v;
	int code, pid;

	if (!cli_parse(&futex_spec, argc, argv, &o, &code))
		return code;
	if (o.duration_ns > 24 * NS_PER_HOUR || o.top < 1)
		return usage("-d: up to 24h; --top: 1 or more");
	code = target_find("futex", o.process, &pid);
	if (code)
		return code;
	if (futex_open(pid, o.dir, &v, &e))
		return fail(&e);
	code = look(&o, v);
	futex_close(v);
	return code;
}
