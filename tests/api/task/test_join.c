/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waiting for children inside a body: results, errors, and that no foreign
 * work in the way of the children can stop it, whatever the number of workers.
 */
#include "tests/api/api.h"

static const int worker_counts[] = { 1, 2, 8 };

static struct lkdf_kind *fib_kind;

struct fib {
	int n;
	long *out;
};

static int fib(struct lkdf_ctx *c, void *arg)
{
	struct fib *f = arg;
	long a, b;

	if (f->n < 2) {
		*f->out = f->n;
		return 0;
	}
	must(lkdf_spawn(c, fib_kind, &(struct fib){ f->n - 1, &a }));
	must(lkdf_spawn(c, fib_kind, &(struct fib){ f->n - 2, &b }));
	must(lkdf_join(c));
	*f->out = a + b;
	return 0;
}

static void fib_of_20_is_right(struct lkdf *rt)
{
	long result = 0;

	fib_kind = api_kind(rt, "fib", fib, sizeof(struct fib), 0);
	is(api_call(rt, fib_kind, &(struct fib){ 20, &result }), 0,
	   "fib ends well");
	is(result, 6765, "fib(20) is 6765");
	lkdf_kind_put(fib_kind);
}

static struct lkdf_kind *queens_kind;

struct queens {
	int n, row;
	int8_t at[8];
	atomic_int *found;
};

static bool is_safe(const struct queens *q, int col)
{
	int i;

	for (i = 0; i < q->row; i++) {
		if (q->at[i] == col || abs(q->at[i] - col) == q->row - i)
			return false;
	}
	return true;
}

static int queens(struct lkdf_ctx *c, void *arg)
{
	struct queens q = *(struct queens *)arg;
	int col;

	if (q.row == q.n) {
		atomic_fetch_add(q.found, 1);
		return 0;
	}
	for (col = 0; col < q.n; col++) {
		if (!is_safe(&q, col))
			continue;
		q.at[q.row++] = (int8_t)col;
		must(lkdf_spawn(c, queens_kind, &q));
		q.row--;
	}
	return 0;
}

static void eight_queens_have_92_solutions(struct lkdf *rt)
{
	atomic_int found = 0;

	queens_kind = api_kind(rt, "queens", queens, sizeof(struct queens), 0);
	is(api_call(rt, queens_kind,
		    &(struct queens){ .n = 8, .found = &found }),
	   0, "the queens end well without a join");
	is(found, 92, "eight queens have 92 solutions");
	lkdf_kind_put(queens_kind);
}

static struct lkdf_kind *tree_kind;

