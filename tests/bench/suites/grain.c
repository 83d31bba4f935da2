/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench graph, last part: bodies of 0.1 to 2 us, as programs have them,
 * and 8 tasks a level. Each contestant's speed-up over a plain loop that calls
 * the bodies one after another, in the same round, with two workers.
 */
#include "bench/peer.h"
#include "tests/bench/suites/sweeps.h"

#include "tests/bench/floor.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 2048
#define WORKERS 2
#define BATCH_NS 10000000.0 /* of bodies, or a little more */
#define CALIBRATION 200000
#define BAR_FLOOR 0.97
#define BAR_PEER 1.0

enum who {
	BY_FLOOR,
	BY_LKDF,
	BY_TBB,
	BY_TASKFLOW,
	NR_WHO
};

static const struct {
	const char *name, *shape;
} all[] = {
	{ "stencil", "stencil_1d" },  { "nearest", "nearest" },
	{ "random", "random_3" },     { "tree", "tree" },
	{ "wavefront", "wavefront" },
};
#define NR_SHAPES (sizeof(all) / sizeof(all[0]))

static const unsigned grains_ns[] = { 100, 250, 500, 1000, 2000 };
static const unsigned quick_ns[] = { 500, 2000 };

static struct {
	struct shape shape;
	uint32_t *count;
	uint32_t units, nr_runs;
} job;

struct grain {
	unsigned part; /* of all[] */
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct floor *floor;
	struct floor_graph *floor_graph;
	struct peer tbb, taskflow;
	struct samples speedup[NR_WHO];
};

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

/* Units that take so long, alone on a CPU: the shortest of some trials. */
static uint32_t units_of(unsigned ns)
{
	int64_t start, took, best = INT64_MAX;
	unsigned i;

	for (i = 0; i < 5; i++) {
		start = bench_now_ns();
		work_for(CALIBRATION);
		took = bench_now_ns() - start;
		best = took < best ? took : best;
	}
	return (uint32_t)fmax(1, (double)ns * CALIBRATION / (double)best);
}

static double serial_ns(unsigned times)
{
	int64_t start = bench_now_ns();
	unsigned i;
	uint32_t task;

	for (i = 0; i < times; i++)
		for (task = 0; task < job.shape.nr_tasks; task++)
			floor_body(task);
	job.nr_runs += times;
	return (double)(bench_now_ns() - start);
}

static double peer_ns(struct grain *g, struct peer *p, unsigned times)
{
	double out[PEER_MAX_VALUES];
	int rc = peer_ask(p, out, "graph %s %d %d %u %u", all[g->part].shape,
			  TASKS, WORKERS, times, job.units);

	return rc == 1 ? out[0] : NAN;
}

/* Nanoseconds of so many runs of one contestant; NAN if it is absent. */
static double runs_ns(struct grain *g, enum who who, unsigned times)
{
	int64_t start = bench_now_ns();

	if (who == BY_TBB)
		return peer_ns(g, &g->tbb, times);
	if (who == BY_TASKFLOW)
		return peer_ns(g, &g->taskflow, times);
	job.nr_runs += times;
	if (who == BY_FLOOR)
		return (double)floor_run(g->floor, g->floor_graph, times);
	if (lkdf_graph_runs(g->graph, times))
		return NAN;
	return (double)(bench_now_ns() - start);
}

static int one_round(struct grain *g, unsigned ns)
{
	unsigned who, times = 1 + (unsigned)(BATCH_NS / ns / TASKS);
	double serial = serial_ns(times), took;

	for (who = 0; who < NR_WHO; who++) {
		took = runs_ns(g, (enum who)who, times);
		if (isfinite(took))
			samples_add(&g->speedup[who], serial / took);
	}
	if (!shape_all_ran(&job.shape, job.count, job.nr_runs))
		return bench_fail(-EBADMSG, "grain, %s: a task was lost",
				  all[g->part].name);
	return 0;
}

static void peer_row(struct bench *b, const struct grain *g, unsigned ns,
		     enum who who, const char *peer)
{
	const struct samples *its = &g->speedup[who];
	struct bench_row *row =
		report_add(&b->report, WORKERS, "speed-up", "grain/%s/%u/%s",
			   all[g->part].name, ns, peer);

