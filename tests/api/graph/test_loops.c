/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops in graphs: while, do-while, zero iterations, nested ones, breaks over
 * several levels, several latches, failures, and what is refused. Those without
 * an end are test_endless.c.
 */
#include "tests/api/graph/choice.h"

static const int worker_counts[] = { 1, 2, 4 };

static void a_task_repeats_itself(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_back(s.g, 1, 0, 1));
	must(lkdf_graph_branch(s.g, 1, 1, 2));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 1, 0, 0, 0, 0, 1);
	is(story_run(&s), 0, "a loop of one task");
	called(&s, 3, "1 5 1", "goes round five times, then out");
	is(story_run(&s), 0, "a second run");
	called(&s, 3, "1 5 1", "does so again");
	RETURNS(&s, 1, 1);
	is(story_run(&s), 0, "a run that leaves at once");
	called(&s, 3, "1 1 1", "has one iteration");
	story_close(&s);
}

/* 0: head with a condition, 1: body and latch, 2: after. */
static void while_may_have_no_iteration(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 2));
	must(lkdf_graph_back(s.g, 1, 0, 0));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 1);
	is(story_run(&s), 0, "while, and its condition is false at once");
	called(&s, 3, "1 0 1", "calls the body never");
	RETURNS(&s, 0, 0, 0, 0, 1);
	is(story_run(&s), 0, "while, three times true");
	called(&s, 3, "4 3 1", "calls the body three times");
	story_close(&s);
}

/* A loop behind a branch that is not taken. */
static void a_loop_that_is_not_chosen_does_not_run(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 5);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 4));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_back(s.g, 2, 0, 1));
	must(lkdf_graph_order(s.g, 2, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 1);
	is(story_run(&s), 0, "a loop that is not chosen");
	called(&s, 5, "1 0 0 0 1", "does not run, nor what follows it");
	RETURNS(&s, 0, 0);
	RETURNS(&s, 2, 0, LKDF_NO_BRANCH);
	is(story_run(&s), 0, "and where it is chosen");
	called(&s, 5, "1 2 2 1 0", "it does");
	story_close(&s);
}

/* Outer: 0 -> inner 1 -> 2 (latch of 1) -> 3 (latch of 0); 4 after all. */
static void loops_lie_in_one_another(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 5);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_back(s.g, 2, 0, 1));
	must(lkdf_graph_branch(s.g, 2, 1, 3));
	must(lkdf_graph_back(s.g, 3, 0, 0));
	must(lkdf_graph_branch(s.g, 3, 1, 4));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 2, 0, 0, 1, 1, 0, 1);
	RETURNS(&s, 3, 0, 0, 1);
	is(story_run(&s), 0, "3, 1 and 2 inner iterations in 3 outer ones");
	called(&s, 5, "3 6 6 3 1", "each as often as it should");
	ok(s.step[4].order == 19, "and what follows comes last");
	story_close(&s);
}

/* ---- four loops, one in the other --------------------------------------- */

#define DEPTH 4

static const int nr_rounds[DEPTH] = { 3, 4, 2, 5 };

struct level {
	int nr; /* rounds of its loop, each time */
	atomic_int heads, latches, behind;
};

static int head_of(struct lkdf_ctx *c, void *arg)
{
	struct level *l = arg;

	(void)c;
	atomic_fetch_add(&l->heads, 1);
	return 0;
}

static int latch_of(struct lkdf_ctx *c, void *arg)
{
	struct level *l = arg;

	(void)c;
	return (atomic_fetch_add(&l->latches, 1) + 1) % l->nr ? 0 : 1;
}

