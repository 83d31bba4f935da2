/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several threads that wait for one scope or for a frame of one graph are all
 * let go; whoever needs many tokens of a limit is not overtaken by those that
 * need few; and the counter of wake-ups has those of threads of the program.
 */
#include "tests/api/heard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define NR_THREADS 6

struct waiter {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_graph *graph;
	pthread_t thread;
	atomic_int tid;
	int rc;
};

static void *wait_main(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, (int)gettid());
	w->rc = w->graph ? lkdf_graph_run(w->graph, NULL, NULL, NULL)
			 : lkdf_scope_wait(w->rt, w->scope, -1);
	return NULL;
}

/* The third field of its stat. */
static char state_of(int tid)
{
	char path[64], text[256] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return '?';
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

/* All sleep: they have nothing to sleep for but what they wait for. */
static void start_all(struct waiter *w)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&w[i].thread, NULL, wait_main, &w[i]);
	for (i = 0; i < NR_THREADS; i++)
		while (!atomic_load(&w[i].tid) ||
		       state_of(atomic_load(&w[i].tid)) != 'S')
			api_nap_ns(100000);
}

/* How many come back, and well. */
static int nr_back(struct waiter *w)
{
	struct timespec end;
	int i, nr = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	for (i = 0; i < NR_THREADS; i++)
		nr += !pthread_timedjoin_np(w[i].thread, NULL, &end) &&
		      !w[i].rc;
	return nr;
}

static void all_waiters_of_a_scope_go_on(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	static struct waiter w[NR_THREADS];
	struct lkdf_scope *s = NULL;
	struct gate gate = { 0 };
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct waiter){ .rt = rt, .scope = s };
	start_all(w);
	atomic_store(&gate.open, 1);
	is(nr_back(w), NR_THREADS, "%d threads waited for one scope",
	   NR_THREADS);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void all_waiters_of_a_graph_go_on(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	static struct waiter w[NR_THREADS];
	struct lkdf_graph *g = api_graph(rt, 1);
	struct gate gate = { 0 };
	int i;

	must(lkdf_graph_add(g, k, &gate, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct waiter){ .rt = rt, .graph = g };
	start_all(w);
	atomic_store(&gate.open, 1);
	is(nr_back(w), NR_THREADS, "%d threads waited for one frame",
	   NR_THREADS);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "their runs end");
	is(gate.entered, NR_THREADS + 1, "each has run");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* ---- limits ------------------------------------------------------------- */

#define NR_SMALL 20

static atomic_int nr_small, nr_plain, nr_before_large;

static int run_large(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&nr_before_large, atomic_load(&nr_small));
	return 0;
}

static struct lkdf_kind *limited(struct lkdf *rt, const char *name, lkdf_fn fn,
				 uint32_t flags, struct lkdf_limit *l,
				 uint64_t tokens)
{
	struct lkdf_limit_use use = { .limit = l, .tokens = tokens };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .flags = flags, .limit = &use,
				   .nr_limit = 1),
			      &k));
	return k;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, void *arg)
{
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = arg),
			 NULL));
}

/* One of two tokens is free all the time, and one task wants both. */
static void newcomers_do_not_overtake(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *holder, *large, *small, *plain;
	struct lkdf_limit *l = NULL;
	struct gate gate = { 0 };
	int i;

	must(lkdf_limit_create(rt, 2, &l));
	holder = limited(rt, "holder", pass_gate, LKDF_BLOCKING, l, 1);
	large = limited(rt, "large", run_large, 0, l, 2);
	small = limited(rt, "small", api_count, 0, l, 1);
	plain = api_kind(rt, "plain", api_count, 0, 0);
	atomic_store(&nr_before_large, -1);
	submit(rt, holder, &gate);
	api_until(&gate.entered);
	submit(rt, large, NULL);
	for (i = 0; i < NR_SMALL; i++)
		submit(rt, small, &nr_small);
	/* The worker takes the oldest first: it has tried them all then. */
	must(api_call(rt, plain, &nr_plain));
	is(nr_small, 0, "who needs few waits behind who needs many");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all get their tokens");
	is(nr_before_large, 0, "and the one that needs many is the first");
	is(nr_small, NR_SMALL, "before the others");
	lkdf_kind_put(holder);
	lkdf_kind_put(large);
	lkdf_kind_put(small);
	lkdf_kind_put(plain);
	lkdf_limit_put(l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static struct lkdf_kind *child_kind, *middle_kind;
static int spawned;

static int spawn_child(struct lkdf_ctx *c, void *arg)
{
	spawned = lkdf_spawn(c, child_kind, arg);
	if (spawned == -EDEADLK && !strstr(lkdf_errmsg(), "tokens"))
		return -EPROTO;
	return lkdf_join(c);
}

static int spawn_middle(struct lkdf_ctx *c, void *arg)
{
	must(lkdf_spawn(c, middle_kind, arg));
	return lkdf_join(c);
}

/* Neither would end: a task holds its tokens until its children have ended. */
static void a_child_that_waits_for_its_parents_is_refused(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *parent, *above;
	struct lkdf_limit *l = NULL;
	atomic_int ran = 0;

	must(lkdf_limit_create(rt, 3, &l));
	parent = limited(rt, "parent", spawn_child, 0, l, 2);
	above = limited(rt, "above", spawn_middle, 0, l, 2);
	middle_kind = api_kind(rt, "middle", spawn_child, 0, 0);
	child_kind = limited(rt, "child", api_count, 0, l, 1);
	is(api_call(rt, parent, &ran), 0,
	   "a child takes what its parent leaves");
	ok(!spawned && ran == 1, "and runs");
	lkdf_kind_put(child_kind);
	child_kind = limited(rt, "child", api_count, 0, l, 2);
	is(api_call(rt, parent, &ran), 0, "a child that needs more");
	is(spawned, -EDEADLK, "is refused, with the reason");
	is(api_call(rt, above, &ran), 0, "and one further below");
	is(spawned, -EDEADLK, "too");
	is(ran, 1, "none of them ran");
	lkdf_kind_put(parent);
	lkdf_kind_put(above);
	lkdf_kind_put(middle_kind);
	lkdf_kind_put(child_kind);
	lkdf_limit_put(l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* ---- wake-ups ----------------------------------------------------------- */

/* A worker that has said that it sleeps may find the task before it does. */
static void wakes_from_outside_are_counted(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	uint64_t parks = 0;
	atomic_int ran = 0;
	int i;

	for (i = 0; i < 200 && !stat_of(rt, "lkdf.wakes"); i++) {
		while (stat_of(rt, "lkdf.parks") == parks)
			api_nap_ns(1000000);
		parks = stat_of(rt, "lkdf.parks");
		must(api_call(rt, k, &ran));
	}
	ok(stat_of(rt, "lkdf.wakes") > 0,
	   "a thread of the program that wakes a worker is counted (%d tries)",
	   i);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	struct lkdf *rt;

	tap_start(150);
	rt = api_open_workers(2);
	all_waiters_of_a_scope_go_on(rt);
	all_waiters_of_a_graph_go_on(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	newcomers_do_not_overtake();
	a_child_that_waits_for_its_parents_is_refused();
	wakes_from_outside_are_counted();
	return tap_end();
}
