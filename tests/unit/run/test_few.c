/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs that some of four workers keep, by a cap that the test sets: the bodies
 * of each are called by workers of one group, whoever begins the run, and two
 * bodies that wait for each other are called by two of it. A worker that is
 * stopped between its look at a victim and its theft may take an item of a run
 * that has begun since, and one that is stopped behind the theft sees no more
 * that the victim kept it: a few runs are lost to that.
 */
#include "core/runtime.h"
#include "graph/graph.h"
#include "task/ctx.h"
#include "task/kind.h"

#include "tests/api/api.h"

#include <sched.h>

#define NR_WORKERS 4
#define NR_TASKS 255
#define NR_RUNS 100
#define NR_LOST 5 /* 20 to 90 where nobody is held off */
#define HELD_NS (UINT64_C(10) * SECOND)

static struct lkdf *rt;
static _Atomic(uint32_t) callers; /* a bit for each worker */
static _Atomic(uint32_t) nr_here;

static int note_caller(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i;

	(void)arg;
	for (i = 0; i < 200; i++)
		x = x * 5 + 1;
	a_or(&callers, 1u << c->ex->worker->id, relaxed);
	return 0;
}

static int meet_other(struct lkdf_ctx *c, void *arg)
{
	a_add(&nr_here, 1, relaxed);
	while (a_load(&nr_here, relaxed) < 2)
		sched_yield();
	return note_caller(c, arg);
}

/*
 * Held by so many workers; nothing that is measured changes it. Not for ever: a
 * worker of a group may be on standby, and two bodies wait for it.
 */
static void fix_cap(struct lkdf_graph *g, uint32_t cap)
{
	struct solo *s = &g->solo;

	a_store(&s->phase, (uint32_t)SOLO_HOLDS, relaxed);
	a_store(&s->cap, cap, relaxed);
	a_store(&s->anew, 0, relaxed);
	a_store(&s->remaining, UINT32_MAX, relaxed);
	a_store(&s->typical, HELD_NS / 1024 * rt->sched.ticks_per_1024ns / 4,
		relaxed);
	a_store(&s->half, 1, relaxed);
	s->nr_odd = 0;
}

/* So that they are short, however long they are kept from their CPU. */
static struct lkdf_kind *short_kind(lkdf_fn fn)
{
	struct lkdf_kind *k = api_kind(rt, "short", fn, 0, 0);

	k->spin_ticks = UINT32_MAX;
	a_store(&k->slow, 0, relaxed);
	return k;
}

/* Workers that have called bodies of a run; 0: not all of one group. */
static uint32_t callers_of(struct lkdf_graph *g, uint32_t cap)
{
	uint32_t first, group;

	a_store(&callers, 0, relaxed);
	a_store(&nr_here, 0, relaxed);
	fix_cap(g, cap);
	must(api_run(g, NULL, NULL));
	first = (uint32_t)__builtin_ctz(a_load(&callers, relaxed)) / cap * cap;
	group = ((1u << cap) - 1) << first;
	return a_load(&callers, relaxed) & ~group
		       ? 0
		       : (uint32_t)__builtin_popcount(
				 a_load(&callers, relaxed));
}

/* CPUs that come and go, or a quota, end what a worker keeps. */
static bool is_disturbed(void)
{
	uint64_t quota = 0, standby = 0;

	must(lkdf_stat(rt, "lkdf.quota", &quota));
	must(lkdf_stat(rt, "lkdf.standby", &standby));
	return quota || standby;
}

static void a_group_keeps_a_run(uint32_t cap)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k = short_kind(note_caller);
	uint32_t i, nr, most = 0, nr_wrong = 0;

	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 1; i < NR_TASKS; i++)
		must(lkdf_graph_order(g, (int)(i - 1) / 2, (int)i));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < NR_RUNS && !is_disturbed(); i++) {
		nr = callers_of(g, cap);
		nr_wrong += !nr;
		most = nr > most ? nr : most;
	}
	if (is_disturbed())
		skip("workers of a group", "CPUs came and went");
	else
		ok(nr_wrong <= NR_LOST,
		   "%d runs of %u workers: each of one group, %u of it at "
		   "most (%u are not)",
		   NR_RUNS, cap, most, nr_wrong);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void two_of_a_group_meet(void)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k = short_kind(meet_other);
	uint32_t i, nr_wrong = 0;

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < NR_RUNS && !is_disturbed(); i++)
		nr_wrong += callers_of(g, 2) != 2;
	if (is_disturbed())
		skip("workers of a group", "CPUs came and went");
	else
		ok(nr_wrong <= NR_LOST,
		   "two bodies that meet, %d times: two workers of a group "
		   "(%u are not)",
		   NR_RUNS, nr_wrong);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	uint64_t few = 0;

	tap_start(120);
	rt = api_open("workers=4");
	two_of_a_group_meet();
	a_group_keeps_a_run(1);
	a_group_keeps_a_run(2);
	must(lkdf_stat(rt, "lkdf.runs.few", &few));
	if (is_disturbed())
		skip("runs of two workers", "CPUs came and went");
	else
		is(few, 2 * NR_RUNS, "runs of two workers are counted");
	must(lkdf_close(rt));
	return tap_end();
}
