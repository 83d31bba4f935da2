/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs of a graph that is warm take no memory from the system: its first two
 * runs may, no later one, whatever the library finds out about its runs
 * meanwhile; nor does a stream with ports from wave 1,000 on. A level of tasks
 * writes values, each task of the next one reads two of them. With several
 * workers one may take a run from another, which needs a task of its own then,
 * and more values may be alive than ever before, for which the heap has pages
 * that nobody has touched: no call, but a fault.
 *
 * A thread maps its bins of a memory once, when it first takes or frees a block
 * there (Documentation/memory.rst). With several nodes a worker frees a value
 * of another node only when it has taken a run from there, so it meets all
 * nodes' memories before.
 */
#include "tests/api/using.h"
#include "tests/faults/inject.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>

#define NR_LEVELS 40
#define NR_WIDE 8
#define NR_COLD 2
#define NR_RUNS 400
#define MAX_INFLIGHT 2
#define MAX_WORKERS 2

struct mesh {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct lkdf_data *data[NR_LEVELS][NR_WIDE];
};

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void add_level(struct mesh *m, int level)
{
	struct lkdf_use use[3];
	int i, nr;

	for (i = 0; i < NR_WIDE; i++) {
		nr = 0;
		m->data[level][i] =
			DATA(m->rt, .bytes = 512, .flags = LKDF_DATA_ONCE);
		use[nr++] = ON(m->data[level][i], LKDF_WRITE);
		if (level) {
			use[nr++] = ON(m->data[level - 1][i], LKDF_READ);
			use[nr++] = ON(m->data[level - 1][(i + 1) % NR_WIDE],
				       LKDF_READ);
		}
		must(lkdf_graph_add(m->graph, m->kind, NULL, use,
				    (unsigned)nr));
	}
}

static void run_graph(struct lkdf_graph *g)
{
	struct lkdf_event done;

	must(lkdf_graph_run(g, NULL, NULL, &done));
	must(lkdf_event_wait(done, -1));
}

static atomic_int nr_here;

#define MAX_NODES 64

static void meet_memories(struct lkdf *rt)
{
	struct lkdf_place *place[MAX_NODES];
	int nr = lkdf_places(rt, LKDF_PLACE_NODE, place, MAX_NODES), i;
	void *p;
	int rc;

	for (i = 0; i < nr && i < MAX_NODES; i++) {
		rc = lkdf_alloc(place[i], LKDF_MEM_OWN, 64, 0, "met", &p);
		/* A node may have CPUs only. */
		must(rc == -ENOMEM ? 0 : rc);
		if (!rc)
			lkdf_free(rt, p);
	}
}

static int meet(struct lkdf_ctx *c, void *arg)
{
	int nr = (int)(intptr_t)arg;

	meet_memories(lkdf_runtime(c));
	atomic_fetch_add(&nr_here, 1);
	while (atomic_load(&nr_here) % nr)
		sched_yield();
	return 0;
}

/* Each worker has written a value once, so it has what a thread needs. */
static void warm_workers(struct lkdf *rt, int nr)
{
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *data[MAX_WORKERS];
	struct lkdf_use use;
	int i;

	atomic_store(&nr_here, 0);
	for (i = 0; i < nr; i++) {
		data[i] = DATA(rt, .bytes = 512, .flags = LKDF_DATA_ONCE);
		use = ON(data[i], LKDF_WRITE);
		must(lkdf_graph_add(g, k, (void *)(intptr_t)nr, &use, 1));
	}
	must(lkdf_graph_seal(g, NULL));
	run_graph(g);
	lkdf_graph_put(g);
	for (i = 0; i < nr; i++)
		lkdf_data_put(data[i]);
	lkdf_kind_put(k);
}

/* How often the library asks for memory in the runs of a warm graph. */
static int count_calls(int nr_workers, unsigned inflight)
{
	struct mesh m = { .rt = api_open_workers(nr_workers) };
	unsigned i;
	int nr;

	warm_workers(m.rt, nr_workers);
	m.kind = api_kind(m.rt, "level", nothing, 0, 0);
	m.graph = api_graph(m.rt, inflight);
	for (i = 0; i < NR_LEVELS; i++)
		add_level(&m, (int)i);
	must(lkdf_graph_seal(m.graph, NULL));
	for (i = 0; i < NR_COLD * inflight; i++)
		run_graph(m.graph);
	inject(INT_MAX);
	for (i = 0; i < NR_RUNS; i++)
		run_graph(m.graph);
	nr = atomic_load(&inject_nr);
	inject(0);
	lkdf_graph_put(m.graph);
	for (i = 0; i < NR_LEVELS * NR_WIDE; i++)
		lkdf_data_put(m.data[i / NR_WIDE][i % NR_WIDE]);
	lkdf_kind_put(m.kind);
	must(lkdf_close(m.rt));
	return nr;
}

