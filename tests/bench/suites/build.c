/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench graph, second part: building, whole lives, memory, what a warm
 * re-run asks of the kernel and of malloc, and large graphs. All of it in
 * fresh processes of peer_lkdf and the peers.
 */
#include "bench/peer.h"
#include "tests/bench/suites/sweeps.h"
#include "tests/bench/suites/trace.h"

#include <math.h>
#include <string.h>

#define LARGE 10000000
#define RERUNS 200
#define BUILDS 5

static const char *const build_shapes[] = { "chain", "tree", "wave", "random" };
#define NR_SHAPES (sizeof(build_shapes) / sizeof(build_shapes[0]))

/* How a build is asked: the first in a process, warm, or with run and end. */
static const struct {
	const char *name, *question;
	bool is_fresh;
} builds[] = {
	{ "first-build", "build", true },
	{ "build", "build", false },
	{ "life", "cycle", false },
};
#define NR_BUILDS (sizeof(builds) / sizeof(builds[0]))

static void ask_build(struct peer *p, const char *name, unsigned how,
		      const char *shape, struct samples *to)
{
	double out[PEER_MAX_VALUES];
	int rc;

	if (builds[how].is_fresh)
		rc = peer_ask_fresh(name, out, "%s %s %d 1",
				    builds[how].question, shape, BENCH_TASKS);
	else
		rc = peer_ask(p, out, "%s %s %d 1", builds[how].question, shape,
			      BENCH_TASKS);
	if (rc == 1)
		samples_add(to, out[0] / BENCH_TASKS);
}

static void build_row(struct bench *b, unsigned how, const char *shape,
		      const struct samples *lkdf, const struct samples *tbb)
{
	struct bench_row *row = report_add(&b->report, 1, "ns/task", "%s/%s",
					   shape, builds[how].name);

	row_value(row, lkdf, 1);
	if (row_peer(row, "tbb-flow", tbb, NULL) && lkdf->nr)
		row_ratio(row, tbb, lkdf);
	row_judge(row, BAR_AT_LEAST, 3, gate_was_fair(&b->gate));
}

/* Rounds of one shape; the warm peers have built it once before. */
static void measure_builds(struct bench *b, const char *shape)
{
	struct samples lkdf[NR_BUILDS], tbb[NR_BUILDS];
	struct peer us, them;
	double none[PEER_MAX_VALUES];
	unsigned i, how;

	memset(lkdf, 0, sizeof(lkdf));
	memset(tbb, 0, sizeof(tbb));
	peer_open(&us, "peer_lkdf");
	peer_open(&them, "peer_tbb");
	peer_ask(&us, none, "build %s %d 1", shape, BENCH_TASKS);
	peer_ask(&them, none, "build %s %d 1", shape, BENCH_TASKS);
	gate_reset(&b->gate);
	for (i = 0; i < BUILDS; i++) {
		bench_round(b, "build");
		for (how = 0; how < NR_BUILDS; how++) {
			ask_build(&us, "peer_lkdf", how, shape, &lkdf[how]);
			ask_build(&them, "peer_tbb", how, shape, &tbb[how]);
		}
	}
	peer_close(&us);
	peer_close(&them);
	for (how = 0; how < NR_BUILDS; how++)
		build_row(b, how, shape, &lkdf[how], &tbb[how]);
}

/*
 * Memory that one graph holds after seal: heap, and mappings that are not heap.
 */
struct held {
	double bytes, tasks;
};

static bool ask_held(const char *shape, int nr, int inflight, struct held *to)
{
	double out[PEER_MAX_VALUES];

	if (peer_ask_fresh("peer_lkdf", out, "memory %s %d %d", shape, nr,
			   inflight) != 3)
		return false;
	to->bytes = out[0] + out[1];
	to->tasks = out[2];
	return true;
}

/* An exact quantity: judged without looking at the gate. */
static void exact_row(struct bench *b, const char *shape, const char *what,
		      double value, double bar)
{
	struct bench_row *row =
		report_add(&b->report, 1, "B/task", "%s/%s", shape, what);

	row->value = value;
	row->ratio = value;
	row_judge(row, BAR_AT_MOST, bar, true);
}

/*
 * Bytes that a second frame adds, per task: from the growth between two sizes,
 * so that the few bytes a frame has once do not count. To a tenth of a byte:
 * the mappings behind it come in whole pages.
 */
static void frame_row(struct bench *b, const char *shape,
		      const struct held *small)
{
	struct held small_two, large, large_two;
	double bytes;

	if (!ask_held(shape, BENCH_TASKS, 2, &small_two) ||
	    !ask_held(shape, BENCH_TASKS * 4, 1, &large) ||
	    !ask_held(shape, BENCH_TASKS * 4, 2, &large_two))
		return;
	bytes = large_two.bytes - large.bytes - small_two.bytes + small->bytes;
	bytes /= large.tasks - small->tasks;
	exact_row(b, shape, "frame", floor(bytes * 10 + 0.5) / 10, 32);
}

