/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A pipeline: a source counts, a parallel stage finds how many steps a number
 * takes to 1 (half of an even one, 3 n + 1 of an odd one), and a sink, in the
 * order of the numbers, prints each that takes more than all before. Prints:
 *
 *   27 takes 111 steps
 *   54 takes 112 steps
 *   73 takes 115 steps
 *   97 takes 118 steps
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

#define LAST 100

struct item {
	long n, steps;
};

static int count(struct lkdf_ctx *c, void *arg)
{
	struct item *out = lkdf_out(c, 0);
	long *n = arg;

	if (*n == LAST)
		return LKDF_END;
	out->n = ++*n;
	return 0;
}

static int walk(struct lkdf_ctx *c, void *arg)
{
	const struct item *in = lkdf_in(c, 0);
	struct item *out = lkdf_out(c, 0);
	long n = in->n, steps;

	(void)arg;
	for (steps = 0; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	*out = (struct item){ in->n, steps };
	return 0;
}

static int print(struct lkdf_ctx *c, void *arg)
{
	const struct item *in = lkdf_in(c, 0);
	long *most = arg;

	if (in->steps > *most) {
		*most = in->steps;
		printf("%ld takes %ld steps\n", in->n, in->steps);
	}
	return 0;
}

/* A stage whose ports all have one size; its task number, or -1. */
static int add(struct lkdf *rt, struct lkdf_graph *g, void *arg,
	       struct lkdf_kind_attr *a)
{
	static const uint32_t size = sizeof(struct item);
	struct lkdf_kind *k;
	int task;

	a->in_size = a->out_size = &size;
	if (lkdf_kind_create(rt, a, &k))
		return -1;
	task = lkdf_graph_add(g, k, arg, NULL, 0);
	lkdf_kind_put(k);
	return task;
}

/* count -> walk -> print */
static int build(struct lkdf *rt, struct lkdf_graph *g, long *n, long *most)
{
	int source, stage, sink;

	source = add(rt, g, n,
		     LKDF_KIND(.name = "count", .fn = count, .nr_out = 1));
	stage = add(rt, g, NULL,
		    LKDF_KIND(.name = "walk", .fn = walk, .nr_in = 1,
			      .nr_out = 1, .flags = LKDF_SHARED));
	sink = add(rt, g, most,
		   LKDF_KIND(.name = "print", .fn = print, .nr_in = 1));
	lkdf_graph_port(g, source, 0, stage, 0);
	lkdf_graph_port(g, stage, 0, sink, 0);
	return lkdf_graph_seal(g, NULL);
}

int main(void)
{
	const struct lkdf_run *stream =
		LKDF_ATTR(lkdf_run, .flags = LKDF_RUN_STREAM);
	long n = 0, most = 100;
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_graph_create(rt, LKDF_ATTR(lkdf_graph_attr, .inflight = 8),
			       &g);
	if (!rc)
		rc = build(rt, g, &n, &most);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, stream, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		fprintf(stderr, "pipeline: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_graph_put(g);
	return lkdf_close(rt) || rc;
}
