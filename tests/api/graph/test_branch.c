/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Branches: what a body returns chooses which tasks run. Not chosen is no
 * failure, joins of arms, several branches at once, none, LKDF_ANY,
 * LKDF_ALWAYS, failures, bad values, runs in flight, data.
 */
#include "tests/api/graph/choice.h"

#include <sched.h>

static const int worker_counts[] = { 1, 2, 4 };

/* 0 -> (1 | 2) -> 3 */
static void open_diamond(struct story *s, struct lkdf *rt)
{
	story_open(s, rt, 4);
	must(lkdf_graph_branch(s->g, 0, 0, 1));
	must(lkdf_graph_branch(s->g, 0, 1, 2));
	must(lkdf_graph_branch(s->g, 1, 0, 3));
	must(lkdf_graph_branch(s->g, 2, 0, 3));
}

static void one_arm_runs_and_the_join_follows(struct lkdf *rt)
{
	struct story s;

	open_diamond(&s, rt);
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 0);
	is(story_run(&s), 0, "a run that takes branch 0 succeeds");
	called(&s, 4, "1 1 0 1", "branch 0 calls its arm and the join");
	RETURNS(&s, 0, 1);
	is(story_run(&s), 0, "a run that takes branch 1 succeeds");
	called(&s, 4, "1 0 1 1", "branch 1 calls the other one");
	RETURNS(&s, 0, LKDF_BRANCHES(3));
	is(story_run(&s), 0, "both branches at once");
	called(&s, 4, "1 1 1 1", "call both arms, and the join once");
	RETURNS(&s, 0, LKDF_NO_BRANCH);
	is(story_run(&s), 0, "no branch is no error");
	called(&s, 4, "1 0 0 0", "and nothing behind it is called");
	story_close(&s);
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(rt, name, &v));
	return v;
}

static void counters_tell_what_was_not_chosen(struct lkdf *rt)
{
	struct story s;
	uint64_t unchosen, skipped;

	open_diamond(&s, rt);
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 1);
	unchosen = stat_of(rt, "lkdf.unchosen");
	skipped = stat_of(rt, "lkdf.skipped");
	is(story_run(&s), 0, "a run with an arm that is not chosen");
	is(stat_of(rt, "lkdf.unchosen") - unchosen, 1, "counts it");
	is(stat_of(rt, "lkdf.skipped") - skipped, 0, "but not as skipped");
	story_close(&s);
}

/* 1 comes after 0 by an edge and after 2 by another, and 3 after 1. */
static void an_edge_from_what_was_not_chosen_skips(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 5);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 2));
	must(lkdf_graph_order(s.g, 1, 3));
	must(lkdf_graph_order(s.g, 2, 4));
	must(lkdf_graph_order(s.g, 3, 4));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 0);
	is(story_run(&s), 0, "a plain edge from an arm that is not chosen");
	called(&s, 5, "1 1 0 1 0", "skips what it leads to, and no more");
	story_close(&s);
}

static void any_runs_with_one_live_edge(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	story_add(&s, 3, s.any);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 2));
	must(lkdf_graph_order(s.g, 1, 3));
	must(lkdf_graph_order(s.g, 2, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 1);
	is(story_run(&s), 0, "LKDF_ANY after two arms");
	called(&s, 4, "1 0 1 1", "runs after the one that is chosen");
	RETURNS(&s, 0, LKDF_NO_BRANCH);
	is(story_run(&s), 0, "and without any");
	called(&s, 4, "1 0 0 0", "it does not run");
	story_close(&s);
}

static void any_takes_what_has_not_failed(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 2);
	story_add(&s, 2, s.any);
	must(lkdf_graph_order(s.g, 0, 2));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, -EIO);
	is(story_run(&s), -EIO, "LKDF_ANY after one that fails");
	called(&s, 3, "1 1 1", "runs");
	RETURNS(&s, 1, -EIO);
	is(story_run(&s), -EIO, "and after two that fail");
	called(&s, 3, "1 1 0", "it does not run");
	story_close(&s);
}

