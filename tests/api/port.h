/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs whose tasks have ports of type long.
 */
#ifndef TESTS_API_PORT_H
#define TESTS_API_PORT_H

#include "tests/api/api.h"

static const uint32_t of_long[4] = { 8, 8, 8, 8 };

struct node {
	int (*fn)(struct lkdf_ctx *c, struct node *n);
	long x; /* what it is about */
	const void *seen;
	atomic_int calls;
	int returns;
};

__attribute__((unused)) static int call(struct lkdf_ctx *c, void *arg)
{
	struct node *n = arg;

	atomic_fetch_add(&n->calls, 1);
	return n->fn(c, n);
}

__attribute__((unused)) static struct lkdf_kind *kind(struct lkdf *rt,
						      const char *name,
						      unsigned in, unsigned out,
						      uint32_t flags)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = call,
				   .nr_in = (uint16_t)in,
				   .nr_out = (uint16_t)out, .in_size = of_long,
				   .out_size = of_long, .flags = flags),
			      &k));
	return k;
}

__attribute__((unused)) static int add(struct lkdf_graph *g,
				       struct lkdf_kind *k, struct node *n)
{
	int task = must(lkdf_graph_add(g, k, n, NULL, 0));

	lkdf_kind_put(k);
	return task;
}

__attribute__((unused)) static int run(struct lkdf *rt, struct lkdf_graph *g,
				       uint64_t times)
{
	lkdf_scope_wait(rt, NULL, -1);
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times), NULL));
	return lkdf_scope_wait(rt, NULL, PATIENCE_NS);
}

__attribute__((unused)) static int give(struct lkdf_ctx *c, struct node *n)
{
	*(long *)lkdf_out(c, 0) = n->x;
	return n->returns;
}

__attribute__((unused)) static int take(struct lkdf_ctx *c, struct node *n)
{
	const long *in = lkdf_in(c, 0);

	n->seen = in;
	n->x = in ? *in : -1;
	return n->returns;
}

#endif
