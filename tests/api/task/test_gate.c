/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds at a gate: at most cap workers run bodies of a set, all tasks run, and
 * nothing hangs, whatever way the tasks come. Bodies count themselves. A worker
 * that does not come by for long loses its token, and its body still runs then:
 * so many more than cap there may be at a time.
 */
#include "tests/api/heard.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MANY 600
#define LEVELS 6

static const int nr_workers[] = { 1, 2, 4, 16 };

struct counted {
	struct lkdf_kind *k;
	atomic_int now, most, nr;
	struct lkdf *rt;
};

static struct lkdf *open_narrow(int workers, int cap)
{
	char options[80];

	snprintf(options, sizeof(options),
		 "workers=%d,narrow=force,narrow_cap=%d", workers, cap);
	return api_open(options);
}

static void body_begins(struct counted *b)
{
	int now = atomic_fetch_add(&b->now, 1) + 1;
	int most = atomic_load(&b->most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&b->most, &most, now))
		;
}

static void body_ends(struct counted *b)
{
	atomic_fetch_add(&b->nr, 1);
	atomic_fetch_sub(&b->now, 1);
}

/* Some last so long that others come. */
static int meet(struct lkdf_ctx *c, void *arg)
{
	struct counted *b = arg;

	(void)c;
	body_begins(b);
	if (atomic_load(&b->nr) % 8 == 0)
		api_nap_ns(20000);
	body_ends(b);
	return 0;
}

static void begin(struct counted *b, int workers, int cap, lkdf_fn fn,
		  uint32_t arg_size)
{
	*b = (struct counted){ .rt = open_narrow(workers, cap) };
	b->k = api_kind(b->rt, "meet", fn, arg_size, 0);
}

static void end(struct counted *b)
{
	lkdf_kind_put(b->k);
	is(lkdf_close(b->rt), 0, "the runtime closes");
}

static void check_most(struct counted *b, int workers, int cap)
{
	int more = (int)stat_of(b->rt, "lkdf.narrow.revoked");

	if (workers <= cap)
		cap = workers;
	ok(b->most <= cap + more,
	   "at most %d bodies at once, and %d whose token was taken back: %d",
	   cap, more, b->most);
}

/* ---- ways in which tasks come ------------------------------------------- */

static void submit_many(struct counted *b)
{
	int i;

	for (i = 0; i < MANY; i++)
		must(lkdf_submit(b->rt, NULL, LKDF_TASK(.kind = b->k, .arg = b),
				 NULL));
	is(lkdf_scope_wait(b->rt, NULL, PATIENCE_NS), 0, "they end");
	is(b->nr, MANY, "all submitted tasks have run");
}

/* A source, many, a sink; then the same again. */
static void run_graph(struct counted *b)
{
	struct lkdf_graph *g = api_graph(b->rt, 1);
	int i, first, last, id;

	first = must(lkdf_graph_add(g, b->k, b, NULL, 0));
	last = must(lkdf_graph_add(g, b->k, b, NULL, 0));
	for (i = 0; i < MANY; i++) {
		id = must(lkdf_graph_add(g, b->k, b, NULL, 0));
		must(lkdf_graph_order(g, first, id));
		must(lkdf_graph_order(g, id, last));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++)
		is(api_run(g, NULL, NULL), 0, "run %d", i);
	is(b->nr, 3 * (MANY + 2), "all tasks of the graph have run");
	lkdf_graph_put(g);
}

struct node {
	struct counted *b;
	int level;
};

/* Its children may begin before it ends, which does not count any more. */
static int grow(struct lkdf_ctx *c, void *arg)
{
	struct node *n = arg, child = { n->b, n->level - 1 };
	int rc = 0, i;

	body_begins(n->b);
	body_ends(n->b);
	for (i = 0; n->level && i < 3 && !rc; i++)
		rc = lkdf_spawn(c, n->b->k, &child);
	return rc;
}

static int grow_and_join(struct lkdf_ctx *c, void *arg)
{
	int rc = grow(c, arg);

	return rc ? rc : lkdf_join(c);
}

static int tree_size(int level)
{
	return level ? 1 + 3 * tree_size(level - 1) : 1;
}

