/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench graph: re-runs of built graphs. Every contestant increments one
 * word per task; the words are checked after every batch, the order in a
 * verification run before. Rounds go floor, lkdf, peers, for each number of
 * workers, so that all rows of one shape come from the same minutes.
 */
#include "bench/arms.h"
#include "bench/peer.h"

#include "tests/bench/floor.h"
#include "tests/bench/lkdf_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_PER_WAIT 20

struct bars {
	const char *shape;
	double tbb[2], taskflow; /* tbb: with 1 and with more workers */
	bool has_speedup;
};

static const struct bars all_bars[] = {
	{ "chain", { 10, 10 }, 7, false },
	{ "tree", { 25, 25 }, 8, true },
	{ "wave", { 5, 9 }, 4.5, true },
	{ "random", { 7, 7 }, 3, false },
};
#define NR_SHAPES (sizeof(all_bars) / sizeof(all_bars[0]))

/* All contestants with one number of workers. */
struct arm {
	int workers;
	struct lkdf *rt;
	struct lkdf_kind *plain, *checking;
	struct lkdf_graph *graph;
	struct floor *floor;
	struct floor_graph *floor_graph;
	struct peer tbb, taskflow;
	struct samples by_lkdf, by_floor, by_tbb, by_taskflow, single;
};

/* State that bodies see. */
static struct {
	struct shape shape;
	uint32_t *count;
	uint32_t nr_runs;
	bool is_wrong;
} job;

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++*(uint32_t *)arg;
	return 0;
}

static void floor_body(uint32_t task)
{
	job.count[task]++;
}

static void floor_checking(uint32_t task)
{
	if (!shape_in_order(&job.shape, job.count, task))
		job.is_wrong = true;
	job.count[task]++;
}

static int checking(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	floor_checking((uint32_t)((uint32_t *)arg - job.count));
	return 0;
}

static int is_right(const char *who, const char *shape)
{
	if (!job.is_wrong && shape_all_ran(&job.shape, job.count, job.nr_runs))
		return 0;
	return bench_fail(-EBADMSG, "%s, %s: %s", shape, who,
			  job.is_wrong ? "wrong order"
				       : "a task was lost or ran twice");
}

static int floor_batch(struct arm *a, unsigned times)
{
	uint64_t ns = floor_run(a->floor, a->floor_graph, times);

	job.nr_runs += times;
	samples_add(&a->by_floor, (double)ns / times / job.shape.nr_tasks);
	return is_right("floor", "batch");
}

static int lkdf_batch(struct arm *a, unsigned times, struct samples *to)
{
	int64_t start = bench_now_ns();
	int rc = lkdf_graph_runs(a->graph, times);

	start = bench_now_ns() - start;
	if (rc)
		return bench_fail(rc, "run: %s", lkdf_errmsg());
	job.nr_runs += times;
	samples_add(to, (double)start / times / job.shape.nr_tasks);
	return is_right("lkdf", "batch");
}

static void peer_batch(struct peer *p, const struct arm *a, const char *shape,
		       unsigned times, struct samples *to)
{
	double out[PEER_MAX_VALUES];
	int rc = peer_ask(p, out, "graph %s %d %d %u", shape, BENCH_TASKS,
			  a->workers, times);

	if (rc == 1)
		samples_add(to, out[0] / times / job.shape.nr_tasks);
}

/* Both check the order in a few runs. */
static int verify(struct arm *a, const char *shape)
{
	struct floor_graph *fg;
	struct lkdf_graph *g;
	int rc = floor_build(&job.shape, floor_checking, &fg);

	if (rc)
		return rc;
	floor_run(a->floor, fg, 3);
	floor_free(fg);
	job.nr_runs += 3;
	rc = is_right("floor", shape);
	if (rc)
		return rc;
	rc = lkdf_graph_of(a->rt, a->checking, &job.shape, job.count, 1, &g);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	rc = lkdf_graph_runs(g, 5);
	job.nr_runs += 5;
	lkdf_graph_put(g);
	return rc ? bench_fail(rc, "run: %s", lkdf_errmsg())
		  : is_right("lkdf", shape);
}

static int arm_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc = verify(a, all_bars[part].shape);

	(void)b;
	if (rc)
		return rc;
	rc = floor_build(&job.shape, floor_body, &a->floor_graph);
	if (rc)
		return rc;
	rc = lkdf_graph_of(a->rt, a->plain, &job.shape, job.count, 1,
			   &a->graph);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->by_floor, 0, sizeof(a->by_floor));
	memset(&a->by_tbb, 0, sizeof(a->by_tbb));
	memset(&a->by_taskflow, 0, sizeof(a->by_taskflow));
	memset(&a->single, 0, sizeof(a->single));
	return 0;
}

