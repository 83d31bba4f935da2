/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Graphs that are parts of others, and tasks that say when they ran. */
#ifndef TESTS_API_GRAPH_PART_H
#define TESTS_API_GRAPH_PART_H

#include "tests/api/using.h"

/* Which task ran when, from 1. */
static atomic_int clock_now;

__attribute__((unused)) static int stamp(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_store((atomic_int *)arg, atomic_fetch_add(&clock_now, 1) + 1);
	return 0;
}

__attribute__((unused)) static struct lkdf_graph *named(struct lkdf *rt,
							const char *name)
{
	struct lkdf_graph *g = NULL;

	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = name), &g));
	return g;
}

__attribute__((unused)) static int add(struct lkdf_graph *g,
				       struct lkdf_kind *k, void *arg)
{
	return must(lkdf_graph_add(g, k, arg, NULL, 0));
}

/* One before two, both after nobody and before nobody else. */
__attribute__((unused)) static struct lkdf_graph *
a_part(struct lkdf *rt, struct lkdf_kind *k, atomic_int *at)
{
	struct lkdf_graph *part = named(rt, "part");
	int one = add(part, k, &at[0]), two = add(part, k, &at[1]);

	must(lkdf_graph_label(part, one, "one"));
	must(lkdf_graph_order(part, one, two));
	return part;
}

#endif
