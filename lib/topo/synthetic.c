/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "topo/synthetic.h"

#include "base/err.h"
#include "topo/machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX_KEY "distances:"
#define DISTANCE_MAX 10000

/* More takes hwloc minutes and more memory than there is. */
#define NR_CPUS_MAX 4096
#define NR_NODES_MAX 1024

/* How many objects a level has in each of the one above: "core:4(size=1)". */
static uint64_t nr_of_level(const char *s, size_t len)
{
	const char *colon = memchr(s, ':', len);
	uint64_t nr = strtoull(colon ? colon + 1 : s, NULL, 10);

	return nr > NR_CPUS_MAX ? NR_CPUS_MAX + 1 : nr;
}

/*
 * The text is hwloc's to judge: only numbers are read here. Attributes are in
 * parentheses; what is in brackets hangs on the level before it, once.
 */
static int check_size(const char *text)
{
	uint64_t nr = 1, level;
	const char *s = text;
	size_t len;

	while (*(s += strspn(s, " \t\n"))) {
		len = strcspn(s, " \t\n(");
		level = *s == '[' ? 1 : nr_of_level(s, len);
		nr = level && nr <= NR_CPUS_MAX ? nr * level : nr;
		if (nr > NR_CPUS_MAX ||
		    (nr > NR_NODES_MAX && strchr("nN", s[*s == '['])))
			return err(-EINVAL,
				   "topo: synthetic=%.64s: more than %d CPUs "
				   "or %d nodes",
				   text, NR_CPUS_MAX, NR_NODES_MAX);
		s += len;
		s += *s == '(' ? strcspn(s, ")") : 0;
		s += *s == ')';
	}
	return 0;
}

int synthetic_split(const char *text, char *hw_text, size_t size,
		    const char **matrix)
{
	bool is_xml = !strncmp(text, "xml:", 4);
	const char *key = is_xml ? NULL : strstr(text, MATRIX_KEY);
	size_t len = key ? (size_t)(key - text) : strlen(text);

	while (!is_xml && len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len + sizeof(" pu:1") > size)
		return err(-EINVAL, "topo: synthetic is longer than %zu bytes",
			   size - sizeof(" pu:1"));
	memcpy(hw_text, text, len);
	hw_text[len] = '\0';
	if (!is_xml && !strcasestr(hw_text, "pu:"))
		strcat(hw_text, " pu:1");
	*matrix = key ? key + strlen(MATRIX_KEY) : NULL;
	return is_xml ? 0 : check_size(hw_text);
}

int synthetic_distances(const char *matrix, struct machine *m)
{
	int i, want = m->nr_nodes * m->nr_nodes;
	const char *s = matrix;
	char *end;
	long v;

	for (i = 0; *s; i++) {
		v = strtol(s, &end, 10);
		if (end == s || v < 1 || v > DISTANCE_MAX)
			return err(-EINVAL,
				   "topo: distances:%s: expected a number of "
				   "1 .. %d at \"%.8s\"",
				   matrix, DISTANCE_MAX, s);
		if (i < want)
			m->distance[i] = (int)v;
		s = end + strspn(end, ", \t\n");
	}
	if (i == want)
		return 0;
	return err(-EINVAL,
		   "topo: distances: %d numbers, %d nodes need %d (full "
		   "matrix)",
		   i, m->nr_nodes, want);
}
