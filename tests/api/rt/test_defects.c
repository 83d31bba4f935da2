/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What earlier systems get wrong, each as a test named after it. Where the
 * subject has a file of tests of its own, only the defect itself is here.
 */
#include "tests/api/api.h"

#include <pthread.h>

/* DFCPP 4: the run of an empty graph wedged every run after it. */
static void an_empty_run_wedges_nothing(struct lkdf *rt)
{
	struct lkdf_graph *empty = api_graph(rt, 0), *g = api_graph(rt, 0);
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	atomic_int nr = 0;

	must(lkdf_graph_seal(empty, NULL));
	must(lkdf_graph_add(g, k, &nr, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(empty, NULL, NULL), 0, "DFCPP 4: an empty graph runs");
	is(api_run(g, NULL, NULL), 0, "DFCPP 4: the next graph runs");
	is(api_run(empty, NULL, NULL), 0, "DFCPP 4: and the empty one again");
	is(nr, 1, "DFCPP 4: the task ran once");
	lkdf_graph_put(empty);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static int break_down(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "it broke down");
}

/* DFCPP 7: a failing task ended the process, and nobody joined the threads. */
static void a_failure_ends_the_run_only(int nr_workers)
{
	struct lkdf_kind *k;
	struct lkdf *rt;
	int nr_before;

	/* A sanitizer has a thread of its own from the first one on. */
	must(lkdf_close(api_open_workers(1)));
	nr_before = api_threads_come_to(1);
	rt = api_open_workers(nr_workers);
	k = api_kind(rt, "breaks", break_down, 0, 0);
	is(api_call(rt, k, NULL), -EIO, "DFCPP 7: the failure is an error");
	has(lkdf_errmsg(), "broke down", "DFCPP 7: with its text");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "DFCPP 7: which is told once");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "DFCPP 7: the runtime closes");
	is(api_threads_come_to(nr_before), nr_before,
	   "DFCPP 7: its threads are joined");
}

struct house {
	struct lkdf_kind *stranger, *child;
	pthread_t owner; /* who is in the body */
	atomic_int is_inside, nr_intruders, nr_strangers;
};

static int intrude(struct lkdf_ctx *c, void *arg)
{
	struct house *h = *(struct house **)arg;

	(void)c;
	if (atomic_load(&h->is_inside) &&
	    pthread_equal(h->owner, pthread_self()))
		atomic_fetch_add(&h->nr_intruders, 1);
	atomic_fetch_add(&h->nr_strangers, 1);
	return 0;
}

static int join_at_home(struct lkdf_ctx *c, void *arg)
{
	struct house *h = *(struct house **)arg;
	struct lkdf_task t = { .size = sizeof(t) };
	int i, rc;

	t.kind = h->stranger;
	t.arg = &h;
	h->owner = pthread_self();
	atomic_store(&h->is_inside, 1);
	for (i = 0; i < 20; i++) {
		must(lkdf_spawn(c, h->child, NULL));
		must(lkdf_submit(lkdf_runtime(c), NULL, &t, NULL));
	}
	rc = lkdf_join(c);
	atomic_store(&h->is_inside, 0);
	return rc;
}

/* DFCPP 12: a join ran whatever there was on its own stack. */
static void a_join_runs_no_strangers(struct lkdf *rt)
{
	struct house house = { .nr_intruders = 0 }, *h = &house;
	struct lkdf_kind *k;

	h->stranger = api_kind(rt, "stranger", intrude, sizeof(h), 0);
	h->child = api_kind(rt, "child", api_nothing, 0, 0);
	k = api_kind(rt, "home", join_at_home, sizeof(h), 0);
	is(api_call(rt, k, &h), 0, "DFCPP 12: the join ends");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "DFCPP 12: the strangers end");
	is(h->nr_intruders, 0, "DFCPP 12: none ran inside the join");
	is(h->nr_strangers, 20, "DFCPP 12: all of them ran");
	lkdf_kind_put(k);
	lkdf_kind_put(h->child);
	lkdf_kind_put(h->stranger);
}

struct meeting {
	atomic_int here;
	int nr;
};

static int meet(struct lkdf_ctx *c, void *arg)
{
	struct meeting *m = arg;

	(void)c;
	atomic_fetch_add(&m->here, 1);
	while (atomic_load(&m->here) < m->nr)
		api_nap_ns(20000);
	return 0;
}

static void *run_it(void *g)
{
	return (void *)(intptr_t)api_run(g, NULL, NULL);
}

/* DFCPP 13: one graph ran at a time, started by the main thread only. */
static void graphs_run_side_by_side(struct lkdf *rt)
{
	struct meeting m = { .nr = 3 };
	struct lkdf_graph *g[3];
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, LKDF_BLOCKING);
	pthread_t thread[3];
	void *rc;
	int i, sum = 0;

	for (i = 0; i < m.nr; i++) {
		g[i] = api_graph(rt, 0);
		must(lkdf_graph_add(g[i], k, &m, NULL, 0));
		must(lkdf_graph_seal(g[i], NULL));
		must(-pthread_create(&thread[i], NULL, run_it, g[i]));
	}
	for (i = 0; i < m.nr; i++) {
		pthread_join(thread[i], &rc);
		sum += rc != NULL;
		lkdf_graph_put(g[i]);
	}
	is(sum, 0, "DFCPP 13: three graphs meet while they run");
	lkdf_kind_put(k);
}

