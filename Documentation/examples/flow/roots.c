/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph as part of another: Newton's square root is a loop, in a graph of its
 * own. Another graph includes it once for each number, as one task; each copy
 * goes round as often as its number takes, beside the others.
 *
 *	root of 2 --> sum
 *	root of 9 -->
 *
 * Prints:
 *
 *   root of 2: 1.414214 after 5 rounds
 *   root of 9: 3.000000 after 7 rounds
 *   sum: 4.414214
 */
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdio.h>

#define AGAIN 0 /* the only branch of improve */

static struct root {
	double of, x;
	int nr_rounds;
} root[2] = { { 2, 1, 0 }, { 9, 1, 0 } };

static int improve(struct lkdf_ctx *c, void *arg)
{
	struct root *r = arg;
	double x = (r->x + r->of / r->x) / 2, by = fabs(x - r->x);

	(void)c;
	r->x = x;
	r->nr_rounds++;
	return by > 1e-9 ? AGAIN : LKDF_NO_BRANCH;
}

static int tell(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 2; i++)
		printf("root of %g: %.6f after %d rounds\n", root[i].of,
		       root[i].x, root[i].nr_rounds);
	printf("sum: %.6f\n", root[0].x + root[1].x);
	return 0;
}

/* The number of the whole root in g, or -errno. */
static int add_root(struct lkdf *rt, struct lkdf_graph *g,
		    struct lkdf_kind *step, struct root *r)
{
	struct lkdf_graph *part;
	int rc = lkdf_graph_create(
		rt, LKDF_ATTR(lkdf_graph_attr, .name = "root"), &part);

	if (rc)
		return rc;
	rc = lkdf_graph_add(part, step, r, NULL, 0);
	if (rc >= 0)
		rc = lkdf_graph_back(part, rc, AGAIN, rc);
	if (!rc)
		rc = lkdf_graph_include(g, part);
	lkdf_graph_put(part);
	return rc;
}

static int build(struct lkdf *rt, struct lkdf_graph *g, struct lkdf_kind *step,
		 struct lkdf_kind *last)
{
	int end = lkdf_graph_add(g, last, NULL, NULL, 0);
	int i, rc = end < 0 ? end : 0;

	for (i = 0; i < 2 && rc >= 0; i++) {
		rc = add_root(rt, g, step, &root[i]);
		if (rc >= 0)
			rc = lkdf_graph_order(g, rc, end);
	}
	return rc ? rc : lkdf_graph_seal(g, NULL);
}

static int run(struct lkdf *rt)
{
	struct lkdf_kind *step = NULL, *last = NULL;
	struct lkdf_graph *g = NULL;
	struct lkdf_event done;
	int rc = lkdf_kind_create(
		rt, LKDF_ATTR(lkdf_kind_attr, .name = "improve", .fn = improve),
		&step);

	if (!rc)
		rc = lkdf_kind_create(rt,
				      LKDF_ATTR(lkdf_kind_attr, .name = "tell",
						.fn = tell),
				      &last);
	if (!rc)
		rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = build(rt, g, step, last);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, NULL, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(step);
	lkdf_kind_put(last);
	return rc;
}

int main(void)
{
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = run(rt);
	if (rc)
		fprintf(stderr, "roots: %s (%d)\n", lkdf_errmsg(), rc);
	return lkdf_close(rt) || rc;
}
