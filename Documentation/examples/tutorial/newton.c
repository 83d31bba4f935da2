/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A loop and a branch in a sealed graph: square roots by Newton's method. The
 * test after each step chooses: go round again, print the root, or say that
 * there is none. Prints:
 *
 *   1.41421 after 4 steps
 *   12 after 7 steps
 *   no root of -1
 */
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdio.h>

struct root {
	double of, x;
	int steps;
};

enum {
	AGAIN,
	FOUND,
	NONE
}; /* the branches of test */

/* The number that this run is about: lkdf_run.arg. */
static struct root *run_of(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return (struct root *)(uintptr_t)lkdf_run_arg(c);
}

static int step(struct lkdf_ctx *c, void *arg)
{
	struct root *r = run_of(c, arg);

	r->x = (r->x + r->of / r->x) / 2;
	r->steps++;
	return 0;
}

static int test(struct lkdf_ctx *c, void *arg)
{
	const struct root *r = run_of(c, arg);

	if (r->of < 0)
		return NONE;
	return fabs(r->x * r->x - r->of) < 1e-6 * r->of ? FOUND : AGAIN;
}

static int found(struct lkdf_ctx *c, void *arg)
{
	const struct root *r = run_of(c, arg);

	printf("%g after %d steps\n", r->x, r->steps);
	return 0;
}

static int none(struct lkdf_ctx *c, void *arg)
{
	printf("no root of %g\n", run_of(c, arg)->of);
	return 0;
}

static int add(struct lkdf *rt, struct lkdf_graph *g, const char *name,
	       lkdf_fn fn)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };
	struct lkdf_kind *k;
	int task;

	attr.name = name;
	attr.fn = fn;
	if (lkdf_kind_create(rt, &attr, &k))
		return -1;
	task = lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_kind_put(k);
	return task;
}

/* step -> test -> found | none, and back */
static int build(struct lkdf *rt, struct lkdf_graph *g)
{
	int s = add(rt, g, "step", step), t = add(rt, g, "test", test);
	int f = add(rt, g, "found", found), n = add(rt, g, "none", none);

	lkdf_graph_order(g, s, t);
	lkdf_graph_back(g, t, AGAIN, s);
	lkdf_graph_branch(g, t, FOUND, f);
	lkdf_graph_branch(g, t, NONE, n);
	return lkdf_graph_seal(g, NULL);
}

static int run_all(struct lkdf_graph *g)
{
	struct root numbers[] = { { 2, 1, 0 }, { 144, 1, 0 }, { -1, 1, 0 } };
	struct lkdf_run run = { .size = sizeof(run) };
	struct lkdf_event done;
	int i, rc;

	for (i = 0; i < 3; i++) {
		run.arg = &numbers[i];
		rc = lkdf_graph_run(g, NULL, &run, &done);
		if (!rc)
			rc = lkdf_event_wait(done, -1);
		if (rc)
			return rc;
	}
	return 0;
}

int main(void)
{
	struct lkdf_graph *g;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = build(rt, g);
	if (!rc)
		rc = run_all(g);
	if (rc)
		fprintf(stderr, "newton: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_graph_put(g);
	return lkdf_close(rt) || rc;
}
