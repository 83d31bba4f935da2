/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops that a worker goes through by itself (lib/run/region_run.h): each way
 * out of such a loop, in each of its tasks, leaves counts, calls and errors as
 * if there had been none.
 */
#include "tests/api/api.h"

#include <time.h>

#define ROUNDS 300
#define WHEN 77 /* the call in which something is out of the common */

enum what {
	NOTHING,
	SPAWNS, /* a child */
	GOES_ON, /* by lkdf_then() */
	FAILS,
	NO_BRANCH_OF_IT,
	CANCELS,
	NR_WHATS,
};

static const char *const what_name[] = {
	"nothing happens",
	"has a child",
	"goes on as another function",
	"fails",
	"returns what is no branch",
	"cancels the run",
};

/* head -> side, choice -> one or other -> join -> latch <- side */
enum task {
	HEAD,
	SIDE,
	CHOICE,
	ONE,
	OTHER,
	JOIN,
	LATCH,
	NR
};

static struct {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *child;
	enum what what;
	int who;
	atomic_int calls[NR], nr_children;
} at;

static int count_child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&at.nr_children, 1);
	return 0;
}

/* What the task chooses at its nth call. */
static int value_of_call(int task, int n)
{
	if (task == CHOICE)
		return n % 3 == 0;
	return task == LATCH && n == ROUNDS ? LKDF_NO_BRANCH : 0;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;

	(void)c;
	return value_of_call(task, at.calls[task]);
}

static int step(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg, n = atomic_fetch_add(&at.calls[task], 1) + 1;

	if (task != at.who ||
	    n != (task == ONE || task == OTHER ? WHEN / 3 : WHEN))
		return value_of_call(task, n);
	switch (at.what) {
	case SPAWNS:
		must(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = at.child),
				     NULL));
		break;
	case GOES_ON:
		return lkdf_then(c, go_on, LKDF_EVENT_NONE);
	case FAILS:
		return -EXDEV;
	case NO_BRANCH_OF_IT:
		return 1000;
	case CANCELS:
		must(lkdf_scope_cancel(at.rt, at.scope, -EINTR));
		break;
	default:
		break;
	}
	return value_of_call(task, n);
}

static struct lkdf_graph *make_loop(struct lkdf_kind *k, struct lkdf_kind *any,
				    bool has_side)
{
	struct lkdf_graph *g = api_graph(at.rt, 1);
	int i;

	for (i = 0; i < NR; i++)
		must(lkdf_graph_add(g, i == JOIN ? any : k, &i, NULL, 0));
	must(lkdf_graph_order(g, HEAD, has_side ? SIDE : CHOICE));
	must(lkdf_graph_order(g, has_side ? HEAD : SIDE,
			      has_side ? CHOICE : HEAD));
	if (has_side)
		must(lkdf_graph_order(g, SIDE, LATCH));
	must(lkdf_graph_branch(g, CHOICE, 0, ONE));
	must(lkdf_graph_branch(g, CHOICE, 1, OTHER));
	must(lkdf_graph_order(g, ONE, JOIN));
	must(lkdf_graph_order(g, OTHER, JOIN));
	must(lkdf_graph_order(g, JOIN, LATCH));
	must(lkdf_graph_back(g, LATCH, 0, HEAD));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* Each task was called so often as its place says, to the end of a round. */
static bool all_called(int rounds, bool has_side)
{
	int want[NR] = { rounds,     has_side ? rounds : 1,
			 rounds,     rounds - rounds / 3,
			 rounds / 3, rounds,
			 rounds };
	int i, bad = 0;

	for (i = 0; i < NR; i++)
		bad += at.calls[i] != want[i];
	return !bad;
}

static int run_it(struct lkdf_graph *g, struct lkdf_error *e)
{
	struct lkdf_event done;
	int i, rc;

	for (i = 0; i < NR; i++)
		atomic_store(&at.calls[i], 0);
	atomic_store(&at.nr_children, 0);
	must(lkdf_scope_create(at.rt, NULL, &at.scope));
	must(lkdf_graph_run(g, at.scope, NULL, &done));
	while (lkdf_event_error(done, e) == 1)
		api_nap_ns(10000);
	rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(at.rt, at.scope, -1);
	lkdf_scope_put(at.scope);
	return rc;
}

static uint64_t counter(const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(at.rt, name, &v));
	return v;
}

/*
 * Counters of bodies are added to when a worker turns to something else, which
 * may be after the run's end if another worker has ended it.
 */
static uint64_t counter_comes_to(const char *name, uint64_t want)
{
	int i;

	for (i = 0; i < 2000 && counter(name) != want; i++)
		api_nap_ns(1000000);
	return counter(name);
}

/* True: the run was as it has to be. */
static bool is_right(int rc, bool has_side)
{
	switch (at.what) {
	case NOTHING:
	case GOES_ON:
		return !rc && all_called(ROUNDS, has_side);
	case SPAWNS:
		return !rc && all_called(ROUNDS, has_side) &&
		       at.nr_children == 1;
	case FAILS:
		return rc == -EXDEV && at.calls[LATCH] < WHEN + 2;
	case NO_BRANCH_OF_IT:
		return rc == -ERANGE && at.calls[LATCH] <= WHEN;
	default:
		return rc == -EINTR && at.calls[HEAD] < WHEN + 2;
	}
}

