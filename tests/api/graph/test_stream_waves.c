/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * max_waves: how many waves of a stream are under way at once, below the
 * graph's inflight; order, end, failure, until and cancel with it; what
 * lkdf_why() says of the wave that waits; refusals.
 */
#include "tests/api/why.h"

#include <sched.h>
#include <stddef.h>

#define NEVER -1

/* A serial source, a parallel stage that may be held, a serial sink. */
struct line {
	struct lkdf_graph *g;
	uint64_t base; /* lkdf_seq() of the first wave */
	long ends_at, fails_at;
	atomic_long begun, sunk; /* waves */
	atomic_int inside, most; /* waves between source and sink */
	atomic_int in_stage, most_in_stage; /* bodies at a time */
	atomic_bool is_held;
	atomic_int nr_wrong; /* out of order */
};

static void enter(atomic_int *inside, atomic_int *most)
{
	int now = atomic_fetch_add(inside, 1) + 1, was = atomic_load(most);

	while (now > was && !atomic_compare_exchange_weak(most, &was, now))
		continue;
}

static long wave_of(struct lkdf_ctx *c, const struct line *l)
{
	return (long)(lkdf_seq(c) - l->base);
}

static int begin(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;
	long wave = wave_of(c, l);

	if (wave == l->ends_at)
		return LKDF_END;
	if (wave != atomic_fetch_add(&l->begun, 1))
		atomic_fetch_add(&l->nr_wrong, 1);
	enter(&l->inside, &l->most);
	return 0;
}

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;
	bool fails = wave_of(c, l) == l->fails_at;

	enter(&l->in_stage, &l->most_in_stage);
	while (atomic_load(&l->is_held))
		sched_yield();
	atomic_fetch_sub(&l->in_stage, 1);
	return fails ? -EIO : 0;
}

static int sink(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;

	if (wave_of(c, l) != atomic_fetch_add(&l->sunk, 1))
		atomic_fetch_add(&l->nr_wrong, 1);
	atomic_fetch_sub(&l->inside, 1);
	return 0;
}

static void line_open(struct line *l, struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_kind *k[] = {
		api_kind(rt, "source", begin, 0, 0),
		api_kind(rt, "hold", hold, 0, LKDF_SHARED | LKDF_BLOCKING),
		api_kind(rt, "sink", sink, 0, 0),
	};
	int i;

	memset(l, 0, sizeof(*l));
	l->ends_at = l->fails_at = NEVER;
	l->g = api_graph(rt, inflight);
	for (i = 0; i < 3; i++) {
		must(lkdf_graph_add(l->g, k[i], l, NULL, 0));
		if (i)
			must(lkdf_graph_order(l->g, i - 1, i));
		lkdf_kind_put(k[i]);
	}
	must(lkdf_graph_seal(l->g, NULL));
}

static void start(struct line *l, struct lkdf_scope *s, struct lkdf_run *r,
		  struct lkdf_event *done)
{
	r->size = sizeof(*r);
	r->flags |= LKDF_RUN_STREAM;
	must(lkdf_graph_run(l->g, s, r, done));
}

static int run(struct line *l, struct lkdf_run *r)
{
	struct lkdf_event done;

	l->base += (uint64_t)atomic_load(&l->begun);
	atomic_store(&l->begun, 0);
	atomic_store(&l->sunk, 0);
	start(l, NULL, r, &done);
	return lkdf_event_wait(done, -1);
}

/* All of them are in the stage, and the next one says what it waits for. */
static void held_until(struct line *l, struct lkdf *rt, int nr, bool is_bound)
{
	while (atomic_load(&l->in_stage) < nr)
		sched_yield();
	if (is_bound)
		why_until(rt, "for another wave of its stream to end: as many "
			      "as its max_waves are under way");
	is(atomic_load(&l->begun), nr, "%d waves have begun", nr);
}

static void so_many_are_under_way(struct lkdf *rt, uint32_t inflight,
				  uint32_t max)
{
	struct lkdf_run r = { .times = 200, .max_waves = max };
	int nr = max ? (int)max : (int)inflight;
	struct lkdf_event done;
	struct line l;

	line_open(&l, rt, inflight);
	atomic_store(&l.is_held, true);
	start(&l, NULL, &r, &done);
	held_until(&l, rt, nr, max && max < inflight);
	atomic_store(&l.is_held, false);
	is(lkdf_event_wait(done, -1), 0, "max_waves %u of %u: it ends", max,
	   inflight);
	ok(l.most == nr && l.most_in_stage == nr,
	   "never more than %d: %d waves, %d in the parallel stage", nr, l.most,
	   l.most_in_stage);
	ok(l.sunk == 200 && !l.nr_wrong, "200 waves, serial stages in order");
	lkdf_graph_put(l.g);
}

static void lines_end(struct lkdf *rt, uint32_t max)
{
	struct lkdf_run r = { .max_waves = max };
	struct line l;
	long end;

	for (end = 0; end < 9; end++) {
		line_open(&l, rt, 5);
		l.ends_at = end;
		ok(!run(&l, &r) && l.sunk == end && l.begun == end,
		   "max_waves %u: the source ends it after %ld waves", max,
		   end);
		lkdf_graph_put(l.g);
	}
	line_open(&l, rt, 5);
	for (end = 1; end < 9; end++) {
		r.times = (uint64_t)end;
		ok(!run(&l, &r) && l.sunk == end,
		   "max_waves %u: times %ld ends it", max, end);
	}
	ok(l.most <= (int)max && !l.nr_wrong, "%d at a time, in order", l.most);
	lkdf_graph_put(l.g);
}