/* 0 fails: 1 and 2 are its arms, both LKDF_ALWAYS. */
static void always_runs_after_a_failure_not_where_unchosen(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 1);
	story_add(&s, 1, s.always);
	story_add(&s, 2, s.always);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 2));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 1);
	is(story_run(&s), 0, "LKDF_ALWAYS in an arm");
	called(&s, 3, "1 0 1", "runs where it is chosen only");
	RETURNS(&s, 0, -EIO);
	is(story_run(&s), -EIO, "where the choice itself fails");
	called(&s, 3, "1 1 1", "it runs in both");
	story_close(&s);
}

static void a_join_lives_with_one_arm_that_failed(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;
	struct story s;

	open_diamond(&s, rt);
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, LKDF_BRANCHES(3));
	RETURNS(&s, 1, -EIO);
	is(story_run(&s), -EIO, "an arm of two fails");
	called(&s, 4, "1 1 1 1", "the join runs after the other");
	RETURNS(&s, 0, 0);
	is(story_run(&s), -EIO, "the only arm fails");
	called(&s, 4, "1 1 0 0", "the join does not run");
	must(lkdf_graph_run(s.g, NULL, NULL, &done));
	while (lkdf_event_error(done, &e) == 1)
		sched_yield();
	ok(e.nr_failed == 1 && e.nr_skipped == 1 && e.nr_unchosen == 1,
	   "the error counts failed, skipped and not chosen apart");
	is(lkdf_event_wait(done, PATIENCE_NS), -EIO, "and the run has it");
	story_close(&s);
}

static void a_value_that_is_no_branch_fails(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;
	struct story s;
	int i, bad[] = { 2, 65536, LKDF_BRANCHES(4), 0x20000000 - 1,
			 LKDF_NO_BRANCH + 5 };

	open_diamond(&s, rt);
	must(lkdf_graph_seal(s.g, NULL));
	for (i = 0; i < (int)(sizeof(bad) / sizeof(bad[0])); i++) {
		s.step[0].returns = &bad[i];
		s.step[0].nr = 1;
		is(story_run(&s), -ERANGE, "%#x is no branch", bad[i]);
	}
	called(&s, 4, "1 0 0 0", "and nothing follows");
	must(lkdf_graph_run(s.g, NULL, NULL, &done));
	while (lkdf_event_error(done, &e) == 1)
		sched_yield();
	ok(strstr(e.why, "0, 1") != NULL, "the text lists those there are: %s",
	   e.why);
	lkdf_event_put(done);
	lkdf_scope_wait(rt, NULL, -1);
	RETURNS(&s, 3, 77);
	RETURNS(&s, 0, 0);
	is(story_run(&s), 0, "a task without branches returns what it likes");
	story_close(&s);
}

static void tasks_of_their_own_choose_too(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	story_add(&s, 3, s.blocking);
	must(lkdf_graph_branch(s.g, 3, 7, 0));
	must(lkdf_graph_branch(s.g, 3, 9, 1));
	must(lkdf_graph_branch(s.g, 0, 0, 2));
	must(lkdf_graph_branch(s.g, 1, 0, 2));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 3, 9);
	is(story_run(&s), 0, "a BLOCKING body returns branch 9");
	called(&s, 4, "0 1 1 1", "and it is taken");
	RETURNS(&s, 3, 8);
	is(story_run(&s), -ERANGE, "branch 8 there is not");
	called(&s, 4, "0 0 0 1", "and nothing follows");
	story_close(&s);
}

static int spawn_then_choose(struct lkdf_ctx *c, void *arg)
{
	must(lkdf_spawn(c, story_of->kind, &story_of->step[5]));
	must(lkdf_join(c));
	return choose(c, arg);
}

static int leave_then_choose(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn(c, story_of->kind, &story_of->step[5]));
	must(lkdf_then(c, choose, (struct lkdf_event){ 0 }));
	return 1;
}