static void measure_memory(struct bench *b)
{
	struct bench_row *row;
	struct held one;
	double each;
	unsigned i;

	for (i = 0; i < NR_SHAPES; i++) {
		bench_step(b, 1, "memory");
		if (!ask_held(build_shapes[i], BENCH_TASKS, 1, &one))
			continue;
		each = one.bytes / one.tasks;
		/* The bar is for an in-degree of 2 at most. */
		if (strcmp(build_shapes[i], "random")) {
			exact_row(b, build_shapes[i], "memory", each, 48);
		} else {
			row = report_add(&b->report, 1, "B/task",
					 "random/memory");
			row->value = each;
		}
		frame_row(b, build_shapes[i], &one);
	}
}

static void rerun_row(struct bench *b, const char *shape, int workers,
		      const char *what, double value)
{
	struct bench_row *row =
		report_add(&b->report, workers, what, "%s/%d/rerun-%s", shape,
			   workers, what);

	row->value = value;
	row->ratio = value;
	row_judge(row, BAR_AT_MOST, 0, true);
}

/*
 * With one worker a burst of runs needs no call at all; with more, at most one
 * wake-up and one sleep per run and parked worker.
 */
static void calls_row(struct bench *b, const char *shape, int workers)
{
	struct bench_row *row = report_add(&b->report, workers, "calls/run",
					   "%s/%d/rerun-calls", shape, workers);
	struct peer p;
	char question[96];
	long nr;

	snprintf(question, sizeof(question), "traced %s %d %d %d", shape,
		 BENCH_TASKS, workers, RERUNS);
	peer_open(&p, "peer_lkdf");
	nr = trace_count_calls(&p, question);
	peer_close(&p);
	if (nr < 0) {
		snprintf(row->note, sizeof(row->note), "cannot trace");
		return;
	}
	row->value = (double)nr / RERUNS;
	row->ratio = row->value;
	row_judge(row, BAR_AT_MOST, 2.0 * (workers - 1), true);
}

static void measure_reruns(struct bench *b, int workers)
{
	static const char *const texts[] = { "mallocs", "mmaps", "faults" };
	double out[PEER_MAX_VALUES];
	unsigned i, k;

	for (i = 0; i < NR_SHAPES; i++) {
		bench_step(b, 1, "re-runs");
		if (peer_ask_fresh("peer_lkdf", out, "rerun %s %d %d %d",
				   build_shapes[i], BENCH_TASKS, workers,
				   RERUNS) != 3)
			continue;
		for (k = 0; k < 3; k++)
			rerun_row(b, build_shapes[i], workers, texts[k],
				  out[k]);
		calls_row(b, build_shapes[i], workers);
	}
}

static double large_ns(const char *shape, int nr, int times)
{
	double out[PEER_MAX_VALUES];

	if (peer_ask_fresh("peer_lkdf", out, "graph %s %d 1 %d", shape, nr,
			   times) != 1)
		return -1;
	return out[0] / times / nr;
}

static void measure_large(struct bench *b, const char *shape, double bar)
{
	struct samples large = { .nr = 0 }, small = { .nr = 0 };
	struct bench_row *row;
	double ns;
	unsigned i;

	gate_reset(&b->gate);
	for (i = 0; i < 3; i++) {
		bench_round(b, "10^7 tasks");
		ns = large_ns(shape, LARGE / 10, 20);
		if (ns >= 0)
			samples_add(&small, ns);
		ns = large_ns(shape, LARGE, 3);
		if (ns >= 0)
			samples_add(&large, ns);
	}
	row = report_add(&b->report, 1, "ns/task", "%s/10^7", shape);
	row_value(row, &large, 1);
	snprintf(row->peer, sizeof(row->peer), "10^6");
	row->peer_value = samples_median(&small);
	if (large.nr && small.nr)
		row_ratio(row, &large, &small);
	row_judge(row, BAR_AT_MOST, bar, gate_was_fair(&b->gate));
}

double bench_build_steps(const struct bench *b)
{
	return NR_SHAPES * (BUILDS + 1 + b->nr_counts) + (b->is_quick ? 0 : 9);
}

int bench_build(struct bench *b)
{
	unsigned i;

	for (i = 0; i < NR_SHAPES; i++)
		measure_builds(b, build_shapes[i]);
	measure_memory(b);
	for (i = 0; i < b->nr_counts; i++)
		measure_reruns(b, b->workers[i]);
	if (b->is_quick)
		return 0;
	measure_large(b, "chain", 2);
	measure_large(b, "wave", 2);
	measure_large(b, "random", 3);
	return 0;
}