static bool count_down(void *u)
{
	return !--*(int *)u;
}

static void until_ends_it(struct lkdf *rt)
{
	int left = 50;
	struct lkdf_run r = { .until = count_down, .u = &left, .max_waves = 2 };
	struct line l;

	line_open(&l, rt, 4);
	is(run(&l, &r), 0, "until ends it");
	ok(l.sunk == 50 && !left && l.most <= 2 && !l.nr_wrong,
	   "asked before each wave but the first, 2 at a time");
	lkdf_graph_put(l.g);
}

static void a_failure_ends_it(struct lkdf *rt)
{
	struct lkdf_run r = { .max_waves = 3 };
	struct line l;

	line_open(&l, rt, 8);
	l.fails_at = 17;
	is(run(&l, &r), -EIO, "a failure in wave 17 ends it");
	ok(l.begun >= 18 && l.begun <= 18 + 8 && l.sunk < l.begun,
	   "soon, after %ld waves", atomic_load(&l.begun));
	lkdf_graph_put(l.g);
	lkdf_scope_wait(rt, NULL, -1);
	line_open(&l, rt, 8);
	l.fails_at = 17;
	r.times = 100;
	r.flags = LKDF_RUN_GO_ON;
	is(run(&l, &r), -EIO, "GO_ON: a failure is told at the end");
	ok(l.begun == 100 && l.sunk == 99, "the other waves ran");
	lkdf_graph_put(l.g);
	lkdf_scope_wait(rt, NULL, -1);
}

static void a_cancel_ends_it(struct lkdf *rt)
{
	struct lkdf_run r = { .max_waves = 2 };
	struct lkdf_scope *scope;
	struct lkdf_event done;
	struct line l;

	line_open(&l, rt, 4);
	must(lkdf_scope_create(rt, NULL, &scope));
	atomic_store(&l.is_held, true);
	start(&l, scope, &r, &done);
	held_until(&l, rt, 2, true);
	must(lkdf_scope_cancel(rt, scope, -ECANCELED));
	atomic_store(&l.is_held, false);
	is(lkdf_event_wait(done, -1), -ECANCELED, "a cancel ends it");
	is(l.begun, 2, "the wave that waited never began");
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_put(scope);
	lkdf_graph_put(l.g);
}

/* Tokens are where the next run, or stream, looks for them. */
static void runs_and_streams_take_turns(struct lkdf *rt)
{
	struct lkdf_run one = { .size = sizeof(one) };
	struct lkdf_run r = { 0 };
	struct line l;
	uint32_t i;

	line_open(&l, rt, 5);
	for (i = 0; i < 30; i++) {
		l.base += (uint64_t)atomic_load(&l.begun);
		atomic_store(&l.begun, 0);
		atomic_store(&l.sunk, 0);
		must(api_run(l.g, NULL, &one));
		r.max_waves = i % 6;
		r.times = i % 7 + 1;
		if (run(&l, &r) || l.sunk != i % 7 + 1 || l.nr_wrong)
			break;
	}
	is(i, 30, "runs and streams of all widths take turns");
	lkdf_graph_put(l.g);
}

static void refused(struct lkdf_graph *g, const struct lkdf_run *r,
		    const char *why)
{
	is(lkdf_graph_run(g, NULL, r, NULL), -EINVAL, "refused: %s", why);
	has(lkdf_errmsg(), why, "so says the text");
}

static void what_cannot_be_is_refused(struct lkdf *rt)
{
	const uint32_t old = offsetof(struct lkdf_run, max_waves);
	struct lkdf_run r = { .size = old, .times = 3, .max_waves = 99 };
	struct line l;

	line_open(&l, rt, 4);
	refused(l.g, ATTR(lkdf_run, .max_waves = 2),
		"max_waves 2 without STREAM, and only a stream has waves; set "
		"LKDF_RUN_STREAM");
	refused(l.g, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM, .max_waves = 5),
		"max_waves 5, but its inflight is 4; take fewer waves, 0 for "
		"all");
	refused(l.g, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM, .pad = 1),
		"pad is 1, not 0");
	r.flags = LKDF_RUN_STREAM;
	is(api_run(l.g, NULL, &r), 0, "a struct that ends before it is taken");
	is(l.sunk, 3, "and what lies behind is not looked at");
	lkdf_graph_put(l.g);
}

static void all(struct lkdf *rt)
{
	so_many_are_under_way(rt, 2, 1);
	so_many_are_under_way(rt, 4, 3);
	so_many_are_under_way(rt, 6, 2);
	so_many_are_under_way(rt, 4, 4);
	so_many_are_under_way(rt, 3, 0);
	lines_end(rt, 1);
	lines_end(rt, 3);
	until_ends_it(rt);
	a_failure_ends_it(rt);
	a_cancel_ends_it(rt);
	runs_and_streams_take_turns(rt);
	what_cannot_be_is_refused(rt);
	lkdf_scope_wait(rt, NULL, -1);
}

int main(void)
{
	static const int nr_workers[] = { 1, 2, 4 };
	struct lkdf *rt;
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(nr_workers) / sizeof(*nr_workers); i++) {
		rt = api_open_workers(nr_workers[i]);
		all(rt);
		is(lkdf_close(rt), 0, "%d workers are closed", nr_workers[i]);
	}
	return tap_end();
}
