/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "topo/synthetic.h"

#include "base/err.h"
#include "topo/machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX_KEY "distances:"
#define DISTANCE_MAX 10000

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
	return 0;
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
