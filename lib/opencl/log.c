/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "<kernel>:"
#define MAX_NAME 63

/* The directive that line nr of the text is behind; false: there is none. */
static int map_line(const char *text, unsigned long nr, char name[MAX_NAME + 1],
		    unsigned long *line)
{
	unsigned long at = 1, first;
	int has_one = 0;

	for (; text && *text && at < nr; at++) {
		if (sscanf(text, "#line %lu \"%63[^\"\n]", &first, name) == 2) {
			*line = first + nr - at - 1;
			has_one = 1;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return has_one;
}

void opencl_map_log(const char *text, const char *log, char *to, size_t size)
{
	char name[MAX_NAME + 1];
	unsigned long line = 0;
	const char *at;
	char *end;
	size_t used = 0;

	to[0] = 0;
	while (used < size) {
		at = strstr(log, PLACE);
		if (!at ||
		    !map_line(text, strtoul(at + strlen(PLACE), &end, 10), name,
			      &line)) {
			snprintf(to + used, size - used, "%s", log);
			return;
		}
		used += (size_t)snprintf(to + used, size - used, "%.*s%s:%lu",
					 (int)(at - log), log, name, line);
		log = end;
	}
}
