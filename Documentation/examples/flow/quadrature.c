/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program that is conditional and recursive: an integral by Simpson's rule.
 * A run of the graph is one interval. Its first task measures the error of a
 * guess and chooses: KEEP accepts the guess, SPLIT halves the interval, and
 * each half is a run of the graph itself. Nobody knows before the run how many
 * there will be, nor which branch is taken.
 *
 *	guess -KEEP--> keep
 *	      -SPLIT-> split (two runs of this graph) -halves-> add
 *
 * A serial recursion checks the sums, to the last bit. Prints:
 *
 *   x * x from 0 to 3: 9.000000, 1 part, right
 *   sqrt(x) from 0 to 1: 0.666667, 271 parts, right
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdio.h>

struct part {
	double (*f)(double x);
	double from, to, error, sum;
	int nr_parts;
	struct lkdf_graph *graph;
};

enum {
	KEEP,
	SPLIT
}; /* the branches of guess */

static double simpson(const struct part *p, double from, double to)
{
	double middle = (from + to) / 2;

	return (to - from) / 6 * (p->f(from) + 4 * p->f(middle) + p->f(to));
}

/* One interval, or both of its halves: how far are they apart? */
static int look(struct part *p)
{
	double middle = (p->from + p->to) / 2;
	double whole = simpson(p, p->from, p->to);

	p->sum = simpson(p, p->from, middle) + simpson(p, middle, p->to);
	return fabs(p->sum - whole) <= p->error ? KEEP : SPLIT;
}

static void halve(const struct part *p, struct part half[2])
{
	half[0] = half[1] = *p;
	half[0].to = half[1].from = (p->from + p->to) / 2;
	half[0].error = half[1].error = p->error / 2;
}

static void add_up(struct part *p, const struct part half[2])
{
	p->sum = half[0].sum + half[1].sum;
	p->nr_parts = half[0].nr_parts + half[1].nr_parts;
}

static void serial(struct part *p)
{
	struct part half[2];

	p->nr_parts = 1;
	if (look(p) == KEEP)
		return;
	halve(p, half);
	serial(&half[0]);
	serial(&half[1]);
	add_up(p, half);
}

/* ---- bodies: the interval is the argument of the run */

static struct part *part_of(struct lkdf_ctx *c)
{
	return (struct part *)(uintptr_t)lkdf_run_arg(c);
}

static int guess(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return look(part_of(c));
}

static int keep(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	part_of(c)->nr_parts = 1;
	return 0;
}

static int split(struct lkdf_ctx *c, void *arg)
{
	struct part *half = lkdf_out(c, 0);
	struct lkdf_run r = { .size = sizeof(r) };
	int i, rc = 0;

	(void)arg;
	halve(part_of(c), half);
	for (i = 0; i < 2 && !rc; i++) {
		r.arg = &half[i];
		rc = lkdf_spawn_graph(c, half->graph, &r);
		if (rc == -EAGAIN) { /* enough runs are under way */
			serial(&half[i]);
			rc = 0;
		}
	}
	return rc;
}

static int add(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	add_up(part_of(c), lkdf_in(c, 0));
	return 0;
}

/* ---- the graph */

static int task(struct lkdf *rt, struct lkdf_graph *g,
		struct lkdf_kind_attr kind)
{
	static const uint32_t halves[] = { 2 * sizeof(struct part) };
	struct lkdf_kind *k;
	int rc;

	kind.size = sizeof(kind);
	kind.flags = LKDF_SHARED;
	kind.in_size = kind.out_size = halves;
	rc = lkdf_kind_create(rt, &kind, &k);
	if (rc)
		return rc;
	rc = lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_kind_put(k);
	return rc;
}

static int build(struct lkdf *rt, struct lkdf_graph *g)
{
	struct lkdf_kind_attr kind[] = {
		{ .name = "guess", .fn = guess },
		{ .name = "keep", .fn = keep },
		{ .name = "split", .fn = split, .nr_out = 1 },
		{ .name = "add", .fn = add, .nr_in = 1 },
	};
	int head = task(rt, g, kind[0]), kept = task(rt, g, kind[1]);
	int halves = task(rt, g, kind[2]), end = task(rt, g, kind[3]);

	lkdf_graph_branch(g, head, KEEP, kept);
	lkdf_graph_branch(g, head, SPLIT, halves);
	lkdf_graph_port(g, halves, 0, end, 0);
	return lkdf_graph_seal(g, NULL);
}

static int integrate(struct lkdf_graph *g, const char *name, struct part p)
{
	struct part want = p;
	struct lkdf_event done;
	int rc;

	p.graph = g;
	rc = lkdf_graph_run(g, NULL, LKDF_ATTR(lkdf_run, .arg = &p), &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		return rc;
	serial(&want);
	rc = p.sum != want.sum || p.nr_parts != want.nr_parts;
	printf("%s from %g to %g: %.6f, %d part%s, %s\n", name, p.from, p.to,
	       p.sum, p.nr_parts, p.nr_parts == 1 ? "" : "s",
	       rc ? "wrong" : "right");
	return rc;
}

static double square(double x)
{
	return x * x;
}

int main(void)
{
	struct lkdf_graph *g = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_graph_create(rt,
			       LKDF_ATTR(lkdf_graph_attr, .name = "integral",
					 .inflight = 16),
			       &g);
	if (!rc)
		rc = build(rt, g);
	if (!rc)
		rc = integrate(g, "x * x",
			       (struct part){ square, 0, 3, 1e-9, 0, 0, NULL });
	if (!rc)
		rc = integrate(g, "sqrt(x)",
			       (struct part){ sqrt, 0, 1, 1e-9, 0, 0, NULL });
	if (rc < 0)
		fprintf(stderr, "quadrature: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_graph_put(g);
	return lkdf_close(rt) || rc;
}