/* Heads 0 to 3 from the outside to the inside, then their latches: 7 to 4. */
static struct lkdf_graph *deep_graph(struct lkdf *rt, struct level *level)
{
	struct lkdf_kind *head = api_kind(rt, "head", head_of, 0, 0);
	struct lkdf_kind *latch = api_kind(rt, "latch", latch_of, 0, 0);
	struct lkdf_kind *after = api_kind(rt, "after", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	int i;

	for (i = 0; i < DEPTH; i++)
		must(lkdf_graph_add(g, head, &level[i], NULL, 0));
	for (i = 0; i < DEPTH; i++)
		must(lkdf_graph_add(g, latch, &level[DEPTH - 1 - i], NULL, 0));
	must(lkdf_graph_add(g, after, &level[0].behind, NULL, 0));
	for (i = 0; i < DEPTH; i++) {
		must(lkdf_graph_order(g, i, i + 1));
		must(lkdf_graph_back(g, DEPTH + i, 0, DEPTH - 1 - i));
		must(lkdf_graph_branch(g, DEPTH + i, 1, DEPTH + i + 1));
	}
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(head);
	lkdf_kind_put(latch);
	lkdf_kind_put(after);
	return g;
}

static void four_loops_count_right(struct lkdf *rt)
{
	struct level level[DEPTH] = { { .nr = 0 } };
	struct lkdf_graph *g;
	int i, run, want;

	for (i = 0; i < DEPTH; i++)
		level[i].nr = nr_rounds[i];
	g = deep_graph(rt, level);
	for (run = 1; run <= 3; run++)
		must(api_run(g, NULL,
			     run < 3 ? NULL : ATTR(lkdf_run, .times = 5)));
	want = 2 + 5;
	is(level[0].behind, want, "four loops in one another end, each time");
	for (i = 0; i < DEPTH; i++) {
		want *= nr_rounds[i];
		ok(level[i].heads == want && level[i].latches == want,
		   "depth %d: %d rounds in all: %d, %d", i + 1, want,
		   level[i].heads, level[i].latches);
	}
	lkdf_graph_put(g);
}

/* 0 > 1 > 2: three loops; 3, in the innermost, leaves all of them. */
static void a_branch_breaks_out_of_three_loops(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 8);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_order(s.g, 2, 3));
	must(lkdf_graph_back(s.g, 3, 0, 2));
	must(lkdf_graph_branch(s.g, 3, 1, 4)); /* next of 1 */
	must(lkdf_graph_branch(s.g, 3, 2, 6)); /* out of all */
	must(lkdf_graph_back(s.g, 4, 0, 1));
	must(lkdf_graph_branch(s.g, 4, 1, 5));
	must(lkdf_graph_back(s.g, 5, 0, 0));
	must(lkdf_graph_branch(s.g, 5, 1, 7)); /* the regular end */
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 3, 0, 1, 0, 0, 2);
	RETURNS(&s, 4, 0);
	RETURNS(&s, 5, 0);
	is(story_run(&s), 0, "a break out of three loops");
	called(&s, 8, "1 2 5 5 1 0 1 0", "ends all of them");
	RETURNS(&s, 3, 1);
	RETURNS(&s, 4, 0, 1);
	RETURNS(&s, 5, 0, 1);
	is(story_run(&s), 0, "the same graph without a break");
	called(&s, 8, "2 3 3 3 3 2 0 1", "takes the regular end");
	story_close(&s);
}

/* "continue": 2, in the inner loop, goes on with the outer one. */
static void an_inner_task_continues_the_outer_loop(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 4);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_back(s.g, 2, 0, 1));
	must(lkdf_graph_back(s.g, 2, 1, 0));
	must(lkdf_graph_branch(s.g, 2, 2, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 2, 0, 1, 1, 0, 0, 2);
	is(story_run(&s), 0, "BACK to the head of the loop around");
	called(&s, 4, "3 6 6 1", "is a continue");
	story_close(&s);
}

/* 0 -> 1, 2; both are latches of 0; either may ask for another iteration. */
static void a_loop_has_several_latches(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 4);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 0, 2));
	must(lkdf_graph_back(s.g, 1, 0, 0));
	must(lkdf_graph_back(s.g, 2, 0, 0));
	must(lkdf_graph_order(s.g, 1, 3));
	must(lkdf_graph_order(s.g, 2, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 1, 0, LKDF_NO_BRANCH, 0, LKDF_NO_BRANCH);
	RETURNS(&s, 2, LKDF_NO_BRANCH, 0, 0, LKDF_NO_BRANCH);
	is(story_run(&s), 0, "two latches");
	called(&s, 4, "4 4 4 1", "one of them is enough to go on");
	story_close(&s);
}

