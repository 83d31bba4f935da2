/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * More tasks than a graph may have. So many need 16 GiB, so the count of a
 * graph that has none says that it is nearly full.
 */
#include "graph/graph.h"
#include "tests/api/api.h"

#define MOST (MAX_TASKS / 2)

static struct lkdf_graph *graph_of(struct lkdf *rt, struct lkdf_kind *k, int nr)
{
	struct lkdf_graph *g = api_graph(rt, 1);

	while (nr--)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	return g;
}

/* A part of two tasks needs four. */
static void an_include_finds_no_room(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = graph_of(rt, k, 0), *part = graph_of(rt, k, 2);

	g->nr_tasks = MOST - 3;
	is(lkdf_graph_include(g, part), -EOVERFLOW,
	   "a part that has no room is refused");
	has(lkdf_errmsg(), "at most 536870912", "which says how many it has");
	is(g->nr_tasks, MOST - 3, "nothing is added");
	g->nr_tasks = 0;
	is(lkdf_graph_seal(g, &why), -EOVERFLOW, "seal says so again");
	lkdf_graph_put(g);
	g = graph_of(rt, k, 0);
	is(lkdf_graph_include(g, part), 0, "the part is usable elsewhere");
	is(lkdf_graph_seal(g, NULL), 0, "sealed");
	is(api_run(g, NULL, NULL), 0, "and run");
	lkdf_graph_put(g);
	lkdf_graph_put(part);
}

static void an_add_finds_no_room(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_graph *g = graph_of(rt, k, 0);
	uint32_t cap = g->cap_tasks;

	g->nr_tasks = g->cap_tasks = MOST;
	is(lkdf_graph_add(g, k, NULL, NULL, 0), -EOVERFLOW,
	   "a task more is refused");
	g->nr_tasks = 0;
	g->cap_tasks = cap;
	lkdf_graph_put(g);
}

int main(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);

	tap_start(60);
	an_include_finds_no_room(rt, k);
	an_add_finds_no_room(rt, k);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
