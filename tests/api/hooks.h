/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of hooks share: the library hooks_count.so of the examples, and
 * what it has written to standard error: "hooks: loop 3 sum", "hooks: end 3".
 */
#ifndef TESTS_API_HOOKS_H
#define TESTS_API_HOOKS_H

#include "tests/tap.h"

#include <inttypes.h>

static char said[1 << 16];

/* Standard error goes to a file until take_stderr(). */
__attribute__((unused)) static int redirect(FILE *f)
{
	int old = dup(STDERR_FILENO);

	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	return old;
}

__attribute__((unused)) static void take_stderr(FILE *f, int old)
{
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	fclose(f);
}

/* Where the library lies; it tells each call then. */
__attribute__((unused)) static const char *hooks_library(void)
{
	static char path[512];
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";

	snprintf(path, sizeof(path), "%s/examples/hooks_count.so", build);
	setenv("HOOKS_VERBOSE", "1", 1);
	return path;
}

/* The id of a line that says what (NULL: anything but an end); 0: none. */
static uint64_t hooks_id(const char *line, const char *what, const char *rest)
{
	char word[16], label[128] = "";
	uint64_t id;
	int nr = sscanf(line, "hooks: %15s %" SCNu64 "%127[^\n]", word, &id,
			label);

	if (nr < 2 || (what ? strcmp(word, what) != 0
			    : strcmp(word, "loop") && strcmp(word, "copy") &&
				       strcmp(word, "kernel")))
		return 0;
	return !rest || !strcmp(label + (label[0] == ' '), rest) ? id : 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* How often it was told "what ID rest". */
__attribute__((unused)) static unsigned hooks_nr(const char *what,
						 const char *rest)
{
	const char *line;
	unsigned nr = 0;

	for (line = said; *line; line = next_line(line))
		nr += hooks_id(line, what, rest) != 0;
	return nr;
}

/* Lines from there on with that id. */
static unsigned nr_of_id(const char *line, const char *what, uint64_t id)
{
	unsigned nr = 0;

	for (; *line; line = next_line(line))
		nr += hooks_id(line, what, NULL) == id;
	return nr;
}

/* Loops, kernels and copies: each id is used once and ends once, later on. */
__attribute__((unused)) static unsigned hooks_nr_odd(void)
{
	unsigned nr_begun = 0, nr_odd = 0;
	const char *line;
	uint64_t id;

	for (line = said; *line; line = next_line(line)) {
		id = hooks_id(line, NULL, NULL);
		if (!id)
			continue;
		nr_begun++;
		nr_odd += nr_of_id(said, NULL, id) != 1 ||
			  nr_of_id(said, "end", id) != 1 ||
			  nr_of_id(line, "end", id) != 1;
	}
	return nr_odd + (hooks_nr("end", NULL) != nr_begun);
}

#endif
