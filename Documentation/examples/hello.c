/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Two tasks, one after the other. A kind says what sort of task it is, a graph
 * says which task comes after which, and a sealed graph can be run as often as
 * one likes; this one runs once.
 *
 *   cc hello.c -llkdf -o hello
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

/* The body: runs on one of the workers, so it says which. */
static int say(struct lkdf_ctx *c, void *arg)
{
	const char *word = arg;

	printf("%s from worker %d\n", word, lkdf_worker(c));
	return 0;
}

/* "hello", and when that has ended, "world". */
static int build(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_graph **out)
{
	int hello, world, rc;

	rc = lkdf_graph_create(rt, NULL, out);
	if (rc)
		return rc;
	/* The seal tells what an add or an order refuses: one check will do */
	hello = lkdf_graph_add(*out, k, "hello", NULL, 0);
	world = lkdf_graph_add(*out, k, "world", NULL, 0);
	lkdf_graph_order(*out, hello, world);
	return lkdf_graph_seal(*out, NULL);
}

static int run(struct lkdf *rt)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };
	struct lkdf_graph *g = NULL;
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	int rc;

	attr.name = "say";
	attr.fn = say;
	rc = lkdf_kind_create(rt, &attr, &k);
	if (!rc)
		rc = build(rt, k, &g);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, NULL, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		fprintf(stderr, "hello: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	return rc;
}

int main(void)
{
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "hello: %s (%d)\n", lkdf_errmsg(), rc);
		return 1;
	}
	rc = run(rt);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