	row_value(row, &g->speedup[BY_LKDF], 1);
	row->floor = samples_median(&g->speedup[BY_FLOOR]);
	if (row_peer(row, peer, its, NULL))
		row_ratio(row, &g->speedup[BY_LKDF], its);
	row_judge(row, BAR_AT_LEAST, BAR_PEER, gate_was_fair(&b->gate));
}

static void rows(struct bench *b, const struct grain *g, unsigned ns)
{
	struct bench_row *row =
		report_add(&b->report, WORKERS, "speed-up", "grain/%s/%u",
			   all[g->part].name, ns);

	row_value(row, &g->speedup[BY_LKDF], 1);
	row->floor = samples_median(&g->speedup[BY_FLOOR]);
	row_ratio(row, &g->speedup[BY_LKDF], &g->speedup[BY_FLOOR]);
	row_judge(row, BAR_AT_LEAST, BAR_FLOOR, gate_was_fair(&b->gate));
	peer_row(b, g, ns, BY_TBB, "tbb-flow");
	peer_row(b, g, ns, BY_TASKFLOW, "taskflow");
}

static unsigned grain_rounds(const struct bench *b)
{
	return b->is_quick ? 7 : 21;
}

static unsigned grain_of(const struct bench *b, unsigned i)
{
	unsigned nr = b->is_quick ? sizeof(quick_ns) / sizeof(quick_ns[0])
				  : sizeof(grains_ns) / sizeof(grains_ns[0]);

	return i >= nr ? 0 : b->is_quick ? quick_ns[i] : grains_ns[i];
}

static int measure(struct bench *b, struct grain *g, unsigned ns)
{
	unsigned i;
	int rc = 0;

	memset(g->speedup, 0, sizeof(g->speedup));
	job.units = units_of(ns);
	gate_reset(&b->gate);
	for (i = 0; i < grain_rounds(b) && !rc; i++) {
		bench_round(b, all[g->part].name);
		rc = one_round(g, ns);
	}
	if (!rc)
		rows(b, g, ns);
	return rc;
}

static int grain_open(struct grain *g)
{
	int rc = shape_init(&job.shape, all[g->part].shape, TASKS);

	if (rc)
		return rc;
	job.nr_runs = 0;
	job.count = calloc(job.shape.nr_tasks, sizeof(*job.count));
	if (!job.count)
		return -ENOMEM;
	rc = bench_open(WORKERS, NULL, &g->rt);
	if (rc)
		return rc;
	rc = lkdf_graph_kind(g->rt, "grain", body, &g->kind);
	if (!rc)
		rc = lkdf_graph_of(g->rt, g->kind, &job.shape, job.count, 1,
				   &g->graph);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	rc = floor_open(WORKERS, &g->floor);
	if (!rc)
		rc = floor_build(&job.shape, floor_body, &g->floor_graph);
	peer_open(&g->tbb, "peer_tbb");
	peer_open(&g->taskflow, "peer_taskflow");
	return rc;
}

static void grain_close(struct grain *g)
{
	peer_close(&g->tbb);
	peer_close(&g->taskflow);
	floor_free(g->floor_graph);
	floor_close(g->floor);
	lkdf_graph_put(g->graph);
	lkdf_kind_put(g->kind);
	lkdf_close(g->rt);
	free(job.count);
	job.count = NULL;
	shape_fini(&job.shape);
}

double bench_grain_steps(const struct bench *b)
{
	unsigned nr = 0;

	while (grain_of(b, nr))
		nr++;
	return (double)NR_SHAPES * nr * grain_rounds(b);
}

int bench_grain(struct bench *b)
{
	struct grain *g = malloc(sizeof(*g));
	unsigned part, i;
	int rc = g ? 0 : -ENOMEM;

	for (part = 0; part < NR_SHAPES && !rc; part++) {
		memset(g, 0, sizeof(*g));
		g->part = part;
		rc = grain_open(g);
		for (i = 0; grain_of(b, i) && !rc; i++)
			rc = measure(b, g, grain_of(b, i));
		grain_close(g);
	}
	free(g);
	return rc;
}
