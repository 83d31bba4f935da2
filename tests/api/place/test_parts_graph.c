/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of graphs, built and recorded, that are placed on parts of a node's
 * workers: strict ones run there and nowhere else, in every run.
 */
#include "tests/api/place/parts.h"

#include <string.h>

/* Rows of tasks, each after its neighbours of the row above. */
#define ROWS 40
#define COLUMNS 8

static void add_grid(struct lkdf_graph *g, struct lkdf_kind *k, uint32_t flags)
{
	int32_t id[COLUMNS], above[COLUMNS];
	struct range r;
	int row, i, at;

	for (row = 0; row < ROWS; row++) {
		for (i = 0; i < COLUMNS; i++) {
			at = i / 2;
			r = (struct range){ 2 * at, 2 * at + 2 };
			id[i] = must(lkdf_graph_add_task(
				g, ATTR(lkdf_task, .kind = k, .arg = &r,
					.place = half[at], .flags = flags)));
			if (!row)
				continue;
			must(lkdf_graph_order(g, above[i], id[i]));
			must(lkdf_graph_order(g, above[(i + 1) % COLUMNS],
					      id[i]));
		}
		memcpy(above, id, sizeof(id));
	}
	must(lkdf_graph_seal(g, NULL));
}

static void graphs_keep_to_parts(uint32_t inflight, uint32_t flags)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *k =
		api_kind(rt, "grid", body, sizeof(struct range), 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	int i;

	find_halves(rt);
	add_grid(g, k, flags);
	for (i = 0; i < 20; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 2), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%u in flight, %s", inflight,
	   flags ? "strict" : "preferred");
	is(nr_ran(), ROWS * COLUMNS * 40, "all ran");
	if (flags)
		is(nr_astray, 0, "none elsewhere");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void recorded_tasks_keep_to_parts(void)
{
	struct lkdf *rt = open_machine(TWO);
	struct lkdf_kind *k =
		api_kind(rt, "recorded", body, sizeof(struct range), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	struct lkdf_scope *s;
	struct range r;
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_graph_record(g, s));
	for (i = 0; i < 100; i++) {
		r = (struct range){ i % 2, i % 2 + 1 };
		must(lkdf_submit(rt, s,
				 ATTR(lkdf_task, .kind = k, .arg = &r,
				      .place = part_of(p, (unsigned)i % 2, 2),
				      .flags = LKDF_PINNED),
				 NULL));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 10; i++)
		must(api_run(g, NULL, NULL));
	ok(nr_on[0] == 500 && nr_on[1] == 500 && !nr_astray,
	   "each worker ran its 500 (%d, %d)", nr_on[0], nr_on[1]);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int fails(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

static void a_failure_skips_tasks_of_parts(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *bad = api_kind(rt, "bad", fails, 0, 0);
	struct lkdf_kind *k =
		api_kind(rt, "after", body, sizeof(struct range), 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	struct range r = { 4, 6 };
	int32_t first, next;
	int i;

	find_halves(rt);
	first = must(lkdf_graph_add_task(g, ATTR(lkdf_task, .kind = bad,
						 .place = half[0],
						 .flags = LKDF_PINNED)));
	for (i = 0; i < 50; i++) {
		next = must(lkdf_graph_add_task(
			g, ATTR(lkdf_task, .kind = k, .arg = &r,
				.place = half[2], .flags = LKDF_PINNED)));
		must(lkdf_graph_order(g, first, next));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the error arrives");
	is(nr_ran(), 0, "none ran");
	lkdf_graph_put(g);
	lkdf_kind_put(bad);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	graphs_keep_to_parts(1, LKDF_PINNED);
	graphs_keep_to_parts(4, LKDF_PINNED);
	graphs_keep_to_parts(4, 0);
	recorded_tasks_keep_to_parts();
	a_failure_skips_tasks_of_parts();
	return tap_end();
}
