/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many bytes of a task lie on which node, for the first few nodes that have
 * any.
 */
#ifndef CORE_SEEN_H
#define CORE_SEEN_H

#include <stdint.h>

#define MAX_SEEN 8

struct seen {
	int node[MAX_SEEN];
	uint64_t bytes[MAX_SEEN];
	unsigned nr;
};

static inline void seen_add(struct seen *s, int node, uint64_t bytes)
{
	unsigned i;

	for (i = 0; i < s->nr && s->node[i] != node; i++)
		;
	if (i == MAX_SEEN)
		return;
	if (i == s->nr) {
		s->node[s->nr++] = node;
		s->bytes[i] = 0;
	}
	s->bytes[i] += bytes;
}

/* The first of those with most bytes; nr is not 0. */
static inline unsigned seen_most(const struct seen *s)
{
	unsigned i, best = 0;

	for (i = 1; i < s->nr; i++)
		if (s->bytes[i] > s->bytes[best])
			best = i;
	return best;
}

#endif
