/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What nodes have still to do of planned graphs: after a run it is nothing,
 * however the run ended. With far_steals=no each task runs on the node of the
 * plan; else a node that has nothing to do helps one that has much, and takes
 * over its blocks with rehome.
 */
#include "base/options.h"
#include "core/runtime.h"
#include "graph/graph.h"
#include "run/planned.h"
#include "tests/api/api.h"

#include <semaphore.h>

#define NR_BLOCKS 32
#define NR_SWEEPS 6
#define NR_TASKS (NR_BLOCKS * NR_SWEEPS)
#define BLOCK_BYTES 65536

struct cell {
	int number;
	atomic_int *nr_ran, *nr_away;
	const int *fails; /* number of the task that fails; -1 */
	struct lkdf_graph *const *g;
};

static struct {
	struct lkdf *rt;
	struct lkdf_kind *plain, *general;
	struct lkdf_limit *limit;
	struct lkdf_data *data[NR_BLOCKS];
	struct lkdf_graph *g;
	atomic_int nr_ran, nr_away;
	int fails;
	bool is_skewed; /* tasks of node 0 wait for help */
	sem_t helped;
} job;

static int node_of(const struct lkdf_graph *g, int task)
{
	return home_node(renumber_home(g, graph_index(g, (uint32_t)task)));
}

/*
 * Node 0's workers are held in its tasks until the other node has taken one,
 * and with rehome its block as well.
 */
static void wait_for_help(struct lkdf_ctx *c, const struct cell *cell)
{
	if (node_of(*cell->g, cell->number) != 0)
		return;
	if (job.rt->executors[lkdf_worker(c)].node == 0) {
		sem_wait(&job.helped);
		sem_post(&job.helped);
	} else if (!job.rt->options->rehome || planned_has_moved(*cell->g)) {
		sem_post(&job.helped);
	}
}

static int body(struct lkdf_ctx *c, void *arg)
{
	const struct cell *cell = arg;
	char *own = lkdf_ptr(c, 0);

	own[lkdf_seq(c) % BLOCK_BYTES]++;
	if (job.is_skewed)
		wait_for_help(c, cell);
	(*cell->nr_ran)++;
	/* Who has waited for a limit runs where its tokens were given back. */
	if (cell->number % 7 && job.rt->executors[lkdf_worker(c)].node !=
					node_of(*cell->g, cell->number))
		(*cell->nr_away)++;
	return *cell->fails == cell->number ? -EIO : 0;
}

static void open_job(const char *options)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = BLOCK_BYTES };
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind_attr k = { .size = sizeof(k),
				    .name = "general",
				    .fn = body,
				    .flags = LKDF_SHARED,
				    .arg_size = sizeof(struct cell),
				    .limit = &use,
				    .nr_limit = 1 };
	int i;

	job.rt = api_open(options);
	job.plain = api_kind(job.rt, "plain", body, sizeof(struct cell),
			     LKDF_SHARED);
	lkdf_limit_create(job.rt, 2, &job.limit);
	use.limit = job.limit;
	lkdf_kind_create(job.rt, &k, &job.general);
	for (i = 0; i < NR_BLOCKS; i++)
		lkdf_data_create(job.rt, &a, &job.data[i]);
	job.fails = -1;
	job.is_skewed = false;
	job.nr_ran = job.nr_away = 0;
}

/* Each block is written, then changed by what its neighbour is. */
static void seal_job(void)
{
	struct lkdf_use use[2] = { { .data = NULL }, { .mode = LKDF_READ } };
	struct cell cell = { .nr_ran = &job.nr_ran,
			     .nr_away = &job.nr_away,
			     .fails = &job.fails,
			     .g = &job.g };
	int i;

	job.g = api_graph(job.rt, 1);
	for (i = 0; i < NR_TASKS; i++) {
		use[0].data = job.data[i % NR_BLOCKS];
		use[0].mode = i < NR_BLOCKS ? LKDF_WRITE : LKDF_RW;
		use[1].data = job.data[(i ^ 1) % NR_BLOCKS];
		cell.number = i;
		lkdf_graph_add(job.g, i % 7 ? job.plain : job.general, &cell,
			       use, i < NR_BLOCKS ? 1 : 2);
	}
	is(lkdf_graph_seal(job.g, NULL), 0, "the graph seals");
	ok(job.g->planned != NULL, "and is planned");
}

