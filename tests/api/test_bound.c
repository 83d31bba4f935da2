/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks with a place: strict ones run on their node and nowhere else, in
 * graphs, submitted and spawned, and nobody waits for ever because of it.
 *
 * The machine is made up: four nodes of two cores, so workers 2n and 2n + 1
 * are node n's.
 */
#include "tests/api/api.h"

#include <sched.h>
#include <string.h>

#define NR_NODES 4
#define MACHINE                             \
	"workers=8,topology=numa:4 core:2 " \
	"distances:\"10,16,22,22,16,10,22,22,22,22,10,16,22,22,16,10\""

static struct lkdf_place *place[NR_NODES];

/* Bodies count themselves by the node their worker is on. */
static atomic_int nr_on[NR_NODES], nr_astray;

static int node_of(struct lkdf_ctx *c)
{
	return lkdf_worker(c) / 2;
}

static void clear_counts(void)
{
	int i;

	for (i = 0; i < NR_NODES; i++)
		nr_on[i] = 0;
	nr_astray = 0;
}

/* Argument: the node where it has to run. */
static int body(struct lkdf_ctx *c, void *arg)
{
	int node = *(const int *)arg;

	nr_on[node_of(c)]++;
	nr_astray += node_of(c) != node;
	return 0;
}

static int long_body(struct lkdf_ctx *c, void *arg)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
	return body(c, arg);
}

static struct lkdf *open_machine(void)
{
	struct lkdf *rt = api_open(MACHINE);
	int i;

	for (i = 0; i < NR_NODES; i++)
		place[i] = lkdf_place_node(rt, i);
	clear_counts();
	return rt;
}

#define BOUND(k, node, a)                                              \
	ATTR(lkdf_task, .kind = (k), .arg = (a), .place = place[node], \
	     .flags = LKDF_PINNED)

static void submitted_tasks_run_on_their_node(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "bound", body, sizeof(int), 0);
	int i, node;

	for (i = 0; i < 4000; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_astray == 0, "none of 4000 ran elsewhere (%d)", nr_astray);
	for (node = 0; node < NR_NODES; node++)
		ok(nr_on[node] == 1000, "node %d ran its 1000 (%d)", node,
		   nr_on[node]);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Long bodies on one node: six idle workers must not help. */
static void nobody_steals_bound_work(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "long", long_body, sizeof(int), 0);
	int i, node = 2;

	for (i = 0; i < 40; i++)
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_on[2] == 40 && nr_astray == 0, "all 40 ran on node 2 (%d)",
	   nr_on[2]);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* The parent of node 0 spawns one child for each node and joins them. */
static struct lkdf_kind *child_kind;

static int parent_body(struct lkdf_ctx *c, void *arg)
{
	int i, rc;

	body(c, arg);
	for (i = 0; i < NR_NODES; i++) {
		rc = lkdf_spawn_task(c, BOUND(child_kind, i, &i), NULL);
		if (rc)
			return rc;
	}
	return lkdf_join(c);
}

static void spawned_tasks_run_on_their_node(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k =
		api_kind(rt, "parent", parent_body, sizeof(int), 0);
	int i, node;

	child_kind = api_kind(rt, "child", body, sizeof(int), 0);
	for (i = 0; i < 200; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "all joins end");
	ok(nr_astray == 0, "none of 1000 ran elsewhere (%d)", nr_astray);
	ok(nr_on[3] == 250, "node 3 ran a quarter (%d)", nr_on[3]);
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

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

/* A body that goes on until its partner on another node has started. */
static atomic_int has_started;

static int waits(struct lkdf_ctx *c, void *arg)
{
	int node = 3;
	int rc = lkdf_spawn_task(c, BOUND(child_kind, node, &node), NULL);

	(void)arg;
	while (!rc && !has_started)
		sched_yield();
	return rc;
}

static int starts(struct lkdf_ctx *c, void *arg)
{
	has_started = 1;
	return body(c, arg);
}

static void a_sleeping_node_is_woken(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "waits", waits, 0, 0);
	struct timespec asleep = { .tv_nsec = 200000000 };
	int i;

	child_kind = api_kind(rt, "starts", starts, sizeof(int), 0);
	for (i = 0; i < 5; i++) {
		nanosleep(&asleep, NULL);
		has_started = 0;
		must(lkdf_submit(rt, NULL, BOUND(k, 0, NULL), NULL));
		ok(lkdf_scope_wait(rt, NULL, 20 * SECOND) == 0,
		   "both have met, time %d", i);
	}
	ok(nr_on[3] == 5 && !nr_astray, "on node 3");
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int leave(struct lkdf_ctx *c, void *arg);

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	return body(c, arg);
}

