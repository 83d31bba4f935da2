/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Manual pages of section 1 from the tables that --help is made of: one for
 * lkdf, one for each verb and for each word of a verb, in the macros of man(7).
 */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

#define INDENT 2 /* of a line that is a term and its text */

/* Characters that roff would take for its own, or for typography. */
static void put_chars(const char *text, size_t nr)
{
	static const char special[] = "\\-'`^~\"";
	static const char *const named[] = { "\\e",   "\\-",   "\\(aq", "\\(ga",
					     "\\(ha", "\\(ti", "\\(dq" };
	const char *at;

	for (; nr; nr--, text++) {
		at = strchr(special, *text);
		if (at)
			fputs(named[at - special], stdout);
		else
			putchar(*text);
	}
}

/* A line of text; a dot at its begin would make it a request. */
static void put_line(const char *text, size_t nr)
{
	if (nr && *text == '.')
		fputs("\\&", stdout);
	put_chars(text, nr);
	putchar('\n');
}

static void put_font(char font, const char *text)
{
	printf("\\f%c", font);
	put_chars(text, strlen(text));
	fputs("\\fR", stdout);
}

/* "  graph      dataflow graphs: ..": a term, and what it means. */
static void put_term(const char *line, size_t nr)
{
	size_t len = 0;

	line += INDENT;
	nr -= INDENT;
	while (len < nr && line[len] != ' ')
		len++;
	fputs(".TP 12\n\\fB", stdout);
	put_chars(line, len);
	puts("\\fR");
	while (len < nr && line[len] == ' ')
		len++;
	put_line(line + len, nr - len);
}

/* Text as --help prints it: lines, empty ones between paragraphs, terms. */
static void put_text(const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (!len)
			puts(".PP");
		else if (len > INDENT && !strncmp(text, "  ", INDENT))
			put_term(text, len);
		else
			put_line(text, len);
	}
}

/* For --help: its own lines and indents mean nothing here. */
static void put_usage(const char *text)
{
	size_t len;

	for (; *text; text += len + strspn(text + len, " \n")) {
		len = strcspn(text, " \n");
		put_line(text, len);
	}
}

/* The name of a page, "lkdf-trace-check", in capitals or not. */
static void put_name(const char *verb, bool is_capital)
{
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "lkdf%s%s", verb ? "-" : "",
		 verb ? verb : "");
	for (i = 0; name[i]; i++)
		if (name[i] == ' ')
			name[i] = '-';
		else if (is_capital)
			name[i] = (char)toupper((unsigned char)name[i]);
	put_chars(name, strlen(name));
}

/* Left-adjusted and not hyphenated: options stay as they are typed. */
static void put_head(const char *verb, const char *help)
{
	puts(".\\\" Made by lkdf help --man from the tables of its options.");
	fputs(".TH ", stdout);
	put_name(verb, true);
	puts(" 1 \"\" \"lkdf " LKDF_VERSION "\" \"User Commands\"");
	puts(".nh\n.ad l\n.SH NAME");
	put_name(verb, false);
	fputs(" \\- ", stdout);
	put_line(help, strlen(help));
}

static void put_see(const char *verb)
{
	fputs(".BR ", stdout);
	put_name(verb, false);
	puts(" (1)");
}

static void put_option(const struct cli_row *row)
{
	puts(".TP");
	if (row->letter)
		printf("\\fB\\-%c\\fR, ", row->letter);
	fputs("\\fB\\-\\-", stdout);
	put_chars(row->name, strlen(row->name));
	fputs("\\fR", stdout);
	if (row->value) {
		putchar(' ');
		put_font('I', row->value);
	}
	putchar('\n');
	put_line(row->help, strlen(row->help));
}

static void put_options(const struct cli_spec *spec)
{
	const char *times = cli_times(spec);
	static const struct cli_row help = {
		"help", 'h', CLI_FLAG, 0, NULL, "these options in short"
	};
	const struct cli_row *row;
	unsigned i;

	puts(".SH OPTIONS");
	for (i = 0; (row = cli_row_at(spec, i)); i++)
		put_option(row);
	put_option(&help);
	if (times) {
		puts(".PP");
		put_line(times, strlen(times));
	}
}

static void put_statuses(void)
{
	const struct cli_status *s;

	puts(".SH EXIT STATUS\n.PD 0");
	for (s = cli_statuses; s->help; s++) {
		printf(".TP\n.B %d\n", s->code);
		put_line(s->help, strlen(s->help));
	}
	puts(".PD");
}

/* For a verb with a command the text tells the exit status. */
void cli_man_verb(const struct cli_verb *verb)
{
	const struct cli_spec *spec = verb->spec;
	const char *space = strrchr(spec->verb, ' ');
	char parent[32];

	put_head(spec->verb, verb->help);
	puts(".SH SYNOPSIS");
	put_font('B', "lkdf ");
	put_font('B', spec->verb);
	putchar('\n');
	put_usage(spec->usage);
	puts(".SH DESCRIPTION");
	put_text(spec->help);
	put_options(spec);
	if (!spec->has_command)
		put_statuses();
	puts(".SH SEE ALSO");
	if (space) {
		snprintf(parent, sizeof(parent), "%.*s",
			 (int)(space - spec->verb), spec->verb);
		put_see(parent);
	}
	put_see(NULL);
}

static void put_verbs(const struct cli_family *f)
{
	const struct cli_verb *v;

	for (v = f->verb; v < f->verb + f->nr; v++) {
		const char *help = v->words ? v->words->help : v->help;

		puts(".TP");
		put_font('B', v->name);
		putchar('\n');
		put_line(help, strlen(help));
	}
}

/* Sections that belong to all verbs. */
static void put_common(void)
{
	put_statuses();
	puts(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\n"
	     "If it is set and not empty, no colours on a terminal.\n"
	     ".TP\n.BI LKDF_ NAME\n"
	     "The option\n.I NAME\n"
	     "of the runtimes in the programs that are run or looked at,\n"
	     "in capitals:\n.BR LKDF_WORKERS ,\n.BR LKDF_TRACE .");
}

void cli_man_family(const struct cli_family *f)
{
	const struct cli_verb *v;
	char name[64];

	put_head(f->parent, f->help);
	puts(".SH SYNOPSIS");
	put_font('B', f->parent ? "lkdf " : "lkdf");
	put_font('B', f->parent ? f->parent : "");
	puts(f->parent
		     ? " \\fIWORD\\fR [options]"
		     : " \\fIVERB\\fR [options]\n.br\n\\fBlkdf help\\fR "
		       "[\\fB\\-\\-man\\fR] [\\fIVERB\\fR [\\fIWORD\\fR]]\n.br\n\\fBlkdf \\-\\-version\\fR");
	printf(".SH %s\n", f->parent ? "WORDS" : "VERBS");
	put_verbs(f);
	if (f->end) {
		puts(".PP");
		put_line(f->end, strlen(f->end));
	}
	if (!f->parent)
		put_common();
	puts(".SH SEE ALSO");
	for (v = f->verb; v < f->verb + f->nr; v++) {
		snprintf(name, sizeof(name), "%s%s%s",
			 f->parent ? f->parent : "", f->parent ? " " : "",
			 v->name);
		put_see(name);
	}
	if (f->parent)
		put_see(NULL);
	else
		puts(".BR lkdf (3)\n.BR lkdf (4)");
}
