/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/large.h"

#include "tests/oracle/random.h"

#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ARMS 200
#define STATES 700
#define TURNS 500
#define NESTED 1000
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IN_A_ROW 4000
#else
#define IN_A_ROW 40000
#endif

struct shape;

struct large {
	const struct shape *shape;
	uint64_t seed;
	atomic_uint *calls; /* by task */
	uint32_t *want;
	uint64_t unchosen, iterations; /* that the model has */
};

struct shape {
	const char *name;
	int nr_tasks;
	int any; /* the task that runs with one live edge, or -1 */
	void (*connect)(struct lkdf_graph *g);
	int (*value)(const struct large *l, int task, uint32_t n);
	void (*model)(struct large *l);
};

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, lkdf_errmsg());
	abort();
}

/* ---- a choice among many ------------------------------------------------- */

#define LATCH (ARMS + 1) /* task 0 chooses */

static void connect_arms(struct lkdf_graph *g)
{
	int i;

	for (i = 0; i < ARMS; i++) {
		must(lkdf_graph_branch(g, 0, (uint16_t)i, i + 1), "branch");
		must(lkdf_graph_order(g, i + 1, LATCH), "order");
	}
	must(lkdf_graph_back(g, LATCH, 0, 0), "back");
}

static int choose_arm(const struct large *l, int task, uint32_t n)
{
	if (task == LATCH)
		return n + 1 < TURNS ? 0 : LKDF_NO_BRANCH;
	return task ? 0 : (int)(mix(l->seed + n) % ARMS);
}

static void model_arms(struct large *l)
{
	uint32_t n;

	for (n = 0; n < TURNS; n++)
		l->want[1 + choose_arm(l, 0, n)]++;
	l->want[0] = l->want[LATCH] = TURNS;
	l->unchosen = TURNS * (ARMS - 1);
	l->iterations = TURNS - 1;
}

/* ---- a machine, with numbers at random ----------------------------------- */

#define BACK (STATES + 1) /* task 0 chooses */

static uint16_t number_of(int state)
{
	return mix16((uint16_t)(state + 12345));
}

static void connect_states(struct lkdf_graph *g)
{
	int i;

	for (i = 0; i < STATES; i++) {
		must(lkdf_graph_branch(g, 0, number_of(i), i + 1), "branch");
		must(lkdf_graph_branch(g, i + 1, number_of(i), BACK), "branch");
	}
	must(lkdf_graph_back(g, BACK, 1000, 0), "back");
}

static int state_of(const struct large *l, uint32_t n)
{
	return (int)(mix(l->seed + n) % STATES);
}

static int choose_state(const struct large *l, int task, uint32_t n)
{
	if (task == BACK)
		return n + 1 < TURNS ? 1000 : LKDF_NO_BRANCH;
	return number_of(task ? task - 1 : state_of(l, n));
}

static void model_states(struct large *l)
{
	uint32_t n;

	for (n = 0; n < TURNS; n++)
		l->want[1 + state_of(l, n)]++;
	l->want[0] = l->want[BACK] = TURNS;
	l->unchosen = TURNS * (STATES - 1);
	l->iterations = TURNS - 1;
}

/* ---- one in the other ---------------------------------------------------- */

/* Of a loop, by how many are around it. */
static int head_of(int depth)
{
	return 2 * depth;
}

static int latch_of(int depth)
{
	return 2 * depth + 1;
}

static void connect_nested(struct lkdf_graph *g)
{
	int i;

	for (i = 0; i < NESTED; i++) {
		if (i + 1 < NESTED) {
			must(lkdf_graph_order(g, head_of(i), head_of(i + 1)),
			     "order");
			must(lkdf_graph_order(g, latch_of(i + 1), latch_of(i)),
			     "order");
		} else {
			must(lkdf_graph_order(g, head_of(i), latch_of(i)),
			     "order");
		}
		must(lkdf_graph_back(g, latch_of(i), 0, head_of(i)), "back");
	}
}

/* A few of them go round again, once in a run. */
static int choose_nested(const struct large *l, int task, uint32_t n)
{
	return task % 2 && !n && mix(l->seed + (uint64_t)task) % 8 == 0
		       ? 0
		       : LKDF_NO_BRANCH;
}

static void run_nested(struct large *l, int depth)
{
	uint32_t n;

	for (;;) {
		l->want[head_of(depth)]++;
		if (depth + 1 < NESTED)
			run_nested(l, depth + 1);
		n = l->want[latch_of(depth)]++;
		if (choose_nested(l, latch_of(depth), n))
			return;
		l->iterations++;
	}
}

static void model_nested(struct large *l)
{
	run_nested(l, 0);
}

