/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds with LKDF_ALWAYS in sealed graphs: they run after all that they come
 * after, whatever came of it, see what went wrong, and hide no error.
 */
#include "tests/api/graph/always.h"

#define HOUR (3600 * SECOND)

static void order(struct lkdf_graph *g, int before, int after)
{
	must(lkdf_graph_order(g, before, after));
}

/* ---- without data ------------------------------------------------------- */

/*
 * fails -> skipped -> first -> runs -> second
 *            \------------------> skipped
 */
static void a_failure_is_seen_and_stays(struct kinds *k,
					struct lkdf_kind *looks)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_graph *g = api_graph(k->rt, 1);
	atomic_int skipped = 0, runs = 0;
	struct seen first = { .ran = &skipped }, second = { .ran = &runs };
	int i, t[6];

	t[0] = must(lkdf_graph_add(g, k->fails, NULL, NULL, 0));
	t[1] = must(lkdf_graph_add(g, k->count, &skipped, NULL, 0));
	t[2] = must(lkdf_graph_add(g, looks, &first, NULL, 0));
	t[3] = must(lkdf_graph_add(g, k->count, &runs, NULL, 0));
	t[4] = must(lkdf_graph_add(g, looks, &second, NULL, 0));
	t[5] = must(lkdf_graph_add(g, k->count, &skipped, NULL, 0));
	for (i = 0; i < 4; i++)
		order(g, t[i], t[i + 1]);
	order(g, t[1], t[5]);
	order(g, t[3], t[5]);
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), -EIO, "%s: the run fails", k->how);
		is(first.nr, i, "%s: what runs always has run", k->how);
		is(first.error[0], -EIO, "%s: and seen why", k->how);
		is(first.cancelled, 0, "%s: it is not cancelled", k->how);
		is(runs, i, "%s: what comes after it runs", k->how);
		is(second.nr, i, "%s: the next of its sort, too", k->how);
		is(second.error[0], 0, "%s: which sees no error", k->how);
	}
	is(skipped, 0, "%s: what has another way to the failure is skipped",
	   k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	must(lkdf_scope_error(k->rt, NULL, &e));
	has(e.why, "on purpose", "%s: the first failure is told", k->how);
	lkdf_graph_put(g);
}

/* Two in a row: the second fails, and the first has not hidden anything. */
static void always_behind_always(struct kinds *k, bool fails_first)
{
	struct seen first = { .rc = 0 }, second = { .rc = -EBADMSG };
	struct lkdf_graph *g = api_graph(k->rt, 1);
	int a, b, c, expected = fails_first ? -EIO : -EBADMSG;
	atomic_int ran = 0;

	a = must(lkdf_graph_add(g, fails_first ? k->fails : k->count, &ran,
				NULL, 0));
	b = must(lkdf_graph_add(g, k->looks, &first, NULL, 0));
	c = must(lkdf_graph_add(g, k->looks, &second, NULL, 0));
	order(g, a, b);
	order(g, b, c);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), expected,
	   "%s: the first error is the run's: %d", k->how, expected);
	is(first.nr + second.nr, 2, "%s: both have run", k->how);
	is(first.error[0], fails_first ? -EIO : 0, "%s: the first sees it",
	   k->how);
	is(lkdf_scope_wait(k->rt, NULL, -1), 0, "%s: which told it", k->how);
	lkdf_graph_put(g);
}

/* It comes after all of them, in whatever order they end. */
static void a_join_waits_for_all(struct kinds *k, unsigned nr)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	atomic_int ran = 0;
	struct seen seen = { .ran = &ran };
	unsigned i, bad = 0;
	int join, t;

	join = must(lkdf_graph_add(g, k->looks, &seen, NULL, 0));
	for (i = 0; i < nr; i++) {
		t = must(lkdf_graph_add(g, i % 7 == 3 ? k->fails : k->count,
					&ran, NULL, 0));
		order(g, t, join);
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++) {
		atomic_store(&ran, 0);
		bad += api_run(g, NULL, NULL) != -EIO ||
		       seen.before != (int)(nr - (nr + 3) / 7) ||
		       seen.error[0] != -EIO;
	}
	is(bad, 0, "%s: a join of %u tasks of which some fail", k->how, nr);
	is(seen.nr, 20, "%s: runs each time", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
}

