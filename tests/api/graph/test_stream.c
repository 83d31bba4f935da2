/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams: waves side by side, in order where a stage is not SHARED; their end
 * by LKDF_END, times, until, a failure, a cancel; what GO_ON counts; branches
 * and values in waves; runs before and after; refusals.
 */
#include "tests/api/api.h"

#include <sched.h>

static const int worker_counts[] = { 1, 2, 4 };

struct stage {
	atomic_long calls, wrong; /* wrong: out of order */
	long next; /* wave that a serial stage expects */
	long fails_at, ends_at; /* -1: never */
	atomic_int inside, most; /* calls at a time */
	bool is_serial;
};

struct line {
	struct lkdf *rt;
	struct lkdf_graph *g;
	struct stage stage[4];
	uint64_t base; /* lkdf_seq() of the first wave */
};

static struct line *line;

static int work(struct lkdf_ctx *c, void *arg)
{
	struct stage *s = arg;
	long wave = (long)(lkdf_seq(c) - line->base);
	int inside = atomic_fetch_add(&s->inside, 1) + 1;
	int most = atomic_load(&s->most);

	while (inside > most &&
	       !atomic_compare_exchange_weak(&s->most, &most, inside))
		continue;
	if (wave == s->ends_at) {
		atomic_fetch_sub(&s->inside, 1);
		return LKDF_END;
	}
	if (s->is_serial && wave != s->next++)
		atomic_fetch_add(&s->wrong, 1);
	atomic_fetch_add(&s->calls, 1);
	atomic_fetch_sub(&s->inside, 1);
	return wave == s->fails_at ? -EIO : 0;
}

/* Serial, parallel, parallel, serial: each after the one before. */
static void line_open(struct line *l, struct lkdf *rt, uint32_t inflight,
		      uint32_t source_flags)
{
	struct lkdf_kind *k;
	uint32_t flags;
	int i;

	memset(l, 0, sizeof(*l));
	line = l;
	l->rt = rt;
	l->g = api_graph(rt, inflight);
	for (i = 0; i < 4; i++) {
		l->stage[i].is_serial = i == 0 || i == 3;
		l->stage[i].fails_at = l->stage[i].ends_at = -1;
		flags = i == 0 ? source_flags : i == 3 ? 0 : LKDF_SHARED;
		k = api_kind(rt, "stage", work, 0, flags);
		must(lkdf_graph_add(l->g, k, &l->stage[i], NULL, 0));
		if (i)
			must(lkdf_graph_order(l->g, i - 1, i));
		lkdf_kind_put(k);
	}
	must(lkdf_graph_seal(l->g, NULL));
}

static void reset(struct line *l)
{
	int i;

	for (i = 0; i < 4; i++) {
		atomic_store(&l->stage[i].calls, 0);
		atomic_store(&l->stage[i].wrong, 0);
		l->stage[i].next = 0;
	}
}

static int stream(struct line *l, uint64_t times, uint32_t flags)
{
	struct lkdf_event done;

	reset(l);
	must(lkdf_graph_run(l->g, NULL,
			    ATTR(lkdf_run, .times = times,
				 .flags = LKDF_RUN_STREAM | flags),
			    &done));
	return lkdf_event_wait(done, PATIENCE_NS);
}

static void ok_calls(struct line *l, long nr, const char *what)
{
	bool good = true;
	int i;

	for (i = 0; i < 4; i++)
		good &= l->stage[i].calls == nr && !l->stage[i].wrong;
	if (ok(good, "%s: %ld waves, in order", what, nr))
		return;
	for (i = 0; i < 4; i++)
		printf("# stage %d: %ld calls, %ld out of order\n", i,
		       l->stage[i].calls, l->stage[i].wrong);
}

static void waves_come_in_order(struct lkdf *rt, uint32_t inflight)
{
	struct line l;

	line_open(&l, rt, inflight, 0);
	is(stream(&l, 1000, 0), 0, "a stream of 1000 waves, %u at a time",
	   inflight);
	ok_calls(&l, 1000, "all stages");
	ok(l.stage[0].most == 1 && l.stage[3].most == 1,
	   "serial stages do not overlap themselves");
	l.base += 1000;
	is(stream(&l, 1, 0), 0, "a stream of one wave");
	ok_calls(&l, 1, "all stages");
	l.base += 1;
	l.stage[0].ends_at = 7;
	is(stream(&l, 0, 0), 0, "a stream that its source ends");
	ok_calls(&l, 7, "the wave of the end counts for nothing");
	lkdf_graph_put(l.g);
}

