/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values that somebody has to give back: owned, passed on, dropped, each once,
 * after success, failures, in loops, and in streams however they end.
 */
#include "tests/api/port.h"

#include <sched.h>

static const int worker_counts[] = { 1, 2, 4 };

static atomic_int nr_made, nr_dropped;

static void drop_one(void *value)
{
	if (*(long *)value)
		atomic_fetch_add(&nr_dropped, 1);
}

static int make(struct lkdf_ctx *c, struct node *n)
{
	*(long *)lkdf_out(c, 0) = 1 + atomic_fetch_add(&nr_made, 1);
	return n->returns;
}

static int own(struct lkdf_ctx *c, struct node *n)
{
	n->x = lkdf_own(c, 0);
	if (!n->x)
		atomic_fetch_add(&nr_dropped, 1);
	return 0;
}

static int pass(struct lkdf_ctx *c, struct node *n)
{
	n->x = lkdf_pass(c, 0, 0);
	return n->returns;
}

static struct lkdf_kind *dropping(struct lkdf *rt, const char *name,
				  unsigned in)
{
	static void (*const drops[])(void *) = { drop_one };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = call,
				   .nr_in = (uint16_t)in, .nr_out = 1,
				   .in_size = of_long, .out_size = of_long,
				   .out_drop = drops),
			      &k));
	return k;
}

static void ok_balance(const char *what)
{
	ok(nr_made && nr_made == nr_dropped, "%s: %d made, %d dropped", what,
	   nr_made, nr_dropped);
	atomic_store(&nr_made, 0);
	atomic_store(&nr_dropped, 0);
}

/* make -> pass -> take, own */
static void values_are_dropped_once(struct lkdf *rt)
{
	struct node n[4] = {
		{ .fn = make }, { .fn = pass }, { .fn = take }, { .fn = own }
	};
	struct lkdf_graph *g = api_graph(rt, 3);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, dropping(rt, "pass", 1), &n[1]);
	add(g, kind(rt, "take", 1, 0, 0), &n[2]);
	add(g, kind(rt, "own", 1, 0, 0), &n[3]);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 1, 0, 2, 0));
	must(lkdf_graph_port(g, 1, 0, 3, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "a value is passed on and owned");
	ok(!n[1].x && !n[3].x, "with success");
	ok_balance("and given back by its owner");
	is(run(rt, g, 10), 0, "ten times");
	ok_balance("each is given back");
	n[1].returns = -EIO;
	is(run(rt, g, 1), -EIO, "who passes it on fails");
	ok_balance("it is dropped");
	n[0].returns = -EIO;
	is(run(rt, g, 1), -EIO, "who makes it fails");
	ok_balance("it is dropped");
	lkdf_graph_put(g);
}

static void two_owners_are_one_too_many(struct lkdf *rt)
{
	struct node n[3] = { { .fn = make }, { .fn = own }, { .fn = own } };
	struct lkdf_graph *g = api_graph(rt, 1);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, kind(rt, "own", 1, 0, 0), &n[1]);
	add(g, kind(rt, "own", 1, 0, 0), &n[2]);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 0, 0, 2, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "two want to own one value");
	ok(n[1].x + n[2].x == -EBUSY, "one does, the other is refused");
	ok_balance("it is given back once");
	lkdf_graph_put(g);
}

static int make_again(struct lkdf_ctx *c, struct node *n)
{
	make(c, n);
	lkdf_out(c, 0);
	return atomic_load(&n->calls) % 5 ? 0 : LKDF_NO_BRANCH;
}

static void a_loop_drops_what_it_overwrites(struct lkdf *rt)
{
	struct node n[2] = { { .fn = make_again }, { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 1);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, kind(rt, "take", 1, 0, 0), &n[1]);
	must(lkdf_graph_back(g, 0, 0, 0));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 2), 0, "a loop makes a value in each iteration");
	is(nr_made, 10, "five in each of two runs");
	is(n[1].x, 10, "the last one leaves the loop");
	ok_balance("all are dropped");
	lkdf_graph_put(g);
}

/* The value ends with its run, so the next call would read what is gone. */
static void is_not_kept_for_the_next_call(struct lkdf *rt)
{
	struct node n = { .fn = make };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_diag why = { .size = sizeof(why) };

	add(g, dropping(rt, "make", 1), &n);
	is(lkdf_graph_edge(g, ATTR(lkdf_edge,
				   .flags = LKDF_EDGE_PORT | LKDF_EDGE_NEXT)),
	   -EINVAL, "a NEXT edge from a port with a drop");
	has(lkdf_errmsg(), "out port 0 of kind make", "by name");
	is(lkdf_graph_seal(g, &why), -EINVAL, "seal reports it, too");
	has(why.text, "out_drop", "with the reason");
	lkdf_graph_put(g);
}