struct tree {
	uint64_t seed;
	int depth;
	atomic_int *nr;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static int count_tree(uint64_t seed, int depth)
{
	int nr = 1, i;

	for (i = 0; depth && i < (int)(mix(seed) % 4); i++)
		nr += count_tree(mix(seed + (uint64_t)i + 1), depth - 1);
	return nr;
}

static int tree(struct lkdf_ctx *c, void *arg)
{
	struct tree t = *(struct tree *)arg;
	int i;

	atomic_fetch_add(t.nr, 1);
	for (i = 0; t.depth && i < (int)(mix(t.seed) % 4); i++) {
		must(lkdf_spawn(c, tree_kind,
				&(struct tree){ mix(t.seed + (uint64_t)i + 1),
						t.depth - 1, t.nr }));
		if (mix(t.seed + 77) % 3 == 0)
			must(lkdf_join(c));
	}
	return 0;
}

static void random_trees_run_every_node_once(struct lkdf *rt)
{
	uint64_t seed;
	int bad = 0;

	tree_kind = api_kind(rt, "tree", tree, sizeof(struct tree), 0);
	for (seed = 1; seed <= 40; seed++) {
		atomic_int nr = 0;

		if (api_call(rt, tree_kind, &(struct tree){ seed, 12, &nr }) ||
		    nr != count_tree(seed, 12))
			bad++;
	}
	is(bad, 0, "40 random trees (seeds 1 .. 40) have all their nodes");
	lkdf_kind_put(tree_kind);
}

struct foreign {
	struct lkdf_kind *child, *other;
	struct lkdf_graph *graph;
	atomic_int children, others;
};

/* The foreign work lies above the children in the worker's own deque. */
static int submit_above_children(struct lkdf_ctx *c, void *arg)
{
	struct foreign *f = arg;
	int i;

	for (i = 0; i < 3; i++)
		must(lkdf_spawn(c, f->child, &f->children));
	for (i = 0; i < 3; i++)
		must(lkdf_submit(lkdf_runtime(c), NULL,
				 ATTR(lkdf_task, .kind = f->other,
				      .arg = &f->others),
				 NULL));
	must(lkdf_graph_run(f->graph, NULL, NULL, NULL));
	must(lkdf_join(c));
	return atomic_load(&f->children) == 3 ? 0 : -EPROTO;
}

static void join_finds_children_below_foreign_work(struct lkdf *rt)
{
	struct foreign f = { .children = 0 };
	struct lkdf_kind *k;

	f.child = api_kind(rt, "child", api_count, 0, 0);
	f.other = api_kind(rt, "other", api_count, 0, 0);
	f.graph = api_graph(rt, 1);
	must(lkdf_graph_add(f.graph, f.other, &f.others, NULL, 0));
	must(lkdf_graph_seal(f.graph, NULL));
	k = api_kind(rt, "above", submit_above_children, 0, 0);
	is(api_call(rt, k, &f), 0, "a join finds the children below");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the foreign work ends well");
	is(f.others, 4, "all of the foreign work ran");
	lkdf_graph_put(f.graph);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
	lkdf_kind_put(f.other);
}

struct signals {
	struct lkdf_kind *child, *holder;
	struct lkdf_event held[64];
	atomic_int nr_held, children;
};

static int hold_one(struct lkdf_ctx *c, void *arg)
{
	struct signals *s = arg;

	must(lkdf_hold(c, &s->held[atomic_load(&s->nr_held)]));
	atomic_fetch_add(&s->nr_held, 1);
	return 0;
}

/* Each signal lets a graph's task go: its successors land on our deque. */
static int signal_above_children(struct lkdf_ctx *c, void *arg)
{
	struct signals *s = arg;

	must(lkdf_spawn(c, s->child, &s->children));
	must(lkdf_event_signal(s->held[0], 0));
	return lkdf_join(c);
}

static void join_finds_children_below_tasks_of_a_graph(struct lkdf *rt)
{
	struct signals s = { .children = 0 };
	struct lkdf_kind *k;
	struct lkdf_event done;
	struct lkdf_graph *g;
	atomic_int after = 0;
	int a, i, b;

	s.child = api_kind(rt, "child", api_count, 0, 0);
	s.holder = api_kind(rt, "holder", hold_one, 0, 0);
	k = api_kind(rt, "signals", signal_above_children, 0, 0);
	g = api_graph(rt, 1);
	a = must(lkdf_graph_add(g, s.holder, &s, NULL, 0));
	for (i = 0; i < 10; i++) {
		b = must(lkdf_graph_add(g, s.child, &after, NULL, 0));
		must(lkdf_graph_order(g, a, b));
	}
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	api_until(&s.nr_held);
	is(api_call(rt, k, &s), 0, "a join finds the child below");
	is(lkdf_event_wait(done, -1), 0, "the graph ends well");
	is(after, 10, "all successors ran");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(s.holder);
	lkdf_kind_put(s.child);
}

static int fail_with(struct lkdf_ctx *c, void *arg)
{
	int error = *(int *)arg;

	return error ? lkdf_fail(c, error, "told to fail with %d", -error) : 0;
}

static int joins_failing_child(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	int rc;

	must(lkdf_spawn(c, k, &(int){ 0 }));
	must(lkdf_spawn(c, k, &(int){ -EILSEQ }));
	rc = lkdf_join(c);
	if (rc != -EILSEQ || !strstr(lkdf_errmsg(), "told to fail"))
		return -EPROTO;
	must(lkdf_spawn(c, k, &(int){ 0 }));
	return lkdf_join(c);
}

static int leaves_failing_child(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;

	return lkdf_spawn(c, k, &(int){ -ENOTTY });
}

static void errors_of_children_reach_the_parent(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_kind *k, *joins, *leaves;
	struct lkdf_event done;

	k = api_kind(rt, "fails", fail_with, sizeof(int), 0);
	joins = api_kind(rt, "joins", joins_failing_child, 0, 0);
	leaves = api_kind(rt, "leaves", leaves_failing_child, 0, 0);
	is(api_call(rt, joins, &k), 0,
	   "a join gives the error and then starts anew");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = leaves, .arg = &k),
			 &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(50000);
	is(e.err, -ENOTTY, "an unjoined child's error fails the parent");
	has(e.why, "told to fail with 25", "its text comes along");
	is(lkdf_event_wait(done, -1), -ENOTTY, "the event tells the same");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which the root does not");
	lkdf_kind_put(k);
	lkdf_kind_put(joins);
	lkdf_kind_put(leaves);
}

static void join_in_a_blocking_body(struct lkdf *rt)
{
	long result = 0;

	fib_kind = api_kind(rt, "fib", fib, sizeof(struct fib), 0);
	{
		struct lkdf_kind *k = api_kind(
			rt, "bfib", fib, sizeof(struct fib), LKDF_BLOCKING);

		is(api_call(rt, k, &(struct fib){ 12, &result }), 0,
		   "a blocking body spawns and joins");
		is(result, 144, "fib(12) is 144");
		lkdf_kind_put(k);
	}
	lkdf_kind_put(fib_kind);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		fib_of_20_is_right(rt);
		eight_queens_have_92_solutions(rt);
		random_trees_run_every_node_once(rt);
		join_in_a_blocking_body(rt);
		errors_of_children_reach_the_parent(rt);
		join_finds_children_below_foreign_work(rt);
		join_finds_children_below_tasks_of_a_graph(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
