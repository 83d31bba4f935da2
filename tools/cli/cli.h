/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The command line of all verbs of lkdf: one table of options per verb, from
 * which the parser, --help, the manual page and the completion are made, errors
 * that say what, why and what to do, and the exit codes.
 */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

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

	/* For verbs that run a command, as timeout(1) and env(1) have them. */
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
	CLI_TEXT,
	/* times_read() into ns; a number alone is in seconds, or in ms. */
	CLI_TIME,
	CLI_TIME_MS,
};

struct cli_row {
	const char *name; /* without the dashes */
	char letter; /* 0: none */
	enum cli_type type;
	size_t offset; /* of a bool, long, const char * or int64_t */
	/*
	 * The name of the value in --help; FILE, DIR, PID|NAME, CPUS and
	 * OPTIONS are completed.
	 */
	const char *value;
	const char *help;
};

/* Common options that a verb has no use for: it refuses them. */
enum cli_without {
	CLI_NO_JSON = 1,
	CLI_NO_QUIET = 2,
	CLI_NO_VERBOSE = 4,
};

/* A verb's command line; rows of the common options come on top. */
struct cli_spec {
	const char *verb, *usage, *help;
	const struct cli_row *row;
	unsigned nr_rows, max_words; /* words that are no options */
	unsigned without; /* enum cli_without */
	bool has_command; /* the first word that is no option, and all after */
	bool has_files; /* the words that are no options name files */

	/* Values that the option of that name takes; NULL: the first word. */
	const char *choice_of;
	const char *(*choice)(const void *u, unsigned i); /* as cli_nearest() */
};

/* A verb, or a word that follows one: "trace check". */
struct cli_verb {
	const char *name, *help;
	int (*fn)(int argc, char **argv);
	const struct cli_spec *spec;
	/* A verb with further words has these, and neither fn nor spec. */
	const struct cli_family *words;
};

/* The verbs of lkdf, or of one of its verbs. */
struct cli_family {
	const char *parent; /* "trace"; NULL: lkdf itself */
	const char *help;
	const char *end; /* a sentence below the table; may be NULL */
	const struct cli_verb *verb;
	unsigned nr;
	/* A word that is no verb; NULL: it is refused. */
	void (*other)(char **argv);
};

/* A row of the exit codes that all verbs share; help is NULL in the last. */
struct cli_status {
	enum cli_exit code;
	const char *help;
};
extern const struct cli_status cli_statuses[];

/*
 * Calls the verb that argv[1] names, with argv from there on. Answers --help,
 * "help", "help VERB ..." and "help --man VERB ..." itself. The exit code.
 */
int cli_dispatch(const struct cli_family *family, int argc, char **argv);

/* Parsed, answered (--help), or refused; then the exit code is in *code. */
bool cli_parse(const struct cli_spec *spec, int argc, char **argv, void *opts,
	       int *code);

/* The verb of that name, or NULL. */
const struct cli_verb *cli_find_verb(const struct cli_family *f,
				     const char *name);

/* Option i of a verb, its own first; NULL: there is none with that number. */
const struct cli_row *cli_row_at(const struct cli_spec *spec, unsigned i);

/* The option that arg is, and the value that is part of arg, or NULL. */
const struct cli_row *cli_find_row(const struct cli_spec *spec, const char *arg,
				   const char **value);

void cli_print_help(const struct cli_spec *spec);

/* How the times that a verb takes are written; NULL: it takes none. */
const char *cli_times(const struct cli_spec *spec);

/* The manual page of a verb, or of a family, as roff on standard output. */
void cli_man_verb(const struct cli_verb *verb);
void cli_man_family(const struct cli_family *f);

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
