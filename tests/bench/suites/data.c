/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench data: programs whose tasks pass blocks on in dataflow variables
 * of a sealed graph; the sizes are those of DFCPP's examples. A task may cost
 * what its parts cost here: the body in a serial program, the floor's order
 * of the same shape, and one allocation with its free. All of them are
 * measured in turns, the results of every batch compared with the serial
 * program's.
 */
#include "tests/bench/suites/data.h"
#include "bench/arms.h"
#include "tests/bench/suites/suites.h"

#include "tests/bench/floor.h"
#include "tests/bench/lkdf_flow.h"
#include "tests/bench/lkdf_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BAR 1.3
#define PAIRS 2000
#define MIB (1024 * 1024)

struct program {
	const char *name, *shape;
	uint32_t nr_tasks;
	uint64_t bytes;
	/*
	 * Runs in a batch. The worker has slept when it begins and the floor's
	 * thread has not, so it is long enough that this does not matter.
	 */
	unsigned times;
};

static const struct program programs[] = {
	{ "linear/512B", "chain", 10000, 512, 80 },
	{ "tree/32B", "tree", 8191, 32, 80 },
	{ "wave/512B", "wave", 100, 512, 4000 },
	{ "graph/512B", "random", 10000, 512, 40 },
	{ "linear/2MiB", "chain", 100, 2 * MIB, 1 },
	{ "wave/2MiB", "wave", 100, 2 * MIB, 1 },
};
#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

struct arm {
	int workers;
	struct lkdf *rt;
	struct lkdf_kind *pairs;
	struct lkdf_flow graph;
	struct floor *floor;
	struct floor_graph *floor_graph;
	/* Nanoseconds per task; the budget is the sum of a round's parts. */
	struct samples by_lkdf, body, order, pair, budget;
};

/* Of the program that is being measured. */
static struct {
	struct flow flow;
	struct flow_serial serial;
	uint32_t *count;
} job;

/* Allocates and frees on a worker, as tasks do. */
struct pair_job {
	uint64_t bytes;
	int64_t ns;
};

static int pair_body(struct lkdf_ctx *c, void *arg)
{
	struct pair_job *p = arg;
	struct lkdf *rt = lkdf_runtime(c);
	struct lkdf_place *place;
	int node, i, rc = lkdf_where(c, NULL, &node);
	void *block;

	if (rc)
		return rc;
	place = lkdf_place_node(rt, node);
	p->ns = bench_now_ns();
	for (i = 0; i < PAIRS && !rc; i++) {
		rc = lkdf_alloc(place, LKDF_MEM_OWN, p->bytes, 0, NULL, &block);
		if (!rc)
			lkdf_free(rt, block);
	}
	p->ns = bench_now_ns() - p->ns;
	return rc;
}

static void floor_body(uint32_t task)
{
	job.count[task]++;
}

static int time_pairs(struct arm *a, double *ns)
{
	struct pair_job p = { job.flow.bytes, 0 };
	struct lkdf_task t = { .size = sizeof(t), .kind = a->pairs, .arg = &p };
	struct lkdf_event done;
	int rc = lkdf_submit(a->rt, NULL, &t, &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	*ns = (double)p.ns / PAIRS;
	return rc ? bench_fail(rc, "pairs: %s", lkdf_errmsg()) : 0;
}

static int check(const char *who, unsigned times)
{
	if (flow_is_right(&job.serial, times))
		return 0;
	return bench_fail(-EBADMSG, "%s: not what the serial program makes",
			  who);
}

static double per_task(int64_t ns, unsigned times)
{
	return (double)ns / times / job.flow.shape.nr_tasks;
}

static int time_serial(unsigned times, double *ns)
{
	int64_t start = bench_now_ns();
	unsigned i;

	for (i = 0; i < times; i++)
		flow_serial_run(&job.serial);
	*ns = per_task(bench_now_ns() - start, times);
	return check("serial", times);
}

static int time_lkdf(struct arm *a, unsigned times)
{
	int64_t start = bench_now_ns();
	int rc = lkdf_graph_runs(a->graph.graph, times);

	start = bench_now_ns() - start;
	if (rc)
		return bench_fail(rc, "run: %s", lkdf_errmsg());
	samples_add(&a->by_lkdf, per_task(start, times));
	return check("lkdf", times);
}

static int measure_once(struct arm *a, unsigned times)
{
	double body, order, pair = 0;
	int rc = time_serial(times, &body);

	if (!rc)
		rc = time_pairs(a, &pair);
	if (!rc)
		rc = time_lkdf(a, times);
	if (rc)
		return rc;
	order = per_task((int64_t)floor_run(a->floor, a->floor_graph, times),
			 times);
	samples_add(&a->body, body);
	samples_add(&a->order, order);
	samples_add(&a->pair, pair);
	samples_add(&a->budget, body + order + pair);
	return 0;
}

static int one_round(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	job.flow.seed++;
	return measure_once(arm, programs[part].times);
}

static void forget(struct arm *a)
{
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->body, 0, sizeof(a->body));
	memset(&a->order, 0, sizeof(a->order));
	memset(&a->pair, 0, sizeof(a->pair));
	memset(&a->budget, 0, sizeof(a->budget));
}