/* ---- streams ------------------------------------------------------------ */

#define INFLIGHT 4
#define NR_SLOTS 64 /* far more values than are alive at a time */

enum stop {
	BY_ITSELF,
	BY_CANCEL,
	BY_CLOSE
};

struct ending {
	const char *what;
	uint64_t times;
	long ends_at; /* the source returns LKDF_END in that wave; -1: never */
	bool ends_with_value; /* which it has put out before */
	long fails_at; /* wave of the first failure; -1: none */
	long fails_every; /* 0: once */
	int failing; /* the stage that fails */
	uint32_t flags;
	int64_t deadline_ns;
	bool (*until)(void *u);
	enum stop stop;
	int error;
};

static struct current {
	const struct ending *e;
	/* The value that lies there, 0: none. */
	atomic_long slot[NR_SLOTS];
	atomic_long made, dropped, wrong, sunk;
	int asked;
} now;

/* Its number is its proof: who drops it twice finds 0, there or in slot. */
static void drop_of_stream(void *value)
{
	long v = *(long *)value;

	atomic_fetch_add(&now.dropped, 1);
	if (!v ||
	    !atomic_compare_exchange_strong(&now.slot[v % NR_SLOTS], &v, 0))
		atomic_fetch_add(&now.wrong, 1);
}

static int fails(struct lkdf_ctx *c, int stage)
{
	const struct ending *e = now.e;
	long wave = (long)lkdf_seq(c);

	if (e->failing != stage || e->fails_at < 0 || wave < e->fails_at)
		return 0;
	if (!e->fails_every)
		return wave == e->fails_at ? -EIO : 0;
	return (wave - e->fails_at) % e->fails_every ? 0 : -EIO;
}

static int stream_makes(struct lkdf_ctx *c, void *arg)
{
	bool ends = (long)lkdf_seq(c) == now.e->ends_at;
	long v;

	(void)arg;
	if (ends && !now.e->ends_with_value)
		return LKDF_END;
	v = atomic_fetch_add(&now.made, 1) + 1;
	if (atomic_exchange(&now.slot[v % NR_SLOTS], v))
		atomic_fetch_add(&now.wrong, 1);
	*(long *)lkdf_out(c, 0) = v;
	return ends ? LKDF_END : fails(c, 0);
}

/* Of seven values two reach nobody. */
static int stream_passes(struct lkdf_ctx *c, void *arg)
{
	long v = *(const long *)lkdf_in(c, 0);

	(void)arg;
	if (lkdf_pass(c, 0, 0))
		atomic_fetch_add(&now.wrong, 1);
	return fails(c, 1) ? -EIO : v % 7 > 4 ? LKDF_NO_BRANCH : 0;
}

/* Of three values one is owned, and given back here. */
static int stream_sinks(struct lkdf_ctx *c, void *arg)
{
	long v = *(const long *)lkdf_in(c, 0);

	(void)arg;
	atomic_fetch_add(&now.sunk, 1);
	if (v % 3 == 0 && !lkdf_own(c, 0))
		drop_of_stream(&v);
	return fails(c, 2);
}

static struct lkdf_kind *stage_kind(struct lkdf *rt, lkdf_fn fn, int in,
				    int out, uint32_t flags)
{
	static void (*const drops[])(void *) = { drop_of_stream };
	struct lkdf_kind *k;

	must(lkdf_kind_create(
		rt,
		ATTR(lkdf_kind_attr, .name = "stage", .fn = fn,
		     .nr_in = (uint16_t)in, .nr_out = (uint16_t)out,
		     .in_size = of_long, .out_size = of_long,
		     .out_drop = out ? drops : NULL, .flags = flags),
		&k));
	return k;
}

static struct lkdf_graph *stream_graph(struct lkdf *rt)
{
	struct lkdf_kind *k[] = {
		stage_kind(rt, stream_makes, 0, 1, 0),
		stage_kind(rt, stream_passes, 1, 1, LKDF_SHARED),
		stage_kind(rt, stream_sinks, 1, 0, 0),
	};
	struct lkdf_graph *g = api_graph(rt, INFLIGHT);
	int i;

	for (i = 0; i < 3; i++) {
		must(lkdf_graph_add(g, k[i], NULL, NULL, 0));
		lkdf_kind_put(k[i]);
	}
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_edge(g, ATTR(lkdf_edge,
				     .flags = LKDF_EDGE_PORT | LKDF_EDGE_BRANCH,
				     .from = 1, .to = 2)));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void await_values(void)
{
	while (atomic_load(&now.sunk) < 100)
		sched_yield();
}

