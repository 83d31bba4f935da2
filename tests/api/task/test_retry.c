/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies of kinds with nr_tries are called again when they fail, so many times.
 * Graphs with random failures end as a serial oracle says: how often each body
 * was called, and which were skipped.
 */
#include "tests/api/loop.h"

#include <sched.h>

#define TRIES 3
#define ARGS 64

/* The same numbers each time; SEED=4711 draws others. */
static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* A body that fails some times, and then does not. */
struct flaky {
	atomic_uint nr_calls;
	unsigned nr_fails;
	int returns; /* once it does not fail */
	const char *why; /* NULL: it gives no text */
};

static int flaky(struct lkdf_ctx *c, void *arg)
{
	struct flaky *f = arg;

	if (atomic_fetch_add(&f->nr_calls, 1) >= f->nr_fails)
		return f->returns;
	return f->why ? lkdf_fail(c, -EIO, "%s", f->why) : -EIO;
}

static struct lkdf_kind *kind_of(struct lkdf *rt, lkdf_fn fn, uint32_t nr_tries,
				 uint32_t flags)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "flaky", .fn = fn,
					.flags = flags, .nr_tries = nr_tries),
			      &k));
	return k;
}

static int call_in(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
		   void *arg, int64_t deadline_ns)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, s,
			 LKDF_TASK(.kind = k, .arg = arg,
				   .deadline_ns = deadline_ns),
			 &done));
	return lkdf_event_wait(done, -1);
}

static uint64_t nr_retries(struct lkdf *rt)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, "lkdf.retries", &nr));
	return nr;
}

static void a_body_is_called_until_it_succeeds(struct lkdf *rt)
{
	static const uint32_t flags[] = { 0, LKDF_SHARED, LKDF_BLOCKING,
					  LKDF_ALWAYS, LKDF_TEAM };
	uint64_t before = nr_retries(rt);
	struct lkdf_kind *k;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct flaky f = { .nr_fails = 2, .returns = 5 };

		k = kind_of(rt, flaky, TRIES, flags[i]);
		is(call_in(rt, NULL, k, &f, 0), 0, "the third try is right");
		is(atomic_load(&f.nr_calls), 3, "there was no fourth");
		is(nr_retries(rt) - before, 2 * (i + 1), "they are counted");
		lkdf_kind_put(k);
	}
}

/* Only its first try gives a text, which is not that of the last one. */
static int speaks_once(struct lkdf_ctx *c, void *arg)
{
	struct flaky *f = arg;

	if (!atomic_fetch_add(&f->nr_calls, 1))
		return lkdf_fail(c, -EIO, "no disk");
	return -EIO;
}

static void the_last_error_says_how_many_tries(struct lkdf *rt)
{
	struct flaky told = { .nr_fails = 99, .why = "no disk" };
	struct flaky mute = { .nr_fails = 99 }, once = { .nr_fails = 99 };
	struct lkdf_kind *k = kind_of(rt, flaky, TRIES, 0);

	is(call_in(rt, NULL, k, &told, 0), -EIO, "the error of the last try");
	has(lkdf_errmsg(), "after 3 tries: no disk", "its text");
	is(atomic_load(&told.nr_calls), 3, "as many calls");
	is(call_in(rt, NULL, k, &mute, 0), -EIO, "an error without a text");
	has(lkdf_errmsg(), "after 3 tries: Input/output error", "its text");
	lkdf_kind_put(k);
	k = kind_of(rt, speaks_once, TRIES, 0);
	is(call_in(rt, NULL, k, &once, 0), -EIO,
	   "a text of the first try only");
	has(lkdf_errmsg(), "after 3 tries: Input/output error",
	    "the last one has none");
	lkdf_kind_put(k);
}

static void without_tries_there_is_one(struct lkdf *rt)
{
	uint64_t before = nr_retries(rt);
	struct lkdf_kind *k;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct flaky f = { .nr_fails = 1, .why = "no disk" };

		k = kind_of(rt, flaky, i, 0);
		is(call_in(rt, NULL, k, &f, 0), -EIO, "nr_tries is %u", i);
		ok(!strstr(lkdf_errmsg(), "tries"), "no word of tries");
		is(atomic_load(&f.nr_calls), 1, "one call");
		lkdf_kind_put(k);
	}
	is(nr_retries(rt), before, "none was tried again");
}

/* ---- what ends the tries ------------------------------------------------ */

struct ending {
	struct lkdf_scope *scope;
	atomic_uint nr_calls;
};

static int cancels_and_fails(struct lkdf_ctx *c, void *arg)
{
	struct ending *e = arg;

	if (atomic_fetch_add(&e->nr_calls, 1) == 1)
		must(lkdf_scope_cancel(lkdf_runtime(c), e->scope, -ECANCELED));
	return -EIO;
}