/* Children, a second function, and an error that both of them see. */
struct family {
	struct lkdf_kind *count;
	atomic_int ran;
	int error, then_error;
};

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	f->then_error = lkdf_input_error(c, 0);
	return 0;
}

static int spawn_and_go_on(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int i, rc = 0;

	f->error = lkdf_input_error(c, 0);
	for (i = 0; i < 10 && !rc; i++)
		rc = lkdf_spawn(c, f->count, &f->ran);
	if (!rc)
		rc = lkdf_join(c);
	for (i = 0; i < 10 && !rc; i++)
		rc = lkdf_spawn(c, f->count, &f->ran);
	return rc ? rc : lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

static void it_may_do_what_others_do(struct kinds *k)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct family f = { .count = k->count, .then_error = 1 };
	struct lkdf_kind *spawns;
	atomic_int after = 0;
	int a, b, c;

	spawns = api_kind(k->rt, "spawns", spawn_and_go_on, 0, LKDF_ALWAYS);
	a = must(lkdf_graph_add(g, k->fails, NULL, NULL, 0));
	b = must(lkdf_graph_add(g, spawns, &f, NULL, 0));
	c = must(lkdf_graph_add(g, k->count, &after, NULL, 0));
	order(g, a, b);
	order(g, b, c);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: a run fails", k->how);
	is(f.ran, 20, "%s: children run in what runs always", k->how);
	is(f.error, -EIO, "%s: it has seen the error", k->how);
	is(f.then_error, 0, "%s: and goes on without", k->how);
	is(after, 1, "%s: then what comes after it", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(spawns);
}

/* A limit with one token, held by nobody when it is skipped or not. */
static void limits_hold(struct kinds *k)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct seen seen[8] = { { .nr = 0 } };
	struct lkdf_limit *limit;
	struct lkdf_kind *one;
	int i, nr = 0;

	must(lkdf_limit_create(k->rt, 1, &limit));
	must(lkdf_kind_create(
		k->rt,
		ATTR(lkdf_kind_attr, .name = "one", .fn = look,
		     .flags = LKDF_ALWAYS | LKDF_SHARED, .nr_limit = 1,
		     .limit = (struct lkdf_limit_use[]){ { limit, 1 } }),
		&one));
	must(lkdf_graph_add(g, k->fails, NULL, NULL, 0));
	for (i = 0; i < 8; i++) {
		must(lkdf_graph_add(g, one, &seen[i], NULL, 0));
		order(g, 0, i + 1);
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: a run with a limit", k->how);
	is(api_run(g, NULL, NULL), -EIO, "%s: and again", k->how);
	for (i = 0; i < 8; i++)
		nr += seen[i].error[0] == -EIO ? seen[i].nr : 0;
	is(nr, 16, "%s: all that run always have run", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(one);
	lkdf_limit_put(limit);
}

/* ---- many runs ---------------------------------------------------------- */

/* The argument of a run: whether it fails, and who has seen what. */
struct of_run {
	int fails, error, nr;
};

static int fail_in_some_runs(struct lkdf_ctx *c, void *arg)
{
	const struct of_run *r = lkdf_run_arg(c);

	(void)arg;
	return r->fails;
}

static int look_in_run(struct lkdf_ctx *c, void *arg)
{
	struct of_run *r = (struct of_run *)(uintptr_t)lkdf_run_arg(c);

	(void)arg;
	r->error = lkdf_input_error(c, 0);
	r->nr++;
	return 0;
}

static void runs_do_not_mix(struct kinds *k, uint32_t inflight, uint32_t flags)
{
	struct of_run run[64] = { { .nr = 0 } };
	struct lkdf_graph *g = api_graph(k->rt, inflight);
	struct lkdf_event done[64];
	struct lkdf_kind *some, *looks;
	int i, bad = 0;

	some = api_kind(k->rt, "some", fail_in_some_runs, 0, flags);
	looks = api_kind(k->rt, "looks", look_in_run, 0, flags | LKDF_ALWAYS);
	must(lkdf_graph_add(g, some, NULL, NULL, 0));
	must(lkdf_graph_add(g, looks, NULL, NULL, 0));
	order(g, 0, 1);
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 64; i++) {
		run[i].fails = i % 3 == 1 ? -EIO : 0;
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .arg = &run[i]),
				    &done[i]));
	}
	for (i = 0; i < 64; i++) {
		bad += lkdf_event_wait(done[i], -1) != run[i].fails;
		bad += run[i].error != run[i].fails || run[i].nr != 1;
	}
	is(bad, 0, "%s: of 64 runs, %u at once, each sees its own error",
	   k->how, inflight);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(some);
	lkdf_kind_put(looks);
}

