/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs of very short bodies that run again and again, and loops of them:
 * whether runs and iterations are shared or one worker keeps them, the order
 * holds, nothing is lost, and who keeps a run that takes too long does not keep
 * it for itself.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define SIDE 10
#define NR_CELLS (SIDE * SIDE)
#define NR_RUNS 3000
#define NR_WIDE 400
#define NR_LONG 4000 /* bodies of a millisecond, until the other comes */
#define NR_THREADS 3

/* Plain on purpose: edges alone order them. */
static struct grid {
	uint32_t cell[SIDE][SIDE];
	int nr_wrong;
} grid;

struct place {
	int x, y;
};

static int cell(struct lkdf_ctx *c, void *arg)
{
	const struct place *p = arg;
	uint32_t n = ++grid.cell[p->y][p->x];

	(void)c;
	if ((p->x && grid.cell[p->y][p->x - 1] != n) ||
	    (p->y && grid.cell[p->y - 1][p->x] != n))
		grid.nr_wrong++;
	/* The last one's branch: 0 goes round. */
	return n % NR_RUNS ? 0 : LKDF_NO_BRANCH;
}

static struct lkdf_graph *make_grid(struct lkdf *rt, struct lkdf_kind *k,
				    bool is_loop)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct place p;
	int t;

	for (p.y = 0; p.y < SIDE; p.y++) {
		for (p.x = 0; p.x < SIDE; p.x++) {
			t = must(lkdf_graph_add(g, k, &p, NULL, 0));
			if (p.x)
				must(lkdf_graph_order(g, (uint32_t)t - 1,
						      (uint32_t)t));
			if (p.y)
				must(lkdf_graph_order(g, (uint32_t)t - SIDE,
						      (uint32_t)t));
		}
	}
	if (is_loop)
		must(lkdf_graph_back(g, NR_CELLS - 1, 0, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static uint64_t nr_solo(struct lkdf *rt, bool is_loop)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, is_loop ? "lkdf.iterations.solo" : "lkdf.runs.solo",
		       &nr));
	return nr;
}

static struct lkdf *open_with(int workers, bool may_be_solo)
{
	char options[64];

	snprintf(options, sizeof(options), "workers=%d,solo_runs=%d,final",
		 workers, may_be_solo);
	return api_open(options);
}

static void order_holds(int workers, bool may_be_solo)
{
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	struct lkdf *rt;
	uint64_t nr;
	int i;

	rt = open_with(workers, may_be_solo);
	k = api_kind(rt, "cell", cell, sizeof(struct place), 0);
	g = make_grid(rt, k, false);
	memset(&grid, 0, sizeof(grid));
	must(api_run(g, NULL, ATTR(lkdf_run, .times = NR_RUNS)));
	for (i = 0; i < NR_RUNS / 10; i++)
		must(api_run(g, NULL, NULL));
	nr = nr_solo(rt, false);
	is(grid.nr_wrong, 0, "%d workers: in order, %llu runs of %d solo",
	   workers, (unsigned long long)nr, NR_RUNS + NR_RUNS / 10);
	is((int)grid.cell[SIDE - 1][SIDE - 1], NR_RUNS + NR_RUNS / 10,
	   "and all ran");
	if (!may_be_solo)
		is((int)nr, 0, "none solo where that is not wanted");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void order_holds_in_a_loop(int workers)
{
	struct lkdf *rt = open_with(workers, true);
	struct lkdf_kind *k =
		api_kind(rt, "cell", cell, sizeof(struct place), 0);
	struct lkdf_graph *g = make_grid(rt, k, true);
	int i;

	memset(&grid, 0, sizeof(grid));
	for (i = 0; i < 3; i++)
		must(api_run(g, NULL, NULL));
	is(grid.nr_wrong, 0, "%d workers: in order in a loop", workers);
	is((int)grid.cell[SIDE - 1][SIDE - 1], 3 * NR_RUNS,
	   "and as many iterations as asked for");
	ok(nr_solo(rt, true) > 0, "one worker alone has been tried");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static atomic_int sum, is_long;
static atomic_int seen[8];

static bool both_seen(void)
{
	return atomic_load(&seen[0]) && atomic_load(&seen[1]);
}

static int add_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&sum, 1);
	atomic_store(&seen[lkdf_worker(c)], 1);
	if (atomic_load(&is_long) && !both_seen())
		api_nap_ns(1000000);
	return 0;
}

