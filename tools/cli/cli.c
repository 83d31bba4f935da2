/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Long options take "--name value" and "--name=value", letters "-n value" and
 * "-nvalue".
 */
#include "cli/cli.h"
#include "times.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORD 64

static const struct {
	struct cli_row row;
	unsigned without;
} common[] = {
	{ { "json", 0, CLI_FLAG, offsetof(struct cli_common, is_json), NULL,
	    "one JSON object on standard output" },
	  CLI_NO_JSON },
	{ { "quiet", 'q', CLI_FLAG, offsetof(struct cli_common, is_quiet), NULL,
	    "no progress, no notes" },
	  CLI_NO_QUIET },
	{ { "verbose", 'v', CLI_FLAG, offsetof(struct cli_common, is_verbose),
	    NULL, "say more" },
	  CLI_NO_VERBOSE },
};
#define NR_COMMON (sizeof(common) / sizeof(common[0]))

const struct cli_row *cli_row_at(const struct cli_spec *spec, unsigned i)
{
	unsigned j;

	if (i < spec->nr_rows)
		return &spec->row[i];
	i -= spec->nr_rows;
	for (j = 0; j < NR_COMMON; j++) {
		if (spec->without & common[j].without)
			continue;
		if (!i--)
			return &common[j].row;
	}
	return NULL;
}

static void print_row(const struct cli_row *row)
{
	char left[MAX_WORD];

	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? "," : " ",
		 row->name, row->value ? " " : "",
		 row->value ? row->value : "");
	printf("  %-24s %s\n", left, row->help);
}

const char *cli_times(const struct cli_spec *spec)
{
	unsigned i;

	for (i = 0; i < spec->nr_rows; i++)
		if (spec->row[i].type == CLI_TIME)
			return "A TIME is 1.5s, 250ms, 30us, 2m; a number "
			       "alone is in seconds.";
		else if (spec->row[i].type == CLI_TIME_MS)
			return "A TIME is 1.5s, 250ms, 2m; a number alone is "
			       "in milliseconds.";
	return NULL;
}

void cli_print_help(const struct cli_spec *spec)
{
	const char *times = cli_times(spec);
	const struct cli_row *row;
	unsigned i;

	printf("usage: lkdf %s %s\n\n%s\n\noptions:\n", spec->verb, spec->usage,
	       spec->help);
	for (i = 0; (row = cli_row_at(spec, i)); i++)
		print_row(row);
	printf("  %-24s %s\n", "-h, --help", "this text");
	if (times)
		printf("\n%s\n", times);
}

/* Levenshtein distance over two rows; long words are far from everything. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_WORD + 1], i, j, diagonal, above, best;
	size_t len = strlen(b);

	if (len > MAX_WORD)
		return MAX_WORD;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 1; *a; i++, a++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= len; j++) {
			above = row[j];
			best = diagonal + (*a != b[j - 1]);
			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = above;
			row[j] = best;
		}
	}
	return row[len];
}

const char *cli_nearest(const char *word,
			const char *(*name)(const void *u, unsigned i),
			const void *u)
{
	const char *found = NULL, *text;
	unsigned i, d, best = 4;

	for (i = 0; (text = name(u, i)); i++) {
		d = distance(word, text);
		if (d < best && d < strlen(text)) {
			best = d;
			found = text;
		}
	}
	return found;
}

static const char *row_name(const void *u, unsigned i)
{
	const struct cli_row *row = cli_row_at(u, i);

	return row ? row->name : NULL;
}

static int refuse(const struct cli_spec *spec, const char *what,
		  const char *word, const char *nearest)
{
	char try[160];
	struct cli_error e = { spec->verb, CLI_USAGE, NULL, try };

	if (nearest)
		snprintf(try, sizeof(try), "--%s  (all: lkdf %s --help)",
			 nearest, spec->verb);
	else
		snprintf(try, sizeof(try), "lkdf %s --help", spec->verb);
	return cli_fail(&e, "%s \"%s\"", what, word);
}

const struct cli_row *cli_find_row(const struct cli_spec *spec, const char *arg,
				   const char **value)
{
	const struct cli_row *row;
	size_t len;
	unsigned i;

	*value = NULL;
	for (i = 0; (row = cli_row_at(spec, i)); i++) {
		if (arg[1] != '-') {
			if (row->letter != arg[1] ||
			    (arg[2] && row->type == CLI_FLAG))
				continue;
			*value = arg[2] ? arg + 2 : NULL;
			return row;
		}
		len = strlen(row->name);
		if (strncmp(arg + 2, row->name, len))
			continue;
		if (arg[2 + len] == '=')
			*value = arg + 3 + len;
		if (!arg[2 + len] || *value)
			return row;
	}
	return NULL;
}

/* NULL, or what is wrong with the value. */
static const char *store(const struct cli_row *row, void *opts,
			 const char *value)
{
	char *to = (char *)opts + row->offset, *end;
	long number;

	if (row->type == CLI_FLAG) {
		*(bool *)to = true;
		return value ? "takes no value" : NULL;
	}
	if (!value)
		return "needs a value";
	if (row->type == CLI_TEXT) {
		*(const char **)to = value;
		return NULL;
	}
	if (row->type == CLI_TIME)
		return times_read(value, NS_PER_S, (int64_t *)to);
	if (row->type == CLI_TIME_MS)
		return times_read(value, NS_PER_MS, (int64_t *)to);
	errno = 0;
	number = strtol(value, &end, 10);
	if (errno || end == value || *end)
		return "is no number";
	*(long *)to = number;
	return NULL;
}

