/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one binary: picks the verb. A verb is a function and a row here; one
 * that is not in the table is looked for as lkdf-<verb> on PATH.
 */
#include "cli.h"
#include "verbs.h"

#include <string.h>
#include <unistd.h>

static const struct cli_verb verbs[] = {
	{ "topo", "nodes, caches and CPUs, and which workers sit there",
	  verb_topo },
	{ "doctor", "what this machine lacks, why, and how to fix it",
	  verb_doctor },
	{ "bench", "compare with a floor and with peers, in ratios",
	  verb_bench },
	{ "run", "a command with options, a trace, a time limit", verb_run },
	{ "stat", "counters of a process, or of a command", verb_stat },
	{ "trace", "convert or check what LKDF_TRACE=FILE recorded",
	  verb_trace },
	{ "report", "what costs most in a recording, and what to change",
	  verb_report },
	{ "pages", "on which nodes the memory of a process is", verb_pages },
	{ "probe", "loads and ends the BPF programs that see workers",
	  verb_probe },
	{ "futex", "in which lock the workers of a process meet", verb_futex },
};

/* A program lkdf-VERB on PATH. */
static void call_other(char **argv)
{
	char program[256];

	if (argv[0][0] == '-' || strchr(argv[0], '/'))
		return;
	snprintf(program, sizeof(program), "lkdf-%s", argv[0]);
	execvp(program, argv);
}

static const struct cli_family family = {
	.end = "Exit status: 0 fine, 1 findings, 2 usage, 3 not permitted,\n"
	       "4 not available here, 5 no such target, 6 damaged input.\n",
	.verb = verbs,
	.nr = sizeof(verbs) / sizeof(verbs[0]),
	.other = call_other,
};

static int run(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		printf("lkdf %s\n", LKDF_VERSION);
		return CLI_OK;
	}
	return cli_dispatch(&family, argc, argv);
}

int main(int argc, char **argv)
{
	return cli_end(run(argc, argv));
}