static void a_cancel_ends_the_tries(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, cancels_and_fails, 100, 0);
	struct ending e = { .scope = NULL };

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "ends"),
			       &e.scope));
	is(call_in(rt, e.scope, k, &e, 0), -EIO, "the try's own error");
	has(lkdf_errmsg(), "after 2 of 100 tries", "its text");
	is(atomic_load(&e.nr_calls), 2, "no try comes after the cancel");
	lkdf_scope_wait(rt, e.scope, -1);
	lkdf_scope_put(e.scope);
	lkdf_kind_put(k);
}

static int waits_for_its_deadline(struct lkdf_ctx *c, void *arg)
{
	struct ending *e = arg;

	atomic_fetch_add(&e->nr_calls, 1);
	while (!lkdf_cancelled(c))
		sched_yield();
	return -EIO;
}

/* The deadline may be over before the task starts. */
static void a_deadline_ends_the_tries(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, waits_for_its_deadline, 100, 0);
	struct ending e = { .scope = NULL };

	ok(call_in(rt, NULL, k, &e, 1000000) < 0, "the task fails");
	ok(atomic_load(&e.nr_calls) <= 1, "no try comes after the deadline");
	lkdf_kind_put(k);
}

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int leaves_and_fails(struct lkdf_ctx *c, void *arg)
{
	struct ending *e = arg;

	atomic_fetch_add(&e->nr_calls, 1);
	must(lkdf_then(c, goes_on, (struct lkdf_event){ 0 }));
	return -EIO;
}

static int holds_and_fails(struct lkdf_ctx *c, void *arg)
{
	struct ending *e = arg;
	struct lkdf_event held;

	atomic_fetch_add(&e->nr_calls, 1);
	must(lkdf_hold(c, &held));
	must(lkdf_event_signal(held, 0));
	return -EIO;
}

static void what_goes_on_ends_the_tries(struct lkdf *rt)
{
	static const lkdf_fn fn[] = { leaves_and_fails, holds_and_fails };
	struct lkdf_kind *k;
	int i;

	for (i = 0; i < 2; i++) {
		struct ending e = { .scope = NULL };

		k = kind_of(rt, fn[i], TRIES, 0);
		is(call_in(rt, NULL, k, &e, 0), -EIO, "its error");
		has(lkdf_errmsg(), "after 1 of 3 tries", "its text");
		is(atomic_load(&e.nr_calls), 1, "there is no second try");
		lkdf_kind_put(k);
	}
}

/* ---- children ----------------------------------------------------------- */

struct parent {
	struct lkdf_kind *child;
	unsigned nr_fails, nr_calls;
	atomic_uint nr_children;
	unsigned wrong; /* a try began before the children of another ended */
};

static int child(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = *(struct parent **)arg;

	(void)c;
	/* One of three has an error. */
	return atomic_fetch_add(&p->nr_children, 1) % 3 == 1 ? -ENOENT : 0;
}

static int spawns_and_fails(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = arg;
	int i;

	p->wrong += atomic_load(&p->nr_children) != 3 * p->nr_calls;
	if (p->nr_calls == p->nr_fails)
		return 0;
	p->nr_calls++;
	for (i = 0; i < 3; i++)
		must(lkdf_spawn(c, p->child, &p));
	return -EIO;
}

static void children_end_before_the_next_try(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, spawns_and_fails, TRIES, 0);
	struct parent p = {
		.child = api_kind(rt, "child", child, sizeof(void *), 0),
		.nr_fails = 2,
	};

	is(call_in(rt, NULL, k, &p, 0), 0, "the third try is right");
	is(p.wrong, 0, "no try began beside children of another");
	is(atomic_load(&p.nr_children), 6, "all children ran");
	lkdf_kind_put(p.child);
	lkdf_kind_put(k);
}

static int spawns_one(struct lkdf_ctx *c, void *arg)
{
	void **child = arg; /* kind, argument */

	must(lkdf_spawn(c, child[0], child[1]));
	return lkdf_join(c);
}

static void children_are_tried_again(struct lkdf *rt)
{
	struct flaky f = { .nr_fails = 2 };
	void *child[] = { kind_of(rt, flaky, TRIES, LKDF_SHARED), &f };
	struct lkdf_kind *k = api_kind(rt, "parent", spawns_one, 0, 0);

	is(api_call(rt, k, child), 0, "a child's third try is right");
	is(atomic_load(&f.nr_calls), 3, "three calls");
	lkdf_kind_put(child[0]);
	lkdf_kind_put(k);
}

/* ---- graphs ------------------------------------------------------------- */

