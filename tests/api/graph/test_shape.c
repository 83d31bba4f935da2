/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Shapes at their limits: nothing, cycles, 100,000 edges at one task, 200,000
 * sources, and more ready tasks than a worker's deque holds.
 */
#include "tests/api/api.h"

#define WIDE 100000
#define MANY 200000
#define DEEP 50000

static const int worker_counts[] = { 1, 2, 8 };

static bool stop_at_5(void *u)
{
	return ++*(int *)u == 5;
}

static void an_empty_graph_runs(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_run until = { .size = sizeof(until), .until = stop_at_5 };
	int i, nr = 0;

	must(lkdf_graph_seal(g, NULL));
	until.u = &nr;
	for (i = 0; i < 3; i++) {
		is(api_run(g, NULL, NULL), 0, "an empty graph runs");
		is(api_run(g, NULL, ATTR(lkdf_run, .times = 1000)), 0,
		   "a thousand times");
	}
	is(api_run(g, NULL, &until), 0, "until it is told to stop");
	is(nr, 5, "after five");
	is(lkdf_graph_run(g, NULL, NULL, NULL), 0, "without an event");
	is(lkdf_scope_wait(rt, NULL, SECOND), 0, "and nothing is left");
	lkdf_graph_put(g);
}

/* A ring of nr tasks behind a chain of before tasks. */
static void a_ring_is_refused(struct lkdf *rt, int nr, int before)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_kind *k = api_kind(rt, "ring", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, bad = 0;

	for (i = 0; i < before + nr; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_label(g, before, "start"));
	must(lkdf_graph_order(g, before + nr - 1, before));
	is(lkdf_graph_seal(g, &why), -ELOOP, "a ring of %d behind %d", nr,
	   before);
	is(why.nr, nr < 16 ? nr : 16, "the path has as many as fit");
	for (i = 0; i < (int)why.nr; i++) {
		if (why.path[i] < before || why.path[i] >= before + nr)
			bad++;
		if (i && (why.path[i] - before) !=
				 (why.path[i - 1] - before + 1) % nr)
			bad++;
	}
	is(bad, 0, "in order, and nothing else");
	if (nr <= 3)
		has(why.text, "start", "by its name");
	is(lkdf_graph_seal(g, NULL), -ELOOP, "and a second time");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void a_self_edge_is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "self", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	is(lkdf_graph_order(g, 0, 0), -EINVAL, "a task after itself");
	is(lkdf_graph_seal(g, NULL), -EINVAL, "nor at seal");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

struct fan {
	atomic_int nr, nr_early;
	int want;
};

static int count_fan(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&((struct fan *)arg)->nr, 1);
	return 0;
}

static int check_fan(struct lkdf_ctx *c, void *arg)
{
	struct fan *f = arg;

	(void)c;
	if (atomic_load(&f->nr) != f->want)
		atomic_fetch_add(&f->nr_early, 1);
	atomic_store(&f->nr, 0);
	return 0;
}

static void edges_at_one_task(struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_kind *count, *check;
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct fan f = { .want = WIDE };
	int i, sink;

	count = api_kind(rt, "count", count_fan, 0, 0);
	check = api_kind(rt, "check", check_fan, 0, 0);
	must(lkdf_graph_add(g, check, &(struct fan){ .want = 0 }, NULL, 0));
	sink = must(lkdf_graph_add(g, check, &f, NULL, 0));
	for (i = 2; i < WIDE + 2; i++) {
		must(lkdf_graph_add(g, count, &f, NULL, 0));
		must(lkdf_graph_order(g, 0, i));
		must(lkdf_graph_order(g, i, sink));
	}
	is(lkdf_graph_seal(g, NULL), 0, "a fan of 100,000 is sealed");
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), 0, "and runs thrice");
	is(f.nr_early, 0, "the sink comes after all of them");
	lkdf_graph_put(g);
	lkdf_kind_put(count);
	lkdf_kind_put(check);
}

static void many_sources_run(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	struct lkdf_graph *g;
	atomic_int nr = 0;
	int i;

	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .hint_tasks = MANY),
			       &g));
	for (i = 0; i < MANY; i++)
		must(lkdf_graph_add(g, k, &nr, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), 0,
	   "200,000 tasks without an edge run");
	is(nr, 3 * MANY, "each time");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* One worker keeps a leaf of each link for later: far more than a deque. */
static void a_deep_chain_with_leaves_runs(struct lkdf *rt, int prio,
					  uint32_t inflight)
{
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	struct lkdf_kind *leaf = api_kind(rt, "leaf", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	atomic_int nr = 0, leaves = 0;
	int i, at, prev = -1, l;

	for (i = 0; i < DEEP; i++) {
		at = must(lkdf_graph_add(g, k, &nr, NULL, 0));
		l = must(lkdf_graph_add_task(g, ATTR(lkdf_task, .kind = leaf,
						     .arg = &leaves,
						     .prio = prio)));
		if (prev >= 0)
			must(lkdf_graph_order(g, prev, at));
		must(lkdf_graph_order(g, at, l));
		prev = at;
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "a chain of 50,000 with leaves of prio %d, %u in flight", prio,
	   inflight);
	ok(nr == 3 * DEEP && leaves == 3 * DEEP, "all ran");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(leaf);
}

static int spawn_deep(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	static atomic_int nr;
	int i;

	atomic_store(&nr, 0);
	for (i = 0; i < DEEP; i++)
		must(lkdf_spawn(c, k, &(atomic_int *){ &nr }));
	must(lkdf_join(c));
	return atomic_load(&nr) == DEEP ? 0 : -EPROTO;
}

static int count_through(struct lkdf_ctx *c, void *arg)
{
	return api_count(c, *(atomic_int **)arg);
}

static void more_children_than_a_deque_holds(struct lkdf *rt)
{
	struct lkdf_kind *k, *spawns;

	k = api_kind(rt, "child", count_through, sizeof(void *), 0);
	spawns = api_kind(rt, "spawns", spawn_deep, 0, 0);
	is(api_call(rt, spawns, &k), 0, "50,000 children are joined");
	lkdf_kind_put(k);
	lkdf_kind_put(spawns);
}

static void duplicate_edges_count(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;
	int i;

	must(lkdf_graph_add(g, k, &nr, NULL, 0));
	must(lkdf_graph_add(g, k, &nr, NULL, 0));
	for (i = 0; i < 5; i++)
		must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 100)), 0,
	   "an edge given five times is no harm");
	is(nr, 200, "both tasks run once a time");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	rt = api_open_workers(2);
	a_ring_is_refused(rt, 2, 0);
	a_ring_is_refused(rt, 3, 1);
	a_ring_is_refused(rt, 20, 0);
	a_ring_is_refused(rt, 3, 10000);
	a_self_edge_is_refused(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		an_empty_graph_runs(rt);
		edges_at_one_task(rt, 1);
		edges_at_one_task(rt, 2);
		many_sources_run(rt);
		a_deep_chain_with_leaves_runs(rt, LKDF_NORMAL, 1);
		a_deep_chain_with_leaves_runs(rt, LKDF_IDLE, 1);
		a_deep_chain_with_leaves_runs(rt, LKDF_NORMAL, 3);
		more_children_than_a_deque_holds(rt);
		duplicate_edges_count(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