static void the_end_is_the_sources(struct lkdf *rt, uint32_t flags)
{
	struct line l;

	line_open(&l, rt, 4, flags);
	l.stage[0].ends_at = 100;
	is(stream(&l, 0, 0), 0, "LKDF_END after 100 waves, flags %#x", flags);
	ok_calls(&l, 100, "all stages");
	lkdf_graph_put(l.g);
	line_open(&l, rt, 3, flags);
	l.stage[0].ends_at = 0;
	is(stream(&l, 0, 0), 0, "LKDF_END at once");
	ok_calls(&l, 0, "all stages");
	lkdf_graph_put(l.g);
}

static bool after_fifty(void *u)
{
	return ++*(int *)u == 50;
}

static void until_is_asked_in_order(struct lkdf *rt)
{
	struct lkdf_event done;
	struct line l;
	int asked = 0;

	line_open(&l, rt, 4, 0);
	must(lkdf_graph_run(l.g, NULL,
			    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
				 .until = after_fifty, .u = &asked),
			    &done));
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "until ends a stream");
	ok_calls(&l, 50, "all stages");
	is(asked, 50, "it was asked before each wave but the first");
	lkdf_graph_put(l.g);
}

static void a_failure_ends_it(struct lkdf *rt)
{
	struct line l;

	line_open(&l, rt, 4, 0);
	l.stage[1].fails_at = 17;
	is(stream(&l, 100000, 0), -EIO, "a failure in wave 17 ends the stream");
	ok(l.stage[0].calls >= 18 && l.stage[0].calls <= 17 + 2 * 4 &&
		   l.stage[3].calls < l.stage[0].calls,
	   "soon: after %ld waves", l.stage[0].calls);
	lkdf_graph_put(l.g);
	lkdf_scope_wait(rt, NULL, -1);
}

static void with_go_on_a_failure_is_counted(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) }, of_scope = e;
	struct lkdf_event done;
	struct line l;

	line_open(&l, rt, 4, 0);
	l.stage[1].fails_at = 17;
	must(lkdf_graph_run(l.g, NULL,
			    ATTR(lkdf_run, .times = 100,
				 .flags = LKDF_RUN_STREAM | LKDF_RUN_GO_ON),
			    &done));
	/* Whoever asks the scope may read while the counts are made. */
	while (lkdf_event_error(done, &e) == 1)
		lkdf_scope_error(rt, NULL, &of_scope);
	ok(e.nr_failed == 1 && e.nr_skipped == 2 && e.seq == 17,
	   "GO_ON: %d failed, %d skipped, in wave %d", (int)e.nr_failed,
	   (int)e.nr_skipped, (int)e.seq);
	is(lkdf_event_wait(done, PATIENCE_NS), -EIO, "told at the end");
	ok(l.stage[0].calls == 100 && l.stage[3].calls == 99,
	   "all other waves ran");
	lkdf_graph_put(l.g);
	lkdf_scope_wait(rt, NULL, -1);
}

static void a_cancel_ends_it(struct lkdf *rt)
{
	struct lkdf_scope *scope;
	struct lkdf_event done;
	struct line l;

	line_open(&l, rt, 4, 0);
	must(lkdf_scope_create(rt, NULL, &scope));
	must(lkdf_graph_run(l.g, scope,
			    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM), &done));
	while (atomic_load(&l.stage[3].calls) < 100)
		sched_yield();
	is(lkdf_graph_run(l.g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			  NULL),
	   -EBUSY, "one stream of a graph at a time");
	must(lkdf_scope_cancel(rt, scope, -ECANCELED));
	is(lkdf_event_wait(done, PATIENCE_NS), -ECANCELED,
	   "a cancel ends a stream, after %ld waves",
	   atomic_load(&l.stage[0].calls));
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_put(scope);
	must(lkdf_graph_run(l.g, NULL, NULL, &done));
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "and the graph runs again");
	lkdf_graph_put(l.g);
}

static void a_deadline_ends_it(struct lkdf *rt)
{
	struct lkdf_scope *scope;
	struct lkdf_event done;
	struct line l;

	must(lkdf_scope_create(rt, NULL, &scope));
	line_open(&l, rt, 2, 0);
	must(lkdf_graph_run(l.g, scope,
			    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
				 .deadline_ns = SECOND / 50),
			    &done));
	is(lkdf_event_wait(done, PATIENCE_NS), -ETIME, "a deadline ends it");
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_put(scope);
	lkdf_graph_put(l.g);
}

static bool at_once(void *u)
{
	(void)u;
	return true;
}