/* Children are where they like to be; the continuation comes back home. */
static int leave(struct lkdf_ctx *c, void *arg)
{
	int node = (*(const int *)arg + 1) % NR_NODES;
	struct lkdf_event none = { 0 };
	int rc = lkdf_spawn_task(c, BOUND(child_kind, node, &node), NULL);

	return rc ? rc : lkdf_then(c, goes_on, none);
}

static void a_continuation_comes_home(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "leave", leave, sizeof(int), 0);
	int i, node;

	child_kind = api_kind(rt, "child", body, sizeof(int), 0);
	for (i = 0; i < 400; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "continuations end");
	ok(nr_astray == 0 && nr_on[0] + nr_on[1] + nr_on[2] + nr_on[3] == 800,
	   "on their nodes");
	lkdf_kind_put(child_kind);
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

static void what_cannot_be_is_refused(void)
{
	struct lkdf *rt = api_open("workers=2,topology=numa:4 core:2");
	struct lkdf *other = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "none", body, sizeof(int), 0);
	struct lkdf_kind *b =
		api_kind(rt, "blocks", body, sizeof(int), LKDF_BLOCKING);
	struct lkdf_place *half;
	int node = 0, rc, i, nr = 0;

	for (i = 0; i < NR_NODES; i++)
		place[i] = lkdf_place_node(rt, i);
	for (i = 0; i < NR_NODES; i++) {
		rc = lkdf_submit(rt, NULL, BOUND(k, i, &node), NULL);
		if (rc == -EINVAL && strstr(lkdf_errmsg(), "no worker"))
			nr++;
	}
	ok(nr == 2, "nodes without workers are refused (%d)", nr);
	ok(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .arg = &node,
			    .flags = LKDF_PINNED),
		       NULL) == -EINVAL,
	   "pinned to nothing: %s", lkdf_errmsg());
	ok(lkdf_submit(rt, NULL, BOUND(b, 0, &node), NULL) == -EOPNOTSUPP,
	   "pinned and blocking: %s", lkdf_errmsg());
	place[0] = lkdf_place_node(other, 0);
	ok(lkdf_submit(rt, NULL, BOUND(k, 0, &node), NULL) == -EINVAL,
	   "another runtime's place: %s", lkdf_errmsg());
	place[0] = lkdf_place_node(rt, 0);
	must(lkdf_place_part(place[0], 0, 2, &half));
	place[0] = half;
	ok(lkdf_submit(rt, NULL, BOUND(k, 0, &node), NULL) == -EOPNOTSUPP,
	   "pinned to half a node: %s", lkdf_errmsg());
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(b);
	lkdf_kind_put(k);
	must(lkdf_close(other));
	must(lkdf_close(rt));
}

int main(void)
{
	submitted_tasks_run_on_their_node();
	nobody_steals_bound_work();
	spawned_tasks_run_on_their_node();
	tasks_of_graphs_run_on_their_node(1, 1);
	tasks_of_graphs_run_on_their_node(4, 1);
	tasks_of_graphs_run_on_their_node(3, 5);
	many_sources_find_room();
	a_sleeping_node_is_woken();
	a_continuation_comes_home();
	a_failure_skips_bound_tasks();
	numbers_stay_the_users();
	serial_mode_runs_all();
	soft_places_are_a_wish();
	what_cannot_be_is_refused();
	return tap_end();
}
