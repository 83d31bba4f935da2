/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/ranks/minimum.h"

#include <stdlib.h>
#include <string.h>

struct need {
	uint32_t data, version, rank;
};

static int compare_needs(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct need));
}

bool ranks_minimum(const struct shape *s, uint64_t *nr_messages,
		   uint64_t *bytes)
{
	struct need *need =
		malloc(s->nr_tasks * SHAPE_MAX_USES * sizeof(*need) + 1);
	uint32_t *version = calloc(s->nr_data, sizeof(*version)), i, u;
	const struct shape_task *t;
	size_t nr = 0, k;

	*nr_messages = *bytes = 0;
	for (i = 0; need && version && i < s->nr_tasks; i++) {
		t = &s->task[i];
		for (u = 0; u < t->nr_uses; u++)
			if ((t->use[u].mode & SHAPE_READ) &&
			    s->owner[t->use[u].data] != t->rank)
				need[nr++] =
					(struct need){ t->use[u].data,
						       version[t->use[u].data],
						       t->rank };
		for (u = 0; u < t->nr_uses; u++)
			version[t->use[u].data] +=
				!!(t->use[u].mode & SHAPE_WRITE);
	}
	if (nr)
		qsort(need, nr, sizeof(*need), compare_needs);
	for (k = 0; k < nr; k++)
		if (!k || compare_needs(&need[k - 1], &need[k])) {
			++*nr_messages;
			*bytes += s->bytes[need[k].data];
		}
	i = need && version;
	free(need);
	free(version);
	return i;
}
