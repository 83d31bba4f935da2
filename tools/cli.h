/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What all verbs of lkdf share: one table of options per verb, from which
 * both the parser and --help are made, errors that say what, why and what to
 * do, and the exit codes.
 */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FINDINGS = 1, /* findings, or a threshold not met */
	CLI_USAGE = 2,
	CLI_DENIED = 3, /* not permitted */
	CLI_ABSENT = 4, /* not available here */
	CLI_GONE = 5, /* no such target, or it went away */
	CLI_DAMAGED = 6, /* damaged input */

	/* Of verbs that run a command, as timeout(1) and env(1) have them. */
	CLI_TIMEOUT = 124,
	CLI_FAILED = 125, /* lkdf itself */
	CLI_NO_EXEC = 126,
	CLI_NOT_FOUND = 127,
	CLI_SIGNAL = 128, /* plus its number */
};

/* First member of every verb's options. */
struct cli_common {
	bool is_json, is_quiet, is_verbose;
};

enum cli_type {
	CLI_FLAG,
	CLI_INT,
	CLI_TEXT
};

struct cli_row {
	const char *name; /* without the dashes */
	char letter; /* 0: none */
	enum cli_type type;
	size_t offset; /* of a bool, long or const char * */
	const char *value; /* what --help calls the value */
	const char *help;
};

/* Common options that a verb has no use for: it refuses them. */
enum cli_without {
	CLI_NO_JSON = 1,
	CLI_NO_QUIET = 2,
	CLI_NO_VERBOSE = 4,
};

/* One verb's command line; rows of the common options come on top. */
struct cli_spec {
	const char *verb, *usage, *help;
	const struct cli_row *row;
	unsigned nr_rows, max_words; /* words that are no options */
	unsigned without; /* enum cli_without */
	bool has_command; /* the first word that is no option, and all after */
};

/* A verb, or a word that follows one: "trace check". */
struct cli_verb {
	const char *name, *help;
	int (*fn)(int argc, char **argv);
};

/* The verbs of lkdf, or of one of its verbs. */
struct cli_family {
	const char *parent; /* "trace"; NULL: lkdf itself */
	const char *end; /* what --help says below the table; may be NULL */
	const struct cli_verb *verb;
	unsigned nr;
	/* A word that is no verb; NULL: it is refused. */
	void (*other)(char **argv);
};

/*
 * Calls the verb that argv[1] names, with argv from there on. Answers --help,
 * "help" and "help VERB ..." itself. The exit code.
 */
int cli_dispatch(const struct cli_family *family, int argc, char **argv);

/* Parsed, answered (--help), or refused; then the exit code is in *code. */
bool cli_parse(const struct cli_spec *spec, int argc, char **argv, void *opts,
	       int *code);

/*
 * The words that are no options, or the command, moved to argv[1] .. by
 * cli_parse(); NULL follows them.
 */
int cli_nr_words(int argc, char **argv);

/* The nearest word of a list that ends with NULL, or NULL if none is near. */
const char *cli_nearest(const char *word,
			const char *(*name)(const void *u, unsigned i),
			const void *u);

struct cli_error {
	const char *verb;
	enum cli_exit code;
	const char *needs, *try; /* may be NULL */
};

/* Prints what and why, needs and try, and how it ends; returns the code. */
int cli_fail(const struct cli_error *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Writes out what standard output still holds. Return: code, or the exit code
 * of a standard output that did not take all of it, which is said.
 */
int cli_end(int code);

/* The exit code for a negative errno. */
enum cli_exit cli_code_of(int err);

enum cli_paint {
	CLI_PLAIN,
	CLI_GREEN,
	CLI_YELLOW,
	CLI_RED,
	CLI_FAINT
};

/* Prints a padded word in colour, if @f is a terminal and NO_COLOR unset. */
void cli_paint(FILE *f, enum cli_paint paint, int width, const char *text);

#endif
