/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of graphs with a place: on their node, in every run, skipped ones too;
 * and what the user sees of a graph does not change with it.
 */
#include "tests/api/bound.h"

#include <string.h>

static char told[16];

/* Columns of tasks, each column bound to a node, each row after the last. */
#define ROWS 50
#define COLUMNS 16

static void add_grid(struct lkdf_graph *g, struct lkdf_kind *k, bool is_bound)
{
	int32_t id[COLUMNS], above[COLUMNS];
	int row, i, node;

	for (row = 0; row < ROWS; row++) {
		for (i = 0; i < COLUMNS; i++) {
			node = i * NR_NODES / COLUMNS;
			id[i] = must(lkdf_graph_add_task(
				g, ATTR(lkdf_task, .kind = k, .arg = &node,
					.place = place[node],
					.flags = is_bound ? LKDF_PINNED : 0)));
			if (!row)
				continue;
			must(lkdf_graph_order(g, above[i], id[i]));
			if (i)
				must(lkdf_graph_order(g, above[i - 1], id[i]));
			if (i < COLUMNS - 1)
				must(lkdf_graph_order(g, above[i + 1], id[i]));
		}
		memcpy(above, id, sizeof(id));
	}
	must(lkdf_graph_seal(g, NULL));
}

static void tasks_of_graphs_run_on_their_node(uint32_t inflight, uint64_t times)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "grid", body, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	int nr = ROWS * COLUMNS * (int)times * 10, i;

	add_grid(g, k, true);
	for (i = 0; i < 10; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times),
				    NULL));
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "%u in flight, %d times each",
	   inflight, (int)times);
	ok(nr_astray == 0, "none of %d ran elsewhere (%d)", nr, nr_astray);
	ok(nr_on[0] + nr_on[1] + nr_on[2] + nr_on[3] == nr, "all ran");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* More ready at once than a deque holds. */
