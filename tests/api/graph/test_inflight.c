/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several runs of one graph at a time: a task overlaps itself only as far as
 * its kind allows, is taken in run order, and never before its inputs.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define NR_THREADS 3
#define NR_RUNS 60

static const int worker_counts[] = { 1, 2, 8 };
static const uint32_t inflights[] = { 2, 3, 4, 8 };

/* Plain fields on purpose: the runtime alone keeps the runs apart. */
struct plain {
	uint64_t next_seq;
	int nr, nr_disorder;
};

static int count_plainly(struct lkdf_ctx *c, void *arg)
{
	struct plain *p = arg;

	p->nr++;
	if (lkdf_seq(c) != p->next_seq++)
		p->nr_disorder++;
	return 0;
}

struct many {
	struct lkdf_graph *g;
	int nr_failed;
};

static void *run_many(void *arg)
{
	struct many *m = arg;
	struct lkdf_event done[NR_RUNS];
	int i;

	for (i = 0; i < NR_RUNS; i++)
		must(lkdf_graph_run(m->g, NULL, NULL, &done[i]));
	for (i = 0; i < NR_RUNS; i++)
		m->nr_failed += lkdf_event_wait(done[i], -1) != 0;
	return NULL;
}

static int run_from_threads(struct lkdf_graph *g)
{
	struct many m[NR_THREADS];
	pthread_t thread[NR_THREADS];
	int i, nr_failed = 0;

	for (i = 0; i < NR_THREADS; i++) {
		m[i] = (struct many){ .g = g };
		pthread_create(&thread[i], NULL, run_many, &m[i]);
	}
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(thread[i], NULL);
		nr_failed += m[i].nr_failed;
	}
	return nr_failed;
}