/* An if with two arms in a loop, and an edge from outside to an arm. */
static void branches_and_edges_from_outside(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 7);
	must(lkdf_graph_order(s.g, 0, 3)); /* counts at the head, 1 */
	must(lkdf_graph_branch(s.g, 1, 0, 2));
	must(lkdf_graph_branch(s.g, 1, 1, 3));
	must(lkdf_graph_branch(s.g, 2, 0, 4));
	must(lkdf_graph_branch(s.g, 3, 0, 4));
	must(lkdf_graph_back(s.g, 4, 0, 1));
	must(lkdf_graph_order(s.g, 2, 5)); /* told at the end */
	must(lkdf_graph_branch(s.g, 4, 1, 6));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 1, 0, 1, 1, 0, 1);
	RETURNS(&s, 4, 0, 0, 0, 0, 1);
	is(story_run(&s), 0, "if and else in a loop");
	called(&s, 7, "1 5 2 3 5 1 1", "each iteration chooses");
	ok(s.step[0].order == 1, "what leads to a member comes first");
	ok(s.step[5].order >= 16, "what leaves a member is told at the end");
	story_close(&s);
}

static void a_failure_ends_the_loop(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	story_add(&s, 3, s.always);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_back(s.g, 1, 0, 0));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_order(s.g, 1, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 0, 0, -EIO);
	RETURNS(&s, 1, 0);
	is(story_run(&s), -EIO, "the head fails in iteration 3");
	called(&s, 4, "3 2 0 1", "nothing follows but LKDF_ALWAYS");
	RETURNS(&s, 0, 0);
	RETURNS(&s, 1, 0, -ENXIO);
	is(story_run(&s), -ENXIO, "the latch fails in iteration 2");
	called(&s, 4, "2 2 0 1", "nothing follows but LKDF_ALWAYS");
	RETURNS(&s, 1, LKDF_NO_BRANCH);
	is(story_run(&s), 0, "and the graph is as good as before");
	called(&s, 4, "1 1 1 1", "all of it");
	story_close(&s);
}

static void tasks_of_their_own_are_members(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 2);
	story_add(&s, 2, s.blocking);
	must(lkdf_graph_order(s.g, 0, 2));
	must(lkdf_graph_back(s.g, 2, 0, 0));
	must(lkdf_graph_branch(s.g, 2, 1, 1));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 2, 0, 0, 0, 1);
	is(story_run(&s), 0, "a BLOCKING latch");
	called(&s, 3, "4 1 4", "goes round four times");
	story_close(&s);
}

static int last_of(struct lkdf_ctx *c, void *arg)
{
	atomic_int *nr = arg;

	(void)c;
	return (atomic_fetch_add(nr, 1) + 1) % 10 ? 0 : 1;
}

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

/* Each run has ten iterations. */
static void runs_follow_one_another(struct lkdf *rt, uint32_t inflight,
				    uint64_t times)
{
	struct lkdf_kind *k = api_kind(rt, "count", count, 0, 0);
	struct lkdf_kind *latch = api_kind(rt, "latch", last_of, 0, 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	atomic_int nr[4] = { 0 };
	int i, t[4];

	lkdf_scope_wait(rt, NULL, -1);
	for (i = 0; i < 4; i++)
		t[i] = must(
			lkdf_graph_add(g, i == 2 ? latch : k, &nr[i], NULL, 0));
	must(lkdf_graph_order(g, t[0], t[1]));
	must(lkdf_graph_order(g, t[1], t[2]));
	must(lkdf_graph_back(g, t[2], 0, t[1]));
	must(lkdf_graph_branch(g, t[2], 1, t[3]));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 100 / (int)times; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times),
				    NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0,
	   "100 runs of a loop, %u in flight", inflight);
	ok(nr[0] == 100 && nr[1] == 1000 && nr[2] == 1000 && nr[3] == 100,
	   "do not overlap in it: %d %d %d %d", nr[0], nr[1], nr[2], nr[3]);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(latch);
}

