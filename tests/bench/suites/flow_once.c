/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rows of lkdf bench flow that are paid once. seal/SHAPE is the CPU time of a
 * seal: 80,000 loops one after another, 4,000 loops in each other, and a choice
 * among 64,000; no peer has a seal. once/SHAPE is a whole life of a graph that
 * runs once, with a data for each task; peers have the edges, and no data.
 * open is the CPU time of the process until a runtime is there, the first one
 * in the process and the second.
 */
#include "tests/bench/suites/flow_once.h"

#include "bench/peer.h"
#include "tests/bench/lkdf_seal.h"

#include <errno.h>
#include <string.h>

#define MOST_SEAL_MS 100
#define MOST_OPEN_US 1000
#define MOST_ONCE 3 /* times what a graph without data takes */

/* An exact bar: the value is the ratio, and CPU time needs no fair machine. */
static void bar_row(struct bench_row *row, const struct samples *s, double most)
{
	row_value(row, s, 1);
	row->ratio = row->value;
	row->spread =
		(samples_quantile(s, 0.75) - samples_quantile(s, 0.25)) / 2;
	row_judge(row, BAR_AT_MOST, most, true);
}

/* ---- seal ---------------------------------------------------------------- */

static int measure_seal(struct bench *b, struct lkdf *rt, unsigned at)
{
	struct samples ms = { .nr = 0 };
	const char *name = lkdf_seal_name(at);
	double ns = 0;
	unsigned i;
	int rc = 0;

	for (i = 0; i < b->rounds && !rc; i++) {
		bench_step(b, 1, name);
		rc = lkdf_seal_time(rt, at, &ns);
		samples_add(&ms, ns / 1e6);
	}
	if (rc)
		return bench_fail(rc, "seal/%s: %s", name, lkdf_errmsg());
	bar_row(report_add(&b->report, 1, "ms", "seal/%s", name), &ms,
		MOST_SEAL_MS);
	return 0;
}

static int measure_seals(struct bench *b)
{
	struct lkdf *rt;
	unsigned i;
	int rc = bench_open(1, NULL, &rt);

	if (rc)
		return rc;
	for (i = 0; i < LKDF_NR_SEALS && !rc; i++)
		rc = measure_seal(b, rt, i);
	lkdf_close(rt);
	return rc;
}

/* ---- what others have, too ----------------------------------------------- */

enum {
	LKDF,
	TASKFLOW,
	TBB,
	NR_PROGRAMS
};

static const struct {
	const char *program, *name;
} programs[NR_PROGRAMS] = {
	{ "peer_lkdf", "lkdf" },
	{ "peer_taskflow", "taskflow" },
	{ "peer_tbb", "tbb" },
};

static const char *const shapes[] = { "chain", "tree", "wave", "random" };
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* An absent peer is no error, a wrong result and no lkdf are. */
static int check_answer(const char *what, unsigned who, const char *why)
{
	if (who != LKDF && strcmp(why, "wrong result"))
		return 0;
	return bench_fail(-EBADMSG, "%s, %s: %s", what, programs[who].name,
			  why);
}

static int ask_lives(const char *shape, int workers,
		     struct peer peer[NR_PROGRAMS], struct samples *ns)
{
	double out[PEER_MAX_VALUES];
	unsigned who;
	int rc = 0;

	for (who = 0; who < NR_PROGRAMS && !rc; who++) {
		if (peer[who].pid && peer_ask(&peer[who], out, "%s %s %d %d",
					      who == LKDF ? "once" : "cycle",
					      shape, BENCH_TASKS, workers) == 1)
			samples_add(&ns[who], out[0] / BENCH_TASKS);
		else
			rc = check_answer("once", who, peer[who].why);
	}
	return rc;
}

static void life_rows(struct bench *b, const char *shape, int workers,
		      const struct samples *ns)
{
	struct bench_row *row;
	unsigned who;

	for (who = LKDF + 1; who < NR_PROGRAMS; who++) {
		row = report_add(&b->report, workers, "ns/task",
				 "once/%s/%d/%s", shape, workers,
				 programs[who].name);
		row_value(row, &ns[LKDF], 1);
		if (row_peer(row, programs[who].name, &ns[who], NULL))
			row_ratio(row, &ns[LKDF], &ns[who]);
		if (who == TASKFLOW)
			row_judge(row, BAR_AT_MOST, MOST_ONCE,
				  gate_was_fair(&b->gate));
	}
}

/* The first life is not counted, which takes the process's memory. */
static int measure_lives(struct bench *b, const char *shape, int workers)
{
	struct samples ns[NR_PROGRAMS];
	struct peer peer[NR_PROGRAMS];
	unsigned i, who;
	int rc = 0;

	for (who = 0; who < NR_PROGRAMS; who++)
		peer_open(&peer[who], programs[who].program);
	gate_reset(&b->gate);
	for (i = 0; i <= b->rounds && !rc; i++) {
		if (i)
			bench_round(b, "once");
		if (i < 2)
			memset(ns, 0, sizeof(ns));
		rc = ask_lives(shape, workers, peer, ns);
	}
	for (who = 0; who < NR_PROGRAMS; who++)
		peer_close(&peer[who]);
	if (!rc)
		life_rows(b, shape, workers, ns);
	return rc;
}

static const char *const opens[] = { "open/first", "open/again" };
#define NR_OPENS (sizeof(opens) / sizeof(opens[0]))

/* How often, and for whom. */
struct opening {
	struct samples us[NR_OPENS][NR_PROGRAMS];
};

static int ask_opens(int workers, struct opening *o)
{
	double out[PEER_MAX_VALUES];
	unsigned who, i;
	int rc = 0;

	for (who = 0; who < NR_PROGRAMS && !rc; who++) {
		if (peer_ask_fresh(programs[who].program, out, "open %d",
				   workers) == NR_OPENS)
			for (i = 0; i < NR_OPENS; i++)
				samples_add(&o->us[i][who], out[i] / 1e3);
		else
			rc = check_answer("open", who, "no answer");
	}
	return rc;
}

static void open_rows(struct bench *b, int workers, const char *name,
		      const struct samples *us)
{
	struct bench_row *row =
		report_add(&b->report, workers, "us", "%s/%d", name, workers);
	unsigned who;

	bar_row(row, &us[LKDF], MOST_OPEN_US);
	for (who = LKDF + 1; who < NR_PROGRAMS; who++) {
		row = report_add(&b->report, workers, "us", "%s/%d/%s", name,
				 workers, programs[who].name);
		row_value(row, &us[LKDF], 1);
		if (row_peer(row, programs[who].name, &us[who], NULL))
			row_ratio(row, &us[LKDF], &us[who]);
	}
}

static int measure_opens(struct bench *b, int workers)
{
	struct opening o;
	unsigned i;
	int rc = 0;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < b->rounds && !rc; i++) {
		bench_step(b, 1, "open");
		rc = ask_opens(workers, &o);
	}
	for (i = 0; i < NR_OPENS && !rc; i++)
		open_rows(b, workers, opens[i], o.us[i]);
	return rc;
}

double bench_flow_once_steps(const struct bench *b)
{
	return b->rounds *
	       (double)(LKDF_NR_SEALS + b->nr_counts * (NR_SHAPES + 1));
}

int bench_flow_once(struct bench *b)
{
	int rc = measure_seals(b);
	unsigned i, k;

	for (i = 0; i < b->nr_counts && !rc; i++) {
		for (k = 0; k < NR_SHAPES && !rc; k++)
			rc = measure_lives(b, shapes[k], b->workers[i]);
		if (!rc)
			rc = measure_opens(b, b->workers[i]);
	}
	return rc;
}