static void bodies_with_children_choose_at_their_end(struct lkdf *rt)
{
	static const lkdf_fn fns[] = { spawn_then_choose, leave_then_choose };
	struct lkdf_kind *k;
	struct story s;
	int i;

	for (i = 0; i < 2; i++) {
		story_open(&s, rt, 2);
		k = api_kind(rt, "parent", fns[i], 0, 0);
		story_add(&s, 2, k);
		must(lkdf_graph_branch(s.g, 2, 0, 0));
		must(lkdf_graph_branch(s.g, 2, 1, 1));
		must(lkdf_graph_seal(s.g, NULL));
		RETURNS(&s, 2, 0);
		is(story_run(&s), 0, "a body with a child chooses");
		called(&s, 3, "1 0 1", "with what it returns last");
		is(s.step[5].calls, 1, "its child ran");
		story_close(&s);
		lkdf_kind_put(k);
	}
}

/* Runs that overlap, and repetitions of one call, choose each for itself. */
static int by_run(struct lkdf_ctx *c, void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
	return (int)(lkdf_seq(c) % 3);
}

static int count_one(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

static void runs_in_flight_choose_for_themselves(struct lkdf *rt, int inflight,
						 uint64_t times)
{
	struct lkdf_kind *choice = api_kind(rt, "choice", by_run, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "arm", count_one, 0, LKDF_SHARED);
	struct lkdf_graph *g = api_graph(rt, (uint32_t)inflight);
	atomic_int nr[5] = { 0 };
	int i, a, arm[3], join;

	lkdf_scope_wait(rt, NULL, -1);
	a = must(lkdf_graph_add(g, choice, &nr[0], NULL, 0));
	join = must(lkdf_graph_add(g, k, &nr[4], NULL, 0));
	for (i = 0; i < 3; i++) {
		arm[i] = must(lkdf_graph_add(g, k, &nr[1 + i], NULL, 0));
		must(lkdf_graph_branch(g, a, (uint16_t)i, arm[i]));
		must(lkdf_graph_branch(g, arm[i], 0, join));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 300 / (int)times; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times),
				    NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0,
	   "300 runs, %d in flight, %d a call", inflight, (int)times);
	ok(nr[0] == 300 && nr[1] == 100 && nr[2] == 100 && nr[3] == 100 &&
		   nr[4] == 300,
	   "each took its own branch");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(choice);
}

static void a_cancelled_run_ends(struct lkdf *rt)
{
	struct lkdf_scope *scope;
	struct story s;

	open_diamond(&s, rt);
	must(lkdf_graph_seal(s.g, NULL));
	must(lkdf_scope_create(rt, NULL, &scope));
	must(lkdf_scope_cancel(rt, scope, -ECANCELED));
	ok(lkdf_graph_run(s.g, scope, NULL, NULL) == -ECANCELED,
	   "a cancelled scope takes no run");
	lkdf_scope_put(scope);
	is(story_run(&s), 0, "the graph runs elsewhere");
	story_close(&s);
}

static void refusals_name_what_is_wrong(struct lkdf *rt)
{
	struct lkdf_edge e = { .size = sizeof(e), .from = 0, .to = 1 };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k = api_kind(rt, "k", choose, 0, 0);

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	is(lkdf_graph_edge(g, NULL), -EINVAL, "an edge that is NULL");
	e.flags = LKDF_EDGE_PORT;
	is(lkdf_graph_edge(g, &e), -EINVAL, "PORT between tasks without ports");
	e.flags = 64;
	is(lkdf_graph_edge(g, &e), -EINVAL, "unknown flags");
	e.flags = 0;
	e.branch = 3;
	is(lkdf_graph_edge(g, &e), -EINVAL, "a branch without BRANCH");
	e.branch = 0;
	e.to = 2;
	is(lkdf_graph_edge(g, &e), -EINVAL, "a task there is not");
	is(lkdf_graph_branch(g, 1, 0, 1), -EINVAL, "a branch to itself");
	is(lkdf_graph_seal(g, NULL), -EINVAL, "seal tells the first");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_branch(g, 0, 0, 1));
	must(lkdf_graph_branch(g, 1, 0, 0));
	is(lkdf_graph_seal(g, NULL), -ELOOP, "a cycle of branches: %s",
	   lkdf_errmsg());
	is(lkdf_graph_branch(g, 0, 0, 1), 0, "not sealed it goes on");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* All branches there are lead to one task, which runs once. */