static void grow_tree(struct counted *b)
{
	struct node n = { b, LEVELS };

	is(api_call(b->rt, b->k, &n), 0, "the tree ends");
	is(b->nr, tree_size(LEVELS), "all spawned tasks have run");
}

static void test_ways(int workers, int cap)
{
	struct counted b;

	printf("# %d workers, cap %d\n", workers, cap);
	begin(&b, workers, cap, meet, 0);
	submit_many(&b);
	check_most(&b, workers, cap);
	end(&b);
	begin(&b, workers, cap, meet, 0);
	run_graph(&b);
	check_most(&b, workers, cap);
	end(&b);
	begin(&b, workers, cap, grow, sizeof(struct node));
	grow_tree(&b);
	check_most(&b, workers, cap);
	end(&b);
	/* A join runs its children without a token, too. */
	begin(&b, workers, cap, grow_and_join, sizeof(struct node));
	grow_tree(&b);
	end(&b);
}

/* ---- aside --------------------------------------------------------------- */

struct aside {
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_kind *holds, *waits;
	atomic_int begun, open, nr;
};

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct aside *a = arg;

	(void)c;
	atomic_store(&a->begun, 1);
	api_until(&a->open);
	return 0;
}

static int count_waiter(struct lkdf_ctx *c, void *arg)
{
	struct aside *a = arg;

	(void)c;
	atomic_fetch_add(&a->nr, 1);
	return 0;
}

/* Kinds that share a gate: there are three. */
static void begin_aside(struct aside *a, int workers)
{
	struct lkdf_kind *other[2];

	*a = (struct aside){ .rt = open_narrow(workers, 1) };
	must(lkdf_scope_create(a->rt, NULL, &a->s));
	a->holds = api_kind(a->rt, "hold", hold, 0, 0);
	other[0] = api_kind(a->rt, "other", api_nothing, 0, 0);
	other[1] = api_kind(a->rt, "another", api_nothing, 0, 0);
	a->waits = api_kind(a->rt, "waiter", count_waiter, 0, 0);
	lkdf_kind_put(other[0]);
	lkdf_kind_put(other[1]);
	must(lkdf_submit(a->rt, NULL, LKDF_TASK(.kind = a->holds, .arg = a),
			 NULL));
	api_until(&a->begun);
}

static void submit_waiters(struct aside *a, int nr)
{
	while (nr--)
		must(lkdf_submit(a->rt, a->s,
				 LKDF_TASK(.kind = a->waits, .arg = a), NULL));
}

static void until_aside(struct aside *a)
{
	while (!stat_of(a->rt, "lkdf.narrow.aside"))
		api_nap_ns(50000);
}

static void end_aside(struct aside *a)
{
	atomic_store(&a->open, 1);
	is(lkdf_scope_wait(a->rt, NULL, PATIENCE_NS), 0, "all tasks end");
	lkdf_scope_put(a->s);
	lkdf_kind_put(a->holds);
	lkdf_kind_put(a->waits);
	is(lkdf_close(a->rt), 0, "the runtime closes");
}

/* The body never comes by: it waits until the others have run. */
static void test_taken_back(int workers)
{
	struct aside a;

	begin_aside(&a, workers);
	submit_waiters(&a, 20);
	until_aside(&a);
	is(lkdf_scope_wait(a.rt, a.s, PATIENCE_NS), 0,
	   "tasks run behind a body that goes on");
	is(a.nr, 20, "all of them");
	ok(stat_of(a.rt, "lkdf.narrow.revoked") > 0,
	   "its token was taken back");
	end_aside(&a);
}

static void test_cancel(int workers)
{
	struct aside a;
	int rc;

	begin_aside(&a, workers);
	submit_waiters(&a, 20);
	until_aside(&a);
	must(lkdf_scope_cancel(a.rt, a.s, -ECANCELED));
	atomic_store(&a.open, 1);
	rc = lkdf_scope_wait(a.rt, a.s, PATIENCE_NS);
	ok(rc == 0 || rc == -ECANCELED, "tasks aside are cancelled: %d", rc);
	ok(a.nr <= 20, "%d have run before", a.nr);
	end_aside(&a);
}