static bool after_thirty(void *u)
{
	return ++*(int *)u == 30;
}

static int stop_stream(struct lkdf *rt, struct lkdf_scope *s,
		       struct lkdf_graph *g, struct lkdf_event done)
{
	const struct ending *e = now.e;
	int rc;

	if (e->stop != BY_ITSELF) {
		await_values();
		must(lkdf_scope_cancel(rt, s, -ECANCELED));
	}
	if (e->stop == BY_CLOSE) {
		lkdf_event_put(done);
		lkdf_scope_put(s);
		lkdf_graph_put(g);
		while ((rc = lkdf_close(rt)) == -EBUSY)
			sched_yield();
		return rc;
	}
	rc = lkdf_event_wait(done, PATIENCE_NS);
	lkdf_scope_wait(rt, s, -1);
	return rc;
}

static int nr_alive(void)
{
	int i, nr = 0;

	for (i = 0; i < NR_SLOTS; i++)
		nr += atomic_load(&now.slot[i]) != 0;
	return nr;
}

static void ok_dropped(const char *when)
{
	/* A deadline may come before the first of them. */
	ok((now.made || now.e->deadline_ns) && now.made == now.dropped &&
		   !now.wrong && !nr_alive(),
	   "%s: %ld made, %ld dropped, each once, none is left", when, now.made,
	   now.dropped);
	if (now.wrong || nr_alive())
		printf("# %ld wrong, %d alive\n", now.wrong, nr_alive());
}

static void a_stream_drops_once(int nr, const struct ending *e)
{
	struct lkdf *rt = api_open_workers(nr);
	struct lkdf_graph *g = stream_graph(rt);
	struct lkdf_scope *scope;
	struct lkdf_event done;
	int i;

	now = (struct current){ .e = e };
	must(lkdf_scope_create(rt, NULL, &scope));
	must(lkdf_graph_run(g, scope,
			    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM | e->flags,
				 .times = e->times,
				 .deadline_ns = e->deadline_ns,
				 .until = e->until, .u = &now.asked),
			    &done));
	is(stop_stream(rt, scope, g, done), e->error, "%s", e->what);
	ok(!e->times || now.made == (long)e->times, "it has all its waves");
	ok_dropped("at its end");
	if (e->stop == BY_CLOSE)
		return;
	/* Frames and tokens are as good as new. */
	lkdf_scope_put(scope);
	now.e = &(const struct ending){ .ends_at = -1, .fails_at = -1 };
	for (i = 0; i < 10; i++)
		must(api_run(g, NULL, NULL));
	lkdf_graph_put(g);
	lkdf_scope_wait(rt, NULL, -1);
	must(lkdf_close(rt));
	ok_dropped("after ten runs and close");
}

#define NONE .ends_at = -1, .fails_at = -1

static const struct ending endings[] = {
	{ "a stream of 100 waves", .times = 100, NONE },
	{ "LKDF_END in wave 40", .ends_at = 40, .fails_at = -1 },
	{ "LKDF_END at a port with a value", .ends_at = 40,
	  .ends_with_value = true, .fails_at = -1 },
	{ "until says so after 30 waves", .until = after_thirty, NONE },
	{ "the source fails in wave 17", .ends_at = -1, .fails_at = 17,
	  .error = -EIO },
	{ "who passes it on fails in wave 17", .ends_at = -1, .fails_at = 17,
	  .failing = 1, .error = -EIO },
	{ "the sink fails in wave 17", .ends_at = -1, .fails_at = 17,
	  .failing = 2, .error = -EIO },
	{ "GO_ON: the source fails in each fifth wave", .times = 200,
	  .ends_at = -1, .fails_at = 2, .fails_every = 5,
	  .flags = LKDF_RUN_GO_ON, .error = -EIO },
	{ "GO_ON: who passes it on does, and the sink is skipped", .times = 200,
	  .ends_at = -1, .fails_at = 2, .fails_every = 3, .failing = 1,
	  .flags = LKDF_RUN_GO_ON, .error = -EIO },
	{ "a cancel", NONE, .stop = BY_CANCEL, .error = -ECANCELED },
	{ "a deadline", NONE, .deadline_ns = SECOND / 100, .error = -ETIME },
	{ "a close, right after the cancel", NONE, .stop = BY_CLOSE },
};

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);
	size_t i;

	values_are_dropped_once(rt);
	two_owners_are_one_too_many(rt);
	a_loop_drops_what_it_overwrites(rt);
	is_not_kept_for_the_next_call(rt);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_close(rt), 0, "%d workers are closed", nr);
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		a_stream_drops_once(nr, &endings[i]);
}

int main(void)
{
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++)
		all(worker_counts[i]);
	return tap_end();
}
