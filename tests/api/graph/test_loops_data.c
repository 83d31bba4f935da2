/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_REDUCE, LKDF_COMMUTE, LKDF_MAYBE and LKDF_WEAK in loops of graphs, and
 * over which edges at the border of a loop a failure passes. Random programs:
 * tests/oracle/control.
 */
#include "tests/api/family.h"

#define MAX_TASKS 8
#define MAX_CALLS 8

/* A graph with one number; task t returns returns[t][n] in its n'th call. */
struct play {
	struct lkdf_graph *g;
	struct lkdf_data *d;
	struct lkdf_kind *kind, *always, *child;
	int returns[MAX_TASKS][MAX_CALLS];
	uint64_t seen[MAX_TASKS][MAX_CALLS]; /* in its n'th call */
	uint64_t adds[MAX_TASKS]; /* to the number; 0: it only looks */
	bool is_untouched[MAX_TASKS], has_child[MAX_TASKS];
	atomic_int calls[MAX_TASKS], nr_inside, nr_wrong, nr_combined;
	int nr_tasks;
};

struct part {
	struct play *p;
	int task;
};

/* Tells the test of what fails. */
static struct play *_Atomic reducing;
static atomic_int reduce_error;

static int reduce(void *acc, const void *x, uint64_t bytes)
{
	struct play *p = atomic_load(&reducing);
	int error = atomic_load(&reduce_error);

	if (p)
		atomic_fetch_add(&p->nr_combined, 1);
	return error ? error : add_words(acc, x, bytes);
}

static int act(struct lkdf_ctx *c, void *arg)
{
	const struct part *me = arg;
	struct play *p = me->p;
	int t = me->task, n = atomic_load(&p->calls[t]);
	uint64_t *v = lkdf_ptr(c, 0);
	struct turn turn = { NULL, p->adds[t] };

	if (v)
		p->seen[t][n] = *v;
	if (v && p->adds[t])
		*v += p->adds[t];
	if (p->has_child[t])
		must(spawn_on(c, p->child, &turn, ON(p->d, LKDF_RW)));
	if (p->is_untouched[t])
		must(lkdf_use_end(c, 0, true));
	atomic_store(&p->calls[t], n + 1);
	return p->returns[t][n];
}

static int add_turn(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) += ((struct turn *)arg)->nr;
	return 0;
}

static void play_open(struct play *p, struct lkdf *rt)
{
	const uint64_t zero = 0;

	*p = (struct play){ .nr_tasks = 0 };
	p->g = api_graph(rt, 1);
	p->d = DATA(rt, .bytes = sizeof(zero), .init = &zero, .reduce = reduce);
	p->kind = api_kind(rt, "act", act, sizeof(struct part), 0);
	p->always = api_kind(rt, "act", act, sizeof(struct part), LKDF_ALWAYS);
	p->child = api_kind(rt, "child", add_turn, sizeof(struct turn), 0);
	atomic_store(&reducing, p);
}

static void play_close(struct play *p)
{
	atomic_store(&reducing, NULL);
	lkdf_graph_put(p->g);
	lkdf_data_put(p->d);
	lkdf_kind_put(p->kind);
	lkdf_kind_put(p->always);
	lkdf_kind_put(p->child);
}

/* The next task, with a use of the number; mode 0: with none. */
static int play_add(struct play *p, uint32_t mode, uint64_t adds)
{
	struct part part = { p, p->nr_tasks };
	struct lkdf_use use = ON(p->d, mode);

	p->adds[p->nr_tasks] = adds;
	must(lkdf_graph_add(p->g, p->kind, &part, &use, mode ? 1 : 0));
	return p->nr_tasks++;
}

static int play_run(struct play *p)
{
	memset(p->calls, 0, sizeof(p->calls));
	memset(p->seen, 0, sizeof(p->seen));
	return api_run(p->g, NULL, NULL);
}

/* The task goes round nr times, and then takes no branch. */
static void go_round(struct play *p, int task, int nr)
{
	int i;

	for (i = 0; i < MAX_CALLS; i++)
		p->returns[task][i] = i + 1 < nr ? 0 : LKDF_NO_BRANCH;
}