/* ---- one after another --------------------------------------------------- */

static void connect_row(struct lkdf_graph *g)
{
	int i;

	for (i = 0; i < IN_A_ROW; i++) {
		must(lkdf_graph_back(g, i, 0, i), "back");
		if (i)
			must(lkdf_graph_order(g, i - 1, i), "order");
	}
}

static int choose_row(const struct large *l, int task, uint32_t n)
{
	return n < mix(l->seed + (uint64_t)task) % 3 ? 0 : LKDF_NO_BRANCH;
}

static void model_row(struct large *l)
{
	int i;

	for (i = 0; i < IN_A_ROW; i++) {
		while (!choose_row(l, i, l->want[i]++))
			l->iterations++;
	}
}

/* ---- all of them --------------------------------------------------------- */

static const struct shape shapes[] = {
	{ "a choice among 200", ARMS + 2, LATCH, connect_arms, choose_arm,
	  model_arms },
	{ "a machine of 700 states", STATES + 2, -1, connect_states,
	  choose_state, model_states },
	{ "loops one in the other", 2 * NESTED, -1, connect_nested,
	  choose_nested, model_nested },
	{ "loops one after another", IN_A_ROW, -1, connect_row, choose_row,
	  model_row },
};
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static int body(struct lkdf_ctx *c, void *arg)
{
	struct large *l = (struct large *)(uintptr_t)lkdf_run_arg(c);
	int task = (int)(intptr_t)arg;

	return l->shape->value(l, task, atomic_fetch_add(&l->calls[task], 1));
}

static struct lkdf_kind *make_kind(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a), .name = "large", .fn = body, .flags = flags
	};
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt, &a, &k), "kind");
	return k;
}

static struct lkdf_graph *build(struct lkdf *rt, const struct shape *s)
{
	struct lkdf_kind *all = make_kind(rt, 0),
			 *any = make_kind(rt, LKDF_ANY);
	struct lkdf_graph_attr a = { .size = sizeof(a), .inflight = 1 };
	struct lkdf_graph *g;
	int t;

	must(lkdf_graph_create(rt, &a, &g), "graph");
	for (t = 0; t < s->nr_tasks; t++)
		must(lkdf_graph_add(g, t == s->any ? any : all,
				    (void *)(intptr_t)t, NULL, 0),
		     "add");
	s->connect(g);
	must(lkdf_graph_seal(g, NULL), "seal");
	lkdf_kind_put(all);
	lkdf_kind_put(any);
	return g;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(rt, name, &v), name);
	return v;
}

static bool compare_calls(const struct large *l)
{
	int t;

	for (t = 0; t < l->shape->nr_tasks; t++) {
		if (l->calls[t] == l->want[t])
			continue;
		printf("# %s: task %d called %u times, not %u\n",
		       l->shape->name, t, l->calls[t], l->want[t]);
		return false;
	}
	return true;
}

static bool run_once(struct lkdf *rt, struct large *l, struct lkdf_graph *g)
{
	uint64_t unchosen = stat_of(rt, "lkdf.unchosen") + l->unchosen;
	uint64_t iterations = stat_of(rt, "lkdf.iterations") + l->iterations;
	struct lkdf_run attr = { .size = sizeof(attr), .arg = l };
	struct lkdf_event done;

	must(lkdf_graph_run(g, NULL, &attr, &done), "run");
	must(lkdf_event_wait(done, -1), "wait");
	lkdf_scope_wait(rt, NULL, -1);
	if (stat_of(rt, "lkdf.unchosen") == unchosen &&
	    stat_of(rt, "lkdf.iterations") == iterations)
		return compare_calls(l);
	printf("# %s: counters of tasks not chosen or of iterations are wrong\n",
	       l->shape->name);
	return false;
}

static bool try_shape(struct lkdf *rt, const struct shape *s, uint64_t seed)
{
	size_t nr = (size_t)s->nr_tasks;
	struct large l = {
		.shape = s,
		.seed = seed,
		.calls = calloc(nr, sizeof(*l.calls)),
		.want = calloc(nr, sizeof(*l.want)),
	};
	struct lkdf_graph *g = build(rt, s);
	bool good;

	if (!l.calls || !l.want)
		abort();
	s->model(&l);
	good = run_once(rt, &l, g);
	lkdf_graph_put(g);
	free(l.calls);
	free(l.want);
	return good;
}

bool large_try(struct lkdf *rt, uint64_t seed)
{
	bool good = true;
	size_t i;

	for (i = 0; i < NR_SHAPES; i++)
		good &= try_shape(rt, &shapes[i], mix(seed + i));
	return good;
}