/* A diamond row: a source, six in the middle, a sink, and one on its own. */
static void tasks_run_in_run_order(struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_kind *k = api_kind(rt, "plain", count_plainly, 0, 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct plain p[9] = { { 0 } };
	int i, nr = 0, nr_disorder = 0;

	for (i = 0; i < 9; i++)
		must(lkdf_graph_add(g, k, &p[i], NULL, 0));
	for (i = 1; i < 7; i++) {
		must(lkdf_graph_order(g, 0, i));
		must(lkdf_graph_order(g, i, 7));
	}
	must(lkdf_graph_seal(g, NULL));
	is(run_from_threads(g), 0, "%u at a time: all runs end well", inflight);
	for (i = 0; i < 9; i++) {
		nr += p[i].nr;
		nr_disorder += p[i].nr_disorder;
	}
	is(nr, 9 * NR_THREADS * NR_RUNS, "no task overlapped itself");
	is(nr_disorder, 0, "every task was taken in run order");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void repetitions_and_runs_mix(struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_kind *k = api_kind(rt, "plain", count_plainly, 0, 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct lkdf_event done[24];
	struct plain p[4] = { { 0 } };
	int i, bad = 0, nr = 0;

	for (i = 0; i < 4; i++)
		must(lkdf_graph_add(g, k, &p[i], NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_order(g, 1, 2));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 24; i++) {
		must(lkdf_graph_run(g, NULL,
				    ATTR(lkdf_run, .times = (uint64_t)(i % 4)),
				    &done[i]));
		nr += i % 4 ? i % 4 : 1;
	}
	for (i = 0; i < 24; i++)
		bad += lkdf_event_wait(done[i], -1) != 0;
	is(bad, 0, "single and repeated runs, %u at a time, end well",
	   inflight);
	for (i = 0; i < 4; i++)
		bad += p[i].nr != nr;
	is(bad, 0, "each task ran %d times", nr);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

struct wide {
	atomic_int inside, most;
};

static int enter_wide(struct lkdf_ctx *c, void *arg)
{
	struct wide *w = arg;
	int inside = atomic_fetch_add(&w->inside, 1) + 1;
	int most = atomic_load(&w->most);

	(void)c;
	while (inside > most &&
	       !atomic_compare_exchange_weak(&w->most, &most, inside))
		;
	api_nap_ns(20000);
	atomic_fetch_sub(&w->inside, 1);
	return 0;
}

static void width_2_is_reached_and_kept(struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct wide w = { 0 };
	struct lkdf_kind *k;

	must(lkdf_kind_create(
		rt,
		ATTR(lkdf_kind_attr, .name = "wide", .fn = enter_wide,
		     .flags = LKDF_SHARED | LKDF_BLOCKING, .width = 2),
		&k));
	must(lkdf_graph_add(g, k, &w, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run_from_threads(g), 0, "runs of a shared task end well");
	ok(w.most <= 2, "%u in flight, width 2: at most 2 overlap (%d)",
	   inflight, w.most);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

#define SLOW_SEQ 2

struct inputs {
	atomic_int given[64];
	atomic_int go, nr_early;
	struct gate gate;
};

static int give_input(struct lkdf_ctx *c, void *arg)
{
	struct inputs *in = arg;
	uint64_t seq = lkdf_seq(c);

	if (seq == SLOW_SEQ)
		gate_pass(&in->gate);
	atomic_store(&in->given[seq], 1);
	return 0;
}

static int take_input(struct lkdf_ctx *c, void *arg)
{
	struct inputs *in = arg;

	if (!atomic_load(&in->given[lkdf_seq(c)]))
		atomic_fetch_add(&in->nr_early, 1);
	return 0;
}

/*
 * With width 2 and 3 in flight run 3 overtakes run 2, whose input is slow; its
 * word to run 5 must not be taken for run 2's.
 */
static void an_overtaking_run_does_not_start_a_slow_one(struct lkdf *rt)
{
	struct lkdf_event done[6];
	struct lkdf_graph *g = api_graph(rt, 3);
	struct inputs in = { .nr_early = 0 };
	struct lkdf_kind *give, *take;
	int i, a, b;

	give = api_kind(rt, "give", give_input, 0, LKDF_SHARED | LKDF_BLOCKING);
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "take",
				   .fn = take_input, .flags = LKDF_SHARED,
				   .width = 2),
			      &take));
	a = must(lkdf_graph_add(g, give, &in, NULL, 0));
	b = must(lkdf_graph_add(g, take, &in, NULL, 0));
	must(lkdf_graph_order(g, a, b));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 4; i++)
		must(lkdf_graph_run(g, NULL, NULL, &done[i]));
	is(lkdf_event_wait(done[1], -1), 0, "the run before ends");
	/* Run 3 may end before run 2, or wait for it. */
	if (lkdf_event_wait(done[3], SECOND / 20) == 1)
		printf("# run 3 waits for run 2\n");
	else
		done[3] = (struct lkdf_event){ 0 };
	atomic_store(&in.gate.open, 1);
	is(lkdf_event_wait(done[2], -1), 0, "the slow run ends");
	if (done[3].slot)
		lkdf_event_wait(done[3], -1);
	lkdf_event_wait(done[0], -1);
	is(in.nr_early, 0, "no task ran before its input");
	lkdf_graph_put(g);
	lkdf_kind_put(give);
	lkdf_kind_put(take);
}

static int run_itself(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_graph **g = arg;

	(void)c;
	return lkdf_graph_run(*g, NULL, NULL, NULL);
}

static void nowait_and_bodies_are_told_to_come_again(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 2);
	struct gate gate = { 0 };
	struct lkdf_event done[2];
	struct lkdf_kind *k, *self;

	self = api_kind(rt, "self", run_itself, 0, 0);
	k = api_kind(rt, "gate", pass_gate, 0, LKDF_SHARED | LKDF_BLOCKING);
	must(lkdf_graph_add(g, k, &gate, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 3), &done[0]));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 3), &done[1]));
	while (atomic_load(&gate.entered) < 2)
		api_nap_ns(50000);
	is(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_NOWAIT),
			  NULL),
	   -EAGAIN, "NOWAIT does not wait for one of two");
	has(lkdf_errmsg(), "2 runs", "NOWAIT says how many there are");
	is(api_call(rt, self, &g), -EAGAIN,
	   "a body does not wait for a run either");
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done[0], -1), 0, "the first ends");
	is(lkdf_event_wait(done[1], -1), 0, "the second ends");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "only the body failed");
	is(api_run(g, NULL, NULL), 0, "the graph runs again");
	lkdf_graph_put(g);
	lkdf_kind_put(self);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i, j;

	tap_start(120);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		for (j = 0; j < sizeof(inflights) / sizeof(*inflights); j++) {
			tasks_run_in_run_order(rt, inflights[j]);
			repetitions_and_runs_mix(rt, inflights[j]);
			width_2_is_reached_and_kept(rt, inflights[j]);
		}
		an_overtaking_run_does_not_start_a_slow_one(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	rt = api_open_workers(2);
	nowait_and_bodies_are_told_to_come_again(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
