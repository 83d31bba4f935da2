/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The plan of a graph with branches and loops: members of a loop run on the
 * node of their block in each iteration, and what may run never or many times
 * leaves nothing on a node's account.
 */
#include "core/runtime.h"
#include "graph/graph.h"
#include "run/planned.h"
#include "tests/api/api.h"

#define NR_BLOCKS 32
#define BLOCK_BYTES (128 << 10)
#define NR_ITERATIONS 20

static struct {
	struct lkdf *rt;
	struct lkdf_data *data[NR_BLOCKS];
	struct lkdf_graph *g;
	atomic_int nr_calls, nr_away, nr_tests;
	int chosen; /* by the first task */
} job;

static int node_of(int task)
{
	return home_node(
		renumber_home(job.g, graph_index(job.g, (uint32_t)task)));
}

static int change(struct lkdf_ctx *c, void *arg)
{
	int task = (int)(intptr_t)arg;

	*(char *)lkdf_ptr(c, 0) += 1;
	atomic_fetch_add(&job.nr_calls, 1);
	if (job.rt->executors[lkdf_worker(c)].node != node_of(task))
		atomic_fetch_add(&job.nr_away, 1);
	return 0;
}

static int test(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return atomic_fetch_add(&job.nr_tests, 1) + 1 < NR_ITERATIONS
		       ? 0
		       : LKDF_NO_BRANCH;
}

static int choose(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return job.chosen;
}

static void add_blocks(struct lkdf_kind *k, int before, int branch, int after)
{
	struct lkdf_use use = { .mode = LKDF_RW };
	int i, t;

	for (i = 0; i < NR_BLOCKS; i++) {
		use.data = job.data[i];
		t = (int)job.g->nr_tasks;
		must(lkdf_graph_add(job.g, k, (void *)(intptr_t)t, &use, 1));
		must(branch < 0 ? lkdf_graph_order(job.g, before, t)
				: lkdf_graph_branch(job.g, before,
						    (uint16_t)branch, t));
		if (after >= 0)
			must(lkdf_graph_order(job.g, t, after));
	}
}

/* 0 chooses one of three blocks of tasks; 1 is the head of a loop, 2 its end.
 */
static void open_job(void)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = BLOCK_BYTES };
	struct lkdf_kind *k, *tests, *chooses;
	int i;

	job.rt = api_open("workers=4,topology=\"numa:2 core:2\",far_steals=no");
	k = api_kind(job.rt, "change", change, 0, LKDF_SHARED);
	tests = api_kind(job.rt, "test", test, 0, 0);
	chooses = api_kind(job.rt, "choose", choose, 0, 0);
	for (i = 0; i < NR_BLOCKS; i++) {
		a.init = calloc(1, BLOCK_BYTES);
		must(lkdf_data_create(job.rt, &a, &job.data[i]));
		free((void *)(uintptr_t)a.init);
	}
	job.g = api_graph(job.rt, 1);
	must(lkdf_graph_add(job.g, chooses, NULL, NULL, 0));
	must(lkdf_graph_add(job.g, chooses, NULL, NULL, 0));
	must(lkdf_graph_add(job.g, tests, NULL, NULL, 0));
	must(lkdf_graph_order(job.g, 0, 1));
	add_blocks(k, 1, -1, 2);
	must(lkdf_graph_back(job.g, 2, 0, 1));
	add_blocks(k, 0, 0, -1);
	add_blocks(k, 0, 1, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(tests);
	lkdf_kind_put(chooses);
}

static void close_job(void)
{
	int i;

	lkdf_graph_put(job.g);
	for (i = 0; i < NR_BLOCKS; i++)
		lkdf_data_put(job.data[i]);
	is(lkdf_close(job.rt), 0, "the runtime closes");
}

static int left(void)
{
	struct sched *s = &job.rt->sched;
	int i, sum = 0;

	for (i = 0; i < s->nr_nodes; i++) {
		sum += a_load(&s->nodes[i].load.nr_tasks, relaxed) != 0;
		sum += a_load(&s->nodes[i].load.bytes, relaxed) != 0;
	}
	return sum;
}

static void is_planned(void)
{
	int64_t nr = 0;
	int i, on[2] = { 0, 0 };

	is(lkdf_graph_seal(job.g, NULL), 0, "a graph with a loop seals");
	if (!ok(job.g->planned != NULL, "and is planned"))
		exit(tap_end());
	for (i = 0; i < NR_BLOCKS; i++)
		on[node_of(3 + i) == 1]++;
	ok(on[0] > NR_BLOCKS / 4 && on[1] > NR_BLOCKS / 4,
	   "its members are on both nodes: %d and %d", on[0], on[1]);
	for (i = 0; i < 2; i++)
		nr += job.g->planned->node[i].nr_tasks;
	is(nr, 2 * NR_BLOCKS, "no account has them");
}

static void runs(int chosen, int nr_outside)
{
	atomic_store(&job.nr_calls, 0);
	atomic_store(&job.nr_away, 0);
	atomic_store(&job.nr_tests, 0);
	job.chosen = chosen;
	is(api_run(job.g, NULL, NULL), 0, "a run that takes branch %#x",
	   chosen);
	is(job.nr_calls, (NR_ITERATIONS + nr_outside) * NR_BLOCKS,
	   "calls members in each iteration, and who is chosen");
	is(job.nr_away, 0, "each on its node");
	is(left(), 0, "and leaves nothing");
}

int main(void)
{
	tap_start(60);
	open_job();
	is_planned();
	runs(0, 1);
	runs(LKDF_NO_BRANCH, 0);
	runs(LKDF_BRANCHES(3), 2);
	close_job();
	return tap_end();
}