/* Tokens are where the next run, or stream, looks for them. */
static void runs_and_streams_take_turns(struct lkdf *rt)
{
	struct lkdf_event done;
	struct line l;
	int i;

	line_open(&l, rt, 3, 0);
	for (i = 0; i < 30; i++) {
		must(lkdf_graph_run(l.g, NULL, NULL, &done));
		must(lkdf_event_wait(done, PATIENCE_NS));
		must(lkdf_graph_run(l.g, NULL,
				    ATTR(lkdf_run, .times = (uint64_t)i % 7,
					 .flags = LKDF_RUN_STREAM,
					 .until = i % 7 ? NULL : at_once),
				    &done));
		must(lkdf_event_wait(done, PATIENCE_NS));
	}
	is(l.stage[3].calls, 30 + 5 + 85, "runs and streams take turns");
	lkdf_graph_put(l.g);
}

static const uint32_t of_long[] = { sizeof(long) };
static atomic_long sum;

static int number(struct lkdf_ctx *c, void *arg)
{
	long *n = arg;

	if (*n == 1000)
		return LKDF_END;
	*(long *)lkdf_out(c, 0) = ++*n;
	return (int)(*n & 1);
}

static int twice(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(long *)lkdf_out(c, 0) = 2 * *(const long *)lkdf_in(c, 0);
	return 0;
}

static int add_up(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&sum, *(const long *)lkdf_in(c, 0));
	return 0;
}

static struct lkdf_kind *port_kind(struct lkdf *rt, lkdf_fn fn, int in, int out,
				   uint32_t flags)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "k", .fn = fn,
				   .nr_in = (uint16_t)in,
				   .nr_out = (uint16_t)out, .in_size = of_long,
				   .out_size = of_long, .flags = flags),
			      &k));
	return k;
}

/* Odd numbers are doubled, even ones go as they are. */
static void waves_have_branches_and_values(struct lkdf *rt)
{
	struct lkdf_kind *k[] = { port_kind(rt, number, 0, 1, 0),
				  port_kind(rt, twice, 1, 1, LKDF_SHARED),
				  port_kind(rt, add_up, 1, 0, 0) };
	struct lkdf_edge e = { .size = sizeof(e),
			       .flags = LKDF_EDGE_PORT | LKDF_EDGE_BRANCH };
	struct lkdf_graph *g = api_graph(rt, 4);
	struct lkdf_event done;
	long n = 0;
	int i;

	for (i = 0; i < 3; i++) {
		must(lkdf_graph_add(g, k[i], &n, NULL, 0));
		lkdf_kind_put(k[i]);
	}
	e.branch = 1;
	e.to = 1;
	must(lkdf_graph_edge(g, &e));
	e.branch = 0;
	e.to = 2;
	must(lkdf_graph_edge(g, &e));
	e.from = 1;
	must(lkdf_graph_edge(g, &e));
	must(lkdf_graph_seal(g, NULL));
	atomic_store(&sum, 0);
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "a stream with an if");
	is(sum, 250500 + 2 * 250000, "sums 1 to 1000, odd ones twice");
	lkdf_graph_put(g);
}

static void refused(struct line *l, const char *what)
{
	is(lkdf_graph_run(l->g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			  NULL),
	   -EINVAL, "%s: %s", what, lkdf_errmsg());
	lkdf_graph_put(l->g);
}

static void what_is_no_stream_is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", work, 0, 0);
	struct line l;

	line_open(&l, rt, 1, 0);
	refused(&l, "inflight 1");
	line_open(&l, rt, 2, LKDF_SHARED);
	refused(&l, "a SHARED source");
	l.g = api_graph(rt, 2);
	must(lkdf_graph_add(l.g, k, NULL, NULL, 0));
	must(lkdf_graph_add(l.g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(l.g, NULL));
	is(lkdf_graph_run(l.g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_GO_ON),
			  NULL),
	   -EINVAL, "GO_ON without STREAM");
	refused(&l, "two sources");
	lkdf_kind_put(k);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	waves_come_in_order(rt, 2);
	waves_come_in_order(rt, 5);
	waves_come_in_order(rt, 64);
	the_end_is_the_sources(rt, 0);
	the_end_is_the_sources(rt, LKDF_BLOCKING);
	until_is_asked_in_order(rt);
	a_failure_ends_it(rt);
	with_go_on_a_failure_is_counted(rt);
	a_cancel_ends_it(rt);
	a_deadline_ends_it(rt);
	runs_and_streams_take_turns(rt);
	waves_have_branches_and_values(rt);
	what_is_no_stream_is_refused(rt);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_close(rt), 0, "%d workers are closed", nr);
}

int main(void)
{
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++)
		all(worker_counts[i]);
	return tap_end();
}
