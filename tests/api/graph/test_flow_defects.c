/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What earlier systems get wrong about branches and loops, each as a test named
 * after it; tests/api/rt/test_defects.c has the rest.
 */
#include "tests/api/graph/choice.h"

static const int worker_counts[] = { 1, 2, 8 };

/*
 * DFCPP 2: the edge of a predicate counted as one more input of its target, so
 * a task that a predicate leads back to never ran at all.
 */
static void a_predicate_leads_back(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 4);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_back(s.g, 2, 0, 1));
	must(lkdf_graph_branch(s.g, 2, 1, 3));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 2, 0, 0, 0, 0, 1);
	is(story_run(&s), 0, "DFCPP 2: a loop by a predicate ends");
	called(&s, 4, "1 5 5 1", "DFCPP 2: its body ran 5 times of 5");
	is(story_run(&s), 0, "DFCPP 2: and again");
	called(&s, 4, "1 5 5 1", "DFCPP 2: in a second run");
	story_close(&s);
}

/* DFCPP 3: where two predicates led to one task both had to choose it. */
static void one_of_two_predicates_is_enough(struct lkdf *rt)
{
	static const struct {
		int first, second;
		const char *calls;
	} choice[] = { { 0, 1, "1 1 1" },
		       { 1, 0, "1 1 1" },
		       { 0, 0, "1 1 1" },
		       { 1, 1, "1 1 0" } };
	struct story s;
	size_t i;

	story_open(&s, rt, 5);
	must(lkdf_graph_branch(s.g, 0, 0, 2));
	must(lkdf_graph_branch(s.g, 1, 0, 2));
	must(lkdf_graph_branch(s.g, 0, 1, 3));
	must(lkdf_graph_branch(s.g, 1, 1, 4));
	must(lkdf_graph_seal(s.g, NULL));
	for (i = 0; i < sizeof(choice) / sizeof(*choice); i++) {
		RETURNS(&s, 0, choice[i].first);
		RETURNS(&s, 1, choice[i].second);
		is(story_run(&s), 0, "DFCPP 3: two predicates, one target");
		called(&s, 3, choice[i].calls,
		       "DFCPP 3: one choice is enough, two are one run");
	}
	story_close(&s);
}

/*
 * Taskflow: a strong edge and a chosen one, active together, ran a task twice,
 * beside itself if need be.
 */
static void a_plain_and_a_chosen_edge_are_one_run(struct lkdf *rt)
{
	struct story s;
	int i;

	story_open(&s, rt, 4);
	must(lkdf_graph_order(s.g, 0, 2));
	must(lkdf_graph_branch(s.g, 1, 0, 2));
	must(lkdf_graph_branch(s.g, 1, 1, 3));
	must(lkdf_graph_seal(s.g, NULL));
	for (i = 0; i < 50; i++) {
		RETURNS(&s, 1, 0);
		if (story_run(&s) || atomic_load(&s.step[2].calls) != 1)
			break;
		RETURNS(&s, 1, 1);
		if (story_run(&s) || atomic_load(&s.step[2].calls) != 0)
			break;
	}
	is(i, 50, "Taskflow: a plain and a chosen edge start a task once");
	story_close(&s);
}

/*
 * Taskflow #344: with a back edge that is strong nothing ran, and the run said
 * that it had succeeded.
 */
static void a_strong_back_edge_is_refused_by_name(struct lkdf *rt)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct story s;

	story_open(&s, rt, 3);
	must(lkdf_graph_label(s.g, 1, "body"));
	must(lkdf_graph_label(s.g, 2, "condition"));
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 1, 2));
	must(lkdf_graph_order(s.g, 2, 1));
	is(lkdf_graph_seal(s.g, &why), -ELOOP,
	   "Taskflow #344: a back edge that is not said is refused");
	has(why.text, "body", "Taskflow #344: with the path");
	has(why.text, "condition", "Taskflow #344: by name");
	story_close(&s);
}

/* Taskflow: a number that is no branch chose nothing, in silence. */
static void a_number_that_is_no_branch_is_an_error(struct lkdf *rt)
{
	struct story s;

	story_open(&s, rt, 3);
	must(lkdf_graph_branch(s.g, 0, 0, 1));
	must(lkdf_graph_branch(s.g, 0, 1, 2));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 2);
	is(story_run(&s), -ERANGE, "Taskflow: 2 is no branch of 0 and 1");
	called(&s, 3, "1 0 0", "Taskflow: nothing is chosen");
	story_close(&s);
}

/* Taskflow #652: what a run left in its conditions was there in the next. */
static void a_run_leaves_nothing_to_the_next(struct lkdf *rt)
{
	struct story s;
	int i;

	story_open(&s, rt, 5);
	must(lkdf_graph_order(s.g, 0, 1));
	must(lkdf_graph_order(s.g, 0, 2));
	must(lkdf_graph_order(s.g, 1, 3));
	must(lkdf_graph_order(s.g, 2, 3));
	must(lkdf_graph_back(s.g, 3, 0, 0));
	must(lkdf_graph_branch(s.g, 3, 1, 4));
	must(lkdf_graph_seal(s.g, NULL));
	for (i = 0; i < 10; i++) {
		RETURNS(&s, 1, 0, -EIO);
		RETURNS(&s, 3, 0, 0, 1);
		is(story_run(&s), -EIO, "Taskflow #652: a run breaks off");
		called(&s, 5, "2 2 2 1 0", "Taskflow #652: in a loop");
		RETURNS(&s, 1, 0);
		is(story_run(&s), 0, "Taskflow #652: the next one");
		called(&s, 5, "3 3 3 3 1", "Taskflow #652: begins anew");
	}
	story_close(&s);
}

