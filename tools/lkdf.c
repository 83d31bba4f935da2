/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one binary: picks the verb. A verb is a function and a row here; one
 * that is not in the table is looked for as lkdf-<verb> on PATH.
 */
#include "cli.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct cli_verb verbs[] = {
	{ "topo", "nodes, caches and CPUs, and which workers sit there",
	  verb_topo },
	{ "doctor", "what this machine lacks, why, and how to fix it",
	  verb_doctor },
	{ "bench", "compare with a floor and with peers, in ratios",
	  verb_bench },
	{ "trace", "convert or check what LKDF_TRACE=FILE recorded",
	  verb_trace },
	{ "pages", "on which nodes the memory of a process is", verb_pages },
	{ "probe", "loads and ends the BPF programs that see workers",
	  verb_probe },
};
#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const char *verb_name(unsigned i)
{
	return verbs[i].name;
}

static void print_help(FILE *f)
{
	unsigned i;

	fprintf(f, "usage: lkdf VERB [options]\n\nverbs:\n");
	for (i = 0; i < NR_VERBS; i++)
		fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	fprintf(f,
		"\nlkdf VERB --help tells a verb's options.\n"
		"Exit status: 0 fine, 1 findings, 2 usage, 3 not permitted,\n"
		"4 not available here, 5 no such target, 6 damaged input.\n");
}

static int unknown_verb(char **argv)
{
	struct cli_error e = { NULL, CLI_USAGE, NULL, "lkdf --help" };
	const char *near = cli_nearest(argv[0], verb_name, NR_VERBS);
	char program[256], try[64];

	if (argv[0][0] != '-' && !strchr(argv[0], '/')) {
		snprintf(program, sizeof(program), "lkdf-%s", argv[0]);
		execvp(program, argv);
	}
	if (near) {
		snprintf(try, sizeof(try), "lkdf %s", near);
		e.try = try;
	}
	return cli_fail(&e, "unknown %s \"%s\"",
			argv[0][0] == '-' ? "option" : "verb", argv[0]);
}

static int run(int argc, char **argv)
{
	unsigned i;

	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("lkdf %s\n", LKDF_VERSION);
		return CLI_OK;
	}
	for (i = 0; i < NR_VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].fn(argc - 1, argv + 1);
	return unknown_verb(argv + 1);
}

int main(int argc, char **argv)
{
	return cli_end(run(argc, argv));
}