static struct lkdf_graph *make_wide(struct lkdf *rt, struct lkdf_kind *k,
				    uint32_t inflight, int nr)
{
	struct lkdf_graph *g = api_graph(rt, inflight);
	int i;

	for (i = 0; i < nr; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void *run_often(void *g)
{
	int i;

	for (i = 0; i < 300; i++)
		must(api_run(g, NULL, ATTR(lkdf_run, .times = 1 + i % 3)));
	return NULL;
}

/* Runs that overlap, from threads. */
static void several_at_a_time(void)
{
	struct lkdf *rt = api_open_workers(3);
	struct lkdf_kind *k = api_kind(rt, "one", add_one, 0, LKDF_SHARED);
	struct lkdf_graph *g = make_wide(rt, k, NR_THREADS, NR_WIDE);
	pthread_t thread[NR_THREADS];
	int i;

	atomic_store(&sum, 0);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&thread[i], NULL, run_often, g);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	is(atomic_load(&sum), NR_THREADS * 600 * NR_WIDE,
	   "three runs at a time: all tasks, %llu runs solo",
	   (unsigned long long)nr_solo(rt, false));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Of a kind that was short all the time each body takes a millisecond now. */
static void turns_long(bool may_be_solo)
{
	struct lkdf *rt = open_with(2, may_be_solo);
	struct lkdf_kind *k = api_kind(rt, "one", add_one, 0, 0);
	struct lkdf_graph *g = make_wide(rt, k, 1, NR_LONG);
	int i;

	for (i = 0; i < 3; i++) {
		must(api_run(g, NULL, ATTR(lkdf_run, .times = 100)));
		atomic_store(&seen[0], 0);
		atomic_store(&seen[1], 0);
		atomic_store(&is_long, 1);
		must(api_run(g, NULL, NULL));
		atomic_store(&is_long, 0);
		ok(both_seen(),
		   "both workers run what takes long, %llu runs solo before",
		   (unsigned long long)nr_solo(rt, false));
	}
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

#define TURNS_SHORT 2000

/* Closes the loop, which turns long after so many iterations for one more. */
static int close_loop(struct lkdf_ctx *c, void *arg)
{
	atomic_int *nr = *(atomic_int **)arg;
	int n = atomic_fetch_add(nr, 1) + 1;

	(void)c;
	if (n == TURNS_SHORT) {
		atomic_store(&seen[0], 0);
		atomic_store(&seen[1], 0);
		atomic_store(&is_long, 1);
	}
	return n > TURNS_SHORT ? LKDF_NO_BRANCH : 0;
}

static void a_loop_turns_long(bool may_be_solo)
{
	struct lkdf *rt = open_with(2, may_be_solo);
	struct lkdf_kind *k = api_kind(rt, "one", add_one, 0, 0);
	atomic_int nr = 0, *at = &nr;
	struct lkdf_kind *closes =
		api_kind(rt, "closes", close_loop, sizeof(at), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, last, head;

	head = must(lkdf_graph_add(g, k, NULL, NULL, 0));
	last = must(lkdf_graph_add(g, closes, &at, NULL, 0));
	for (i = 0; i < NR_WIDE; i++) {
		int t = must(lkdf_graph_add(g, k, NULL, NULL, 0));

		must(lkdf_graph_order(g, head, t));
		must(lkdf_graph_order(g, t, last));
	}
	must(lkdf_graph_back(g, last, 0, head));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	atomic_store(&is_long, 0);
	ok(both_seen(), "both workers run an iteration that takes long");
	is(atomic_load(&nr), TURNS_SHORT + 1, "after %d short ones",
	   TURNS_SHORT);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(closes);
	must(lkdf_close(rt));
}

static int spawn_and_wait(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *child = *(struct lkdf_kind **)arg;
	int before = atomic_load(&sum);

	if (!child)
		return 0;
	must(lkdf_spawn(c, child, NULL));
	while (atomic_load(&sum) == before)
		api_nap_ns(20000);
	return 0;
}

/* Rule 6 of model.md: who spawns and waits finishes where another worker is. */
static void child_starts_elsewhere(bool may_be_solo)
{
	struct lkdf *rt = open_with(2, may_be_solo);
	struct lkdf_kind *k = api_kind(rt, "one", add_one, 0, 0), *none = NULL;
	struct lkdf_kind *spawns =
		api_kind(rt, "spawns", spawn_and_wait, sizeof(none), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint32_t first;
	int i;

	first = (uint32_t)must(lkdf_graph_add(g, spawns, &none, NULL, 0));
	for (i = 0; i < NR_WIDE; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++) {
		must(lkdf_graph_set(g, first, &none));
		must(api_run(g, NULL, ATTR(lkdf_run, .times = 60)));
		must(lkdf_graph_set(g, first, &k));
		must(api_run(g, NULL, NULL));
	}
	ok(true, "a child starts on the other worker, %llu runs solo before",
	   (unsigned long long)nr_solo(rt, false));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(spawns);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	order_holds(2, true);
	order_holds(2, false);
	order_holds(4, true);
	order_holds_in_a_loop(2);
	order_holds_in_a_loop(4);
	several_at_a_time();
	turns_long(false);
	turns_long(true);
	a_loop_turns_long(false);
	a_loop_turns_long(true);
	child_starts_elsewhere(false);
	child_starts_elsewhere(true);
	return tap_end();
}
