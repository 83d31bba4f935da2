/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tables of verbs: lkdf's own, and those of a verb that has further words. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

const struct cli_status cli_statuses[] = {
	{ CLI_OK, "fine" },
	{ CLI_FINDINGS, "findings" },
	{ CLI_USAGE, "usage" },
	{ CLI_DENIED, "not permitted" },
	{ CLI_ABSENT, "not available here" },
	{ CLI_GONE, "no such target" },
	{ CLI_DAMAGED, "damaged input" },
	{ CLI_OK, NULL },
};

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") ||
	       !strcmp(word, "help");
}

static void print_statuses(FILE *to)
{
	const struct cli_status *s;

	fprintf(to, "Exit status:");
	for (s = cli_statuses; s->help; s++)
		fprintf(to, "%s%d %s%s", s->code == CLI_ABSENT ? "\n" : " ",
			s->code, s->help, s[1].help ? "," : ".\n");
}

static void print_verbs(const struct cli_family *f, FILE *to)
{
	const char *space = f->parent ? " " : "";
	const char *parent = f->parent ? f->parent : "";
	const struct cli_verb *v;

	fprintf(to, "usage: lkdf%s%s %s [options]\n\n%s:\n", space, parent,
		f->parent ? "WORD" : "VERB", f->parent ? "words" : "verbs");
	for (v = f->verb; v < f->verb + f->nr; v++)
		fprintf(to, "  %-10s %s\n", v->name,
			v->words ? v->words->help : v->help);
	fprintf(to, "\nlkdf %s%s%s --help tells the options of each.\n", parent,
		f->parent ? " " : "", f->parent ? "WORD" : "VERB");
	if (f->end)
		fprintf(to, "%s\n", f->end);
	if (!f->parent)
		print_statuses(to);
}

const struct cli_verb *cli_find_verb(const struct cli_family *f,
				     const char *name)
{
	unsigned i;

	for (i = 0; i < f->nr; i++)
		if (!strcmp(name, f->verb[i].name))
			return &f->verb[i];
	return NULL;
}

static const char *verb_name(const void *u, unsigned i)
{
	const struct cli_family *f = u;

	return i < f->nr ? f->verb[i].name : NULL;
}

static int unknown(const struct cli_family *f, const char *word)
{
	struct cli_error e = { f->parent, CLI_USAGE, NULL, NULL };
	const char *space = f->parent ? " " : "";
	const char *parent = f->parent ? f->parent : "";
	const char *near = cli_nearest(word, verb_name, f);
	char try[128];

	snprintf(try, sizeof(try), "lkdf%s%s %s", space, parent,
		 near ? near : "--help");
	e.try = try;
	return cli_fail(&e, "unknown %s \"%s\"",
			word[0] == '-' ? "option"
			: f->parent    ? "word"
				       : "verb",
			word);
}

/* The text for a verb, or for a family where verb is NULL. */
static void answer(const struct cli_family *f, const struct cli_verb *verb,
		   bool is_man)
{
	if (verb && is_man)
		cli_man_verb(verb);
	else if (verb)
		cli_print_help(verb->spec);
	else if (is_man)
		cli_man_family(f);
	else
		print_verbs(f, stdout);
}

/* argv: the words after "help", NULL behind them. */
static int help(const struct cli_family *f, char **argv)
{
	struct cli_error e = { f->parent, CLI_USAGE, NULL,
			       "lkdf help [--man] [VERB [WORD]]" };
	const struct cli_verb *verb = NULL;
	bool is_man = *argv && !strcmp(*argv, "--man");
	char option[] = "--help";

	for (argv += is_man; *argv; argv++) {
		if (verb)
			return cli_fail(&e, "too many words at \"%s\"", *argv);
		verb = cli_find_verb(f, *argv);
		if (!verb && f->other && !is_man)
			f->other((char *[]){ *argv, option, NULL });
		if (!verb)
			return unknown(f, *argv);
		if (verb->words) {
			f = verb->words;
			verb = NULL;
		}
	}
	answer(f, verb, is_man);
	return CLI_OK;
}

int cli_dispatch(const struct cli_family *f, int argc, char **argv)
{
	const struct cli_verb *v;

	if (argc < 2) {
		print_verbs(f, stderr);
		return CLI_USAGE;
	}
	if (asks_for_help(argv[1]))
		return help(f,
			    strcmp(argv[1], "help") ? argv + argc : argv + 2);
	v = cli_find_verb(f, argv[1]);
	if (v && v->words)
		return cli_dispatch(v->words, argc - 1, argv + 1);
	if (v)
		return v->fn(argc - 1, argv + 1);
	if (f->other)
		f->other(argv + 1);
	return unknown(f, argv[1]);
}