/* "1 4": what the task has found in each call. */
static void has_seen(struct play *p, int task, const char *want,
		     const char *what)
{
	char text[200] = "";
	int i, used = 0;

	for (i = 0; i < p->calls[task]; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%s%llu", i ? " " : "",
				 (unsigned long long)p->seen[task][i]);
	ok(!strcmp(text, want), "%s", what);
	if (strcmp(text, want))
		printf("# \"%s\", not \"%s\"\n", text, want);
}

/* ---- REDUCE ------------------------------------------------------------- */

/* 0 head; 1, 2 reduce; 3 reads, and closes the loop. */
static void copies_are_combined_in_each_iteration(struct lkdf *rt)
{
	struct play p;
	int t;

	play_open(&p, rt);
	play_add(&p, 0, 0);
	play_add(&p, LKDF_REDUCE, 3);
	play_add(&p, LKDF_REDUCE, 4);
	play_add(&p, LKDF_READ, 0);
	for (t = 1; t < 4; t++)
		must(lkdf_graph_order(p.g, 0, t));
	must(lkdf_graph_back(p.g, 3, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 3, 3);
	is(play_run(&p), 0, "a loop whose tasks reduce, and a reader");
	has_seen(&p, 3, "7 14 21", "which finds each sum");
	is(value_of(p.d), 21, "the last one stays");
	play_close(&p);
}

/* 0 head, reads; 1, 2 reduce; 3 closes the loop. */
static void the_next_iteration_finds_the_sum(struct lkdf *rt)
{
	struct play p;
	int t;

	play_open(&p, rt);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, LKDF_REDUCE, 3);
	play_add(&p, LKDF_REDUCE, 4);
	play_add(&p, 0, 0);
	for (t = 1; t < 3; t++) {
		must(lkdf_graph_order(p.g, 0, t));
		must(lkdf_graph_order(p.g, t, 3));
	}
	must(lkdf_graph_back(p.g, 3, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 3, 4);
	is(play_run(&p), 0, "a loop that reads first and reduces then");
	has_seen(&p, 0, "0 7 14 21", "an iteration finds what came before it");
	is(value_of(p.d), 28, "the last one is combined after the loop");
	is(play_run(&p), 0, "a second run");
	has_seen(&p, 0, "28 35 42 49", "goes on from there");
	play_close(&p);
}

/* 0 head, reduces; 1 reduces and closes the loop; 2 reads after it. */
static void copies_go_on_where_nobody_looks(struct lkdf *rt, bool is_alone)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_REDUCE, 1);
	play_add(&p, LKDF_REDUCE, 2);
	play_add(&p, LKDF_READ, 0);
	must(lkdf_graph_order(p.g, 0, 1));
	must(lkdf_graph_back(p.g, 1, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 1, 8);
	is(play_run(&p), 0, "a loop that only reduces");
	has_seen(&p, 2, "24", "a reader after it finds the sum");
	if (is_alone)
		is(p.nr_combined, 1, "its copy was combined once");
	play_close(&p);
}

/* 0 reduces; 1 chooses the loop of 2, 3 or not; 3 reads; 4 reads after all. */
static void a_loop_that_does_not_run_loses_no_copy(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_REDUCE, 5);
	play_add(&p, 0, 0);
	play_add(&p, LKDF_REDUCE, 1);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, LKDF_READ, 0);
	must(lkdf_graph_branch(p.g, 1, 0, 2));
	must(lkdf_graph_order(p.g, 2, 3));
	must(lkdf_graph_back(p.g, 3, 0, 2));
	must(lkdf_graph_seal(p.g, NULL));
	p.returns[1][0] = LKDF_NO_BRANCH;
	is(play_run(&p), 0, "the loop with the reader is not chosen");
	has_seen(&p, 4, "5", "what was reduced before it is combined");
	is(p.calls[2] + p.calls[3], 0, "no member runs");
	p.returns[1][0] = 0;
	go_round(&p, 3, 2);
	is(play_run(&p), 0, "and where it is");
	has_seen(&p, 3, "11 12", "each iteration adds");
	play_close(&p);
}

