/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench flow: what loops, branches and streams cost. A loop of two tasks,
 * a loop with four tasks side by side, if/else/join in a loop and in runs of
 * its own, machines of 2 to 200 states, streams of tokens through four stages,
 * and a source whose messages go through a bounded queue to two parallel stages
 * and a sink; against Taskflow's condition tasks and tf::Pipeline and oneTBB's
 * flow_graph, parallel_pipeline and limiter_node; streams against tasks of
 * OpenMP and StarPU as well, which have dependences and neither loops nor
 * queues. The floor calls the same bodies in a plain loop on one thread. Every
 * contestant's result is compared with the serial program's after every batch.
 * Rows of values at ports are in flow_ports.c, and those of what is paid once
 * in flow_once.c.
 */
#include "bench/arms.h"
#include "bench/peer.h"
#include "tests/bench/suites/flow_once.h"
#include "tests/bench/suites/flow_ports.h"
#include "tests/bench/suites/suites.h"

#include "tests/bench/lkdf_control.h"

#include <errno.h>
#include <string.h>

enum {
	TASKFLOW,
	TBB,
	LIBGOMP,
	STARPU,
	NR_PEERS
};

/* A peer whose tasks take ten times as long runs a part of the tokens. */
static const struct {
	const char *program, *name;
	uint32_t part;
} peers[NR_PEERS] = {
	{ "peer_taskflow_control", "taskflow", 1 },
	{ "peer_tbb_control", "tbb", 1 },
	{ "peer_omp_control", "libgomp", 1 },
	{ "peer_starpu_control", "starpu", 10 },
};

/* The most that lkdf may take by what a peer takes; 0: no bar. */
struct bars {
	double one[NR_PEERS], more[NR_PEERS]; /* workers */
};

static const struct bars loop_bars = { { 0.5 }, { 0.5 } };
static const struct bars fork_bars = { { 0.6 }, { 1 } };
static const struct bars if_bars = { { 0.6 }, { 0.6 } };
static const struct bars runs_bars = { { 0.8 }, { 0.8 } };
static const struct bars machine_bars = { { 1 }, { 1 } };
static const struct bars spps_bars = { { 1.5, 1 }, { 0, 1.2 } };
static const struct bars ssss_bars = { { 1.5, 1 }, { 0, 1 } };
static const struct bars fed_bars = { { 0, 1 }, { 0, 1 } };
static const struct bars long_bars = { { 1.5, 1 }, { 1.05, 1.05 } };

struct part {
	const char *name;
	const char *shape, *stages; /* one of them */
	uint32_t nr, ns; /* iterations, runs or tokens; of work in a body */
	const struct bars *bars;
};

static const struct part parts[] = {
	{ "loop", "loop", NULL, 100000, 0, &loop_bars },
	{ "fork", "fork", NULL, 20000, 0, &fork_bars },
	{ "if", "if", NULL, 50000, 0, &if_bars },
	{ "runs", "runs", NULL, 20000, 0, &runs_bars },
	{ "machine/2", "machine2", NULL, 50000, 0, &machine_bars },
	{ "machine/8", "machine8", NULL, 50000, 0, &machine_bars },
	{ "machine/32", "machine32", NULL, 50000, 0, &machine_bars },
	{ "machine/200", "machine200", NULL, 50000, 0, &machine_bars },
	{ "SPPS", NULL, "SPPS", 50000, 0, &spps_bars },
	{ "SSSS", NULL, "SSSS", 50000, 0, &ssss_bars },
	{ "CPPS", NULL, "CPPS", 50000, 0, &fed_bars },
	{ "SPPS/500ns", NULL, "SPPS", 3000, 500, &spps_bars },
	{ "SSSS/500ns", NULL, "SSSS", 3000, 500, &ssss_bars },
	{ "SPPS/2us", NULL, "SPPS", 1000, 2000, &long_bars },
	{ "SSSS/2us", NULL, "SSSS", 1000, 2000, &long_bars },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct arm {
	int workers;
	struct lkdf *rt;
	struct peer peer[NR_PEERS];
	struct control control;
	struct lkdf_graph *graph;
	struct stream stream;
	struct lkdf_stream line;
	struct samples by_lkdf, by_floor, by_peer[NR_PEERS];
};

#define CALIBRATE_UNITS 200000
#define CALIBRATE_TIMES 20

static struct {
	uint32_t units; /* of work in a body of this part */
} job;

/* How often work_for() goes round in so many ns, where nothing disturbs it. */
static uint32_t units_of(uint32_t ns)
{
	int64_t start, took, best = INT64_MAX;
	int i;

	for (i = 0; i < CALIBRATE_TIMES; i++) {
		start = bench_now_ns();
		work_for(CALIBRATE_UNITS);
		took = bench_now_ns() - start;
		best = took < best ? took : best;
	}
	return (uint32_t)((double)ns * CALIBRATE_UNITS / (double)best);
}

/* As before the first body. */
static int start_anew(struct arm *a, const struct part *part)
{
	int rc = part->stages
			 ? stream_init(&a->stream, part->stages, part->nr,
				       job.units)
			 : control_init(&a->control, part->shape, part->nr);

	return rc ? bench_fail(rc, "%s: no such part", part->name) : 0;
}

static int is_right(const struct arm *a, const struct part *part,
		    const char *who)
{
	if (part->stages ? stream_is_right(&a->stream)
			 : control_is_right(&a->control))
		return 0;
	return bench_fail(-EBADMSG,
			  "%s, %s: a body was left out, ran twice or too early",
			  part->name, who);
}

static int floor_batch(struct arm *a, const struct part *part)
{
	int rc = start_anew(a, part);
	int64_t start = bench_now_ns();

	if (rc)
		return rc;
	if (part->stages)
		stream_serial(&a->stream);
	else
		control_serial(&a->control);
	samples_add(&a->by_floor, (double)(bench_now_ns() - start) / part->nr);
	return is_right(a, part, "floor");
}

static int lkdf_batch(struct arm *a, const struct part *part)
{
	int rc = start_anew(a, part);
	int64_t start = bench_now_ns();

	if (rc)
		return rc;
	rc = part->stages ? lkdf_stream_run(&a->line)
			  : lkdf_control_run(&a->control, a->graph);
	start = bench_now_ns() - start;
	if (rc)
		return bench_fail(rc, "%s: %s", part->name, lkdf_errmsg());
	samples_add(&a->by_lkdf, (double)start / part->nr);
	return is_right(a, part, "lkdf");
}

/* An absent peer is no error, a wrong one is. */
static int peer_batch(struct arm *a, const struct part *part, unsigned i)
{
	double out[PEER_MAX_VALUES];
	struct peer *p = &a->peer[i];
	uint32_t nr = part->nr / peers[i].part;
	int rc;

	if (!p->pid)
		return 0;
	if (part->stages)
		rc = peer_ask(p, out, "stream %s %u %u %d", part->stages, nr,
			      job.units, a->workers);
	else
		rc = peer_ask(p, out, "control %s %u %d", part->shape, nr,
			      a->workers);
	if (rc == -EPROTO && !strcmp(p->why, "wrong result"))
		return bench_fail(-EBADMSG, "%s, %s: wrong result", part->name,
				  peers[i].name);
	if (rc == 1)
		samples_add(&a->by_peer[i], out[0] / nr);
	return 0;
}

static int one_round(const struct bench *b, void *arm, unsigned nr)
{
	const struct part *part = &parts[nr];
	struct arm *a = arm;
	int rc = floor_batch(a, part);
	unsigned i;

	(void)b;
	if (!rc)
		rc = lkdf_batch(a, part);
	for (i = 0; i < NR_PEERS && !rc; i++)
		rc = peer_batch(a, part, i);
	return rc;
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	unsigned i;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peers[i].program);
	return bench_open(workers, NULL, &a->rt);
}

