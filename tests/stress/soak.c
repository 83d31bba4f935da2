/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Everything at once for a long time: four threads from outside that submit
 * trees of tasks, run a graph with several runs in flight, and make and drop
 * scopes and graphs of their own. What is counted must come out right, and
 * memory must not grow once it has warmed up.
 *
 *	soak [seconds [workers]]
 */
#include "tests/tap.h"

#include <errno.h>
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

#define NR_THREADS 4
#define GRAPH_TASKS 500
#define TREE_DEPTH 8
#define WARM_UP 5 /* of this many parts of the time, one */

struct soak {
	struct lkdf *rt;
	struct lkdf_kind *tree, *step, *failing;
	struct lkdf_graph *graph;
	time_t end;
	_Atomic(uint64_t) nr_expected, nr_done, nr_wrong;
};

struct leaf {
	struct soak *soak;
	int depth;
};

static int grow(struct lkdf_ctx *c, void *arg)
{
	struct leaf *me = arg, child = { me->soak, me->depth - 1 };

	atomic_fetch_add_explicit(&me->soak->nr_done, 1, memory_order_relaxed);
	if (!me->depth)
		return 0;
	if (lkdf_spawn(c, me->soak->tree, &child) ||
	    lkdf_spawn(c, me->soak->tree, &child))
		return -ENOMEM;
	/* Half of them are waited for. */
	return me->depth & 1 ? lkdf_join(c) : 0;
}

static int step(struct lkdf_ctx *c, void *arg)
{
	struct soak *s = arg;

	(void)c;
	atomic_fetch_add_explicit(&s->nr_done, 1, memory_order_relaxed);
	return 0;
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	step(c, arg);
	return lkdf_fail(c, -EIO, "as it should");
}

static void expect(struct soak *s, int got, int want, uint64_t nr)
{
	if (got != want)
		atomic_fetch_add(&s->nr_wrong, 1);
	atomic_fetch_add(&s->nr_expected, nr);
}

static void submit_trees(struct soak *s)
{
	struct leaf root = { s, TREE_DEPTH };
	struct lkdf_scope *scope;
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = s->tree,
		.arg = &root,
	};
	struct lkdf_event done;
	int i;

	if (lkdf_scope_create(s->rt, NULL, &scope)) {
		atomic_fetch_add(&s->nr_wrong, 1);
		return;
	}
	for (i = 0; i < 20; i++)
		expect(s, lkdf_submit(s->rt, scope, &t, i ? NULL : &done), 0,
		       (2u << TREE_DEPTH) - 1);
	expect(s, lkdf_event_wait(done, -1), 0, 0);
	expect(s, lkdf_scope_wait(s->rt, scope, -1), 0, 0);
	lkdf_scope_put(scope);
}

static void run_graph(struct soak *s)
{
	struct lkdf_event done[8];
	int i;

	for (i = 0; i < 8; i++)
		expect(s,
		       lkdf_graph_run(s->graph, NULL,
				      ATTR(lkdf_run, .times = 3), &done[i]),
		       0, 3 * GRAPH_TASKS);
	for (i = 0; i < 8; i++)
		expect(s, lkdf_event_wait(done[i], -1), 0, 0);
}

/* A graph for one run, with a task that fails. */
static void build_graph(struct soak *s)
{
	struct lkdf_event done;
	struct lkdf_graph *g;
	int32_t a, b, c;

	if (lkdf_graph_create(s->rt, NULL, &g)) {
		atomic_fetch_add(&s->nr_wrong, 1);
		return;
	}
	a = lkdf_graph_add(g, s->step, s, NULL, 0);
	b = lkdf_graph_add(g, s->failing, s, NULL, 0);
	c = lkdf_graph_add(g, s->step, s, NULL, 0);
	lkdf_graph_order(g, a, b);
	lkdf_graph_order(g, b, c);
	expect(s, lkdf_graph_seal(g, NULL), 0, 0);
	expect(s, lkdf_graph_run(g, NULL, NULL, &done), 0, 2);
	expect(s, lkdf_event_wait(done, -1), -EIO, 0);
	lkdf_graph_put(g);
}

static void *thread_main(void *arg)
{
	struct soak *s = arg;
	int i;

	while (time(NULL) < s->end) {
		submit_trees(s);
		run_graph(s);
		for (i = 0; i < 20; i++)
			build_graph(s);
	}
	return NULL;
}

static void make_graph(struct soak *s)
{
	int32_t i;

	lkdf_graph_create(s->rt, ATTR(lkdf_graph_attr, .inflight = 4),
			  &s->graph);
	for (i = 0; i < GRAPH_TASKS; i++)
		lkdf_graph_add(s->graph, s->step, s, NULL, 0);
	for (i = 10; i < GRAPH_TASKS; i++) {
		lkdf_graph_order(s->graph, i - 10, i);
		lkdf_graph_order(s->graph, i - 7, i);
	}
	is(lkdf_graph_seal(s->graph, NULL), 0, "a graph is sealed");
}

static void make_kinds(struct soak *s)
{
	is(lkdf_kind_create(s->rt,
			    ATTR(lkdf_kind_attr, .name = "tree", .fn = grow,
				 .arg_size = sizeof(struct leaf)),
			    &s->tree),
	   0, "a kind of tree is made");
	is(lkdf_kind_create(s->rt,
			    ATTR(lkdf_kind_attr, .name = "step", .fn = step,
				 .flags = LKDF_SHARED),
			    &s->step),
	   0, "a kind of step is made");
	is(lkdf_kind_create(s->rt,
			    ATTR(lkdf_kind_attr, .name = "fail", .fn = fail),
			    &s->failing),
	   0, "a kind that fails is made");
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	int workers = argc > 2 ? atoi(argv[2]) : 4;
	char options[32];
	pthread_t thread[NR_THREADS];
	struct soak s = { 0 };
	long warm, end;
	int i;

	tap_start(seconds + 60);
	snprintf(options, sizeof(options), "workers=%d", workers);
	if (!is(lkdf_open(options, &s.rt), 0, "a runtime opens: %s", options))
		return tap_end();
	make_kinds(&s);
	make_graph(&s);
	s.end = time(NULL) + (time_t)seconds;
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&thread[i], NULL, thread_main, &s);
	sleep(seconds / WARM_UP + 1);
	warm = resident_kib();
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	is(lkdf_scope_wait(s.rt, NULL, -1), 0,
	   "what events have told the root does not tell again");
	end = resident_kib();
	is(atomic_load(&s.nr_done), atomic_load(&s.nr_expected),
	   "every task ran once");
	is(atomic_load(&s.nr_wrong), 0, "every call said what it should");
	/* The number of tasks alive at a time varies a little, and a worker
	 * keeps some memory from the first time on that it has work. */
	if (!ok(end <= warm + warm / 20 + 512l * workers,
		"memory does not grow"))
		printf("# %ld KiB after the warm-up, %ld at the end\n", warm,
		       end);
	printf("# %llu tasks, %ld KiB\n",
	       (unsigned long long)atomic_load(&s.nr_done), end);
	lkdf_submit(s.rt, NULL, ATTR(lkdf_task, .kind = s.failing, .arg = &s),
		    NULL);
	is(lkdf_scope_wait(s.rt, NULL, -1), -EIO,
	   "it tells of a failure for which nobody has asked");
	lkdf_graph_put(s.graph);
	lkdf_kind_put(s.tree);
	lkdf_kind_put(s.step);
	lkdf_kind_put(s.failing);
	is(lkdf_close(s.rt), 0, "it closes");
	return tap_end();
}
