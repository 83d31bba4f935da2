/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/shrink.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MAX_COMMAND (1 << 17)
#define KIND 256

struct shrinker {
	const char *command;
	bool *is_dropped;
	uint32_t nr_parts;
	char kind[KIND]; /* of the failure */
	char text[MAX_COMMAND];
};

bool *shrink_parse(const char *text, uint32_t nr_parts)
{
	bool *is_dropped = calloc(nr_parts + 1, sizeof(*is_dropped));
	unsigned long from, to;
	char *end;

	if (!is_dropped)
		abort();
	while (text && *text) {
		from = to = strtoul(text, &end, 10);
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		for (; from <= to && from < nr_parts; from++)
			is_dropped[from] = true;
		text = *end == ',' ? end + 1 : NULL;
	}
	return is_dropped;
}

static void print_command(struct shrinker *s)
{
	size_t used =
		(size_t)snprintf(s->text, sizeof(s->text), "%s", s->command);
	uint32_t i, end;
	bool is_first = true;

	for (i = 0; i < s->nr_parts && used < sizeof(s->text) - 64; i = end) {
		end = i + 1;
		if (!s->is_dropped[i])
			continue;
		while (end < s->nr_parts && s->is_dropped[end])
			end++;
		used += (size_t)snprintf(s->text + used, sizeof(s->text) - used,
					 "%s%u-%u", is_first ? " --drop " : ",",
					 i, end - 1);
		is_first = false;
	}
}

/* Numbers differ where parts are missing. */
static void take_kind(char *kind, const char *line)
{
	size_t n = 0;

	for (; *line && *line != '\n' && n + 1 < KIND; line++)
		if (!isxdigit((unsigned char)*line))
			kind[n++] = *line;
	kind[n] = '\0';
}

/* How it fails: what is said behind the options that repeat it. "": it passes.
 */
static void run_command(struct shrinker *s, char *kind)
{
	char line[4096];
	bool is_next = false;
	int status;
	FILE *f;

	print_command(s);
	kind[0] = '\0';
	strcat(s->text, " 2>&1");
	f = popen(s->text, "r");
	if (!f)
		abort();
	while (fgets(line, sizeof(line), f)) {
		if (is_next || !strncmp(line, "# hangs ", 8))
			take_kind(kind, line);
		is_next = !strncmp(line, "# fails ", 8);
	}
	status = pclose(f);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		kind[0] = '\0';
	else if (!kind[0])
		snprintf(kind, KIND, "status %d", status);
}

/* Takes what of these is left, if it fails without that in the same way. */
static bool try_without(struct shrinker *s, uint32_t from, uint32_t nr)
{
	bool *old = malloc(s->nr_parts);
	char kind[KIND];
	uint32_t i, nr_new = 0;
	bool is_same = false;

	if (!old)
		abort();
	memcpy(old, s->is_dropped, s->nr_parts);
	for (i = from; i < from + nr && i < s->nr_parts; i++) {
		nr_new += !s->is_dropped[i];
		s->is_dropped[i] = true;
	}
	if (nr_new) {
		run_command(s, kind);
		is_same = !strcmp(kind, s->kind);
	}
	if (!is_same)
		memcpy(s->is_dropped, old, s->nr_parts);
	free(old);
	return is_same;
}

static void shrink_by(struct shrinker *s, uint32_t nr)
{
	uint32_t at;

	for (at = 0; at < s->nr_parts; at += nr)
		try_without(s, at, nr);
}

int shrink_parts(const char *command, uint32_t nr_parts)
{
	struct shrinker *s = calloc(1, sizeof(*s));
	uint32_t nr;
	int rc;

	if (!s)
		abort();
	s->command = command;
	s->nr_parts = nr_parts;
	s->is_dropped = shrink_parse(NULL, nr_parts);
	run_command(s, s->kind);
	if (s->kind[0]) {
		for (nr = nr_parts; nr > 1; nr = (nr + 1) / 2)
			shrink_by(s, nr);
		shrink_by(s, 1);
		shrink_by(s, 1);
	}
	print_command(s);
	printf("%s\n", s->text);
	fflush(stdout);
	rc = system(s->text);
	free(s->is_dropped);
	free(s);
	return rc ? 0 : 1;
}