/* The task at which it happens may be outside of the loop: SIDE. */
static void each_way_out(struct lkdf_graph *g, bool has_side, const char *how)
{
	struct lkdf_error e = { .size = sizeof(e) };
	int what, who, rc, bad;

	for (what = 0; what < NR_WHATS; what++) {
		at.what = (enum what)what;
		for (bad = 0, who = 0; who < NR; who++) {
			if (who == SIDE && !has_side)
				continue;
			if (what == NO_BRANCH_OF_IT && who != CHOICE &&
			    who != LATCH)
				continue;
			at.who = who;
			rc = run_it(g, &e);
			if (is_right(rc, has_side))
				continue;
			bad++;
			printf("# task %d: %d, %d rounds\n", who, rc,
			       at.calls[LATCH]);
		}
		is(bad, 0, "%s: each task %s", how, what_name[what]);
	}
}

static void counts_are_exact(struct lkdf_graph *g, const char *how)
{
	uint64_t turns = counter("lkdf.iterations"),
		 left = counter("lkdf.unchosen"), ran = counter("lkdf.tasks");
	struct lkdf_error e = { .size = sizeof(e) };

	at.what = NOTHING;
	is(run_it(g, &e), 0, "%s: a run", how);
	is(counter("lkdf.iterations") - turns, ROUNDS - 1,
	   "%s: goes round so often", how);
	is(counter("lkdf.unchosen") - left, ROUNDS,
	   "%s: one task a round is not chosen", how);
	ran += at.calls[SIDE] + (uint64_t)(NR - 2) * ROUNDS;
	is(counter_comes_to("lkdf.tasks", ran), ran, "%s: all others have run",
	   how);
}

static void run_all(const char *options, bool has_side)
{
	struct lkdf_kind *k, *any;
	struct lkdf_graph *g;
	char how[64];

	snprintf(how, sizeof(how), "%s%s", options, has_side ? ", wide" : "");
	at.rt = api_open(options);
	at.child = api_kind(at.rt, "child", count_child, 0, 0);
	k = api_kind(at.rt, "task", step, sizeof(int), 0);
	any = api_kind(at.rt, "join", step, sizeof(int), LKDF_ANY);
	g = make_loop(k, any, has_side);
	counts_are_exact(g, how);
	each_way_out(g, has_side, how);
	counts_are_exact(g, how);
	lkdf_graph_put(g);
	lkdf_kind_put(any);
	lkdf_kind_put(k);
	lkdf_kind_put(at.child);
	lkdf_scope_wait(at.rt, NULL, -1);
	is(lkdf_close(at.rt), 0, "%s: close", how);
}

/* ---- choices among many -------------------------------------------------- */

#define TURNS 3000

static int nr_states, state, nr_turns;

static int choose_state(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return state;
}

static int next_state(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	state = (state * 7 + 3) % nr_states;
	return ++nr_turns % TURNS ? 0 : LKDF_NO_BRANCH;
}

static struct lkdf_graph *make_machine(struct lkdf_kind *k, int nr)
{
	struct lkdf_kind *last =
		api_kind(at.rt, "next", next_state, 0, LKDF_ANY);
	struct lkdf_kind *first = api_kind(at.rt, "choose", choose_state, 0, 0);
	struct lkdf_graph *g = api_graph(at.rt, 1);
	int i, head, latch, arm;

