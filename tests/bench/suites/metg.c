/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * METG(50 %): the shortest task with which the workers still do useful work
 * half of the time (Slaughter et al., "Task Bench", 2020). Work is doubled
 * from step to step; the efficiency 50 % is found between two steps on a
 * logarithmic scale.
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

#define TASKS 4000
#define MIN_UNITS 4
#define MAX_UNITS 16384
#define WORKERS 2

enum who {
	BY_FLOOR,
	BY_LKDF,
	BY_TBB,
	NR_WHO
};

static const char *const metg_shapes[] = { "stencil_1d", "no_comm",
					   "bcast_tree" };
#define NR_SHAPES (sizeof(metg_shapes) / sizeof(metg_shapes[0]))

static struct {
	struct shape shape;
	uint32_t *count;
	uint32_t units;
} job;

struct metg {
	const char *shape;
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct floor *floor;
	struct floor_graph *floor_graph;
	struct peer tbb;
	struct samples found[NR_WHO];
};

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	work_for(job.units);
	++*(uint32_t *)arg;
	return 0;
}

static void floor_body(uint32_t task)
{
	work_for(job.units);
	job.count[task]++;
}

/* Nanoseconds of one task's work, alone on a CPU. */
static double work_ns(uint32_t units)
{
	int64_t start = bench_now_ns();
	unsigned i, times = 1 + 400000 / units;

	for (i = 0; i < times; i++)
		work_for(units);
	return (double)(bench_now_ns() - start) / times;
}

/* Nanoseconds per task of one contestant; NAN if it is absent. */
static double run_ns(struct metg *m, enum who who)
{
	double out[PEER_MAX_VALUES];
	unsigned times = 1 + 400 / (job.units + 10);
	int64_t start = bench_now_ns();

	if (who == BY_FLOOR) {
		out[0] = (double)floor_run(m->floor, m->floor_graph, times);
	} else if (who == BY_LKDF) {
		if (lkdf_graph_runs(m->graph, times))
			return NAN;
		out[0] = (double)(bench_now_ns() - start);
	} else if (peer_ask(&m->tbb, out, "graph %s %d %d %u %u", m->shape,
			    TASKS, WORKERS, times, job.units) != 1) {
		return NAN;
	}
	return out[0] / times / job.shape.nr_tasks;
}

/* A sweep: the nanoseconds of work at which efficiency passes 50 %. */
static double sweep(struct metg *m, enum who who)
{
	double work, ns, good, last_good = 0, last_work = 0, part;

	for (job.units = MIN_UNITS; job.units <= MAX_UNITS; job.units *= 2) {
		work = work_ns(job.units);
		ns = run_ns(m, who);
		if (!isfinite(ns))
			return NAN;
		good = work / WORKERS / ns;
		if (good >= 0.5 && last_work == 0)
			return work;
		if (good >= 0.5) {
			part = (0.5 - last_good) / (good - last_good);
			return last_work * pow(work / last_work, part);
		}
		last_good = good;
		last_work = work;
	}
	return NAN;
}

static int metg_open(struct metg *m)
{
	int rc = shape_init(&job.shape, m->shape, TASKS);

	if (rc)
		return rc;
	job.count = calloc(job.shape.nr_tasks, sizeof(*job.count));
	if (!job.count)
		return -ENOMEM;
	rc = bench_open(WORKERS, NULL, &m->rt);
	if (rc)
		return rc;
	rc = lkdf_graph_kind(m->rt, "work", body, &m->kind);
	if (!rc)
		rc = lkdf_graph_of(m->rt, m->kind, &job.shape, job.count, 1,
				   &m->graph);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	rc = floor_open(WORKERS, &m->floor);
	if (!rc)
		rc = floor_build(&job.shape, floor_body, &m->floor_graph);
	peer_open(&m->tbb, "peer_tbb");
	return rc;
}

static void metg_close(struct metg *m)
{
	peer_close(&m->tbb);
	floor_free(m->floor_graph);
	floor_close(m->floor);
	lkdf_graph_put(m->graph);
	lkdf_kind_put(m->kind);
	lkdf_close(m->rt);
	free(job.count);
	job.count = NULL;
	shape_fini(&job.shape);
}

static void metg_rows(struct bench *b, const struct metg *m)
{
	const struct samples *lkdf = &m->found[BY_LKDF];
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row;

	row = report_add(&b->report, WORKERS, "ns", "metg/%s", m->shape);
	row_value(row, lkdf, 1);
	row->floor = samples_median(&m->found[BY_FLOOR]);
	row_ratio(row, lkdf, &m->found[BY_FLOOR]);
	row_judge(row, BAR_AT_MOST, 1.2, is_fair);
	row = report_add(&b->report, WORKERS, "ns", "metg/%s/tbb-flow",
			 m->shape);
	row_value(row, lkdf, 1);
	row->floor = samples_median(&m->found[BY_FLOOR]);
	if (row_peer(row, "tbb-flow", &m->found[BY_TBB], NULL))
		row_ratio(row, lkdf, &m->found[BY_TBB]);
	row_judge(row, BAR_AT_MOST, 0.7, is_fair);
}

static int measure(struct bench *b, struct metg *m, unsigned rounds)
{
	int rc = metg_open(m);
	unsigned i, who;
	double ns;

	gate_reset(&b->gate);
	for (i = 0; i < rounds && !rc; i++) {
		bench_round(b, m->shape);
		for (who = 0; who < NR_WHO; who++) {
			ns = sweep(m, (enum who)who);
			if (isfinite(ns))
				samples_add(&m->found[who], ns);
		}
	}
	if (!rc)
		metg_rows(b, m);
	metg_close(m);
	return rc;
}

static unsigned metg_rounds(const struct bench *b)
{
	return b->is_quick ? 5 : 11;
}

double bench_metg_steps(const struct bench *b)
{
	return (double)NR_SHAPES * metg_rounds(b);
}

int bench_metg(struct bench *b)
{
	struct metg *m;
	unsigned i;
	int rc = 0;

	for (i = 0; i < NR_SHAPES && !rc; i++) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->shape = metg_shapes[i];
		rc = measure(b, m, metg_rounds(b));
		free(m);
	}
	return rc;
}