static void arm_drop(void *arm)
{
	struct arm *a = arm;

	floor_free(a->floor_graph);
	lkdf_graph_put(a->graph);
	a->floor_graph = NULL;
	a->graph = NULL;
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	int rc;

	a->workers = workers;
	rc = bench_open(workers, NULL, &a->rt);
	if (rc)
		return rc;
	rc = lkdf_graph_kind(a->rt, "bench", body, &a->plain);
	if (!rc)
		rc = lkdf_graph_kind(a->rt, "checking", checking, &a->checking);
	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	rc = floor_open(workers, &a->floor);
	if (rc)
		return bench_fail(rc, "cannot start the floor's threads");
	peer_open(&a->tbb, "peer_tbb");
	peer_open(&a->taskflow, "peer_taskflow");
	return 0;
}

static void arm_close(void *arm)
{
	struct arm *a = arm;

	floor_close(a->floor);
	lkdf_kind_put(a->plain);
	lkdf_kind_put(a->checking);
	lkdf_close(a->rt);
	peer_close(&a->tbb);
	peer_close(&a->taskflow);
}

static int one_round(const struct bench *b, void *arm, unsigned part)
{
	unsigned times = b->is_quick ? 3 : 10;
	const char *shape = all_bars[part].shape;
	struct arm *a = arm;
	int rc = floor_batch(a, RUNS_PER_WAIT);

	if (!rc)
		rc = lkdf_batch(a, RUNS_PER_WAIT, &a->by_lkdf);
	if (!rc)
		rc = lkdf_batch(a, 1, &a->single);
	if (rc)
		return rc;
	peer_batch(&a->tbb, a, shape, times, &a->by_tbb);
	peer_batch(&a->taskflow, a, shape, times, &a->by_taskflow);
	return 0;
}

static void peer_row(struct bench *b, const struct arm *a, const char *shape,
		     const struct samples *s, const char *peer, double bar)
{
	struct bench_row *row = report_add(&b->report, a->workers, "ns/task",
					   "%s/%d/%s", shape, a->workers, peer);

	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_floor);
	if (row_peer(row, peer, s, NULL))
		row_ratio(row, s, &a->by_lkdf);
	row_judge(row, BAR_AT_LEAST, bar, gate_was_fair(&b->gate));
}

/* More workers against the first number of workers. */
static void scaling_rows(struct bench *b, const struct arm *one,
			 const struct arm *more, const struct bars *bars)
{
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row;

	row = report_add(&b->report, more->workers, "ns/task", "%s/slower",
			 bars->shape);
	row_value(row, &more->by_lkdf, 1);
	row->floor = samples_median(&more->by_floor) /
		     samples_median(&one->by_floor);
	row_ratio(row, &more->by_lkdf, &one->by_lkdf);
	row_judge(row, BAR_AT_MOST, 1.05, is_fair);
	row->floor = samples_median(&more->by_floor);
	if (!bars->has_speedup)
		return;
	row = report_add(&b->report, more->workers, "ns/task", "%s/speedup",
			 bars->shape);
	row_value(row, &more->by_lkdf, 1);
	row->floor = samples_median(&more->by_floor);
	row_ratio(row, &one->by_lkdf, &more->by_lkdf);
	row_judge(row, BAR_AT_LEAST, 1.5, is_fair);
}

static void arm_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct bars *bars = &all_bars[part];
	const struct arm *a = arm;
	struct bench_row *row;

	row = report_add(&b->report, a->workers, "ns/task", "%s/%d",
			 bars->shape, a->workers);
	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_floor);
	row_ratio(row, &a->by_lkdf, &a->by_floor);
	row_judge(row, BAR_AT_MOST, 1.6, gate_was_fair(&b->gate));
	peer_row(b, a, bars->shape, &a->by_tbb, "tbb-flow",
		 bars->tbb[a->workers > 1]);
	peer_row(b, a, bars->shape, &a->by_taskflow, "taskflow",
		 bars->taskflow);
	row = report_add(&b->report, a->workers, "us/run", "%s/%d/single",
			 bars->shape, a->workers);
	row_value(row, &a->single, 1000.0 / job.shape.nr_tasks);
	if (arm != first)
		scaling_rows(b, first, a, bars);
}

static int job_open(unsigned part)
{
	int rc = shape_init(&job.shape, all_bars[part].shape, BENCH_TASKS);

	if (rc)
		return rc;
	job.nr_runs = 0;
	job.count = calloc(job.shape.nr_tasks, sizeof(*job.count));
	return job.count ? 0 : -ENOMEM;
}

static void job_close(void)
{
	free(job.count);
	job.count = NULL;
	shape_fini(&job.shape);
}

static const char *name_of(unsigned part)
{
	return all_bars[part].shape;
}

static const struct bench_arms shapes = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_close,
	.name = name_of,
	.begin = job_open,
	.build = arm_build,
	.round = one_round,
	.rows = arm_rows,
	.drop = arm_drop,
	.end = job_close,
};

double bench_graph_steps(const struct bench *b)
{
	return bench_arms_steps(b, &shapes, NR_SHAPES);
}

int bench_graph(struct bench *b)
{
	return bench_arms(b, &shapes, NR_SHAPES);
}
