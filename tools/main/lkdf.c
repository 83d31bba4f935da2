/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one binary: picks the verb. A verb is a function and a row here; one
 * that is not in the table is looked for as lkdf-<verb> on PATH.
 */
#include "cli/cli.h"
#include "cli/verbs.h"

#include <string.h>
#include <unistd.h>

static const struct cli_verb verbs[] = {
	{ "topo", "nodes, caches and CPUs, and which workers sit there",
	  verb_topo, &topo_spec, NULL },
	{ "doctor", "what this machine lacks, why, and how to fix it",
	  verb_doctor, &doctor_spec, NULL },
	{ "bench", "compare with a floor and with peers, in ratios", verb_bench,
	  &bench_spec, NULL },
	{ "run", "a command with options, a trace, a time limit", verb_run,
	  &run_spec, NULL },
	{ "check", "races, deadlocks and orders of a program's tasks",
	  verb_check, &check_spec, NULL },
	{ "stat", "counters of a process, or of a command", verb_stat,
	  &stat_spec, NULL },
	{ "top", "what the workers of a process do, as it runs", verb_top,
	  &top_spec, NULL },
	{ "device", "devices, their memory, kernels and copies", verb_device,
	  &device_spec, NULL },
	{ "why", "what waits in a process that runs, and for what", verb_why,
	  &why_spec, NULL },
	{ "trace", NULL, NULL, NULL, &trace_family },
	{ "report", "what costs most in a recording, and what to change",
	  verb_report, &report_spec, NULL },
	{ "try", "a command with 1, 2, 4 workers: is it slower together?",
	  verb_try, &try_spec, NULL },
	{ "pages", "on which nodes the memory of a process is", verb_pages,
	  &pages_spec, NULL },
	{ "probe", "loads and ends the BPF programs that see workers",
	  verb_probe, &probe_spec, NULL },
	{ "futex", "which locks the workers of a process contend for",
	  verb_futex, &futex_spec, NULL },
	{ "completion", "for bash and zsh: verbs, options and their values",
	  verb_completion, &completion_spec, NULL },
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

const struct cli_family lkdf_family = {
	.help = "runs, measures and explains programs of the lkdf runtime",
	.end = "Any other VERB is the program lkdf-VERB, looked for in PATH.",
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
	return cli_dispatch(&lkdf_family, argc, argv);
}

int main(int argc, char **argv)
{
	return cli_end(run(argc, argv));
}
