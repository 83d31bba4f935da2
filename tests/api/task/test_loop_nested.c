/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops in the functions of loops, and in bodies that have no context at hand:
 * each iteration once, errors and cancels, and no other block on a thread that
 * waits for its inner loop.
 */
#include "tests/api/loop.h"

#include <pthread.h>

#define NR_OUTER 24
#define NR_INNER 300

struct nest {
	struct lkdf *rt;
	uint64_t grain;
	struct notes *inner[NR_OUTER];
	atomic_int nr_bad;
};

/* Has this thread begun an outer block that has not ended? */
static __thread bool is_in_block;

static int outer_block(uint64_t begin, uint64_t end, void *u)
{
	struct nest *n = u;
	int rc = 0;

	atomic_fetch_add(&n->nr_bad, is_in_block);
	is_in_block = true;
	for (; begin < end && !rc; begin++) {
		struct notes *x = n->inner[begin];
		struct lkdf_range r = { x->begin, x->end, n->grain };

		rc = lkdf_for(n->rt, r, note, x);
	}
	is_in_block = false;
	return rc;
}

static int bad_of_nest(struct lkdf *rt, uint64_t outer, uint64_t grain,
		       uint32_t schedule)
{
	struct nest n = { .rt = rt, .grain = grain };
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.schedule = schedule,
		.range = { 0, NR_OUTER, outer },
		.fn = outer_block,
		.u = &n,
	};
	int i, bad;

	for (i = 0; i < NR_OUTER; i++)
		n.inner[i] = notes_create((uint64_t)i, NR_INNER, grain);
	bad = lkdf_for_with(rt, &a) != 0;
	for (i = 0; i < NR_OUTER; i++) {
		bad += mistakes(n.inner[i]);
		free(n.inner[i]);
	}
	return bad + atomic_load(&n.nr_bad);
}

static void each_iteration_runs_once(struct lkdf *rt, const char *options)
{
	uint64_t grain;

	for (grain = 0; grain < 8; grain += 7) {
		is(bad_of_nest(rt, 0, grain, LKDF_SCHEDULE_NODES), 0,
		   "%s: loops in a loop, grain %d", options, (int)grain);
		is(bad_of_nest(rt, 1, grain, LKDF_SCHEDULE_NODES), 0,
		   "and in blocks of one");
		is(bad_of_nest(rt, 0, grain, LKDF_SCHEDULE_STATIC), 0,
		   "and in a static loop");
	}
}

struct deep {
	struct lkdf *rt;
	int level;
	atomic_ullong *nr;
};

static int go_down(uint64_t begin, uint64_t end, void *u)
{
	const struct deep *d = u;
	struct deep below = { d->rt, d->level - 1, d->nr };
	struct lkdf_range r = { 0, 6, 1 };
	int rc = 0;

	if (!d->level)
		return count_block(begin, end, d->nr);
	for (; begin < end && !rc; begin++)
		rc = lkdf_for(d->rt, r, go_down, &below);
	return rc;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *sum = acc;

	(void)u;
	for (; begin < end; begin++)
		*sum += begin;
	return 0;
}

static int join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static int reduce_in_call(void *u)
{
	struct deep *d = u;
	uint64_t sum = 0;
	struct lkdf_reduce_attr a = {
		.size = sizeof(a),
		.range = { 0, 1000, 0 },
		.fn = add,
		.join = join,
		.acc = &sum,
		.acc_bytes = sizeof(sum),
	};
	int rc = lkdf_reduce(d->rt, &a);

	if (!rc)
		atomic_fetch_add(d->nr, sum);
	return rc;
}

static void loops_sums_and_calls_nest(struct lkdf *rt, const char *options)
{
	atomic_ullong nr = 0, sum = 0;
	struct deep d = { rt, 4, &nr }, s = { rt, 0, &sum };
	struct lkdf_call v[3] = {
		{ reduce_in_call, &s },
		{ reduce_in_call, &s },
		{ reduce_in_call, &s },
	};
	struct lkdf_range r = { 0, 6, 0 };

	is(lkdf_for(rt, r, go_down, &d), 0, "%s: five levels", options);
	is(atomic_load(&nr), 6 * 6 * 6 * 6 * 6, "each iteration once");
	is(lkdf_invoke(rt, v, 3), 0, "sums in functions called at once");
	is(atomic_load(&sum), 3 * 499500, "their sum");
}

/* ---- in bodies ---------------------------------------------------------- */

static int body_with_loop(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_range r = { 0, 2000, 0 };

	return lkdf_for(lkdf_runtime(c), r, count_block, arg);
}

/* Its context goes into the function of its own loop. */
struct in_body {
	struct lkdf_ctx *ctx;
	atomic_ullong *nr;
};

static int loop_with_context(uint64_t begin, uint64_t end, void *u)
{
	const struct in_body *b = u;
	int rc = 0;

	for (; begin < end && !rc; begin++)
		rc = lkdf_for_in(b->ctx,
				 ATTR(lkdf_for_attr, .fn = count_block,
				      .range = { 0, 100, 0 }, .u = b->nr));
	return rc;
}