static void a_choice_is_that_of_the_last_try(struct lkdf *rt)
{
	struct flaky choose = { .nr_fails = 2, .returns = 1 };
	struct flaky arm[2] = { { .nr_fails = 0 }, { .nr_fails = 1 } };
	struct lkdf_kind *k = kind_of(rt, flaky, TRIES, LKDF_SHARED);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, from, to;

	must(from = lkdf_graph_add(g, k, &choose, NULL, 0));
	for (i = 0; i < 2; i++) {
		must(to = lkdf_graph_add(g, k, &arm[i], NULL, 0));
		must(lkdf_graph_branch(g, from, (uint16_t)i, to));
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "the run is right");
	is(atomic_load(&choose.nr_calls), 3, "the choice was tried again");
	is(atomic_load(&arm[0].nr_calls), 0, "the arm that it has not taken");
	is(atomic_load(&arm[1].nr_calls), 2, "the arm that it has taken");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

struct node {
	struct flaky body;
	uint64_t before; /* tasks it comes after, a bit each */
	unsigned calls; /* by the oracle */
	bool is_lost; /* the same: it, or one before it, has failed */
};

static struct node nodes[ARGS];

static void make_nodes(unsigned nr)
{
	unsigned i, j;

	for (i = 0; i < nr; i++) {
		nodes[i] = (struct node){ .before = 0 };
		for (j = 0; j < 2 && i; j++)
			nodes[i].before |= 1ull << below(i);
	}
}

/* One in eight fails for good. */
static void draw_failures(unsigned nr)
{
	unsigned i, j;
	bool is_skipped;

	for (i = 0; i < nr; i++) {
		struct node *n = &nodes[i];

		n->body.nr_fails = below(8) ? (unsigned)below(TRIES)
					    : TRIES + (unsigned)below(2);
		atomic_store(&n->body.nr_calls, 0);
		is_skipped = false;
		for (j = 0; j < i; j++)
			is_skipped |= n->before >> j & 1 && nodes[j].is_lost;
		n->is_lost = is_skipped || n->body.nr_fails >= TRIES;
		n->calls = n->body.nr_fails + 1;
		if (n->calls > TRIES)
			n->calls = TRIES;
		if (is_skipped)
			n->calls = 0;
	}
}

static struct lkdf_graph *make_graph(struct lkdf *rt, struct lkdf_kind *k,
				     unsigned nr)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	unsigned i, j;

	for (i = 0; i < nr; i++) {
		must(lkdf_graph_add(g, k, &nodes[i].body, NULL, 0));
		for (j = 0; j < i; j++)
			if (nodes[i].before >> j & 1)
				must(lkdf_graph_order(g, (int32_t)j,
						      (int32_t)i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void run_as_the_oracle(struct lkdf_graph *g, unsigned nr)
{
	unsigned i, nr_lost = 0, nr_wrong = 0;

	draw_failures(nr);
	for (i = 0; i < nr; i++)
		nr_lost += nodes[i].is_lost;
	is(api_run(g, NULL, NULL), nr_lost ? -EIO : 0,
	   "the run fails if a task does");
	for (i = 0; i < nr; i++)
		nr_wrong +=
			atomic_load(&nodes[i].body.nr_calls) != nodes[i].calls;
	is(nr_wrong, 0, "each body was called as often as the oracle says");
}

static void graphs_fail_as_an_oracle_says(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, flaky, TRIES, LKDF_SHARED);
	struct lkdf_graph *g;
	unsigned i, j, nr;

	for (i = 0; i < 6; i++) {
		nr = 1 + (unsigned)below(ARGS);
		make_nodes(nr);
		g = make_graph(rt, k, nr);
		for (j = 0; j < 8; j++)
			run_as_the_oracle(g, nr);
		lkdf_graph_put(g);
	}
	lkdf_kind_put(k);
}

static void operations_have_one_try(struct lkdf *rt)
{
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create_io(rt, LKDF_KIND(.name = "io", .nr_tries = 2), &k),
	   -EINVAL, "operations are not tried again");
	has(lkdf_errmsg(), "nr_tries is 2", "the text names the field");
}

static void tests(struct lkdf *rt)
{
	a_body_is_called_until_it_succeeds(rt);
	the_last_error_says_how_many_tries(rt);
	without_tries_there_is_one(rt);
	a_cancel_ends_the_tries(rt);
	a_deadline_ends_the_tries(rt);
	what_goes_on_ends_the_tries(rt);
	children_end_before_the_next_try(rt);
	children_are_tried_again(rt);
	a_choice_is_that_of_the_last_try(rt);
	graphs_fail_as_an_oracle_says(rt);
	operations_have_one_try(rt);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	seed = tap_number("SEED");
	if (!seed)
		seed = 53;
	for (i = 0; i < NR_MACHINES; i++) {
		printf("# %s\n", machines[i]);
		rt = api_open(machines[i]);
		tests(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