/* ---- the waves of a stream ---------------------------------------------- */

#define WARM_WAVE 1000
#define LAST_WAVE 100000

struct value {
	long number, more[15];
};

static struct {
	long waves, made;
	atomic_long dropped, sum;
	int nr_calls;
} flow;

static void drop_value(void *value)
{
	(void)value;
	atomic_fetch_add(&flow.dropped, 1);
}

static int flow_source(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (flow.waves == WARM_WAVE)
		inject(INT_MAX);
	if (flow.waves == LAST_WAVE) {
		flow.nr_calls = atomic_load(&inject_nr);
		inject(0);
		return LKDF_END;
	}
	((struct value *)lkdf_out(c, 0))->number = ++flow.waves;
	flow.made++;
	return 0;
}

static int flow_pass(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_pass(c, 0, 0);
}

static int flow_sink(struct lkdf_ctx *c, void *arg)
{
	const struct value *v = lkdf_in(c, 0);

	(void)arg;
	atomic_fetch_add(&flow.sum, v->number);
	return 0;
}

static void add_stage(struct lkdf *rt, struct lkdf_graph *g, lkdf_fn fn,
		      uint32_t flags)
{
	static const uint32_t size[] = { sizeof(struct value) };
	static void (*const drop[])(void *) = { drop_value };
	struct lkdf_kind *k;

	must(lkdf_kind_create(
		rt,
		ATTR(lkdf_kind_attr, .name = "stage", .fn = fn,
		     .nr_in = fn != flow_source, .nr_out = fn != flow_sink,
		     .in_size = size, .out_size = size,
		     .out_drop = fn != flow_sink ? drop : NULL, .flags = flags),
		&k));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	lkdf_kind_put(k);
}

static void waves_take_no_memory(int nr_workers)
{
	const long nr = LAST_WAVE;
	struct lkdf *rt = api_open_workers(nr_workers);
	struct lkdf_graph *g = api_graph(rt, 4);
	struct lkdf_event done;

	warm_workers(rt, nr_workers);
	memset(&flow, 0, sizeof(flow));
	add_stage(rt, g, flow_source, 0);
	add_stage(rt, g, flow_pass, LKDF_SHARED);
	add_stage(rt, g, flow_sink, 0);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 1, 0, 2, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	is(lkdf_event_wait(done, -1), 0, "%d workers: a stream of %ld waves",
	   nr_workers, nr);
	is(flow.nr_calls, 0, "takes no memory from wave %d on", WARM_WAVE);
	ok(flow.made == nr && flow.dropped == nr &&
		   flow.sum == nr * (nr + 1) / 2,
	   "each value has come and was dropped");
	lkdf_graph_put(g);
	must(lkdf_close(rt));
}

/* ---- the first task of a worker ----------------------------------------- */

struct first {
	struct lkdf_kind *child;
	atomic_int nr_here, may_go_on;
};

static int wait_and_spawn(struct lkdf_ctx *c, void *arg)
{
	struct first *f = arg;

	atomic_fetch_add(&f->nr_here, 1);
	while (!atomic_load(&f->may_go_on))
		sched_yield();
	return lkdf_spawn(c, f->child, NULL);
}

static void first_tasks_take_no_memory(int nr_workers)
{
	struct lkdf *rt = api_open_workers(nr_workers);
	struct first f = { api_kind(rt, "child", nothing, 0, 0), 0, 0 };
	struct lkdf_kind *k = api_kind(rt, "spawns", wait_and_spawn, 0, 0);
	int i;

	for (i = 0; i < nr_workers; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &f),
				 NULL));
	while (atomic_load(&f.nr_here) < nr_workers)
		sched_yield();
	inject(INT_MAX);
	atomic_store(&f.may_go_on, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	i = atomic_load(&inject_nr);
	inject(0);
	is(i, 0, "%d workers: their first tasks take no memory", nr_workers);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
	must(lkdf_close(rt));
}

int main(void)
{
	unsigned k;
	int i, nr;

	tap_start(120);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP calls of malloc cannot be counted here\n");
		return 0;
	}
	for (i = 1; i <= MAX_WORKERS; i++) {
		first_tasks_take_no_memory(i);
		waves_take_no_memory(i);
		for (k = 1; k <= MAX_INFLIGHT; k++) {
			nr = count_calls(i, k);
			is(nr, 0,
			   "%d workers, %u frames: warm runs take no memory", i,
			   k);
		}
	}
	return tap_end();
}
