/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pairs of tasks of a graph's accesses, sorted: edges that pass no failure on,
 * and inputs of tasks that are told of failures. See struct access_pair.
 */
#ifndef GRAPH_PAIRS_H
#define GRAPH_PAIRS_H

#include "graph/access.h"

/* By task before, then by task after: for qsort(). */
int pairs_compare(const void *a, const void *b);

/* Tasks have their index now: the pairs get it, and are sorted anew. */
void pairs_index(const struct lkdf_graph *g, struct array *a,
		 int (*compare)(const void *a, const void *b));

/* The pairs of an edge; *end behind the last. By index. */
const struct access_pair *pairs_find(const struct access_table *w,
				     uint32_t from, uint32_t to,
				     const struct access_pair **end);

#endif