static void test_close(int workers)
{
	struct aside a;

	begin_aside(&a, workers);
	submit_waiters(&a, 20);
	until_aside(&a);
	is((lkdf_close)(a.rt), -EBUSY, "no runtime closes while tasks wait");
	end_aside(&a);
	is(a.nr, 20, "they run all the same");
}

/* ---- deadlines ----------------------------------------------------------- */

/* Far away: a task that has one does not wait, however late it is. */
#define AHEAD_NS 3600000000000

static void submit_urgently(struct aside *a)
{
	int i;

	for (i = 0; i < 20; i++)
		must(lkdf_submit(a->rt, a->s,
				 LKDF_TASK(.kind = a->waits, .arg = a,
					   .deadline_ns = AHEAD_NS),
				 NULL));
}

static void run_urgently(struct aside *a)
{
	struct lkdf_graph *g = api_graph(a->rt, 1);
	int i;

	for (i = 0; i < 20; i++)
		must(lkdf_graph_add(g, a->waits, a, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, a->s, ATTR(lkdf_run, .deadline_ns = AHEAD_NS),
			    NULL));
	lkdf_graph_put(g);
}

/* The scope that has the deadline is the one above. */
static void submit_below(struct aside *a)
{
	struct lkdf_scope *top, *below;
	int i;

	must(lkdf_scope_create(
		a->rt, ATTR(lkdf_scope_attr, .deadline_ns = AHEAD_NS), &top));
	must(lkdf_scope_create(a->rt, ATTR(lkdf_scope_attr, .parent = top),
			       &below));
	for (i = 0; i < 20; i++)
		must(lkdf_submit(a->rt, below,
				 LKDF_TASK(.kind = a->waits, .arg = a), NULL));
	is(lkdf_scope_wait(a->rt, below, PATIENCE_NS), 0, "they end");
	lkdf_scope_put(below);
	lkdf_scope_put(top);
}

static void test_deadline(int workers, void (*submit)(struct aside *a),
			  const char *whose)
{
	struct aside a;

	begin_aside(&a, workers);
	submit(&a);
	is(lkdf_scope_wait(a.rt, a.s, PATIENCE_NS), 0,
	   "tasks end, with a deadline of %s", whose);
	is(a.nr, 20, "all have run");
	is(stat_of(a.rt, "lkdf.narrow.aside"), 0, "none was put aside");
	end_aside(&a);
}

static void test_deadlines(int workers)
{
	test_deadline(workers, submit_urgently, "theirs");
	test_deadline(workers, run_urgently, "their run");
	test_deadline(workers, submit_below, "a scope");
}

/* The child has no worker, and frees what lies aside with the gate. */
static void test_fork(int workers)
{
	struct aside a;
	int status = -1;
	pid_t child;

	begin_aside(&a, workers);
	submit_waiters(&a, 20);
	until_aside(&a);
	child = fork();
	if (!child)
		_exit(lkdf_submit(a.rt, a.s,
				  LKDF_TASK(.kind = a.waits, .arg = &a),
				  NULL) != -EOWNERDEAD);
	waitpid(child, &status, 0);
	is(status, 0, "a forked child has no workers");
	end_aside(&a);
	is(a.nr, 20, "the parent goes on");
}

/* ---- all ----------------------------------------------------------------- */

static void test_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(nr_workers) / sizeof(*nr_workers); i++) {
		test_ways(nr_workers[i], 1);
		if (nr_workers[i] > 2)
			test_ways(nr_workers[i], 2);
		if (nr_workers[i] == 1)
			continue;
		test_taken_back(nr_workers[i]);
		test_deadlines(nr_workers[i]);
		test_cancel(nr_workers[i]);
		test_close(nr_workers[i]);
		test_fork(nr_workers[i]);
	}
}

/* All workers, and this thread, share a CPU. */
static void test_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	if (cpu < 0 || sched_getaffinity(0, sizeof(all), &all)) {
		skip("one CPU", "it is not known which");
		return;
	}
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one)) {
		skip("one CPU", "threads may not be bound");
		return;
	}
	printf("# on one CPU\n");
	test_ways(4, 1);
	test_taken_back(2);
	sched_setaffinity(0, sizeof(all), &all);
}

int main(void)
{
	tap_start(120);
	test_all();
	test_one_cpu();
	return tap_end();
}
