/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * As many edges to one task of a graph with branches as its counter has room
 * for, and one more.
 */
#include "tests/api/api.h"

/* Of 20 bits; the start, and the token of the run before, need room. */
#define MOST ((1u << 20) - 4)

static struct {
	atomic_uint nr_before, nr_at_join, nr_joins;
	int branch;
} wide;

static int before(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&wide.nr_before, 1);
	return 0;
}

static int choose(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return wide.branch;
}

static int join(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&wide.nr_at_join, atomic_load(&wide.nr_before));
	atomic_fetch_add(&wide.nr_joins, 1);
	return 0;
}

/* Task 0 joins, 1 chooses it, all others come before it: so many edges. */
static struct lkdf_graph *build(struct lkdf *rt, uint32_t nr)
{
	struct lkdf_kind *k = api_kind(rt, "before", before, 0, LKDF_SHARED);
	struct lkdf_kind *c = api_kind(rt, "choose", choose, 0, 0);
	struct lkdf_kind *j = api_kind(rt, "join", join, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint32_t i;

	must(lkdf_graph_add(g, j, NULL, NULL, 0));
	must(lkdf_graph_add(g, c, NULL, NULL, 0));
	must(lkdf_graph_branch(g, 1, 0, 0));
	for (i = 1; i < nr; i++)
		must(lkdf_graph_order(
			g, must(lkdf_graph_add(g, k, NULL, NULL, 0)), 0));
	lkdf_kind_put(k);
	lkdf_kind_put(c);
	lkdf_kind_put(j);
	return g;
}

static int run_with(struct lkdf_graph *g, int branch)
{
	wide.branch = branch;
	atomic_store(&wide.nr_before, 0);
	atomic_store(&wide.nr_at_join, 0);
	atomic_store(&wide.nr_joins, 0);
	return api_run(g, NULL, NULL);
}

static void a_join_of_all(struct lkdf *rt)
{
	struct lkdf_graph *g = build(rt, MOST);

	is(lkdf_graph_seal(g, NULL), 0, "%u edges lead to one task", MOST);
	is(run_with(g, 0), 0, "it is chosen");
	is(wide.nr_joins, 1, "and called once");
	is(wide.nr_at_join, MOST - 1, "after all others");
	is(run_with(g, LKDF_NO_BRANCH), 0, "it is not chosen");
	is(wide.nr_joins, 0, "and not called");
	is(wide.nr_before, MOST - 1, "all others are");
	lkdf_graph_put(g);
}

static void one_more_is_refused(struct lkdf *rt)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = build(rt, MOST + 1);

	is(lkdf_graph_seal(g, &why), -E2BIG, "one edge more is refused");
	has(why.text, "edges lead to join#0", "by name");
	is(why.nr * 10 + why.path[0], 10, "and by number");
	lkdf_graph_put(g);
}

int main(void)
{
	struct lkdf *rt = api_open_workers(2);

	tap_start(240);
	a_join_of_all(rt);
	one_more_is_refused(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