static int fail_third(struct lkdf_ctx *c, void *arg)
{
	int *nr = arg;

	(void)c;
	return ++*nr == 3 ? -EIO : 0;
}

static bool never(void *u)
{
	(void)u;
	return false;
}

static void an_error_ends_the_repetitions(struct kinds *k)
{
	struct lkdf_kind *third = api_kind(k->rt, "third", fail_third, 0, 0);
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct seen seen = { .nr = 0 };
	int nr = 0;

	must(lkdf_graph_add(g, third, &nr, NULL, 0));
	must(lkdf_graph_add(g, k->looks, &seen, NULL, 0));
	order(g, 0, 1);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 10)), -EIO,
	   "%s: the third of ten repetitions fails", k->how);
	is(seen.nr, 3, "%s: one for each that was begun", k->how);
	is(seen.error[0], -EIO, "%s: the last sees the error", k->how);
	nr = 0;
	is(api_run(g, NULL, ATTR(lkdf_run, .until = never)), -EIO,
	   "%s: with until, too", k->how);
	is(seen.nr, 6, "%s: one for each", k->how);
	is(api_run(g, NULL, NULL), 0, "%s: the graph is as new", k->how);
	is(seen.error[0], 0, "%s: without an error", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(third);
}

/* ---- cancelled ---------------------------------------------------------- */

static int cancel_own(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_scope **s = arg;

	return *s ? lkdf_scope_cancel(lkdf_runtime(c), *s, -ESTALE) : 0;
}

