/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph with many runs: each with an argument of its own, up to four at a
 * time, then a hundred times by one call. The kind is not SHARED, so the bodies
 * run one after another in the order of the runs, and "total" needs no lock.
 * Prints:
 *
 *   four runs: total 10, last run 3
 *   a hundred more: total 110, last run 103
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

struct sum {
	int total;
	uint64_t seq;
};

static int add(struct lkdf_ctx *c, void *arg)
{
	const int *step = lkdf_run_arg(c);
	struct sum *s = arg;

	s->total += *step;
	s->seq = lkdf_seq(c);
	return 0;
}

static int build(struct lkdf *rt, struct sum *s, struct lkdf_graph **out)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "add" };
	struct lkdf_graph_attr ga = { .size = sizeof(ga), .inflight = 4 };
	struct lkdf_kind *k;
	int rc;

	a.fn = add;
	rc = lkdf_kind_create(rt, &a, &k);
	if (rc)
		return rc;
	rc = lkdf_graph_create(rt, &ga, out);
	if (!rc) {
		lkdf_graph_add(*out, k, s, NULL, 0);
		rc = lkdf_graph_seal(*out, NULL);
	}
	lkdf_kind_put(k);
	return rc;
}

static int run(struct lkdf *rt, struct lkdf_graph *g, struct sum *s)
{
	static const int step[] = { 1, 2, 3, 4 };
	struct lkdf_run r = { .size = sizeof(r) };
	int rc = 0, i;

	/* No event: the root scope tells when all have ended. */
	for (i = 0; i < 4 && !rc; i++) {
		r.arg = &step[i];
		rc = lkdf_graph_run(g, NULL, &r, NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	printf("four runs: total %d, last run %d\n", s->total, (int)s->seq);
	r.arg = &step[0];
	r.times = 100;
	if (!rc)
		rc = lkdf_graph_run(g, NULL, &r, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	printf("a hundred more: total %d, last run %d\n", s->total,
	       (int)s->seq);
	return rc;
}

int main(void)
{
	struct lkdf_graph *g = NULL;
	struct sum s = { 0, 0 };
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	rc = build(rt, &s, &g);
	if (!rc)
		rc = run(rt, g, &s);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_graph_put(g);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