static int body_with_context(struct lkdf_ctx *c, void *arg)
{
	struct in_body b = { c, arg };

	return lkdf_for_in(c, ATTR(lkdf_for_attr, .fn = loop_with_context,
				   .range = { 0, 20, 1 }, .u = &b));
}

static void bodies_have_them(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *plain = api_kind(rt, "loop", body_with_loop, 0, 0);
	struct lkdf_kind *blocks =
		api_kind(rt, "blocks", body_with_loop, 0, LKDF_BLOCKING);
	struct lkdf_kind *knows =
		api_kind(rt, "knows", body_with_context, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_ullong nr = 0;
	int i;

	for (i = 0; i < 30; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .arg = &nr,
				      .kind = i % 3 ? i % 2 ? plain : knows
						    : blocks),
				 NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: in 30 bodies", options);
	is(atomic_load(&nr), 30 * 2000, "each iteration once");
	atomic_store(&nr, 0);
	for (i = 0; i < 10; i++)
		must(lkdf_graph_add(g, i % 2 ? plain : knows, &nr, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "in a graph");
	is(api_run(g, NULL, NULL), 0, "and again");
	is(atomic_load(&nr), 2 * 10 * 2000, "each iteration once");
	lkdf_graph_put(g);
	lkdf_kind_put(plain);
	lkdf_kind_put(blocks);
	lkdf_kind_put(knows);
}

/* ---- errors ------------------------------------------------------------- */

struct trouble {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	atomic_int nr_bad;
};

static int fail_at_70(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	return begin <= 70 && end > 70 ? -EIO : 0;
}

static int inner_fails(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf_range r = { 0, 100, 1 };
	struct trouble *t = u;
	int rc = lkdf_for(t->rt, r, fail_at_70, NULL);

	(void)begin;
	(void)end;
	if (rc != -EIO || !strstr(lkdf_errmsg(), "iterations 70 to 70"))
		atomic_fetch_add(&t->nr_bad, 1);
	if (lkdf_scope_wait(t->rt, NULL, 0) != -EDEADLK)
		atomic_fetch_add(&t->nr_bad, 1);
	return rc;
}

static int cancel_it(uint64_t begin, uint64_t end, void *u)
{
	struct trouble *t = u;

	(void)end;
	return begin ? 0 : lkdf_scope_cancel(t->rt, t->scope, -ETIME);
}

/* It would go on for ever, if the cancel did not reach it. */
static int endless_inner(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf_range r = { 0, 1ull << 60, 1 };
	struct trouble *t = u;
	int rc = lkdf_for(t->rt, r, cancel_it, t);

	(void)begin;
	(void)end;
	if (rc != -ETIME && rc != -ECANCELED)
		atomic_fetch_add(&t->nr_bad, 1);
	return 0;
}

static void errors_and_cancels_end_them(struct lkdf *rt, const char *options)
{
	struct trouble t = { .rt = rt };
	struct lkdf_range r = { 0, 10, 1 };
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = r,
		.fn = endless_inner,
		.u = &t,
	};

	is(lkdf_for(rt, r, inner_fails, &t), -EIO, "%s: an inner error",
	   options);
	is(atomic_load(&t.nr_bad), 0,
	   "is given to the outer function, which "
	   "may not wait otherwise");
	must(lkdf_scope_create(rt, NULL, &t.scope));
	a.scope = t.scope;
	is(lkdf_for_with(rt, &a), -ETIME, "a cancel of the outer scope");
	is(atomic_load(&t.nr_bad), 0, "ends the inner loops");
	is(lkdf_scope_wait(rt, t.scope, -1), -ETIME, "the scope tells it");
	lkdf_scope_put(t.scope);
	ok(lkdf_scope_wait(rt, NULL, -1) != -EDEADLK,
	   "this thread may wait again");
}

/* ---- two runtimes ------------------------------------------------------- */

struct pair {
	struct lkdf *rt[2];
	int level;
	atomic_ullong *nr;
};

static int to_the_other(uint64_t begin, uint64_t end, void *u)
{
	const struct pair *p = u;
	struct pair below = { { p->rt[1], p->rt[0] }, p->level - 1, p->nr };
	struct lkdf_range r = { 0, 20, 1 };
	int rc = 0;

	if (!p->level)
		return count_block(begin, end, p->nr);
	for (; begin < end && !rc; begin++)
		rc = lkdf_for(p->rt[1], r, to_the_other, &below);
	return rc;
}

static void two_runtimes_nest(void)
{
	struct lkdf *a = api_open_workers(2), *b = api_open_workers(3);
	atomic_ullong nr = 0;
	struct pair p = { { a, b }, 3, &nr };
	struct lkdf_range r = { 0, 20, 1 };

	is(lkdf_for(a, r, to_the_other, &p), 0, "two runtimes, four levels");
	is(atomic_load(&nr), 20 * 20 * 20 * 20, "each iteration once");
	must(lkdf_close(a));
	must(lkdf_close(b));
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		each_iteration_runs_once(rt, machines[i]);
		loops_sums_and_calls_nest(rt, machines[i]);
		bodies_have_them(rt, machines[i]);
		errors_and_cancels_end_them(rt, machines[i]);
		is(lkdf_close(rt), 0, "%s: the runtime closes", machines[i]);
	}
	two_runtimes_nest();
	return tap_end();
}