/* rc: of the task that runs always. */
static void it_runs_when_cancelled(struct kinds *k, struct lkdf_kind *looks,
				   int rc)
{
	struct lkdf_kind *cancels =
		api_kind(k->rt, "cancels", cancel_own, 0, 0);
	struct seen seen = { .rc = rc }, source = { .rc = 0 };
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct lkdf_scope *s, *to_cancel;
	atomic_int ran = 0;

	must(lkdf_scope_create(k->rt, NULL, &s));
	must(lkdf_graph_add(g, cancels, &to_cancel, NULL, 0));
	must(lkdf_graph_add(g, k->count, &ran, NULL, 0));
	must(lkdf_graph_add(g, k->count, &ran, NULL, 0));
	must(lkdf_graph_add(g, looks, &seen, NULL, 0));
	must(lkdf_graph_add(g, k->looks, &source, NULL, 0));
	order(g, 0, 1);
	order(g, 1, 2);
	order(g, 2, 3);
	must(lkdf_graph_seal(g, NULL));
	to_cancel = s;
	is(api_run(g, s, NULL), -ESTALE, "%s: a run is cancelled", k->how);
	is(ran, 0, "%s: others do not run", k->how);
	is(seen.nr, 1, "%s: what runs always runs", k->how);
	is(seen.error[0], -ESTALE, "%s: and sees why others have not", k->how);
	is(seen.cancelled, -ESTALE, "%s: and that it is cancelled", k->how);
	is(source.nr, 1, "%s: also what comes after nothing", k->how);
	is(lkdf_scope_wait(k->rt, s, -1), -ESTALE,
	   "%s: %d of it has not hidden the cancel", k->how, rc);
	must(lkdf_scope_error(k->rt, s, &e));
	is((int)e.nr_cancelled, 2, "%s: two are counted", k->how);
	is((int)e.nr_failed, rc != 0, "%s: and its failure", k->how);
	seen.rc = 0;
	to_cancel = NULL;
	is(api_run(g, s, NULL), 0, "%s: graph and scope are as new", k->how);
	is(ran, 2, "%s: all have run", k->how);
	is(seen.error[0] || seen.cancelled, 0, "%s: without an error", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(cancels);
}

static int until_cancelled(struct lkdf_ctx *c, void *arg)
{
	atomic_int *is_short = arg;

	if (atomic_load(is_short))
		return 0;
	while (!lkdf_cancelled(c))
		api_nap_ns(50000);
	api_nap_ns(50000);
	return 0;
}

/* Some worker looks at the clock before all of them have run. */
#define NR_LATE 2000

static void it_runs_past_the_deadline(struct kinds *k)
{
	struct lkdf_kind *late = api_kind(k->rt, "late", until_cancelled, 0, 0);
	struct seen seen = { .rc = -EBADMSG };
	struct lkdf_graph *g = api_graph(k->rt, 1);
	atomic_int is_short = 0;
	int i;

	for (i = 0; i < NR_LATE; i++) {
		must(lkdf_graph_add(g, late, &is_short, NULL, 0));
		if (i)
			order(g, i - 1, i);
	}
	must(lkdf_graph_add(g, k->looks, &seen, NULL, 0));
	order(g, NR_LATE - 1, NR_LATE);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .deadline_ns = 1000000)), -ETIME,
	   "%s: a run is late, which nothing hides", k->how);
	is(seen.nr, 1, "%s: what runs always runs", k->how);
	is(seen.cancelled, -ETIME, "%s: and sees that it is late", k->how);
	is(seen.error[0], -ETIME, "%s: and others before it were", k->how);
	is(lkdf_scope_wait(k->rt, NULL, -1), 0, "%s: as it told", k->how);
	atomic_store(&is_short, 1);
	seen.rc = 0;
	is(api_run(g, NULL, ATTR(lkdf_run, .deadline_ns = HOUR)), 0,
	   "%s: then in time", k->how);
	is(seen.nr, 2, "%s: it runs again", k->how);
	is(lkdf_scope_wait(k->rt, NULL, -1), 0, "%s: all is well", k->how);
	lkdf_graph_put(g);
	lkdf_kind_put(late);
}

static void test(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct kinds k;

	kinds_init(&k, rt, options);
	a_failure_is_seen_and_stays(&k, k.looks);
	a_failure_is_seen_and_stays(&k, k.blocks);
	always_behind_always(&k, false);
	always_behind_always(&k, true);
	a_join_waits_for_all(&k, 2 + 2);
	a_join_waits_for_all(&k, 200);
	it_may_do_what_others_do(&k);
	limits_hold(&k);
	runs_do_not_mix(&k, 1, 0);
	runs_do_not_mix(&k, 4, 0);
	runs_do_not_mix(&k, 4, LKDF_SHARED);
	an_error_ends_the_repetitions(&k);
	it_runs_when_cancelled(&k, k.looks, 0);
	it_runs_when_cancelled(&k, k.looks, -EBADMSG);
	it_runs_when_cancelled(&k, k.blocks, -EBADMSG);
	it_runs_past_the_deadline(&k);
	kinds_fini(&k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(200);
	test("workers=1");
	test("workers=2");
	test("workers=8");
	test("serial=yes");
	return tap_end();
}