static void close_job(void)
{
	int i;

	lkdf_graph_put(job.g);
	for (i = 0; i < NR_BLOCKS; i++)
		lkdf_data_put(job.data[i]);
	lkdf_kind_put(job.plain);
	lkdf_kind_put(job.general);
	lkdf_limit_put(job.limit);
	is(lkdf_close(job.rt), 0, "the runtime closes");
}

static int64_t left(void)
{
	struct sched *s = &job.rt->sched;
	int64_t sum = 0;
	int i;

	for (i = 0; i < s->nr_nodes; i++) {
		sum += a_load(&s->nodes[i].load.nr_tasks, relaxed) != 0;
		sum += a_load(&s->nodes[i].load.bytes, relaxed) != 0;
	}
	return sum;
}

static int run_job(unsigned times)
{
	struct lkdf_run r = { .size = sizeof(r), .times = times };
	struct lkdf_event done;
	int rc = lkdf_graph_run(job.g, NULL, &r, &done);

	return rc ? rc : lkdf_event_wait(done, -1);
}

static void check_ends(void)
{
	int64_t bytes = 0, nr = 0;
	int i;

	open_job("workers=4,topology=\"numa:2 core:2\"");
	seal_job();
	for (i = 0; i < 2; i++) {
		bytes += job.g->planned->node[i].bytes;
		nr += job.g->planned->node[i].nr_tasks;
		ok(job.g->planned->node[i].nr_tasks > NR_TASKS / 4,
		   "node %d has its part of the plan", i);
	}
	is(nr, NR_TASKS, "all tasks are planned");
	is(bytes, (3ll * NR_TASKS - 2 * NR_BLOCKS) * BLOCK_BYTES,
	   "for what they touch: bytes that change twice");
	is(run_job(20), 0, "20 runs");
	is(job.nr_ran, 20 * NR_TASKS, "run all tasks");
	is(left(), 0, "and nothing is left");
	for (job.fails = 0; job.fails < NR_TASKS; job.fails += 5)
		if (run_job(1) != -EIO || left())
			break;
	ok(job.fails >= NR_TASKS, "nothing is left of runs that fail");
	lkdf_scope_wait(job.rt, NULL, -1);
	job.fails = -1;
	close_job();
}

/* A run waits in a scope that is cancelled under it. */
static void check_cancel(void)
{
	struct lkdf_run r = { .size = sizeof(r), .times = 1000000 };
	struct lkdf_scope *s;
	struct lkdf_event done;
	int i, nr_wrong = 0;

	open_job("workers=3,topology=\"numa:2 core:2\"");
	seal_job();
	for (i = 0; i < 50; i++) {
		lkdf_scope_create(job.rt, NULL, &s);
		nr_wrong += lkdf_graph_run(job.g, s, &r, &done) != 0;
		lkdf_scope_cancel(job.rt, s, -ECANCELED);
		nr_wrong += lkdf_event_wait(done, -1) != -ECANCELED;
		lkdf_scope_wait(job.rt, s, -1);
		lkdf_scope_put(s);
		nr_wrong += left() != 0;
	}
	is(nr_wrong, 0, "nothing is left of 50 cancelled runs");
	lkdf_scope_wait(job.rt, NULL, -1);
	close_job();
}

static void check_stay(void)
{
	open_job("workers=4,topology=\"numa:2 core:2\",far_steals=no");
	seal_job();
	is(run_job(50), 0, "50 runs without far steals");
	is(job.nr_ran, 50 * NR_TASKS, "run all tasks");
	is(job.nr_away, 0, "each on the node of the plan");
	is(left(), 0, "nothing is left");
	close_job();
}

/* One node has done its part long before the other one. */
static void check_help(const char *options, bool moves)
{
	open_job(options);
	seal_job();
	sem_init(&job.helped, 0, 0);
	job.is_skewed = true;
	is(run_job(4), 0, "%s: 4 runs with tasks that wait on node 0", options);
	is(job.nr_ran, 4 * NR_TASKS, "run all tasks");
	ok(job.nr_away > 0, "some on the other node (%d)", job.nr_away);
	is(planned_has_moved(job.g), moves, "blocks have moved, or not");
	is(left(), 0, "nothing is left");
	close_job();
	sem_destroy(&job.helped);
}

int main(void)
{
	tap_start(100);
	check_ends();
	check_cancel();
	check_stay();
	check_help("workers=4,topology=\"numa:2 core:2\",rehome=no", false);
	check_help("workers=4,topology=\"numa:2 core:2\"", true);
	return tap_end();
}