static int add_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	++*(int *)lkdf_ptr(c, 0);
	return 0;
}

static int under_ten(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return *(const int *)lkdf_ptr(c, 0) < 10 ? 0 : 1;
}

/* Data orders the members of a loop, and what comes after it. */
static void data_counts_iterations(struct lkdf *rt)
{
	struct lkdf_kind *add = api_kind(rt, "add", add_one, 0, 0);
	struct lkdf_kind *test = api_kind(rt, "test", under_ten, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *d;
	int value = 0;
	void *at;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(value),
				   .init = &value),
			      &d));
	must(lkdf_graph_add(g, add, NULL, &(struct lkdf_use){ d, LKDF_RW, 0 },
			    1));
	must(lkdf_graph_add(g, test, NULL,
			    &(struct lkdf_use){ d, LKDF_READ, 0 }, 1));
	must(lkdf_graph_add(g, add, NULL, &(struct lkdf_use){ d, LKDF_RW, 0 },
			    1));
	must(lkdf_graph_back(g, 1, 0, 0));
	must(lkdf_graph_branch(g, 1, 1, 2));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0, "a loop over a data");
	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	is(*(int *)at, 11, "counts to ten, and one more behind it");
	lkdf_data_release(d);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(test);
}

static int seal_of(struct lkdf_graph *g, const char *part)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	int rc = lkdf_graph_seal(g, &why);

	has(why.text, part, "seal says why: %s", why.text);
	return rc;
}

static struct lkdf_graph *graph_of(struct lkdf *rt, struct lkdf_kind *k, int nr)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	for (i = 0; i < nr; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	return g;
}

static void seal_refuses_what_is_no_loop(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", count, 0, 0);
	struct lkdf_graph *g = graph_of(rt, k, 3);

	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_back(g, 1, 0, 2));
	is(seal_of(g, "k#2"), -EINVAL,
	   "a head that does not lead to its latch");
	lkdf_graph_put(g);

	g = graph_of(rt, k, 4); /* 3 jumps into the loop of 0, 1, 2 */
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_order(g, 1, 2));
	must(lkdf_graph_back(g, 2, 0, 0));
	must(lkdf_graph_branch(g, 3, 0, 1));
	is(seal_of(g, "second way in"), -ELOOP, "a branch into a loop");
	lkdf_graph_put(g);

	g = graph_of(rt, k, 4); /* loops 0..2 and 1..3 */
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_order(g, 0, 2));
	must(lkdf_graph_order(g, 1, 2));
	must(lkdf_graph_order(g, 3, 2));
	must(lkdf_graph_back(g, 2, 0, 0));
	must(lkdf_graph_back(g, 2, 1, 3));
	is(seal_of(g, "overlap"), -ELOOP, "loops that overlap");
	lkdf_graph_put(g);

	g = graph_of(rt, k, 3); /* branch 0 goes on and leaves */
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_back(g, 1, 0, 0));
	must(lkdf_graph_branch(g, 1, 0, 2));
	is(seal_of(g, "both stays"), -EINVAL, "a branch that stays and leaves");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	a_task_repeats_itself(rt);
	while_may_have_no_iteration(rt);
	a_loop_that_is_not_chosen_does_not_run(rt);
	loops_lie_in_one_another(rt);
	four_loops_count_right(rt);
	a_branch_breaks_out_of_three_loops(rt);
	an_inner_task_continues_the_outer_loop(rt);
	a_loop_has_several_latches(rt);
	branches_and_edges_from_outside(rt);
	a_failure_ends_the_loop(rt);
	tasks_of_their_own_are_members(rt);
	runs_follow_one_another(rt, 1, 1);
	runs_follow_one_another(rt, 4, 1);
	runs_follow_one_another(rt, 1, 20);
	runs_follow_one_another(rt, 3, 10);
	data_counts_iterations(rt);
	seal_refuses_what_is_no_loop(rt);
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