static int wait_for_parks(struct lkdf_ctx *c, void *arg)
{
	struct lkdf *rt = lkdf_runtime(c);
	uint64_t want = *(uint64_t *)arg, parks = 0;

	while (parks < want && !lkdf_stat(rt, "lkdf.parks", &parks))
		api_nap_ns(100000);
	return 0;
}

/* DFCPP 14: with few tasks and many workers, thieves never ceased to look. */
static void idle_workers_go_to_sleep(void)
{
	struct lkdf *rt = api_open_workers(4);
	struct lkdf_kind *k =
		api_kind(rt, "waits", wait_for_parks, sizeof(uint64_t), 0);

	is(api_call(rt, k, &(uint64_t){ 3 }), 0,
	   "DFCPP 14: beside a long body the other workers sleep");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "DFCPP 14: the runtime closes");
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t value = 0;

	must(lkdf_stat(rt, name, &value));
	return value;
}

/* Everything by which workers get into each other's way. */
static uint64_t nr_disturbances(struct lkdf *rt)
{
	return stat_of(rt, "lkdf.parks") + stat_of(rt, "lkdf.wakes") +
	       stat_of(rt, "lkdf.steals.near") + stat_of(rt, "lkdf.steals.far");
}

/* nr tasks of which the first few can start, and each lets one more go. */
static struct lkdf_graph *chains(struct lkdf *rt, struct lkdf_kind *k, int nr,
				 int width)
{
	struct lkdf_graph *g = api_graph(rt, 0);
	int i;

	for (i = 0; i < nr; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i >= width)
			must(lkdf_graph_order(g, i - width, i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/*
 * DFCPP 14: with few tasks ready, workers woke and robbed each other once or
 * more for every task, so that four were slower than one. Here what they do to
 * each other does not grow with the number of tasks. Tasks that spawn each the
 * next are another matter, each is made public: lkdf bench idle, few/spawned.
 */
static void few_tasks_disturb_few_workers(int nr_workers, int width)
{
	const int nr = 100000;
	struct lkdf *rt = api_open_workers(nr_workers);
	struct lkdf_kind *k = api_kind(rt, "link", api_nothing, 0, LKDF_SHARED);
	struct lkdf_graph *g = chains(rt, k, nr, width);
	uint64_t before = nr_disturbances(rt), after;

	is(api_run(g, NULL, NULL), 0, "DFCPP 14: %d chains run on %d workers",
	   width, nr_workers);
	after = nr_disturbances(rt);
	ok(after - before < (uint64_t)nr / 100,
	   "DFCPP 14: fewer than one park, wake-up or steal in 100 tasks");
	printf("# %llu of them, %d tasks\n",
	       (unsigned long long)(after - before), nr);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_close(rt);
}

/* Taskflow: A -> B -> A never completed; a limit was lost after an error. */
static void a_cycle_is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "step", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 0);
	int a = must(lkdf_graph_add(g, k, NULL, NULL, 0));
	int b = must(lkdf_graph_add(g, k, NULL, NULL, 0));

	must(lkdf_graph_order(g, a, b));
	must(lkdf_graph_order(g, b, a));
	is(lkdf_graph_seal(g, NULL), -ELOOP, "Taskflow: a cycle is refused");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void a_limit_survives_an_error(struct lkdf *rt)
{
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind *k;
	int i;

	must(lkdf_limit_create(rt, 1, &use.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "limited",
				   .fn = break_down, .limit = &use,
				   .nr_limit = 1),
			      &k));
	for (i = 0; i < 3; i++)
		is(api_call(rt, k, NULL), -EIO,
		   "Taskflow: a limit is there again after an error");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
}

int main(void)
{
	static const int nr_workers[] = { 1, 2, 8 };
	struct lkdf *rt;
	size_t i;
	int width;

	tap_start(60);
	for (i = 0; i < sizeof(nr_workers) / sizeof(*nr_workers); i++) {
		printf("# %d workers\n", nr_workers[i]);
		a_failure_ends_the_run_only(nr_workers[i]);
		rt = api_open_workers(nr_workers[i]);
		an_empty_run_wedges_nothing(rt);
		a_join_runs_no_strangers(rt);
		graphs_run_side_by_side(rt);
		a_cycle_is_refused(rt);
		a_limit_survives_an_error(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	idle_workers_go_to_sleep();
	for (width = 1; width <= 4; width *= 2) {
		few_tasks_disturb_few_workers(4, width);
		few_tasks_disturb_few_workers(8, width);
	}
	return tap_end();
}