	head = must(lkdf_graph_add(g, first, NULL, NULL, 0));
	latch = must(lkdf_graph_add(g, last, NULL, NULL, 0));
	for (i = 0; i < nr; i++) {
		arm = must(lkdf_graph_add(g, k, NULL, NULL, 0));
		must(lkdf_graph_branch(g, head, (uint16_t)i, arm));
		must(lkdf_graph_order(g, arm, latch));
	}
	must(lkdf_graph_back(g, latch, 0, head));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(last);
	lkdf_kind_put(first);
	return g;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int64_t time_of_machine(int nr)
{
	struct lkdf_kind *k = api_kind(at.rt, "arm", count_child, 0, 0);
	struct lkdf_graph *g = make_machine(k, nr);
	int64_t best = INT64_MAX, t;
	int i;

	nr_states = nr;
	for (i = 0; i < 5; i++) {
		state = 0;
		atomic_store(&at.nr_children, 0);
		t = cpu_ns();
		must(api_run(g, NULL, NULL));
		t = cpu_ns() - t;
		best = t < best ? t : best;
	}
	is(at.nr_children, TURNS, "%d states: an arm a transition", nr);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	return best;
}

/* Without a region they are told in one step, and are as many. */
static void unchosen_arms_are_counted(const char *options)
{
	const uint64_t left = 199 * TURNS;

	at.rt = api_open(options);
	time_of_machine(200);
	is(counter_comes_to("lkdf.unchosen", 5 * left), 5 * left,
	   "%s: 199 of 200 states are not chosen", options);
	is(lkdf_close(at.rt), 0, "%s: close", options);
}

/* An arm that is not chosen is not looked at. */
static void many_states_cost_as_few(const char *options)
{
	int64_t few, many;

	at.rt = api_open(options);
	few = time_of_machine(2);
	many = time_of_machine(200);
	if (!ok(many < 10 * few, "%s: 200 states cost as much as 2", options))
		printf("# %lld ns and %lld\n", (long long)many, (long long)few);
	is(lkdf_close(at.rt), 0, "close");
}

/* ---- joins --------------------------------------------------------------- */

static int take_two(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return LKDF_BRANCHES(3);
}

static int end_after(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return ++nr_turns % ROUNDS ? 0 : LKDF_NO_BRANCH;
}

/*
 * Two branches that are taken lead to a task, and an edge from one that was not
 * chosen: that one is missing, however many of the others there are.
 */
static void two_that_were_chosen_are_one(struct lkdf *rt)
{
	struct lkdf_kind *two = api_kind(rt, "two", take_two, 0, 0);
	struct lkdf_kind *count = api_kind(rt, "count", count_child, 0, 0);
	struct lkdf_kind *end = api_kind(rt, "end", end_after, 0, LKDF_ANY);
	struct lkdf_graph *g = api_graph(rt, 1);
	enum {
		FIRST,
		A,
		B,
		C,
		ALL_OF_THEM,
		LAST
	};
	int i;

	for (i = FIRST; i <= LAST; i++)
		must(lkdf_graph_add(g,
				    i == FIRST	? two
				    : i == LAST ? end
						: count,
				    NULL, NULL, 0));
	for (i = A; i <= C; i++)
		must(lkdf_graph_branch(g, FIRST, (uint16_t)(i - A), i));
	must(lkdf_graph_branch(g, A, 0, ALL_OF_THEM));
	must(lkdf_graph_branch(g, B, 0, ALL_OF_THEM));
	must(lkdf_graph_order(g, C, ALL_OF_THEM));
	must(lkdf_graph_order(g, ALL_OF_THEM, LAST));
	must(lkdf_graph_order(g, A, LAST));
	must(lkdf_graph_back(g, LAST, 0, FIRST));
	must(lkdf_graph_seal(g, NULL));
	nr_turns = 0;
	atomic_store(&at.nr_children, 0);
	is(api_run(g, NULL, NULL), 0, "a join of two branches and an edge");
	is(at.nr_children, 2 * ROUNDS, "does not run without the edge");
	lkdf_graph_put(g);
	lkdf_kind_put(two);
	lkdf_kind_put(count);
	lkdf_kind_put(end);
}

/* ---- side by side -------------------------------------------------------- */

static atomic_int nr_here;

/* Each waits for the other one. */
static int meet(struct lkdf_ctx *c, void *arg)
{
	int round = atomic_fetch_add(&nr_here, 1) / 2 + 1;

	(void)c;
	(void)arg;
	while (atomic_load(&nr_here) < 2 * round)
		api_nap_ns(10000);
	return 0;
}

static void tasks_side_by_side_are_shared(struct lkdf *rt)
{
	struct lkdf_kind *none = api_kind(rt, "none", api_nothing, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, LKDF_SHARED);
	struct lkdf_kind *end = api_kind(rt, "end", end_after, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	must(lkdf_graph_add(g, none, NULL, NULL, 0));
	for (i = 1; i <= 2; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, end, NULL, NULL, 0));
	for (i = 1; i <= 2; i++) {
		must(lkdf_graph_order(g, 0, i));
		must(lkdf_graph_order(g, i, 3));
	}
	must(lkdf_graph_back(g, 3, 0, 0));
	must(lkdf_graph_seal(g, NULL));
	nr_turns = 0;
	is(api_run(g, NULL, NULL), 0, "tasks of a loop that wait for another");
	is(nr_here, 2 * ROUNDS, "meet each time");
	lkdf_graph_put(g);
	lkdf_kind_put(none);
	lkdf_kind_put(k);
	lkdf_kind_put(end);
}

static void run_joins(const char *options)
{
	struct lkdf *rt = api_open(options);

	two_that_were_chosen_are_one(rt);
	if (strcmp(options, "workers=1"))
		tasks_side_by_side_are_shared(rt);
	is(lkdf_close(rt), 0, "%s: close", options);
}

int main(void)
{
	tap_start(60);
	many_states_cost_as_few("workers=1");
	unchosen_arms_are_counted("workers=1,loop_regions=no");
	unchosen_arms_are_counted("workers=2,loop_regions=no");
	unchosen_arms_are_counted("workers=4,loop_regions=no");
	run_joins("workers=1");
	run_joins("workers=2");
	run_all("workers=1", false);
	run_all("workers=1", true);
	run_all("workers=2", false);
	run_all("workers=2", true);
	run_all("workers=4", true);
	run_all("serial=yes", true);
	return tap_end();
}