static void many_sources_find_room(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "wide", body, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, node;

	for (i = 0; i < 60000; i++) {
		node = i % 2;
		must(lkdf_graph_add_task(g, BOUND(k, node, &node)));
	}
	must(lkdf_graph_seal(g, NULL));
	ok(api_run(g, NULL, ATTR(lkdf_run, .times = 3)) == 0, "it runs");
	ok(nr_on[0] == 90000 && nr_on[1] == 90000 && !nr_astray,
	   "two nodes ran 90000 each (%d, %d)", nr_on[0], nr_on[1]);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int fails(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

/* What is skipped after a failure is told to its node, too. */
static void a_failure_skips_bound_tasks(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *bad = api_kind(rt, "bad", fails, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "after", body, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	int32_t first, next;
	int node = 2, i;

	first = must(lkdf_graph_add_task(g, BOUND(bad, 1, NULL)));
	for (i = 0; i < 100; i++) {
		next = must(lkdf_graph_add_task(g, BOUND(k, node, &node)));
		must(lkdf_graph_order(g, first, next));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	ok(lkdf_scope_wait(rt, NULL, -1) == -EIO, "the error arrives");
	ok(nr_on[2] == 0, "none ran");
	lkdf_graph_put(g);
	lkdf_kind_put(bad);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int32_t failing;

static int fails_once(struct lkdf_ctx *c, void *arg)
{
	int number = *(const int *)arg;

	body(c, &(int){ number % NR_NODES });
	return number == failing ? lkdf_fail(c, -EIO, "on purpose") : 0;
}

/* Records are sorted by node; what the user sees is not. */
static void numbers_stay_the_users(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "one", fails_once, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 3);
	struct lkdf_error e = { .size = sizeof(e) };
	char label[16];
	int i, nr = 0;

	for (i = 0; i < 64; i++) {
		if (i % 5)
			must(lkdf_graph_add_task(g,
						 BOUND(k, i % NR_NODES, &i)));
		else
			must(lkdf_graph_add(g, k, &i, NULL, 0));
		if (i % 3 == 0) {
			snprintf(label, sizeof(label), "task %d", i);
			must(lkdf_graph_label(g, i, label));
		}
		if (i >= 16)
			must(lkdf_graph_order(g, i - 16, i));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 64; i++) {
		if (i % 5 == 0)
			continue;
		failing = i;
		api_run(g, NULL, NULL);
		must(lkdf_scope_error(rt, NULL, &e));
		lkdf_scope_wait(rt, NULL, -1);
		snprintf(label, sizeof(label), i % 3 ? "one#%d" : "task %d", i);
		nr += e.id != i || strcmp(e.task, label);
	}
	ok(nr == 0, "errors name the user's number and label (%d do not)", nr);
	failing = 1000;
	nr_astray = 0;
	must(lkdf_graph_set(g, 7, &(int){ 1000 + 3 }));
	ok(api_run(g, NULL, NULL) == 0, "an argument is set by number");
	failing = 1003;
	ok(api_run(g, NULL, NULL) == -EIO, "the new argument is used");
	must(lkdf_scope_error(rt, NULL, &e));
	ok(e.id == 7, "by task 7 (%d)", e.id);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int note(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	strcpy(told, arg);
	return 0;
}

/* Task 1 lies in another record than 1, and record 1 may be nobody's. */
static void an_argument_is_checked_by_its_own_kind(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "grid", body, sizeof(int), 0);
	struct lkdf_kind *text = api_kind(rt, "text", note, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	for (i = 0; i < 8; i++) {
		must(lkdf_graph_add(g, text, "before", NULL, 0));
		must(lkdf_graph_add_task(g, BOUND(k, i % NR_NODES, &i)));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 8; i++) {
		is(lkdf_graph_set(g, 2 * i + 1, NULL), -EINVAL,
		   "task %d of a placed graph copies an int: NULL is refused",
		   2 * i + 1);
		is(lkdf_graph_set(g, 2 * i, NULL), 0,
		   "task %d lends its argument: NULL is one", 2 * i);
		is(lkdf_graph_set(g, 2 * i, "after"), 0,
		   "and gets another one");
		is(lkdf_graph_set(g, 2 * i + 1, &(int){ i % NR_NODES }), 0,
		   "so does task %d", 2 * i + 1);
	}
	is(api_run(g, NULL, NULL), 0, "the graph runs with them");
	ok(!strcmp(told, "after"), "with the new ones (%s)", told);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(text);
	must(lkdf_close(rt));
}

static void serial_mode_runs_all(void)
{
	struct lkdf *rt = api_open("serial=1,topology=numa:4 core:2");
	struct lkdf_kind *k = api_kind(rt, "grid", body, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	for (i = 0; i < NR_NODES; i++)
		place[i] = lkdf_place_node(rt, i);
	clear_counts();
	add_grid(g, k, true);
	ok(api_run(g, NULL, NULL) == 0, "a bound graph runs in serial mode");
	ok(nr_on[0] == ROWS * COLUMNS, "every task on the one thread");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void soft_places_are_a_wish(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "grid", body, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, node = 1;

	add_grid(g, k, false);
	ok(api_run(g, NULL, ATTR(lkdf_run, .times = 20)) == 0,
	   "a graph with wishes runs");
	ok(nr_on[0] + nr_on[1] + nr_on[2] + nr_on[3] == 20 * ROWS * COLUMNS,
	   "all of it");
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &node,
				      .place = place[1]),
				 NULL));
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "submitted wishes end");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	tasks_of_graphs_run_on_their_node(1, 1);
	tasks_of_graphs_run_on_their_node(4, 1);
	tasks_of_graphs_run_on_their_node(3, 5);
	many_sources_find_room();
	a_failure_skips_bound_tasks();
	numbers_stay_the_users();
	an_argument_is_checked_by_its_own_kind();
	serial_mode_runs_all();
	soft_places_are_a_wish();
	return tap_end();
}
