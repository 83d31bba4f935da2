/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tool says of a recording that a test has made of itself. The test
 * calls probe_find() first, which says where the tool is.
 */
#ifndef TESTS_API_RECORDED_H
#define TESTS_API_RECORDED_H

#include "tests/api/api.h"
#include "tests/api/probe.h"

/* Lines of the recording as CSV that match; 0 too where it cannot be read. */
__attribute__((unused)) static int recorded_lines(const char *file,
						  const char *pattern)
{
	char line[3 * PATH_MAX];
	int nr = 0;
	FILE *f;

	snprintf(line, sizeof(line),
		 "'%s' trace convert --to csv '%s' | grep -c '%s'", probe_tool,
		 file, pattern);
	f = popen(line, "r");
	if (!f || fscanf(f, "%d", &nr) != 1)
		nr = 0;
	if (f)
		pclose(f);
	return nr;
}

static char recorded_report[1 << 20];

/* Reads what lkdf report says with an option, and shows its findings. */
__attribute__((unused)) static void recorded_read_with(const char *file,
						       const char *option)
{
	char line[3 * PATH_MAX], *at;
	size_t n = 0;
	FILE *f;

	snprintf(line, sizeof(line), "'%s' report --json %s '%s'", probe_tool,
		 option, file);
	f = popen(line, "r");
	if (f)
		n = fread(recorded_report, 1, sizeof(recorded_report) - 1, f);
	recorded_report[n] = '\0';
	ok(f && pclose(f) == 0, "lkdf report reads the recording");
	at = strstr(recorded_report, "\"kinds\":");
	if (at)
		*at = '\0';
	at = recorded_report;
	while ((at = strstr(at, "\"title\": "))) {
		printf("# %.*s\n", (int)strcspn(at, "\n"), at);
		at += strcspn(at, "\n");
	}
}

__attribute__((unused)) static void recorded_read(const char *file)
{
	recorded_read_with(file, "");
}

/* The finding with that id, as JSON; "": the report has none. */
__attribute__((unused)) static const char *recorded_finding(const char *id)
{
	static char text[2048];
	char key[64], *at, *end;

	snprintf(key, sizeof(key), "\"id\": \"%s\",\n", id);
	at = strstr(recorded_report, "\"findings\":");
	at = at ? strstr(at, key) : NULL;
	if (!at)
		return "";
	end = strstr(at, "\n    }");
	snprintf(text, sizeof(text), "%.*s", end ? (int)(end - at) : 0, at);
	return text;
}

#endif
