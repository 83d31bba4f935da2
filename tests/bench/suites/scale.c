/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench scale: what more workers win. Graphs with bodies of 0 to 10 us,
 * each contestant's speed-up over a plain loop of the same bodies in the same
 * round; and bursts of tasks for workers that are all asleep. The note of a row
 * has the counters that say why it is not more: time beside hidden work and in
 * joins by the time of all workers, looks for work a task, links of wake-ups.
 */
#include "bench/arms.h"
#include "bench/peer.h"
#include "tests/bench/suites/burst.h"
#include "tests/bench/suites/suites.h"

#include "tests/bench/floor.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/work.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS 4096
#define BATCH_NS 8000000.0 /* of bodies, or a little more */
#define BAR_PEER 1.0

static const struct {
	const char *name, *shape; /* NULL: a burst */
	unsigned ns; /* of a body */
} parts[] = {
	{ "tree/500", "tree", 500 },
	{ "stencil/0", "stencil_1d", 0 },
	{ "stencil/500", "stencil_1d", 500 },
	{ "stencil/2000", "stencil_1d", 2000 },
	{ "random/500", "random", 500 },
	{ "random/2000", "random", 2000 },
	{ "random/10000", "random", 10000 },
	{ "wave/0", "wave", 0 },
	{ "wave/2000", "wave", 2000 },
	{ "chains/500", "no_comm", 500 },
	{ "burst", NULL, BURST_NS },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static const char *const counter_names[] = { "lkdf.hidden_ns",
					     "lkdf.join_idle_ns",
					     "lkdf.steal_rounds",
					     "lkdf.wake_depth", "lkdf.tasks" };
enum count {
	HIDDEN,
	JOIN_IDLE,
	ROUNDS,
	DEPTH,
	NR_RUN,
	NR_COUNTS
};

enum who {
	BY_LKDF,
	BY_FLOOR,
	BY_TBB,
	BY_TASKFLOW,
	NR_WHO
};

static struct {
	struct shape shape;
	uint32_t *count;
	uint32_t units, nr_runs;
	unsigned times; /* runs of a batch */
} job;

struct arm {
	int workers;
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct burst burst;
	struct lkdf_graph *graph;
	struct floor *floor;
	struct floor_graph *floor_graph;
	struct peer tbb, taskflow;
	struct samples speedup[NR_WHO];
	uint64_t counted[NR_COUNTS];
	double ns; /* of all lkdf batches */
};

/* ---- bodies ------------------------------------------------------------- */

static void floor_body(uint32_t task)
{
	work_for(job.units);
	job.count[task]++;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	floor_body((uint32_t)((uint32_t *)arg - job.count));
	return 0;
}

/* ---- rounds ------------------------------------------------------------- */

static double serial_ns(void)
{
	int64_t start = bench_now_ns();
	unsigned i;
	uint32_t task;

	for (i = 0; i < job.times; i++)
		for (task = 0; task < job.shape.nr_tasks; task++)
			floor_body(task);
	job.nr_runs += job.times;
	return (double)(bench_now_ns() - start);
}

static double peer_ns(const struct arm *a, struct peer *p, unsigned part)
{
	double out[PEER_MAX_VALUES];
	int rc = peer_ask(p, out, "graph %s %d %d %u %u", parts[part].shape,
			  TASKS, a->workers, job.times, job.units);

	return rc == 1 ? out[0] : NAN;
}

/* Adds what the runtime has counted since; sign -1: before, 1: after. */
static void count(struct arm *a, int sign)
{
	uint64_t v;
	unsigned i;

	for (i = 0; i < NR_COUNTS; i++) {
		v = 0;
		lkdf_stat(a->rt, counter_names[i], &v);
		a->counted[i] += sign < 0 ? -v : v;
	}
}

static double lkdf_ns(struct arm *a)
{
	int64_t start;

	count(a, -1);
	start = bench_now_ns();
	if (lkdf_graph_runs(a->graph, job.times))
		return NAN;
	start = bench_now_ns() - start;
	count(a, 1);
	job.nr_runs += job.times;
	a->ns += (double)start;
	return (double)start;
}

static double runs_ns(struct arm *a, enum who who, unsigned part)
{
	if (who == BY_TBB)
		return peer_ns(a, &a->tbb, part);
	if (who == BY_TASKFLOW)
		return peer_ns(a, &a->taskflow, part);
	if (who == BY_LKDF)
		return lkdf_ns(a);
	job.nr_runs += job.times;
	return (double)floor_run(a->floor, a->floor_graph, job.times);
}

static int graph_round(struct arm *a, unsigned part)
{
	double serial = serial_ns(), took;
	unsigned who;

	for (who = 0; who < NR_WHO; who++) {
		took = runs_ns(a, (enum who)who, part);
		if (isfinite(took))
			samples_add(&a->speedup[who], serial / took);
	}
	if (!shape_all_ran(&job.shape, job.count, job.nr_runs))
		return bench_fail(-EBADMSG, "%s: a task was lost",
				  parts[part].name);
	return 0;
}

static int scale_round(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;

	(void)b;
	return parts[part].shape ? graph_round(arm, part)
				 : burst_round(&a->burst, job.units);
}

/* ---- rows --------------------------------------------------------------- */

static void graph_rows(struct bench *b, const struct arm *a, unsigned part)
{
	double all = a->ns * a->workers, run = (double)a->counted[NR_RUN];
	const struct samples *its = &a->speedup[BY_TASKFLOW];
	const char *peer = "taskflow";
	struct bench_row *row;
	double floor;

	if (!(samples_median(its) >= samples_median(&a->speedup[BY_TBB])) &&
	    a->speedup[BY_TBB].nr) {
		its = &a->speedup[BY_TBB];
		peer = "tbb-flow";
	}
	row = report_add(&b->report, a->workers, "speed-up", "%s",
			 parts[part].name);
	row_value(row, &a->speedup[BY_LKDF], 1);
	floor = row->floor = samples_median(&a->speedup[BY_FLOOR]);
	if (row_peer(row, peer, its, NULL))
		row_ratio(row, &a->speedup[BY_LKDF], its);
	row_judge(row, BAR_AT_LEAST, BAR_PEER,
		  gate_was_fair(&b->gate) &&
			  a->workers <= sysconf(_SC_NPROCESSORS_ONLN));
	snprintf(row->note, sizeof(row->note),
		 "by floor %.2f, hidden %.1f %%, joins %.1f %%, looks %.2f, "
		 "links %llu",
		 row->value / floor, 100 * (double)a->counted[HIDDEN] / all,
		 100 * (double)a->counted[JOIN_IDLE] / all,
		 (double)a->counted[ROUNDS] / fmax(run, 1),
		 (unsigned long long)a->counted[DEPTH]);
}

static void scale_rows(struct bench *b, const void *arm, const void *first,
		       unsigned part)
{
	(void)first;
	if (parts[part].shape)
		graph_rows(b, arm, part);
	else
		burst_row(b, &((const struct arm *)arm)->burst);
}

/* ---- arms --------------------------------------------------------------- */

static int scale_begin(unsigned part)
{
	int rc = shape_init(&job.shape,
			    parts[part].shape ? parts[part].shape : "chain",
			    TASKS);

	if (rc)
		return rc;
	job.units = burst_units(parts[part].ns);
	job.times = 1 + (unsigned)(BATCH_NS / (parts[part].ns + 10) / TASKS);
	job.nr_runs = 0;
	job.count = calloc(job.shape.nr_tasks, sizeof(*job.count));
	return job.count ? 0 : -ENOMEM;
}

static void scale_end(void)
{
	free(job.count);
	job.count = NULL;
	shape_fini(&job.shape);
}

static int scale_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc;

	(void)b;
	memset(a->speedup, 0, sizeof(a->speedup));
	memset(a->counted, 0, sizeof(a->counted));
	a->ns = 0;
	if (!parts[part].shape)
		return 0;
	rc = lkdf_graph_of(a->rt, a->kind, &job.shape, job.count, 1, &a->graph);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	return floor_build(&job.shape, floor_body, &a->floor_graph);
}