/* Taskflow #494: what two conditions lead to waits for neither or for both. */
static void conditions_can_be_joined(struct lkdf *rt)
{
	struct story s;
	int i;

	story_open(&s, rt, 6);
	must(lkdf_graph_branch(s.g, 0, 0, 2));
	must(lkdf_graph_branch(s.g, 0, 1, 3));
	must(lkdf_graph_branch(s.g, 1, 0, 4));
	must(lkdf_graph_branch(s.g, 1, 1, 3));
	for (i = 2; i <= 4; i++)
		must(lkdf_graph_branch(s.g, i, 0, 5));
	must(lkdf_graph_seal(s.g, NULL));
	RETURNS(&s, 0, 0);
	RETURNS(&s, 1, 1);
	is(story_run(&s), 0, "Taskflow #494: two conditions, one join");
	called(&s, 6, "1 1 1 1 0 1", "Taskflow #494: the join runs once");
	is(s.step[5].order, 5, "Taskflow #494: behind both arms");
	story_close(&s);
}

struct burst {
	struct lkdf_kind *child;
	atomic_int nr;
};

static int count_child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&(*(struct burst **)arg)->nr, 1);
	return 0;
}

static int burst(struct lkdf_ctx *c, void *arg)
{
	struct burst *b = arg;
	int i, rc = 0;

	for (i = 0; i < 200 && !rc; i++)
		rc = lkdf_spawn(c, b->child, &b);
	return rc;
}

/* Waits until all workers have gone to sleep once more, for 2 s at most. */
static void be_silent(struct lkdf *rt, uint64_t *parks)
{
	uint64_t now = 0;
	int i;

	for (i = 0; i < 2000; i++) {
		must(lkdf_stat(rt, "lkdf.parks", &now));
		if (now > *parks)
			break;
		api_nap_ns(1000000);
	}
	*parks = now;
}

/*
 * The course's template: a worker that had looked for work ten times in vain
 * ended, so a burst after a silence found nobody; one worker divided by zero.
 */
static void a_burst_after_a_silence_is_run(struct lkdf *rt, int nr_workers)
{
	struct burst b = { .nr = 0 };
	struct lkdf_kind *k = api_kind(rt, "burst", burst, 0, 0);
	uint64_t parks = 0;
	int i;

	b.child = api_kind(rt, "child", count_child, sizeof(struct burst *), 0);
	for (i = 0; i < 10; i++) {
		be_silent(rt, &parks);
		if (api_call(rt, k, &b))
			break;
	}
	is(i, 10,
	   "template: a body with 200 children after a silence, 10 "
	   "times, %d workers",
	   nr_workers);
	is(b.nr, 2000, "template: each child ran once");
	lkdf_kind_put(b.child);
	lkdf_kind_put(k);
}

static int write_and_spawn(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *child = *(struct lkdf_kind **)arg;
	struct lkdf_data *x = ((struct lkdf_data **)arg)[1];
	struct lkdf_use use = { x, LKDF_READ, 0 };

	*(uint64_t *)lkdf_ptr(c, 0) = 12;
	return lkdf_spawn_task(
		c, ATTR(lkdf_task, .kind = child, .use = &use, .nr_use = 1),
		NULL);
}

static atomic_int seen;

static int see(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_store(&seen, (int)*(const uint64_t *)lkdf_ptr(c, 0));
	return 0;
}

/* DFCPP 12: a child could not have an output of its parent as an input. */
static void a_child_reads_what_its_parent_writes(struct lkdf *rt)
{
	struct lkdf_data *x;
	struct lkdf_kind *child = api_kind(rt, "child", see, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "parent", write_and_spawn, 0, 0);
	void *arg[2] = { child };
	struct lkdf_use use;
	struct lkdf_event done;
	uint64_t zero = 0;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(zero), .init = &zero),
		&x));
	arg[1] = x;
	use = (struct lkdf_use){ x, LKDF_RW, 0 };
	atomic_store(&seen, 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = arg, .use = &use,
			      .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, PATIENCE_NS), 0,
	   "DFCPP 12: a child reads what its parent writes");
	is(seen, 12, "DFCPP 12: it sees the value");
	lkdf_data_put(x);
	lkdf_kind_put(child);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		a_predicate_leads_back(rt);
		one_of_two_predicates_is_enough(rt);
		a_plain_and_a_chosen_edge_are_one_run(rt);
		a_strong_back_edge_is_refused_by_name(rt);
		a_number_that_is_no_branch_is_an_error(rt);
		lkdf_scope_wait(rt, NULL, -1);
		a_run_leaves_nothing_to_the_next(rt);
		lkdf_scope_wait(rt, NULL, -1);
		conditions_can_be_joined(rt);
		a_burst_after_a_silence_is_run(rt, worker_counts[i]);
		a_child_reads_what_its_parent_writes(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
