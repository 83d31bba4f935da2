/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf why: what waits in a process, and for what. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "stat/answers.h"

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
		"or serial=yes does not. Threads that\nare in a system call are "
		"told from /proc, also of such a program.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET | CLI_NO_VERBOSE,
};

int verb_why(int argc, char **argv)
{
	static const struct question why = {
		.verb = verb,
		.schema = "lkdf/why_process/1",
		.text = LKDF_ASK_WHY_TEXT,
		.json = LKDF_ASK_WHY_JSON,
		.tells_calls = true,
	};
	struct why_opts o = { .process = NULL };
	int code;

	if (!cli_parse(&why_spec, argc, argv, &o, &code))
		return code;
	return answers_print(&why, o.process, o.common.is_json);
}