static void scale_drop(void *arm)
{
	struct arm *a = arm;

	lkdf_graph_put(a->graph);
	floor_free(a->floor_graph);
	a->graph = NULL;
	a->floor_graph = NULL;
}

static int scale_open(void *arm, int workers)
{
	struct arm *a = arm;
	int rc = bench_open(workers, NULL, &a->rt);

	a->workers = workers;
	if (rc)
		return rc;
	rc = lkdf_graph_kind(a->rt, "scale", body, &a->kind);
	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	rc = burst_open(&a->burst, a->rt, workers);
	if (rc)
		return rc;
	peer_open(&a->tbb, "peer_tbb");
	peer_open(&a->taskflow, "peer_taskflow");
	return floor_open(workers, &a->floor);
}

static void scale_close(void *arm)
{
	struct arm *a = arm;

	peer_close(&a->tbb);
	peer_close(&a->taskflow);
	floor_close(a->floor);
	lkdf_kind_put(a->kind);
	burst_close(&a->burst);
	lkdf_close(a->rt);
}

static const char *scale_name(unsigned part)
{
	return parts[part].name;
}

/* All together four minutes at most, with any list of workers. */
static unsigned scale_rounds(const struct bench *b, unsigned part)
{
	unsigned rounds = 120 / b->nr_counts;

	(void)part;
	if (b->is_quick)
		return 5;
	return rounds < 5 ? 5 : rounds > 21 ? 21 : rounds;
}

static const struct bench_arms arms = {
	.size = sizeof(struct arm),
	.open = scale_open,
	.close = scale_close,
	.name = scale_name,
	.rounds = scale_rounds,
	.begin = scale_begin,
	.build = scale_build,
	.round = scale_round,
	.rows = scale_rows,
	.drop = scale_drop,
	.end = scale_end,
};

double bench_scale_steps(const struct bench *b)
{
	return bench_arms_steps(b, &arms, NR_PARTS);
}

int bench_scale(struct bench *b)
{
	return bench_arms(b, &arms, NR_PARTS);
}
