/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf why: what waits in a process, and for what. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "json.h"
#include "stat/ask.h"
#include "stat/target.h"

#include <stdlib.h>
#include <string.h>

static const char verb[] = "why";

struct why_opts {
	struct cli_common common;
	const char *process;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct why_opts, process), "PID|NAME",
	  "the process, by number or by the name of its command" },
};

const struct cli_spec why_spec = {
	.verb = verb,
	.usage = "-p PID|NAME [--json]",
	.help = "Says which tasks, runs and threads wait in an lkdf program, "
		"each for\nwhat, and how many tasks stand behind, as "
		"lkdf_why() does there. A\nthread of the runtime answers, also "
		"while all others hang; a program\nthat was opened with ask=no "
		"or serial=yes does not.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET | CLI_NO_VERBOSE,
};

/* The answer of each runtime; NULL: it was not to be asked, and code tells. */
struct answers {
	unsigned nr, nr_told;
	char *text[STATS_MAX];
	int code; /* of the last that failed */
};

static void ask_all(struct answers *all, struct stats *stats, int pid,
		    bool is_json)
{
	struct lkdf_answer a;
	unsigned i;
	int rc;

	for (i = 0; i < all->nr; i++) {
		rc = ask_why(&stats[i], pid, is_json, &all->text[i], &a);
		all->nr_told += !rc;
		if (rc)
			all->code = ask_fail(verb, pid, rc, &a);
	}
}

static void print_text(const struct answers *all)
{
	unsigned i;

	for (i = 0; i < all->nr; i++) {
		if (!all->text[i])
			continue;
		if (all->nr > 1)
			printf("%sruntime %u of %u\n", i ? "\n" : "", i + 1,
			       all->nr);
		fputs(all->text[i], stdout);
	}
}

/* Each is an object of schema lkdf/why/1, on one line. */
static void print_json(const struct answers *all, int pid)
{
	char command[64];
	unsigned i, nr = 0;
	struct json j;

	target_name(pid, command, sizeof(command));
	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/why_process/1");
	json_int(&j, "pid", pid);
	json_text(&j, "command", command);
	json_open(&j, "runtimes", '[');
	for (i = 0; i < all->nr; i++) {
		if (!all->text[i])
			continue;
		all->text[i][strcspn(all->text[i], "\n")] = '\0';
		printf("%s\n    %s", nr++ ? "," : "", all->text[i]);
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

int verb_why(int argc, char **argv)
{
	struct why_opts o = { .process = NULL };
	struct answers all = { .nr = 0 };
	struct stats stats[STATS_MAX];
	int code, pid, rc;
	unsigned i;

	if (!cli_parse(&why_spec, argc, argv, &o, &code))
		return code;
	code = target_find(verb, o.process, &pid);
	if (code)
		return code;
	rc = stats_find(pid, stats, STATS_MAX);
	if (rc <= 0)
		return target_refuse(verb, pid, rc);
	all.nr = (unsigned)rc;
	ask_all(&all, stats, pid, o.common.is_json);
	if (all.nr_told && o.common.is_json)
		print_json(&all, pid);
	else if (all.nr_told)
		print_text(&all);
	for (i = 0; i < all.nr; i++) {
		stats_unmap(&stats[i]);
		free(all.text[i]);
	}
	return all.code;
}