/* The same graph as above, and the function fails between two iterations. */
static void a_function_that_fails_ends_the_loop(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;
	struct play p;
	void *at;

	play_open(&p, rt);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, LKDF_REDUCE, 3);
	must(lkdf_graph_order(p.g, 0, 1));
	must(lkdf_graph_back(p.g, 1, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 1, 3);
	atomic_store(&reduce_error, -EDOM);
	must(lkdf_graph_run(p.g, NULL, NULL, &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(1000000);
	is(lkdf_event_wait(done, -1), -EDOM,
	   "the function fails between two iterations");
	ok(strstr(e.task, "combine"), "the error names who combines: %s",
	   e.task);
	is(p.calls[0], 1, "there is no second one");
	atomic_store(&reduce_error, 0);
	lkdf_scope_wait(rt, NULL, -1);
	must(lkdf_data_acquire(p.d, LKDF_WRITE, -1, &at));
	*(uint64_t *)at = 0;
	must(lkdf_data_release(p.d));
	is(play_run(&p), 0, "the next run, without");
	has_seen(&p, 0, "0 3 6", "has all of them, and no old copy");
	play_close(&p);
}

/* ---- COMMUTE ------------------------------------------------------------ */

static int add_alone(struct lkdf_ctx *c, void *arg)
{
	const struct part *me = arg;
	struct play *p = me->p;

	atomic_fetch_add(&p->nr_wrong, atomic_fetch_add(&p->nr_inside, 1));
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	atomic_fetch_sub(&p->nr_inside, 1);
	return p->returns[me->task][atomic_fetch_add(&p->calls[me->task], 1)];
}

/* 0 head; 1 to 4 commute; 5 closes the loop; 6, 7 commute outside. */
static void members_commute(struct lkdf *rt)
{
	struct lkdf_kind *k;
	struct play p;
	int t;

	play_open(&p, rt);
	k = api_kind(rt, "alone", add_alone, sizeof(struct part), 0);
	play_add(&p, 0, 0);
	for (t = 1; t < 5; t++)
		must(add_on(p.g, k, &((struct part){ &p, t }),
			    ON(p.d, LKDF_COMMUTE)));
	p.nr_tasks = 5;
	play_add(&p, 0, 0);
	for (t = 6; t < 8; t++)
		must(add_on(p.g, k, &((struct part){ &p, t }),
			    ON(p.d, LKDF_COMMUTE)));
	for (t = 1; t < 5; t++) {
		must(lkdf_graph_order(p.g, 0, t));
		must(lkdf_graph_order(p.g, t, 5));
	}
	must(lkdf_graph_back(p.g, 5, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 5, 8);
	is(play_run(&p), 0, "members of a loop and others commute");
	is(value_of(p.d), 8 * 4 + 2, "each call has counted");
	is(p.nr_wrong, 0, "no two at a time");
	play_close(&p);
	lkdf_kind_put(k);
}

/* ---- MAYBE -------------------------------------------------------------- */

/* 0 head; 1 may write, and fails; 2 reads; 3 closes the loop. */
static void what_is_untouched_passes_no_failure(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, 0, 0);
	play_add(&p, LKDF_RW | LKDF_MAYBE, 0);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, 0, 0);
	must(lkdf_graph_order(p.g, 0, 1));
	must(lkdf_graph_order(p.g, 2, 3));
	must(lkdf_graph_back(p.g, 3, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 3, 3);
	p.is_untouched[1] = true;
	p.returns[1][1] = -EIO;
	is(play_run(&p), -EIO, "a member fails in the second iteration");
	is(p.calls[2], 2, "what it has left untouched is read there");
	is(p.calls[0], 2, "and there is no third one");
	p.is_untouched[1] = false;
	is(play_run(&p), -EIO, "it fails once more, and may have written");
	is(p.calls[2], 1, "now its reader is skipped");
	play_close(&p);
}

/* ---- WEAK --------------------------------------------------------------- */

/* 0 head, weak; 1 weak; 2 reads, and closes the loop. */
static void children_of_weak_members_go_in_order(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_RW | LKDF_WEAK, 1);
	play_add(&p, LKDF_RW | LKDF_WEAK, 10);
	play_add(&p, LKDF_READ, 0);
	p.has_child[0] = p.has_child[1] = true;
	must(lkdf_graph_back(p.g, 2, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	go_round(&p, 2, 4);
	is(play_run(&p), 0, "weak members, with a child each");
	has_seen(&p, 2, "11 22 33 44", "each iteration reads what they wrote");
	play_close(&p);
}

/* ---- the border --------------------------------------------------------- */

/* 0 reads, and fails; 1 writes and goes round; 2 reads after the loop. */
static void an_order_passes_no_failure_into_a_loop(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, 0, 0);
	play_add(&p, LKDF_WRITE, 1);
	play_add(&p, LKDF_READ, 0);
	must(lkdf_graph_order(p.g, 1, 2));
	must(lkdf_graph_back(p.g, 2, 0, 1));
	must(lkdf_graph_seal(p.g, NULL));
	p.returns[0][0] = -EIO;
	go_round(&p, 2, 2);
	is(play_run(&p), -EIO, "a reader before the loop fails");
	is(p.calls[2], 2, "the loop that writes then runs");
	is(p.calls[3], 1, "and so does who reads of it");
	play_close(&p);
}

/* 0 head, reads; 1 fails, and closes the loop; 2 writes after the loop. */
static void an_order_passes_no_failure_out_of_a_loop(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, 0, 0);
	play_add(&p, LKDF_WRITE, 1);
	must(lkdf_graph_order(p.g, 0, 1));
	must(lkdf_graph_back(p.g, 1, 0, 0));
	must(lkdf_graph_seal(p.g, NULL));
	p.returns[1][0] = -EIO;
	is(play_run(&p), -EIO, "a loop that reads fails");
	is(p.calls[2], 1, "who writes after it runs");
	play_close(&p);
}

/* 0 reads, and fails; 1 writes, and is chosen by 0. */
static void a_branch_passes_a_failure_beside_an_order(struct lkdf *rt)
{
	struct play p;

	play_open(&p, rt);
	play_add(&p, LKDF_READ, 0);
	play_add(&p, LKDF_WRITE, 1);
	must(lkdf_graph_branch(p.g, 0, 0, 1));
	must(lkdf_graph_seal(p.g, NULL));
	p.returns[0][0] = -EIO;
	is(play_run(&p), -EIO, "a reader that chooses its writer fails");
	is(p.calls[1], 0, "the writer is skipped");
	play_close(&p);
}

/* ---- refused ------------------------------------------------------------ */

static void refuses(struct lkdf *rt, uint32_t mode)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct part part;
	struct play p;

	play_open(&p, rt);
	part = (struct part){ &p, 0 };
	must(add_on(p.g, p.always, &part, ON(p.d, LKDF_RW | mode)));
	must(lkdf_graph_back(p.g, 0, 0, 0));
	is(lkdf_graph_seal(p.g, &why), -EOPNOTSUPP,
	   "a member with LKDF_ALWAYS and mode %#x is refused", LKDF_RW | mode);
	ok(strstr(why.text, "act#0") && strstr(why.text, "LKDF_RW"),
	   "by name, and with what to do: %s", why.text);
	play_close(&p);
}

static void tests(struct lkdf *rt, const char *options)
{
	bool is_alone =
		!strcmp(options, "workers=1") || !strcmp(options, "serial=yes");

	copies_are_combined_in_each_iteration(rt);
	the_next_iteration_finds_the_sum(rt);
	copies_go_on_where_nobody_looks(rt, is_alone);
	a_loop_that_does_not_run_loses_no_copy(rt);
	a_function_that_fails_ends_the_loop(rt);
	members_commute(rt);
	what_is_untouched_passes_no_failure(rt);
	children_of_weak_members_go_in_order(rt);
	an_order_passes_no_failure_into_a_loop(rt);
	an_order_passes_no_failure_out_of_a_loop(rt);
	a_branch_passes_a_failure_beside_an_order(rt);
	refuses(rt, LKDF_MAYBE);
	refuses(rt, LKDF_WEAK);
}

int main(void)
{
	tap_start(60);
	api_each(tests);
	return tap_end();
}