static void many_branches_to_one_task(struct lkdf *rt)
{
	struct story s;
	int i;

	story_open(&s, rt, 2);
	for (i = 0; i <= UINT16_MAX; i++)
		must(lkdf_graph_branch(s.g, 0, (uint16_t)i, 1));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, UINT16_MAX);
	is(story_run(&s), 0, "the last of 65,536 branches");
	called(&s, 2, "1 1", "calls the task once");
	RETURNS(&s, 0, 253);
	is(story_run(&s), 0, "so does branch 253");
	called(&s, 2, "1 1", "calls the task once");
	RETURNS(&s, 0, UINT16_MAX + 1);
	is(story_run(&s), -ERANGE, "branch 65,536 there is not");
	story_close(&s);
}

/* Branch n leads to task n + 1 of its own. */
#define NR_BITS 29

static void each_bit_is_a_branch(struct lkdf *rt)
{
	struct step step[NR_BITS + 1] = { { .nr = 1 } };
	static struct story clock; /* for choose(); of no graph */
	struct lkdf_kind *k = api_kind(rt, "task", choose, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, bit, value, bad = 0;

	story_of = &clock;
	step[0].returns = &value;
	for (i = 0; i <= NR_BITS; i++) {
		must(lkdf_graph_add(g, k, &step[i], NULL, 0));
		if (i)
			must(lkdf_graph_branch(g, 0, (uint16_t)(i - 1), i));
	}
	must(lkdf_graph_seal(g, NULL));
	for (bit = 0; bit < NR_BITS; bit++) {
		value = LKDF_BRANCHES(1 << bit);
		must(api_run(g, NULL, NULL));
		for (i = 0; i < NR_BITS; i++)
			bad += step[i + 1].calls != (i <= bit);
	}
	is(bad, 0, "each bit of LKDF_BRANCHES() takes its branch alone");
	value = LKDF_BRANCHES((1 << NR_BITS) - 1);
	is(api_run(g, NULL, NULL), 0, "all 29 at once");
	for (i = 0; i < NR_BITS; i++)
		bad += step[i + 1].calls != 2;
	is(bad, 0, "are all taken");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* Only those below 28 are branches of it. */
static void the_last_bit_may_be_no_branch(struct lkdf *rt)
{
	struct story s;
	int i;

	story_open(&s, rt, 2);
	for (i = 0; i < NR_BITS - 1; i++)
		must(lkdf_graph_branch(s.g, 0, (uint16_t)i, 1));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, LKDF_BRANCHES(1 << 28 | 1));
	is(story_run(&s), -ERANGE, "bit 28 where there is no branch 28");
	RETURNS(&s, 0, LKDF_BRANCHES(1 << 27));
	is(story_run(&s), 0, "bit 27 where there is a branch 27");
	called(&s, 2, "1 1", "calls what it leads to");
	story_close(&s);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	one_arm_runs_and_the_join_follows(rt);
	counters_tell_what_was_not_chosen(rt);
	an_edge_from_what_was_not_chosen_skips(rt);
	any_runs_with_one_live_edge(rt);
	any_takes_what_has_not_failed(rt);
	always_runs_after_a_failure_not_where_unchosen(rt);
	a_join_lives_with_one_arm_that_failed(rt);
	a_value_that_is_no_branch_fails(rt);
	tasks_of_their_own_choose_too(rt);
	bodies_with_children_choose_at_their_end(rt);
	runs_in_flight_choose_for_themselves(rt, 1, 1);
	runs_in_flight_choose_for_themselves(rt, 4, 1);
	runs_in_flight_choose_for_themselves(rt, 1, 30);
	runs_in_flight_choose_for_themselves(rt, 3, 10);
	a_cancelled_run_ends(rt);
	refusals_name_what_is_wrong(rt);
	many_branches_to_one_task(rt);
	each_bit_is_a_branch(rt);
	the_last_bit_may_be_no_branch(rt);
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