static void arm_close(void *arm)
{
	struct arm *a = arm;
	unsigned i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
	lkdf_close(a->rt);
}

static int part_begin(unsigned nr)
{
	job.units = parts[nr].ns ? units_of(parts[nr].ns) : 0;
	return 0;
}

/* Builds, and one round that does not count. */
static int part_open(const struct bench *b, void *arm, unsigned nr)
{
	const struct part *part = &parts[nr];
	struct arm *a = arm;
	int rc = start_anew(a, part);

	if (rc)
		return rc;
	rc = part->stages ? lkdf_stream_open(&a->line, a->rt, &a->stream)
			  : lkdf_control_open(a->rt, &a->control, &a->graph);
	if (rc)
		return bench_fail(rc, "build: %s", lkdf_errmsg());
	rc = one_round(b, a, nr);
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->by_floor, 0, sizeof(a->by_floor));
	memset(a->by_peer, 0, sizeof(a->by_peer));
	return rc;
}

static void part_drop(void *arm)
{
	struct arm *a = arm;

	lkdf_graph_put(a->graph);
	a->graph = NULL;
	lkdf_stream_close(&a->line);
}

static void peer_row(struct bench *b, const struct arm *a,
		     const struct part *part, unsigned i)
{
	const char *unit = part->stages ? "ns/token" : "ns/iter";
	const double *bar = a->workers > 1 ? part->bars->more : part->bars->one;
	struct bench_row *row =
		report_add(&b->report, a->workers, unit, "%s/%d/%s", part->name,
			   a->workers, peers[i].name);

	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_floor);
	if (row_peer(row, peers[i].name, &a->by_peer[i], a->peer[i].why))
		row_ratio(row, &a->by_lkdf, &a->by_peer[i]);
	if (bar[i] > 0)
		row_judge(row, BAR_AT_MOST, bar[i], gate_was_fair(&b->gate));
}

/* OpenMP and StarPU: streams of tokens that no queue feeds. */
static bool can_say_it(unsigned peer, const struct part *part)
{
	if (peer != LIBGOMP && peer != STARPU)
		return true;
	return part->stages && part->stages[0] != 'C';
}

static void part_rows(struct bench *b, const void *arm, const void *first,
		      unsigned nr)
{
	unsigned i;

	(void)first;
	for (i = 0; i < NR_PEERS; i++)
		if (can_say_it(i, &parts[nr]))
			peer_row(b, arm, &parts[nr], i);
}

static const char *name_of(unsigned nr)
{
	return parts[nr].name;
}

static const struct bench_arms flows = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_close,
	.name = name_of,
	.begin = part_begin,
	.build = part_open,
	.round = one_round,
	.rows = part_rows,
	.drop = part_drop,
};

double bench_flow_steps(const struct bench *b)
{
	return bench_arms_steps(b, &flows, NR_PARTS) +
	       bench_flow_ports_steps(b) + bench_flow_once_steps(b);
}

int bench_flow(struct bench *b)
{
	int rc = bench_arms(b, &flows, NR_PARTS);

	if (!rc)
		rc = bench_flow_ports(b);
	return rc ? rc : bench_flow_once(b);
}
