/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph of four tasks: "left" and "right" may run at the same time, "sum"
 * runs when both have ended. Prints:
 *
 *   3 * 4 + 3 * 5 = 27
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

struct numbers {
	int a, left, right;
};

static int load(struct lkdf_ctx *c, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->a = 3;
	return 0;
}

static int left(struct lkdf_ctx *c, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->left = n->a * 4;
	return 0;
}

static int right(struct lkdf_ctx *c, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->right = n->a * 5;
	return 0;
}

static int sum(struct lkdf_ctx *c, void *arg)
{
	const struct numbers *n = arg;

	(void)c;
	printf("3 * 4 + 3 * 5 = %d\n", n->left + n->right);
	return 0;
}

/* Adds a task of a kind of its own; the seal tells errors. */
static int add(struct lkdf *rt, struct lkdf_graph *g, const char *name,
	       lkdf_fn fn, struct numbers *n)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name, .fn = fn };
	struct lkdf_kind *k = NULL;
	int task;

	if (lkdf_kind_create(rt, &a, &k))
		return -1;
	task = lkdf_graph_add(g, k, n, NULL, 0);
	lkdf_kind_put(k);
	return task;
}

static int build(struct lkdf *rt, struct numbers *n, struct lkdf_graph *g)
{
	int first = add(rt, g, "load", load, n);
	int l = add(rt, g, "left", left, n);
	int r = add(rt, g, "right", right, n);
	int last = add(rt, g, "sum", sum, n);

	lkdf_graph_order(g, first, l);
	lkdf_graph_order(g, first, r);
	lkdf_graph_order(g, l, last);
	lkdf_graph_order(g, r, last);
	return lkdf_graph_seal(g, NULL);
}

int main(void)
{
	struct lkdf_graph *g = NULL;
	struct lkdf_event done;
	struct numbers n;
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = build(rt, &n, g);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, NULL, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_graph_put(g);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