static int refuse_value(const struct cli_spec *spec, const struct cli_row *row,
			const char *value, const char *wrong)
{
	char try[64];
	struct cli_error e = { spec->verb, CLI_USAGE, NULL, try };

	snprintf(try, sizeof(try), "lkdf %s --help", spec->verb);
	return cli_fail(&e, "--%s: \"%s\" %s", row->name, value, wrong);
}

/* Parses one option at argv[*i]; advances over its value. 0 or an exit code. */
static int parse_option(const struct cli_spec *spec, char **argv, int *i,
			void *opts)
{
	const char *value, *wrong, *arg = argv[*i];
	const struct cli_row *row = cli_find_row(spec, arg, &value);

	if (!row)
		return refuse(spec, "unknown option", arg,
			      arg[1] == '-'
				      ? cli_nearest(arg + 2, row_name, spec)
				      : NULL);
	if (row->type != CLI_FLAG && !value && argv[*i + 1])
		value = argv[++*i];
	wrong = store(row, opts, value);
	if (wrong && value && row->type != CLI_FLAG)
		return refuse_value(spec, row, value, wrong);
	if (wrong)
		return refuse(spec, wrong, arg, row->name);
	return 0;
}

bool cli_parse(const struct cli_spec *spec, int argc, char **argv, void *opts,
	       int *code)
{
	bool is_over = false;
	unsigned nr = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (!is_over && !strcmp(argv[i], "--")) {
			is_over = true;
		} else if (spec->has_command &&
			   (is_over || argv[i][0] != '-')) {
			memmove(argv + 1, argv + i,
				(size_t)(argc - i + 1) * sizeof(*argv));
			return true;
		} else if (is_over || argv[i][0] != '-' || !argv[i][1]) {
			if (nr == spec->max_words) {
				*code = refuse(spec, "too many words at",
					       argv[i], NULL);
				return false;
			}
			argv[1 + nr++] = argv[i];
		} else if (!strcmp(argv[i], "--help") ||
			   !strcmp(argv[i], "-h")) {
			cli_print_help(spec);
			*code = CLI_OK;
			return false;
		} else {
			*code = parse_option(spec, argv, &i, opts);
			if (*code)
				return false;
		}
	}
	argv[1 + nr] = NULL;
	return true;
}

int cli_nr_words(int argc, char **argv)
{
	int nr = 0;

	while (nr + 1 < argc && argv[nr + 1])
		nr++;
	return nr;
}

int cli_fail(const struct cli_error *e, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "lkdf%s%s: ", e->verb ? " " : "",
		e->verb ? e->verb : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (e->needs)
		fprintf(stderr, "  needs: %s\n", e->needs);
	if (e->try)
		fprintf(stderr, "  try:   %s\n", e->try);
	fprintf(stderr, "  now:   exit %d\n", e->code);
	return e->code;
}

int cli_end(int code)
{
	struct cli_error e = { .try = "give it more room, or a pipe" };
	bool has_failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !has_failed)
		return code;
	e.code = code > CLI_FINDINGS ? code : CLI_ABSENT;
	return cli_fail(&e, "standard output is not complete%s%s",
			errno ? ": " : "", errno ? strerror(errno) : "");
}

enum cli_exit cli_code_of(int err)
{
	switch (-err) {
	case EINVAL:
		return CLI_USAGE;
	case EPERM:
	case EACCES:
		return CLI_DENIED;
	case ENOENT:
	case ESRCH:
		return CLI_GONE;
	case EBADMSG:
		return CLI_DAMAGED;
	default:
		return CLI_ABSENT;
	}
}

void cli_paint(FILE *f, enum cli_paint paint, int width, const char *text)
{
	static const char *const codes[] = { "", "\033[32m", "\033[33m",
					     "\033[31m", "\033[2m" };
	const char *no = getenv("NO_COLOR");

	if (paint == CLI_PLAIN || (no && *no) || !isatty(fileno(f)))
		fprintf(f, "%-*s", width, text);
	else
		fprintf(f, "%s%-*s\033[0m", codes[paint], width, text);
}
