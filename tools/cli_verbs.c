/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tables of verbs: lkdf's own, and those of a verb that has further words. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") ||
	       !strcmp(word, "help");
}

static void print_verbs(const struct cli_family *f, FILE *to)
{
	const char *space = f->parent ? " " : "";
	const char *parent = f->parent ? f->parent : "";
	unsigned i;

	fprintf(to, "usage: lkdf%s%s %s [options]\n\n%s:\n", space, parent,
		f->parent ? "WORD" : "VERB", f->parent ? "words" : "verbs");
	for (i = 0; i < f->nr; i++)
		fprintf(to, "  %-10s %s\n", f->verb[i].name, f->verb[i].help);
	fprintf(to, "\nlkdf %s%s%s --help tells the options of each.\n", parent,
		f->parent ? " " : "", f->parent ? "WORD" : "VERB");
	if (f->end)
		fputs(f->end, to);
}

static const struct cli_verb *find(const struct cli_family *f, const char *word)
{
	unsigned i;

	for (i = 0; i < f->nr; i++)
		if (!strcmp(word, f->verb[i].name))
			return &f->verb[i];
	return NULL;
}

static const char *verb_name(const void *u, unsigned i)
{
	const struct cli_family *f = u;

	return i < f->nr ? f->verb[i].name : NULL;
}

static int unknown(const struct cli_family *f, char **argv)
{
	struct cli_error e = { f->parent, CLI_USAGE, NULL, NULL };
	const char *space = f->parent ? " " : "";
	const char *parent = f->parent ? f->parent : "";
	const char *near;
	char try[128];

	if (f->other)
		f->other(argv);
	near = cli_nearest(argv[0], verb_name, f);
	snprintf(try, sizeof(try), "lkdf%s%s %s", space, parent,
		 near ? near : "--help");
	e.try = try;
	return cli_fail(&e, "unknown %s \"%s\"",
			argv[0][0] == '-' ? "option"
			: f->parent	  ? "word"
					  : "verb",
			argv[0]);
}

/* "help topo" is "topo --help", and so on. */
static int help(const struct cli_family *f, int argc, char **argv)
{
	char option[] = "--help";
	const struct cli_verb *v;
	char *words[4] = { NULL };
	int nr = 0;

	if (argc < 3 || strcmp(argv[1], "help")) {
		print_verbs(f, stdout);
		return CLI_OK;
	}
	v = find(f, argv[2]);
	if (!v)
		return unknown(f, argv + 2);
	words[nr++] = argv[2];
	if (argc > 3)
		words[nr++] = argv[3];
	words[nr++] = option;
	return v->fn(nr, words);
}

int cli_dispatch(const struct cli_family *f, int argc, char **argv)
{
	const struct cli_verb *v;

	if (argc < 2) {
		print_verbs(f, stderr);
		return CLI_USAGE;
	}
	if (asks_for_help(argv[1]))
		return help(f, argc, argv);
	v = find(f, argv[1]);
	return v ? v->fn(argc - 1, argv + 1) : unknown(f, argv + 1);
}