static int arm_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc = floor_build(&job.flow.shape, floor_body, &a->floor_graph);

	(void)b;
	(void)part;
	if (rc)
		return rc;
	rc = lkdf_flow_open(&a->graph, a->rt, &job.flow);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	rc = measure_once(a, 3);
	forget(a);
	return rc;
}

static void arm_drop(void *arm)
{
	struct arm *a = arm;

	if (a->graph.rt)
		lkdf_flow_close(&a->graph);
	floor_free(a->floor_graph);
	a->floor_graph = NULL;
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	int rc;

	a->workers = workers;
	rc = bench_open(workers, NULL, &a->rt);
	if (rc)
		return rc;
	rc = lkdf_graph_kind(a->rt, "pairs", pair_body, &a->pairs);
	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	rc = floor_open(workers, &a->floor);
	return rc ? bench_fail(rc, "cannot start the floor's threads") : 0;
}

static void arm_close(void *arm)
{
	struct arm *a = arm;

	floor_close(a->floor);
	lkdf_kind_put(a->pairs);
	lkdf_close(a->rt);
}

static void arm_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct program *p = &programs[part];
	const struct arm *a = arm, *one = first;
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row = report_add(&b->report, a->workers, "ns/task",
					   "%s/%d", p->name, a->workers);

	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->budget);
	row_ratio(row, &a->by_lkdf, &a->budget);
	row_judge(row, BAR_AT_MOST, BAR, is_fair);
	if (!row->note[0])
		snprintf(row->note, sizeof(row->note),
			 "floor: body %.3g + order %.3g + allocation %.3g",
			 samples_median(&a->body), samples_median(&a->order),
			 samples_median(&a->pair));
	if (a == one)
		return;
	row = report_add(&b->report, a->workers, "ns/task", "%s/slower",
			 p->name);
	row_value(row, &a->by_lkdf, 1);
	row_ratio(row, &a->by_lkdf, &one->by_lkdf);
	row_judge(row, BAR_AT_MOST, 1.05, is_fair);
}

static int job_open(unsigned part)
{
	const struct program *p = &programs[part];
	int rc = flow_init(&job.flow, p->shape, p->nr_tasks, p->bytes);

	if (!rc)
		rc = flow_serial_init(&job.serial, &job.flow);
	if (rc)
		return bench_fail(rc, "%s: no memory", p->name);
	job.count = calloc(job.flow.shape.nr_tasks, sizeof(*job.count));
	return job.count ? 0 : -ENOMEM;
}

static void job_close(void)
{
	free(job.count);
	if (job.serial.flow)
		flow_serial_fini(&job.serial);
	flow_fini(&job.flow);
	memset(&job, 0, sizeof(job));
}

static const char *name_of(unsigned part)
{
	return programs[part].name;
}

static const struct bench_arms flows = {
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

double bench_data_steps(const struct bench *b)
{
	return bench_arms_steps(b, &flows, NR_PROGRAMS) + bench_held_steps(b) +
	       bench_tiles_steps(b);
}

int bench_data(struct bench *b)
{
	int rc = bench_arms(b, &flows, NR_PROGRAMS);

	if (!rc)
		rc = bench_held(b);
	return rc ? rc : bench_tiles(b);
}
